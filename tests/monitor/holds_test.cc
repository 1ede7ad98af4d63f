#include "nicmon/monitor/holds.h"

#include <gtest/gtest.h>

#include "nicmon/monitor/pending.h"
#include "testing/fake_clock.h"

namespace nicmon {
namespace {

using std::chrono::seconds;
using testing::FakeClock;

constexpr PortKey kPort{1, 1};

class HoldsTest : public ::testing::Test {
 protected:
  Holds::Result Pause(std::optional<WallTime> until, bool replace, Hold* hold) {
    return holds_.Pause(kPort, "rdma0", "bad cable", "ann", until, replace, hold);
  }
  const Hold* Find() {
    snapshot_ = holds_.snapshot();
    return snapshot_->FindHold(kPort, clock_.wall());
  }

  FakeClock clock_;
  Holds holds_{clock_.clock()};
  std::shared_ptr<const HoldsSnapshot> snapshot_;
};

TEST_F(HoldsTest, PauseHoldsUntilResumed) {
  Hold made;
  ASSERT_EQ(Pause(std::nullopt, false, &made), Holds::Result::kDone);
  EXPECT_EQ(made.reason, "bad cable");
  EXPECT_EQ(made.since, clock_.wall());
  clock_.Advance(std::chrono::hours(1000));
  ASSERT_NE(Find(), nullptr);
  Hold lifted;
  EXPECT_EQ(holds_.Resume(kPort, "", &lifted), Holds::Result::kDone);
  EXPECT_EQ(lifted.id, made.id);
  EXPECT_EQ(Find(), nullptr);
  EXPECT_EQ(holds_.Resume(kPort, "", &lifted), Holds::Result::kNotFound);
}

TEST_F(HoldsTest, SecondPauseConflictsAndShowsTheFirstUnlessReplacing) {
  Hold first;
  Pause(std::nullopt, false, &first);
  Hold other;
  EXPECT_EQ(Pause(std::nullopt, false, &other), Holds::Result::kConflict);
  EXPECT_EQ(other.id, first.id);
  EXPECT_EQ(Pause(clock_.wall() + seconds(5), true, &other), Holds::Result::kDone);
  EXPECT_NE(other.id, first.id);
  EXPECT_EQ(Find()->until, clock_.wall() + seconds(5));
  EXPECT_EQ(snapshot_->pauses.at(kPort), 1U) << "a replaced hold is one pause";
}

TEST_F(HoldsTest, ResumeWithAnotherIdLeavesTheHold) {
  Hold made;
  Pause(std::nullopt, false, &made);
  Hold shown;
  EXPECT_EQ(holds_.Resume(kPort, "h999", &shown), Holds::Result::kConflict);
  EXPECT_EQ(shown.id, made.id);
  EXPECT_NE(Find(), nullptr);
  EXPECT_EQ(holds_.Resume(kPort, made.id, &shown), Holds::Result::kDone);
}

TEST_F(HoldsTest, HoldEndsByItselfAndIsReportedOnce) {
  Hold made;
  Pause(clock_.wall() + seconds(10), false, &made);
  EXPECT_TRUE(holds_.Expire().empty());
  clock_.Advance(seconds(10));
  EXPECT_EQ(Find(), nullptr) << "ended by the clock, before anybody sweeps";
  const auto ended = holds_.Expire();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].id, made.id);
  EXPECT_TRUE(holds_.Expire().empty());
  EXPECT_EQ(Pause(std::nullopt, false, &made), Holds::Result::kDone);
}

TEST_F(HoldsTest, DeleteDropsByIdOnly) {
  Hold made;
  Pause(std::nullopt, false, &made);
  Hold dropped;
  EXPECT_EQ(holds_.Delete("nope", &dropped), Holds::Result::kNotFound);
  EXPECT_EQ(holds_.Delete(made.id, &dropped), Holds::Result::kDone);
  EXPECT_EQ(Find(), nullptr);
}

TEST_F(HoldsTest, BaselineIsTheHighestSpeedUntilAccepted) {
  const auto baseline = [&] { return holds_.snapshot()->FindRecord(kPort)->baseline_bps; };
  EXPECT_EQ(holds_.snapshot()->FindRecord(kPort), nullptr);
  holds_.NoteActive(kPort, std::nullopt);
  EXPECT_TRUE(holds_.snapshot()->FindRecord(kPort)->required);
  EXPECT_EQ(baseline(), std::nullopt);
  holds_.NoteActive(kPort, 400);
  holds_.NoteActive(kPort, 200);
  EXPECT_EQ(baseline(), 400U);
  holds_.SetBaseline(kPort, 200);
  EXPECT_EQ(baseline(), 200U);
  holds_.NoteActive(kPort, 400);
  EXPECT_EQ(baseline(), 400U);
  EXPECT_EQ(holds_.Forget(kPort), Holds::Result::kDone);
  EXPECT_EQ(holds_.Forget(kPort), Holds::Result::kNotFound);
}

TEST_F(HoldsTest, NothingIsPublishedWhenNothingChanges) {
  holds_.NoteActive(kPort, 400);
  const auto before = holds_.snapshot();
  holds_.NoteActive(kPort, 400);
  holds_.NoteActive(kPort, 100);
  EXPECT_EQ(holds_.snapshot(), before);
}

TEST_F(HoldsTest, ReleaseEndsWithItsTime) {
  holds_.SetRelease(1, {"driver upgrade", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  EXPECT_NE(holds_.snapshot()->FindRelease(1, clock_.wall()), nullptr);
  EXPECT_EQ(holds_.snapshot()->FindRelease(2, clock_.wall()), nullptr);
  clock_.Advance(seconds(60));
  EXPECT_EQ(holds_.snapshot()->FindRelease(1, clock_.wall()), nullptr);
  EXPECT_EQ(holds_.ClearRelease(1), Holds::Result::kDone);
  EXPECT_EQ(holds_.ClearRelease(1), Holds::Result::kNotFound);
}

TEST_F(HoldsTest, ForgettingADeviceKeepsItsHold) {
  Hold made;
  Pause(std::nullopt, false, &made);
  holds_.NoteActive(kPort, 400);
  holds_.ForgetDevice(1);
  EXPECT_EQ(holds_.snapshot()->FindRecord(kPort), nullptr);
  EXPECT_EQ(Find(), nullptr) << "the number may be another device's";
  const auto state = holds_.snapshot();
  ASSERT_EQ(state->InForce(clock_.wall()).size(), 1U);
  EXPECT_EQ(state->InForce(clock_.wall())[0].hold->id, made.id);
}

TEST(PendingTest, AbandonedBeforeItStartsNeverRuns) {
  Pending command(CommandKind::kRequery, 1);
  EXPECT_EQ(command.Wait(Duration(0), nullptr), Pending::State::kAbandoned);
  EXPECT_FALSE(command.Start());
}

TEST(PendingTest, RunningAtTheDeadlineIsReportedAsRunning) {
  Pending command(CommandKind::kRequery, 1);
  EXPECT_TRUE(command.Start());
  EXPECT_EQ(command.Wait(Duration(0), nullptr), Pending::State::kRunning);
  CommandResult result;
  result.query_error = 5;
  command.Finish(result);
  CommandResult seen;
  EXPECT_EQ(command.Wait(Duration(0), &seen), Pending::State::kDone);
  EXPECT_EQ(seen.query_error, 5);
}

}  // namespace
}  // namespace nicmon
