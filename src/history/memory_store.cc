#include <algorithm>
#include <deque>
#include <mutex>

#include "history/event_store.h"

namespace nicmon {
namespace {

class MemoryStore : public EventStore {
 public:
  explicit MemoryStore(const JournalOptions& options)
      : max_events_(options.memory_events), max_audit_(options.memory_audit) {}

  bool Append(std::span<const Transition> events) override {
    std::lock_guard lock(mutex_);
    for (const Transition& event : events) {
      auto& ring = event.type == TransitionType::kAudit ? audit_ : events_;
      ring.push_back(event);
      if (ring.size() > (&ring == &audit_ ? max_audit_ : max_events_)) {
        ring.pop_front();
      }
    }
    return true;
  }

  void Trim() override {}

  EventPage Query(const EventQuery& query) const override {
    EventPage page;
    std::lock_guard lock(mutex_);
    const auto& ring = query.audit ? audit_ : events_;
    for (auto it = ring.rbegin(); it != ring.rend(); ++it) {
      if (!Matches(query, *it)) {
        continue;
      }
      if (page.events.size() == query.limit) {
        page.next = page.events.back().seq;
        break;
      }
      page.events.push_back(*it);
    }
    return page;
  }

  uint64_t last_seq() const override { return 0; }
  bool durable() const override { return false; }

 private:
  const size_t max_events_;
  const size_t max_audit_;
  mutable std::mutex mutex_;  // guards the rings
  std::deque<Transition> events_;
  std::deque<Transition> audit_;
};

}  // namespace

std::unique_ptr<EventStore> MakeMemoryStore(const JournalOptions& options) {
  return std::make_unique<MemoryStore>(options);
}

}  // namespace nicmon
