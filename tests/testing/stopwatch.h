#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace nicmon::testing {

/// The time since it was made, less what the machine took: on a busy or paused host everything
/// stands still now and then, and a limit that the program owes is not to be judged by that.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  Stopwatch()
      : thread_([this] {
          while (!ended_) {
            std::this_thread::sleep_for(kNap);
            const auto overslept = Overslept();
            asleep_since_ = Clock::now();
            lost_ = lost_.load() + overslept;
          }
        }) {}
  ~Stopwatch() {
    ended_ = true;
    thread_.join();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  Clock::duration Elapsed() const { return Clock::now() - begin_ - lost_.load() - Overslept(); }

 private:
  static constexpr std::chrono::milliseconds kNap{5};

  /// Since the last nap began, also when that is not over.
  Clock::duration Overslept() const {
    return std::max(Clock::duration(0), Clock::now() - asleep_since_.load() - 2 * kNap);
  }

  const Clock::time_point begin_ = Clock::now();
  std::atomic<Clock::time_point> asleep_since_{begin_};
  std::atomic<Clock::duration> lost_{Clock::duration(0)};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace nicmon::testing
