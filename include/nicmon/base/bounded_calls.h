#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "nicmon/base/clock.h"

namespace nicmon {

/// Calls that may never come back (a disk that hangs), each on a thread of its own: whoever wants
/// one waits for a bounded time, and so many threads at most are left behind. Any thread.
class BoundedCalls {
 public:
  enum class Outcome {
    kDone,
    kTimedOut,  // it goes on, and nobody waits for it any more
    kNotRun     // as many as may run are hanging already, or there was no thread for it
  };

  explicit BoundedCalls(size_t at_once = 1);

  /// Waits for at most `patience`, also for its turn; not at all when all that run are hanging.
  /// What `call` touches has to be its own, or shared with it, as it may outlive everything else.
  Outcome Run(std::function<void()> call, Duration patience);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace nicmon
