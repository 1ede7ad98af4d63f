#pragma once

#include <memory>
#include <mutex>

#include "nicmon/base/clock.h"

namespace nicmon::testing {

/// A clock that stands still until a test moves it. Copies of clock() share the time.
class FakeClock {
 public:
  Clock clock() const {
    return {[state = state_] {
              std::lock_guard lock(state->mutex);
              return state->steady;
            },
            [state = state_] {
              std::lock_guard lock(state->mutex);
              return state->wall;
            }};
  }
  SteadyTime steady() const { return clock().steady(); }
  WallTime wall() const { return clock().wall(); }
  void Advance(Duration by) {
    std::lock_guard lock(state_->mutex);
    state_->steady += by;
    state_->wall += by;
  }

 private:
  struct State {
    std::mutex mutex;  // guards both times
    SteadyTime steady{std::chrono::hours(1)};
    WallTime wall{std::chrono::hours(24 * 365 * 50)};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace nicmon::testing
