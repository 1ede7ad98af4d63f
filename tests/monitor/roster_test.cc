#include "nicmon/monitor/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nicmon {
namespace {

using Kind = RosterChange::Kind;
using List = DiscoveryPass::List;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

FoundDevice Device(const std::string& name, int index, const std::string& uverbs,
                   uint64_t inode = 1) {
  FoundDevice device;
  device.sighting = {name, index, uverbs, true};
  device.inode = Inode{0, inode};
  return device;
}

class RosterTest : public ::testing::Test {
 protected:
  /// One pass; sysfs has what `inodes_` says at that moment.
  std::vector<std::pair<Kind, DeviceId>> Pass(std::vector<FoundDevice> found,
                                              List list = List::kOk) {
    std::vector<std::pair<Kind, DeviceId>> changes;
    last_ = roster_.Update({list, std::move(found)});
    for (const RosterChange& change : last_) {
      changes.emplace_back(change.kind, change.id);
    }
    return changes;
  }

  std::map<std::string, Inode> inodes_;
  std::vector<RosterChange> last_;
  Roster roster_{[this](const std::string& uverbs) -> std::optional<Inode> {
    const auto it = inodes_.find(uverbs);
    return it != inodes_.end() ? std::optional(it->second) : std::nullopt;
  }};
};

TEST_F(RosterTest, NewDevicesThenNothing) {
  const std::vector<FoundDevice> found = {Device("a", 0, "uverbs0"), Device("b", 1, "uverbs1")};
  EXPECT_THAT(Pass(found), ElementsAre(std::pair(Kind::kNew, 1U), std::pair(Kind::kNew, 2U)));
  EXPECT_THAT(Pass(found), IsEmpty());
}

TEST_F(RosterTest, TellsWhoIsPresentByWhatIsItsOwn) {
  FoundDevice physical = Device("a", 0, "uverbs0");
  physical.pci_address = "0000:01:00.0";
  physical.node_guid_text = "1:2:3:4";
  FoundDevice part = Device("b", 1, "uverbs1");
  part.pci_address = "0000:01:00.0";
  part.function = DeviceFunction::kSubfunction;
  Pass({physical, part});
  const auto present = roster_.Present();
  ASSERT_EQ(present.size(), 2U);
  EXPECT_EQ(present[0].name, "a");
  EXPECT_EQ(present[0].key, (DeviceKey{"1:2:3:4", "0000:01:00.0"}));
  EXPECT_EQ(present[1].key, DeviceKey()) << "the address is its parent's";
  inodes_["uverbs0"] = {0, 9};
  inodes_["uverbs1"] = {0, 1};
  Pass({part});
  EXPECT_EQ(roster_.Present().size(), 1U);
}

TEST_F(RosterTest, SameIndexUnderANewNameIsARename) {
  Pass({Device("a", 7, "uverbs0")});
  EXPECT_THAT(Pass({Device("b", 7, "uverbs0")}), ElementsAre(std::pair(Kind::kPresent, 1U)));
  EXPECT_EQ(last_[0].sighting.name, "b");
}

TEST_F(RosterTest, TwoDevicesMaySwapNames) {
  Pass({Device("a", 1, "uverbs0"), Device("b", 2, "uverbs1")});
  EXPECT_THAT(Pass({Device("b", 1, "uverbs0"), Device("a", 2, "uverbs1")}),
              ElementsAre(std::pair(Kind::kPresent, 1U), std::pair(Kind::kPresent, 2U)));
}

TEST_F(RosterTest, UverbsEntryGoneMeansGoneAtOnce) {
  Pass({Device("a", 0, "uverbs0"), Device("b", 1, "uverbs1")});
  inodes_["uverbs1"] = {0, 1};
  EXPECT_THAT(Pass({Device("b", 1, "uverbs1")}), ElementsAre(std::pair(Kind::kGone, 1U)));
  EXPECT_FALSE(roster_.unsettled());
}

TEST_F(RosterTest, UverbsEntryOfAnotherDeviceMeansGoneAtOnce) {
  Pass({Device("a", 0, "uverbs0")});
  inodes_["uverbs0"] = {0, 2};  // the number was taken by a new link
  EXPECT_THAT(Pass({Device("new", 1, "uverbs0", 2)}),
              ElementsAre(std::pair(Kind::kGone, 1U), std::pair(Kind::kNew, 2U)));
}

TEST_F(RosterTest, AReplacedDeviceIsGoneAlthoughItsInodeWasReadTooLate) {
  Pass({Device("a", 0, "uverbs0", 2)});  // listed before, its inode read after the replacement
  inodes_["uverbs0"] = {0, 2};
  EXPECT_THAT(Pass({Device("a", 1, "uverbs0", 2)}),
              ElementsAre(std::pair(Kind::kGone, 1U), std::pair(Kind::kPresent, 1U)));
}

TEST_F(RosterTest, AnEmptyListOnceIsNoMassRemoval) {
  const std::vector<FoundDevice> both = {Device("a", 0, "uverbs0"), Device("b", 1, "uverbs1")};
  Pass(both);
  inodes_ = {{"uverbs0", {0, 1}}, {"uverbs1", {0, 1}}};
  EXPECT_THAT(Pass({}), IsEmpty());
  EXPECT_TRUE(roster_.unsettled());
  EXPECT_THAT(Pass(both), IsEmpty());
  EXPECT_FALSE(roster_.unsettled());
  EXPECT_THAT(Pass({}), IsEmpty()) << "the count starts anew";
  EXPECT_THAT(Pass({}), ElementsAre(std::pair(Kind::kGone, 1U), std::pair(Kind::kGone, 2U)));
}

TEST_F(RosterTest, AFailedListIsUnknownForEver) {
  Pass({Device("a", 0, "uverbs0")});
  inodes_["uverbs0"] = {0, 1};
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(Pass({}, List::kFailed), IsEmpty());
  }
  inodes_.clear();
  EXPECT_THAT(Pass({}, List::kFailed), ElementsAre(std::pair(Kind::kGone, 1U)))
      << "but sysfs may still say that one device is gone";
}

