#pragma once

#include <condition_variable>
#include <mutex>

#include "nicmon/base/clock.h"

namespace nicmon {

/// How a thread tells that it has ended, so that stopping can wait for a while only.
class Countdown {
 public:
  void Add() {
    std::lock_guard lock(mutex_);
    ++running_;
  }
  void Done() {
    {
      std::lock_guard lock(mutex_);
      --running_;
    }
    changed_.notify_all();
  }
  bool WaitForAll(Duration timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;  // guards running_
  std::condition_variable changed_;
  int running_ = 0;
};

}  // namespace nicmon
