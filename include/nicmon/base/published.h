#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace nicmon {

/// One writer's latest immutable value, readable from any thread without touching the writer.
///
/// A mutex around a shared_ptr: std::atomic<std::shared_ptr> is neither lock-free nor clean under
/// ThreadSanitizer with g++ 12, and the lock is held for one pointer copy only.
template <typename T>
class Published {
 public:
  Published() = default;
  explicit Published(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  std::shared_ptr<const T> load() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void store(std::shared_ptr<const T> value) {
    // The old value leaves with the parameter, after the lock: its destructor may be slow.
    std::lock_guard lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;  // guards value_
  std::shared_ptr<const T> value_;
};

}  // namespace nicmon
