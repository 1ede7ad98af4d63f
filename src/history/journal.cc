#include "nicmon/history/journal.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "history/event_store.h"
#include "nicmon/base/log.h"

namespace nicmon {
namespace {

constexpr auto kTrimInterval = std::chrono::hours(1);

std::unique_ptr<EventStore> OpenStore(const JournalOptions& options, const Clock& clock) {
  if (options.directory.empty()) {
    return MakeMemoryStore(options);
  }
  std::string error;
  auto store = OpenSqliteStore(options, clock, &error);
  if (store == nullptr) {
    log::Warning("history is kept in memory only", {{"reason", error}});
    return MakeMemoryStore(options);
  }
  return store;
}

}  // namespace

/// Owned by the journal, its thread and every recorder, so that none finds it destroyed.
class Journal::Impl {
 public:
  Impl(const JournalOptions& options, const Clock& clock)
      : room_(options.queue),
        store_(OpenStore(options, clock)),
        next_seq_(store_->last_seq() + 1) {}

  void Record(Transition&& event) {
    {
      std::lock_guard lock(mutex_);
      if (queue_.size() >= room_ || stopping_) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      queue_.push_back(std::move(event));
    }
    wake_.notify_one();
  }

  EventPage Query(const EventQuery& query) {
    EventPage page = store_->Query(query);
    if (page.failed) {
      // The thread that owns the file finds out why.
      {
        std::lock_guard lock(mutex_);
        check_ = true;
      }
      wake_.notify_one();
    }
    return page;
  }

  void RequestStop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
  }

  bool WaitEnded(Duration timeout) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, timeout, [this] { return !running_; });
  }

  static void Start(const std::shared_ptr<Impl>& self) {
    {
      std::lock_guard lock(self->mutex_);
      self->running_ = true;
    }
    // Detached: one that hangs in a write is left behind.
    std::thread([self] {
      self->Run();
      std::lock_guard lock(self->mutex_);
      self->running_ = false;
      self->ended_.notify_all();
    }).detach();
  }

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  bool durable() const { return store_->durable(); }

  Listener listener_;  // set before the thread starts

 private:
  void Run() {
    store_->Prepare();
    store_->Trim();
    bool stopping = false;
    while (!stopping) {
      std::vector<Transition> batch;
      bool check = false;
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, kTrimInterval,
                       [this] { return !queue_.empty() || stopping_ || check_; });
        std::swap(batch, queue_);
        check = std::exchange(check_, false);
        stopping = stopping_;  // nothing is queued after it: this batch is the last
      }
      if (check) {
        store_->Prepare();
      }
      if (!batch.empty()) {
        Write(batch);
      } else if (!stopping) {
        store_->Trim();
      }
    }
  }

  void Write(std::vector<Transition>& batch) {
    for (Transition& event : batch) {
      event.seq = next_seq_++;
    }
    if (listener_) {
      listener_(batch);
    }
    if (!store_->Append(batch)) {
      dropped_.fetch_add(batch.size(), std::memory_order_relaxed);
    }
  }

  const size_t room_;
  const std::unique_ptr<EventStore> store_;
  uint64_t next_seq_;  // the thread's
  std::atomic<uint64_t> dropped_{0};
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_, ended_;
  std::vector<Transition> queue_;
  bool check_ = false;
  bool stopping_ = false;
  bool running_ = false;
};

Journal::Journal(const JournalOptions& options, const Clock& clock)
    : impl_(std::make_shared<Impl>(options, clock)) {}

Journal::~Journal() {
  impl_->RequestStop();
}

void Journal::Subscribe(Listener listener) {
  impl_->listener_ = std::move(listener);
}

void Journal::Start() {
  Impl::Start(impl_);
}

bool Journal::Stop(Duration timeout) {
  impl_->RequestStop();
  return impl_->WaitEnded(timeout);
}

RecordTransition Journal::recorder() const {
  return [impl = impl_](Transition event) { impl->Record(std::move(event)); };
}

EventPage Journal::Query(const EventQuery& query) const {
  return impl_->Query(query);
}

uint64_t Journal::dropped() const {
  return impl_->dropped();
}

bool Journal::durable() const {
  return impl_->durable();
}

}  // namespace nicmon
