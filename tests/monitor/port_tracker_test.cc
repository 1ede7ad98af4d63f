#include "nicmon/monitor/port_tracker.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeClock;

constexpr int kInit = 2;

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
    clock_.Advance(seconds(1));
    port_.Settle(Time());
    port_.OnTick(seconds(1), Time());
    port_.OnObservation(seen, QuerySource::kTick, Time());
  }

  const PortSnapshot& port() const { return port_.snapshot(); }
  const PortCounts& counts() const { return port_.snapshot().counts; }
  bool link_paused() const { return port().pauses.Has(PauseReason::kLink); }

  FakeClock clock_;
  TrackerContext context_;
  PortTracker port_{1, context_};
};

TEST_F(PortTrackerTest, TheFirstObservationCountsNothing) {
  for (const int state : {1, kInit, 3, 5}) {
    PortTracker port(1, context_);
    port.OnObservation(Seen(state), QuerySource::kTick, Time());
    EXPECT_TRUE(port.snapshot().pauses.Has(PauseReason::kLink)) << state;
    EXPECT_EQ(port.snapshot().counts.link_pauses, 0U);
    EXPECT_EQ(port.snapshot().counts.to_down + port.snapshot().counts.to_other, 0U);
    EXPECT_FALSE(port.snapshot().last_change);
  }
  Tick(Seen(kStateActive));
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().to_active, 0U);
  EXPECT_EQ(counts().recovered_by_tick, 0U);
}

TEST_F(PortTrackerTest, APortFirstSeenDownRecoversWithoutAFlap) {
  Tick(Seen(kStateDown));
  Tick(Seen(kStateActive));
  EXPECT_EQ(counts().recovered_by_tick, 1U);
  EXPECT_EQ(counts().flaps, 0U);
  EXPECT_EQ(counts().to_active, 1U);
}

TEST_F(PortTrackerTest, PortErrPausesBeforeAnybodyAsks) {
  Tick(Seen(kStateActive));
  port_.OnEvent(PortEvent::kPortErr, Time());
  EXPECT_TRUE(link_paused());
  EXPECT_EQ(counts().link_pauses, 1U);
  EXPECT_TRUE(port_.touched());
}

TEST_F(PortTrackerTest, TheShortestFlapCounts) {
  Tick(Seen(kStateActive));
  for (int i = 0; i < 5; ++i) {
    port_.OnEvent(PortEvent::kPortErr, Time());
    port_.OnEvent(PortEvent::kPortActive, Time());
  }
  port_.OnObservation(Seen(kStateActive), QuerySource::kEvent, Time());
  EXPECT_FALSE(link_paused());
  EXPECT_EQ(counts().link_pauses, 1U) << "a burst is one pause";
  EXPECT_EQ(counts().flaps, 1U);
  EXPECT_EQ(counts().recovered_by_event, 1U);
  EXPECT_EQ(counts().spurious_events, 0U);
  EXPECT_EQ(counts().missed_events, 0U);
  EXPECT_EQ(counts().to_active, 0U) << "no query ever saw it down";
}

TEST_F(PortTrackerTest, DownAndUpByEvents) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Seen(kStateDown));
  EXPECT_EQ(counts().to_down, 1U);
  EXPECT_EQ(port().last_change, clock_.wall());
  EXPECT_EQ(port().effective_speed_bps, std::nullopt)
      << "speeds of a port that is down are leftovers";
  Tick(Seen(kStateDown));
  Event(PortEvent::kPortActive, Seen(kStateActive));
  Event(PortEvent::kPortActive, Seen(kStateActive));  // 6.1 sends it twice
  EXPECT_EQ(counts().recovered_by_event, 1U);
  EXPECT_EQ(counts().flaps, 1U);
  EXPECT_EQ(counts().events[0], 2U);
  Tick(Seen(kStateActive));
  Tick(Seen(kStateActive));
  EXPECT_EQ(counts().missed_events, 0U);
  EXPECT_EQ(counts().spurious_events, 0U);
}

