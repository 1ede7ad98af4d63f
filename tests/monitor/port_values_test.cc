
#include "monitor/port_tracker_fixture.h"

// What a port keeps and counts over time: settling, re-opens, speed, LIDs, GIDs, time down.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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
  Event(PortEvent::kPortErr, Seen(kStateInit));
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
