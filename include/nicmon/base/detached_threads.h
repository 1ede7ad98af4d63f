#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "nicmon/base/clock.h"

namespace nicmon {

/// Threads that nobody joins, since they may hang for good, but that a stop can wait for a while. A
/// thread counts until all that its work owned is gone: what waited for it may end the process, and
/// the libraries that such things belong to with it. Thread-safe; may go before its threads do.
class DetachedThreads {
 public:
  /// Throws std::system_error when there is no thread; `work` is gone then too.
  void Start(std::function<void()> work) {
    const std::lock_guard starting(state_->mutex);
    std::thread([state = state_, work = std::move(work)]() mutable {
      work();
      work = nullptr;
      const std::lock_guard ending(state->mutex);
      --state->running;
      state->changed.notify_all();
    }).detach();
    ++state_->running;  // under the lock, so the thread has not counted itself out yet
  }
  bool WaitForAll(Duration timeout) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, timeout, [this] { return state_->running == 0; });
  }

 private:
  struct State {
    std::mutex mutex;  // guards running
    std::condition_variable changed;
    int running = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace nicmon