TEST_F(PortTrackerTest, OnlyExactlyActiveRecovers) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Seen(kStateDown));
  for (const int state : {kInit, 3, 5}) {
    Event(PortEvent::kPortActive, Seen(state));
    EXPECT_TRUE(link_paused()) << state;
    Tick(Seen(state));
    EXPECT_TRUE(link_paused()) << state;
  }
  EXPECT_EQ(counts().spurious_events, 3U);
  Tick(Seen(kStateActive));
  EXPECT_FALSE(link_paused());
  EXPECT_EQ(counts().recovered_by_tick, 1U);
}

TEST_F(PortTrackerTest, ALostPortErrIsRepairedAndCountedByTheNextTick) {
  Tick(Seen(kStateActive));
  Tick(Seen(kStateDown));
  EXPECT_TRUE(link_paused());
  EXPECT_EQ(counts().link_pauses, 1U);
  EXPECT_EQ(counts().missed_events, 0U) << "the event may still come";
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().missed_events, 1U);
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().missed_events, 1U);
}

TEST_F(PortTrackerTest, AnEventRightAfterTheTickIsNotMissed) {
  Tick(Seen(kStateActive));
  Tick(Seen(kStateDown));
  Event(PortEvent::kPortErr, Seen(kStateDown));
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().missed_events, 0U);
  EXPECT_EQ(counts().link_pauses, 1U);
}

TEST_F(PortTrackerTest, AnEventWhoseQueryFailedExplainsWhatTheTickSees) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Failed(EBUSY));
  Tick(Seen(kStateDown));
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().missed_events, 0U);
}

TEST_F(PortTrackerTest, AnEventThatTheHardwareContradictsIsSpurious) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Seen(kStateActive));
  EXPECT_EQ(counts().spurious_events, 1U);
  EXPECT_FALSE(link_paused());
  Event(PortEvent::kGidChange, Seen(kStateActive));
  EXPECT_EQ(counts().spurious_events, 1U);
}

TEST_F(PortTrackerTest, WithoutAnAnswerPortActiveIsTheEvidenceUntilTheTick) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Seen(kStateDown));
  Event(PortEvent::kPortActive, Failed(EIO));
  EXPECT_FALSE(link_paused());
  EXPECT_TRUE(port().up());
  EXPECT_TRUE(port().stale);
  EXPECT_TRUE(port().event_evidence);
  EXPECT_EQ(counts().recovered_by_event, 1U);
  Tick(Failed(EIO));
  EXPECT_FALSE(port().event_evidence) << "the next tick decides";
  EXPECT_TRUE(port().stale);
  Tick(Seen(kStateDown));
  EXPECT_TRUE(link_paused());
  EXPECT_FALSE(port().stale);
}

TEST_F(PortTrackerTest, AFailingQueryYieldsNoState) {
  Tick(Seen(kStateActive));
  const auto last_query = port().last_query;
  Tick(Failed(ETIMEDOUT));
  EXPECT_TRUE(port().stale);
  EXPECT_TRUE(port().up());
  EXPECT_EQ(port().last_query, last_query);
  EXPECT_EQ(port().last_query_error, ETIMEDOUT);
  EXPECT_EQ(counts().queries_failed, 1U);
  Tick(Seen(kStateActive));
  EXPECT_FALSE(port().stale);
  EXPECT_EQ(port().last_query_error, 0);
}

TEST_F(PortTrackerTest, RequeryRecoversWithItsOwnCredit) {
  Tick(Seen(kStateActive));
  Event(PortEvent::kPortErr, Seen(kStateDown));
  port_.OnObservation(Seen(kStateActive), QuerySource::kAdmin, Time());
  EXPECT_EQ(counts().recovered_by_admin, 1U);
  EXPECT_FALSE(link_paused());
}