TEST_F(RosterTest, WithoutAnInodeTwoMissesMeanGone) {
  FoundDevice device = Device("a", 0, "uverbs0");
  device.inode.reset();
  Pass({device});
  EXPECT_THAT(Pass({}), IsEmpty());
  EXPECT_THAT(Pass({}), ElementsAre(std::pair(Kind::kGone, 1U)));
}

TEST_F(RosterTest, SameNameWithANewIndexComesBackAsTheSameMonitor) {
  Pass({Device("a", 0, "uverbs0")});
  EXPECT_THAT(Pass({Device("a", 5, "uverbs3", 9)}),
              ElementsAre(std::pair(Kind::kGone, 1U), std::pair(Kind::kPresent, 1U)));
  EXPECT_EQ(last_[1].sighting.kernel_index, 5);
}

TEST_F(RosterTest, SameGuidAndPciAddressComesBackUnderAnotherName) {
  FoundDevice device = Device("mlx5_0", 0, "uverbs0");
  device.node_guid = 42;
  device.pci_address = "0000:3b:00.0";
  Pass({device});
  Pass({});
  FoundDevice other_slot = device;
  other_slot.sighting = {"x", 1, "uverbs1", true};
  other_slot.pci_address = "0000:5e:00.0";
  EXPECT_THAT(Pass({other_slot}), ElementsAre(std::pair(Kind::kNew, 2U)));
  FoundDevice renamed = device;
  renamed.sighting = {"rocep59s0", 2, "uverbs0", true};
  EXPECT_THAT(Pass({other_slot, renamed}), ElementsAre(std::pair(Kind::kPresent, 1U)));
}

TEST_F(RosterTest, AZeroGuidIdentifiesNothing) {
  FoundDevice device = Device("a", 0, "uverbs0");
  device.pci_address = "0000:3b:00.0";
  Pass({device});
  Pass({});
  FoundDevice other = Device("b", 1, "uverbs1");
  other.pci_address = "0000:3b:00.0";
  EXPECT_THAT(Pass({other}), ElementsAre(std::pair(Kind::kNew, 2U)));
}

TEST_F(RosterTest, AVirtualFunctionThatLeavesIsDropped) {
  FoundDevice function = Device("vf", 0, "uverbs0");
  function.function = DeviceFunction::kVirtual;
  Pass({function});
  EXPECT_THAT(Pass({}), ElementsAre(std::pair(Kind::kDrop, 1U)));
  EXPECT_THAT(Pass({Device("vf", 1, "uverbs0")}), ElementsAre(std::pair(Kind::kNew, 2U)));
}

TEST_F(RosterTest, ADeviceWithoutItsNodeKeepsItsMonitorWhenTheNodeComes) {
  FoundDevice hidden = Device("a", -1, "uverbs0");
  hidden.sighting.listed = false;
  Pass({hidden});
  EXPECT_THAT(Pass({Device("a", 3, "uverbs0")}), ElementsAre(std::pair(Kind::kPresent, 1U)));
  EXPECT_TRUE(last_[0].sighting.listed);
}

TEST_F(RosterTest, AnOpenDeviceWhoseNodeVanishesIsNotGone) {
  Pass({Device("a", 3, "uverbs0")});
  inodes_["uverbs0"] = {0, 1};
  FoundDevice hidden = Device("a", -1, "uverbs0");
  hidden.sighting.listed = false;
  EXPECT_THAT(Pass({hidden}), ElementsAre(std::pair(Kind::kPresent, 1U)));
  EXPECT_EQ(last_[0].sighting.kernel_index, 3) << "still the same registration";
}

TEST_F(RosterTest, OnlyAnAbsentDeviceIsForgotten) {
  Pass({Device("a", 0, "uverbs0")});
  EXPECT_FALSE(roster_.Forget(1));
  EXPECT_FALSE(roster_.Forget(99));
  Pass({});
  EXPECT_TRUE(roster_.Forget(1));
  EXPECT_THAT(Pass({Device("a", 1, "uverbs0")}), ElementsAre(std::pair(Kind::kNew, 2U)));
}

}  // namespace
}  // namespace nicmon
