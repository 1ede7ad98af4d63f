#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nicmon/sysfs/identity.h"
#include "testing/temp_tree.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class NetdevTest : public ::testing::Test {
 protected:
  void Port(uint32_t port) { tree_.Directory(PortPath(port)); }
  std::string PortPath(uint32_t port) { return "class/infiniband/x/ports/" + std::to_string(port); }
  void Slot(uint32_t port, uint32_t slot, const std::string& netdev) {
    tree_.File(PortPath(port) + "/gid_attrs/ndevs/" + std::to_string(slot), netdev + "\n");
  }
  void Hardware(const std::string& netdev, const std::string& dev_port) {
    tree_.File("class/infiniband/x/device/net/" + netdev + "/dev_port", dev_port + "\n");
  }
  std::map<uint32_t, std::string> Netdevs() { return ReadIdentity(sysfs_, "x").netdev; }

  nicmon::testing::TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
};

TEST_F(NetdevTest, FromTheGidTable) {
  Port(1);
  Port(2);
  Slot(1, 0, "eth0");
  Slot(1, 1, "eth0");
  Slot(2, 3, "eth1");  // behind empty slots
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(1, "eth0"), Pair(2, "eth1")));
  EXPECT_EQ(ReadGidNetdev(sysfs_, "x", 2, 3), "eth1");
  EXPECT_EQ(ReadGidNetdev(sysfs_, "x", 2, 0), "");
}

TEST_F(NetdevTest, AVlanInTheTableIsNotThePort) {
  Port(1);
  Slot(1, 0, "eth0.100");
  Slot(1, 1, "eth0");
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(1, "eth0.100")));  // no better knowledge: the first
  Hardware("eth0", "7");
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(1, "eth0")));
}

TEST_F(NetdevTest, ScanOfAnEmptyTableEndsEarly) {
  Port(1);
  for (uint32_t slot = 0; slot < 1024; ++slot) {
    tree_.Directory(PortPath(1) + "/gid_attrs/ndevs/" + std::to_string(slot));  // reads EINVAL
  }
  SysfsFiles counting = sysfs_;
  int reads = 0;
  counting.read = [&](const std::string& path) {
    reads += path.find("/ndevs/") != std::string::npos ? 1 : 0;
    return sysfs_.read(path);
  };
  EXPECT_THAT(ReadIdentity(counting, "x").netdev, IsEmpty());
  EXPECT_LE(reads, 16);
  Slot(1, 1000, "eth0");
  EXPECT_THAT(Netdevs(), IsEmpty());
}

TEST_F(NetdevTest, ByDevicePort) {
  Port(1);
  Port(2);
  Hardware("ib0", "0");
  Hardware("ib1", "1");
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(1, "ib0"), Pair(2, "ib1")));
}

TEST_F(NetdevTest, TheOnlyNetdevOfTheOnlyPort) {
  Port(1);
  Hardware("eth0", "1");
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(1, "eth0")));
  Port(2);
  EXPECT_THAT(Netdevs(), ElementsAre(Pair(2, "eth0")));
}

TEST_F(NetdevTest, UncertainIsNone) {
  Port(1);
  Hardware("eth0", "0");
  Hardware("eth1", "0");
  EXPECT_THAT(Netdevs(), IsEmpty());
  tree_.File("class/infiniband/x/parent", "../eth9\n");
  EXPECT_THAT(Netdevs(), IsEmpty());
}

