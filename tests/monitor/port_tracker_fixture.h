#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "nicmon/monitor/port_tracker.h"
#include "testing/fake_clock.h"

namespace nicmon {

inline constexpr int kStateInit = 2;

/// One InfiniBand port, told what events, queries and ticks say.
class PortTrackerTest : public ::testing::Test {
 protected:
  PortTrackerTest() {
    context_.device = "rdma0";
    context_.id = 1;
    context_.holds = std::make_shared<Holds>(clock_.clock());
  }

  Now Time() const { return {clock_.steady(), clock_.wall()}; }

  static PortObservation Seen(int state, uint64_t gbps = 400) {
    PortObservation seen;
    seen.state = state;
    seen.physical_state = state == kStateActive ? kPhysicalLinkUp : 2;
    seen.link_layer = "InfiniBand";
    seen.effective_speed_bps = gbps * 1'000'000'000;
    seen.speed_source = SpeedSource::kVerb;
    seen.lid = 17;
    return seen;
  }
  static PortObservation Failed(int error) {
    PortObservation seen;
    seen.error = error;
    return seen;
  }

  /// One event, then the query after the batch.
  void Event(PortEvent event, const PortObservation& seen) {
    port_.OnEvent(event, Time());
    port_.OnObservation(seen, QuerySource::kEvent, Time());
  }
  void Tick(const PortObservation& seen) {
    clock_.Advance(std::chrono::seconds(1));
    port_.Settle(Time());
    port_.OnTick(std::chrono::seconds(1), Time());
    port_.OnObservation(seen, QuerySource::kTick, Time());
  }

  const PortSnapshot& port() const { return port_.snapshot(); }
  const PortCounts& counts() const { return port_.snapshot().counts; }
  bool link_paused() const { return port().pauses.Has(PauseReason::kLink); }

  testing::FakeClock clock_;
  TrackerContext context_;
  PortTracker port_{1, context_};
};

}  // namespace nicmon
