#include <cerrno>

#include "monitor/port_tracker_fixture.h"

// Events, queries and ticks: who is believed when they disagree.
namespace nicmon {
namespace {

TEST_F(PortTrackerTest, TheFirstObservationCountsNothing) {
  for (const int state : {1, kStateInit, 3, 5}) {
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
  for (const int state : {kStateInit, 3, 5}) {
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

}  // namespace
}  // namespace nicmon