TEST_F(PortTrackerTest, SettlingCountsFromTheLastInstability) {
  context_.settle = seconds(5);
  Tick(Seen(kStateActive));
  EXPECT_FALSE(port().pauses.paused()) << "nothing settles at start";
  Event(PortEvent::kPortErr, Seen(kStateDown));
  EXPECT_FALSE(port().pauses.Has(PauseReason::kSettling));
  Event(PortEvent::kPortActive, Seen(kStateActive));
  EXPECT_TRUE(port().pauses.Has(PauseReason::kSettling));
  Tick(Seen(kStateActive));
  Tick(Seen(kStateActive));
  port_.OnEvent(PortEvent::kPortErr, Time());
  EXPECT_FALSE(port().pauses.Has(PauseReason::kSettling));
  port_.OnObservation(Seen(kStateActive), QuerySource::kEvent, Time());
  const SteadyTime stable_since = clock_.steady();
  EXPECT_EQ(port_.settle_deadline(), stable_since + seconds(5));
  EXPECT_EQ(port().settling_until, clock_.wall() + seconds(5));
  for (int i = 0; i < 4; ++i) {
    Tick(Seen(kStateActive));
    EXPECT_TRUE(port().pauses.Has(PauseReason::kSettling));
  }
  Tick(Seen(kStateActive));
  EXPECT_FALSE(port().pauses.paused());
}

TEST_F(PortTrackerTest, FatalSurvivesTicksAndEventsUntilReopened) {
  Tick(Seen(kStateActive));
  port_.OnClosed(PauseReason::kFatal, "dead", Time());
  EXPECT_FALSE(port().state);
  port_.OnTick(seconds(1), Time());
  EXPECT_TRUE(port().pauses.Has(PauseReason::kFatal));
  EXPECT_EQ(port().fatal_note, "dead");
  port_.OnOpened(Time());
  port_.OnObservation(Seen(kStateActive), QuerySource::kTick, Time());
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().link_pauses, 0U);
  EXPECT_EQ(counts().to_active, 0U) << "it is as it was";
  Tick(Seen(kStateActive));
  EXPECT_EQ(counts().missed_events, 0U);
}

TEST_F(PortTrackerTest, ComingBackDownIsALossButNoMissedEvent) {
  Tick(Seen(kStateActive));
  port_.OnClosed(PauseReason::kFatal, "dead", Time());
  port_.OnOpened(Time());
  port_.OnObservation(Seen(kStateDown), QuerySource::kTick, Time());
  EXPECT_EQ(counts().to_down, 1U);
  EXPECT_EQ(counts().link_pauses, 1U);
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().missed_events, 0U);
}

TEST_F(PortTrackerTest, ADeviceThatComesBackSettles) {
  context_.settle = seconds(5);
  Tick(Seen(kStateActive));
  port_.OnClosed(PauseReason::kFatal, "dead", Time());
  port_.OnOpened(Time());
  port_.OnObservation(Seen(kStateActive), QuerySource::kTick, Time());
  EXPECT_TRUE(port().pauses.Has(PauseReason::kSettling));
}

TEST_F(PortTrackerTest, SpeedChangesCountAndReseedOnlyWhatDiffers) {
  Tick(Seen(kStateActive, 400));
  const double learned = *port().estimate_bytes_per_second;
  EXPECT_EQ(learned, 50e9);
  Event(PortEvent::kPortErr, Seen(kStateDown, 40));
  Event(PortEvent::kPortActive, Seen(kStateActive, 400));
  EXPECT_EQ(counts().speed_changes, 0U) << "a flap at the same speed is no change";
  Tick(Seen(kStateActive, 200));
  EXPECT_EQ(counts().speed_changes, 1U);
  EXPECT_EQ(*port().estimate_bytes_per_second, 25e9);
  EXPECT_FALSE(link_paused()) << "availability is untouched";
}

