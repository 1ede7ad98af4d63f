#include "nicmon/base/bounded_calls.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace nicmon {

struct BoundedCalls::State {
  const size_t at_once;
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  size_t running = 0;
  size_t hanging = 0;  // of those that run: nobody waits for them
};

namespace {

/// One call. Under the state's mutex.
struct Progress {
  bool done = false;
  bool left_behind = false;
};

}  // namespace

BoundedCalls::BoundedCalls(size_t at_once) : state_(new State{at_once, {}, {}, 0, 0}) {}

BoundedCalls::Outcome BoundedCalls::Run(std::function<void()> call, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto progress = std::make_shared<Progress>();
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto may_go_on = [&] {
    return state.running < state.at_once || state.hanging == state.at_once;
  };
  if (!state.changed.wait_until(lock, deadline, may_go_on) || state.running == state.at_once) {
    return Outcome::kNotRun;
  }
  try {
    std::thread([shared = state_, progress, call = std::move(call)]() mutable {
      call();
      call = nullptr;  // what it owns goes before anybody is told
      const std::lock_guard done(shared->mutex);
      progress->done = true;
      --shared->running;
      shared->hanging -= progress->left_behind ? 1 : 0;
      shared->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return Outcome::kNotRun;
  }
  ++state.running;
  if (state.changed.wait_until(lock, deadline, [&] { return progress->done; })) {
    return Outcome::kDone;
  }
  progress->left_behind = true;
  ++state.hanging;
  state.changed.notify_all();
  return Outcome::kTimedOut;
}

}  // namespace nicmon
