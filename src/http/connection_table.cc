#include "http/connection_table.h"

#include <sys/socket.h>

namespace nicmon::http {

// A connection that was shut down wakes from poll() at once; this only bounds a busy machine.
constexpr auto kEvictionWait = std::chrono::seconds(1);

ConnectionTable::ConnectionTable(size_t capacity, const Clock& clock)
    : capacity_(capacity), clock_(clock) {}

ConnectionTable::Entry* ConnectionTable::Victim() {
  Entry* victim = nullptr;
  for (auto& [id, entry] : entries_) {
    if (entry.shut || entry.state == State::kHandling || entry.state == State::kStreaming) {
      continue;
    }
    const bool better = victim == nullptr ||
                        (entry.state == State::kWaiting && victim->state == State::kWriting) ||
                        (entry.state == victim->state && entry.since < victim->since);
    if (better) {
      victim = &entry;
    }
  }
  return victim;
}

std::optional<uint64_t> ConnectionTable::Admit(int fd, bool* evicted) {
  *evicted = false;
  std::unique_lock lock(mutex_);
  if (entries_.size() >= capacity_ && !stopping_) {
    if (Entry* victim = Victim(); victim != nullptr) {
      victim->shut = *evicted = true;
      ::shutdown(victim->fd, SHUT_RDWR);
    }
    // Also without a new victim: one shut down earlier may still be on its way out.
    const auto wait = *evicted ? Duration(kEvictionWait) : Duration(0);
    removed_.wait_for(lock, wait, [&] { return entries_.size() < capacity_ || stopping_; });
  }
  if (entries_.size() >= capacity_ || stopping_) {
    return std::nullopt;
  }
  const uint64_t id = next_id_++;
  entries_.emplace(id, Entry{fd, State::kWaiting, clock_.steady()});
  return id;
}

bool ConnectionTable::EvictOne() {
  std::lock_guard lock(mutex_);
  Entry* victim = Victim();
  if (victim == nullptr) {
    return false;
  }
  victim->shut = true;
  ::shutdown(victim->fd, SHUT_RDWR);
  return true;
}

bool ConnectionTable::SetState(uint64_t id, State state) {
  const SteadyTime now = clock_.steady();
  std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(id);
  // A new connection waits from its admission on, however late its thread starts.
  if (entry.state != state) {
    entry.state = state;
    entry.since = now;
  }
  const bool replying = state == State::kHandling || state == State::kWriting;
  return !entry.shut && (!entry.ending || replying);
}

void ConnectionTable::Remove(uint64_t id) {
  std::lock_guard lock(mutex_);
  entries_.erase(id);
  removed_.notify_all();
}

void ConnectionTable::EndOthers(uint64_t except) {
  std::lock_guard lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (id == except) {
      continue;
    }
    entry.ending = true;
    if (entry.state != State::kHandling && entry.state != State::kWriting) {
      entry.shut = true;
      ::shutdown(entry.fd, SHUT_RDWR);
    }
  }
}

bool ConnectionTable::ending(uint64_t id) const {
  std::lock_guard lock(mutex_);
  return entries_.at(id).ending;
}

void ConnectionTable::Stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (auto& [id, entry] : entries_) {
    const bool replying = entry.state == State::kHandling;
    entry.shut = !replying;
    ::shutdown(entry.fd, replying ? SHUT_RD : SHUT_RDWR);
  }
  removed_.notify_all();
}

void ConnectionTable::ShutAll() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, entry] : entries_) {
    entry.shut = true;
    ::shutdown(entry.fd, SHUT_RDWR);
  }
}

bool ConnectionTable::stopping() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

}  // namespace nicmon::http