TEST_F(PortTrackerTest, LidsOnlyOnActiveInfiniBand) {
  Tick(Seen(kStateActive));
  EXPECT_EQ(port().lid, 17U);
  PortObservation moved = Seen(kStateActive);
  moved.lid = 18;
  Event(PortEvent::kLidChange, moved);
  EXPECT_EQ(counts().lid_changes, 1U);
  Event(PortEvent::kPortErr, Seen(kInit));
  EXPECT_FALSE(port().lid);
  PortObservation roce = Seen(kStateActive);
  roce.link_layer = "Ethernet";
  roce.lid = 0;
  Tick(roce);
  EXPECT_FALSE(port().lid);
  EXPECT_EQ(counts().lid_changes, 1U);
}

TEST_F(PortTrackerTest, DownTimeCountsOnlyWhenSomebodyShouldCare) {
  Tick(Seen(kStateDown));
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().down, Duration(0)) << "never was up: not required";
  Tick(Seen(kStateActive));
  Tick(Seen(kStateDown));
  Tick(Seen(kStateDown));
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().down, seconds(2));
  Hold hold;
  context_.holds->Pause({1, 1}, "rdma0", "x", "", std::nullopt, false, &hold);
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().down, seconds(2));
  context_.holds->Resume({1, 1}, "", &hold);
  context_.holds->SetRelease(1, {"x", "", clock_.wall(), clock_.wall() + seconds(100)});
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().down, seconds(2));
  context_.holds->ClearRelease(1);
  Tick(Seen(kStateDown));
  EXPECT_EQ(counts().down, seconds(3));
}

TEST_F(PortTrackerTest, GidsAreScannedAtOnceAfterAChangeAndForTenSecondsAfterARecovery) {
  const Gid gid{3, {1}, 2, "eth0"};
  Tick(Seen(kStateActive));
  EXPECT_TRUE(port_.gid_scan_now());
  port_.OnGid(gid, "", Time());
  EXPECT_FALSE(port_.gid_scan_now());
  EXPECT_FALSE(port_.GidScanDue(clock_.steady()));
  EXPECT_TRUE(port_.GidScanDue(clock_.steady() + seconds(30))) << "GID_CHANGE may be lost";
  port_.OnEvent(PortEvent::kGidChange, Time());
  EXPECT_TRUE(port_.gid_scan_now());
  port_.OnGid(gid, "", Time());
  EXPECT_EQ(counts().gid_changes, 0U);
  Event(PortEvent::kPortErr, Seen(kStateDown));
  Event(PortEvent::kPortActive, Seen(kStateActive));
  EXPECT_FALSE(port_.gid_scan_now());
  EXPECT_TRUE(port_.GidScanDue(clock_.steady() + milliseconds(9999)));
  EXPECT_FALSE(port_.GidScanDue(clock_.steady() + seconds(10)));
}

TEST_F(PortTrackerTest, AGidThatComesBackElsewhereHasMoved) {
  port_.OnGid(Gid{3, {1}, 2, "eth0"}, "", Time());
  EXPECT_EQ(counts().gid_changes, 0U);
  port_.OnGid(std::nullopt, "the table is empty", Time());
  EXPECT_FALSE(port().gid);
  port_.OnGid(Gid{3, {1}, 2, "eth0"}, "", Time());
  EXPECT_EQ(counts().gid_changes, 0U);
  port_.OnGid(Gid{4, {1}, 2, "eth0"}, "", Time());
  EXPECT_EQ(counts().gid_changes, 1U);
  port_.OnGid(Gid{4, {2}, 2, "eth0"}, "", Time());
  EXPECT_EQ(counts().gid_changes, 2U);
  port_.OnGidScanFailed("EIO", Time());
  EXPECT_TRUE(port().gid) << "failed is not changed";
  EXPECT_TRUE(port_.GidScanDue(clock_.steady())) << "and asked again with the next tick";
}

}  // namespace
}  // namespace nicmon
