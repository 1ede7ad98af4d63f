#include "monitor/holds_binding.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"

// Whose hold it is, after restarts, moves and replacements.
namespace nicmon {
namespace {

constexpr char kG1[] = "0001:0000:0000:0001";
constexpr char kG2[] = "0002:0000:0000:0002";
constexpr char kP1[] = "0000:01:00.0";
constexpr char kP2[] = "0000:02:00.0";

class HoldsBinding : public ::testing::Test {
 protected:
  /// What the file of an earlier process has.
  uint64_t Keep(const std::string& id, const DeviceKey& key, const std::string& machine = "m") {
    KeptDevice kept;
    kept.key = key;
    kept.machine_id = machine;
    kept.ports[1].hold = Hold{id, {0, 1}, "old", "bad cable", "ann", clock_.wall(), {}, {}};
    state_.kept[state_.next_kept] = kept;
    return state_.next_kept++;
  }
  void See(const std::vector<SeenDevice>& present) {
    BindPresent(state_, present, machine_, clock_.wall());
  }
  /// Id of the hold of the device's port 1, "" for none.
  std::string HeldBy(DeviceId device) const {
    const Hold* hold = state_.FindHold({device, 1}, clock_.wall());
    if (hold != nullptr) {
      EXPECT_EQ(hold->port.first, device);
    }
    return hold != nullptr ? hold->id : "";
  }
  size_t Orphans() const { return state_.CountOrphaned(clock_.wall()); }

