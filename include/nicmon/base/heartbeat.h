#pragma once

#include <atomic>
#include <cstdint>

#include "nicmon/base/clock.h"

namespace nicmon {

/// What a thread that may hang is doing, written by it and read by everybody. A stuck thread cannot
/// say that it is stuck: readers compare `busy_since` with their own clock.
class Heartbeat {
 public:
  struct Reading {
    const char* call = nullptr;  // a string literal, or nullptr while the thread is idle
    SteadyTime busy_since{};     // valid while call is set
  };

  Reading Read() const {
    Reading reading;
    reading.call = call_.load(std::memory_order_acquire);
    reading.busy_since = SteadyTime(Duration(since_.load(std::memory_order_acquire)));
    return reading;
  }

  /// `call` must be a string literal.
  void Begin(const char* call, SteadyTime now) {
    since_.store(now.time_since_epoch().count(), std::memory_order_release);
    call_.store(call, std::memory_order_release);
  }
  void End() { call_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<const char*> call_{nullptr};
  std::atomic<int64_t> since_{0};
};

/// Marks one call into the driver or kernel for the time of a scope.
class BusyScope {
 public:
  BusyScope(Heartbeat& heartbeat, const char* call, SteadyTime now) : heartbeat_(heartbeat) {
    heartbeat_.Begin(call, now);
  }
  ~BusyScope() { heartbeat_.End(); }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  Heartbeat& heartbeat_;
};

}  // namespace nicmon