TEST_F(NetdevTest, SpeedIsThatOfTheFileOrNone) {
  const auto speed = [&](const char* text) {
    tree_.File("class/net/eth0/speed", text);
    return ReadNetdevSpeed(sysfs_, "rxe0", "eth0");
  };
  EXPECT_EQ(speed("200000\n"), 200'000'000'000U);
  EXPECT_EQ(speed("1\n"), 1'000'000U);
  for (const char* bad : {"-1\n", "0\n", "", "fast\n", "4294967295\n", "10 000\n"}) {
    EXPECT_EQ(speed(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ReadNetdevSpeed(sysfs_, "rxe0", "eth1"), std::nullopt);
}

TEST_F(NetdevTest, SpeedOfANameThatClimbsIsNone) {
  tree_.File("class/net/eth0/speed", "10\n");
  tree_.File("class/speed", "10\n");
  for (const char* name : {"..", ".", "", "eth0/../eth0", "/eth0", "eth0/"}) {
    EXPECT_EQ(ReadNetdevSpeed(sysfs_, "rxe0", name), std::nullopt) << name;
  }
}

/// A device on a PCI function, and netdevs that go by names from its GID table.
class NetdevSpeedTest : public NetdevTest {
 protected:
  void SetUp() override {
    tree_.Directory("devices/0000:3b:00.0");
    tree_.Link("class/infiniband/x/device", "../../../devices/0000:3b:00.0");
    tree_.File("class/net/eth0/speed", "50000\n");
  }
  bool Known(const std::string& netdev) { return ReadNetdevSpeed(sysfs_, "x", netdev).has_value(); }
};

TEST_F(NetdevSpeedTest, OfTheHardwareOfTheDevice) {
  tree_.Link("class/net/eth0/device", "../../../devices/0000:3b:00.0");
  EXPECT_TRUE(Known("eth0"));
  tree_.Directory("devices/0000:3b:00.0/infiniband/x");
  EXPECT_TRUE(Known("eth0"));
  tree_.Remove("class/net/eth0/device");
  EXPECT_FALSE(Known("eth0"));
  tree_.Directory("devices/0000:3b:00.0/net/eth0");
  EXPECT_TRUE(Known("eth0"));
}

TEST_F(NetdevSpeedTest, NotOfAStrangerOfTheSameName) {
  EXPECT_FALSE(Known("eth0"));  // on no hardware: the veth of a container
  tree_.Directory("devices/0000:3b:00.2/infiniband/y");
  tree_.Link("class/net/eth0/device", "../../../devices/0000:3b:00.2");
  EXPECT_FALSE(Known("eth0"));  // a virtual function with an RDMA device of its own
}

TEST_F(NetdevSpeedTest, OfOtherHardwareWithoutAnRdmaDevice) {
  tree_.Directory("devices/virtio3");
  tree_.Link("class/net/eth0/device", "../../../devices/virtio3");
  EXPECT_TRUE(Known("eth0"));  // erdma goes by the virtio NIC with its address
}

TEST_F(NetdevSpeedTest, OfWhatStandsOnTheHardware) {
  tree_.File("class/net/bond0.7/speed", "200000\n");
  tree_.Link("class/net/bond0.7/lower_bond0", "../bond0");
  tree_.Link("class/net/bond0/lower_eth0", "../eth0");
  EXPECT_FALSE(Known("bond0.7"));
  tree_.Link("class/net/eth0/device", "../../../devices/0000:3b:00.0");
  EXPECT_TRUE(Known("bond0.7"));
  // Loops end.
  tree_.Link("class/net/bond0/lower_bond0.7", "../bond0.7");
  tree_.Remove("class/net/eth0/device");
  EXPECT_FALSE(Known("bond0.7"));
}

class BondTest : public NetdevTest {
 protected:
  void Member(const std::string& name, const std::string& state, const std::string& speed) {
    tree_.File("class/net/" + name + "/operstate", state + "\n");
    tree_.File("class/net/" + name + "/speed", speed + "\n");
  }
  void SetUp() override {
    tree_.File("class/net/bond0/bonding/slaves", "eth0 eth1\n");
    Member("eth0", "up", "100000");
    Member("eth1", "up", "100000");
    tree_.Directory("class/net/eth0/device/infiniband/x");
  }
};

TEST_F(BondTest, SumOfTheMembersThatAreUp) {
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), 200'000'000'000U);
  Member("eth1", "down", "-1");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), 100'000'000'000U);
  Member("eth0", "down", "-1");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), std::nullopt);
}

TEST_F(BondTest, AMemberThatDoesNotSayThatItIsUpIsNot) {
  tree_.Remove("class/net/eth1/operstate");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), 100'000'000'000U);
}

TEST_F(BondTest, UnknownMemberSpeedIsNoSum) {
  Member("eth1", "up", "-1");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), std::nullopt);
}

TEST_F(BondTest, MembersWithDevicesOfTheirOwnAreNoLag) {
  tree_.Directory("class/net/eth1/device/infiniband/y");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), std::nullopt);
}

TEST_F(BondTest, ABondOfOthersIsNotOurs) {
  EXPECT_EQ(ReadBondSpeed(sysfs_, "y", "bond0"), std::nullopt);
  tree_.Remove("class/net/eth0/device/infiniband/x");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), std::nullopt);
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "eth0"), std::nullopt);
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "../bond0"), std::nullopt);
  tree_.File("class/net/bond0/bonding/slaves", "eth0 ../eth1\n");
  EXPECT_EQ(ReadBondSpeed(sysfs_, "x", "bond0"), std::nullopt);
}

}  // namespace
}  // namespace nicmon