  testing::FakeClock clock_;
  HoldsSnapshot state_;
  std::string machine_ = "m";
};

TEST_F(HoldsBinding, TheGuidTellsWhereverTheDeviceIsAndWhateverItIsCalled) {
  Keep("h1", {kG1, kP1});
  Keep("h2", {kG2, kP2});
  See({{7, "a", {kG2, kP1}}, {8, "old", {kG1, kP2}}});  // they have changed places
  EXPECT_EQ(HeldBy(7), "h2");
  EXPECT_EQ(HeldBy(8), "h1");
  EXPECT_EQ(Orphans(), 0U);
}

TEST_F(HoldsBinding, WithoutAGuidThePlaceTellsOnTheSameMachineOnly) {
  Keep("h1", {"", kP1});
  Keep("h2", {"", kP2}, "another machine");
  See({{1, "a", {"", kP1}}, {2, "b", {"", kP2}}});
  EXPECT_EQ(HeldBy(1), "h1");
  EXPECT_EQ(HeldBy(2), "");
}

TEST_F(HoldsBinding, HoldsComeInTheOrderThatPeopleCountDevicesIn) {
  for (const char* name : {"mlx5_10", "mlx5_2", "mlx5_bond_0"}) {
    state_.kept.at(Keep(name, {})).name = name;
  }
  std::vector<std::string> ids;
  for (const HoldsSnapshot::Item& item : state_.InForce(clock_.wall())) {
    ids.push_back(item.hold->id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"mlx5_2", "mlx5_10", "mlx5_bond_0"}));
}

TEST_F(HoldsBinding, WithoutAMachineIdThePlaceHasToDo) {
  Keep("h1", {"", kP1}, "");
  Keep("h2", {"", kP2});
  machine_ = "";
  See({{1, "a", {"", kP1}}, {2, "b", {"", kP2}}});
  EXPECT_EQ(HeldBy(1), "h1");
  EXPECT_EQ(HeldBy(2), "h2");
}

TEST_F(HoldsBinding, AnotherGuidInItsPlaceIsNotHeldAndTheHoldIsOrphaned) {
  const uint64_t number = Keep("h1", {kG1, kP1});
  See({{1, "old", {kG2, kP1}}});
  EXPECT_EQ(HeldBy(1), "");
  EXPECT_EQ(Orphans(), 1U);
  EXPECT_EQ(state_.kept.at(number).orphaned_since, clock_.wall());
  clock_.Advance(std::chrono::hours(1));
  See({{1, "old", {kG2, kP1}}});
  EXPECT_EQ(state_.kept.at(number).orphaned_since, clock_.wall() - std::chrono::hours(1));
  See({{1, "old", {kG2, kP1}}, {2, "new", {kG1, kP2}}});
  EXPECT_EQ(HeldBy(2), "h1") << "it came back, elsewhere";
  EXPECT_EQ(Orphans(), 0U);
}

TEST_F(HoldsBinding, AHoldOnAnAbsentDeviceWaits) {
  Keep("h1", {kG1, kP1});
  See({});
  EXPECT_EQ(Orphans(), 0U);
  See({{1, "a", {kG2, kP2}}});
  EXPECT_EQ(Orphans(), 0U) << "nobody is in its place";
  See({{1, "a", {kG2, kP2}}, {2, "b", {kG1, kP1}}});
  EXPECT_EQ(HeldBy(2), "h1");
}

TEST_F(HoldsBinding, ACardThatTakesOverNameAndPlaceOfAnotherIsNotHeld) {
  Keep("h1", {kG1, kP1});
  See({{1, "a", {kG1, kP1}}});
  ASSERT_EQ(HeldBy(1), "h1");
  See({});
  EXPECT_EQ(HeldBy(1), "h1") << "absent, and held";
  See({{1, "a", {kG2, kP1}}});
  EXPECT_EQ(HeldBy(1), "");
  EXPECT_EQ(Orphans(), 1U);
  See({{1, "a", {kG1, kP1}}});
  EXPECT_EQ(HeldBy(1), "h1");
  EXPECT_EQ(Orphans(), 0U);
}

TEST_F(HoldsBinding, AGuidThatSeveralHaveTellsOnlyTogetherWithThePlace) {
  Keep("h1", {kG1, kP1});
  See({{2, "b", {kG1, kP2}}, {1, "a", {kG1, kP1}}});
  EXPECT_EQ(HeldBy(1), "h1");
  EXPECT_EQ(HeldBy(2), "");
}

TEST_F(HoldsBinding, AGuidThatSeveralHaveTellsNothingElsewhere) {
  Keep("h1", {kG1, "0000:09:00.0"});
  See({{1, "a", {kG1, kP1}}, {2, "b", {kG1, kP2}}});
  EXPECT_EQ(HeldBy(1), "");
  EXPECT_EQ(HeldBy(2), "");
  EXPECT_EQ(state_.InForce(clock_.wall()).size(), 1U) << "it waits";
}

TEST_F(HoldsBinding, TheRightfulOwnerOfADoubleGuidMayComeLater) {
  Keep("h1", {kG1, kP1});
  See({{2, "b", {kG1, kP2}}});
  EXPECT_EQ(HeldBy(2), "h1") << "moved, as it seems";
  See({{2, "b", {kG1, kP2}}, {1, "a", {kG1, kP1}}});
  EXPECT_EQ(HeldBy(1), "h1");
  EXPECT_EQ(HeldBy(2), "");
}

TEST_F(HoldsBinding, WhatNothingTellsApartIsKeptForThisProcessOnly) {
  See({{1, "a", {kG1, ""}}, {2, "b", {kG1, ""}}});
  EXPECT_FALSE(state_.Find(1)->key.durable());
  EXPECT_FALSE(state_.Find(2)->key.durable());
  EXPECT_NE(state_.bound.at(1), state_.bound.at(2));
  See({{3, "c", {"", kP1}}, {4, "d", {"", kP1}}});
  EXPECT_FALSE(state_.Find(3)->key.durable());
}

TEST_F(HoldsBinding, AGuidThatShowsLaterIsLearned) {
  Keep("h1", {"", kP1});
  See({{1, "a", {kG1, kP1}}});
  EXPECT_EQ(HeldBy(1), "h1");
  See({{1, "a", {kG2, kP1}}});
  EXPECT_EQ(HeldBy(1), "") << "that is another one";
  EXPECT_EQ(Orphans(), 1U);
}

TEST_F(HoldsBinding, ADeviceOfWhichNothingIsKeptGetsAnEntryThatGoesWithIt) {
  See({{1, "a", {kG1, kP1}}});
  ASSERT_NE(state_.Find(1), nullptr);
  EXPECT_EQ(state_.Find(1)->name, "a");
  Unbind(state_, 1);
  DropEmpty(state_);
  EXPECT_TRUE(state_.kept.empty());
}

}  // namespace
}  // namespace nicmon
