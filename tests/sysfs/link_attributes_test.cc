#include "nicmon/sysfs/link_attribute_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "testing/temp_tree.h"

namespace nicmon {
namespace {

constexpr char kNic[] = "devices/pci0000:3a/0000:3b:00.0";

/// The device "x" on a PCI function, with one port behind eth0.
class LinkAttributesTest : public ::testing::Test {
 protected:
  LinkAttributesTest() {
    tree_.Directory(std::string(kNic) + "/infiniband/x");
    tree_.Link(std::string(kNic) + "/infiniband/x/device", "../../../0000:3b:00.0");
    tree_.Link("class/infiniband/x", "../../" + std::string(kNic) + "/infiniband/x");
    Pcie("32.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
    Netdev("eth0");
    counting_.keep = [this](const std::string& path) {
      return [this, read = files_.keep(path)] {
        ++reads_;
        return read();
      };
    };
    counting_.resolve = [this](const std::string& path) {
      ++resolved_;
      return files_.resolve(path);
    };
  }
  void Pcie(const std::string& speed, const std::string& width, const std::string& max_speed,
            const std::string& max_width) {
    PcieFile("current_link_speed", speed);
    PcieFile("current_link_width", width);
    PcieFile("max_link_speed", max_speed);
    PcieFile("max_link_width", max_width);
  }
  void PcieFile(const std::string& file, const std::string& text) {
    tree_.File(std::string(kNic) + "/" + file, text + "\n");
  }
  void Netdev(const std::string& name) {
    tree_.Link("class/net/" + name + "/device", "../../../" + std::string(kNic));
    tree_.File("class/net/" + name + "/carrier_changes", "3\n");
    tree_.File("class/net/" + name + "/operstate", "up\n");
  }
  /// bond0 over eth0 and eth1, the second function of the same card.
  void Bond() {
    Netdev("eth1");
    tree_.Directory(std::string(kNic) + "/net/eth0");
    tree_.File("class/net/bond0/carrier_changes", "5\n");
    tree_.File("class/net/bond0/bonding/slaves", "eth0 eth1\n");
    tree_.Link("class/net/bond0/lower_eth0", "../eth0");
    netdevs_ = {{1, "bond0"}};
  }
  /// A whole round.
  PcieLink Read() {
    reader_.Begin("x", netdevs_);
    while (reader_.Step()) {
    }
    return reader_.pcie();
  }
  NetdevAttributes ReadPort(uint32_t port = 1) {
    Read();
    return reader_.netdev(port);
  }

  nicmon::testing::TempTree tree_;
  SysfsFiles files_ = RealSysfs(tree_.root());
  SysfsFiles counting_ = files_;
  int reads_ = 0;
  int resolved_ = 0;
  std::map<uint32_t, std::string> netdevs_ = {{1, "eth0"}};
  LinkAttributeReader reader_{files_};
};

TEST_F(LinkAttributesTest, AHealthyLink) {
  const PcieLink link = Read();
  EXPECT_EQ(link.speed, 32e9);
  EXPECT_EQ(link.max_speed, 32e9);
  EXPECT_EQ(link.width, 16U);
  EXPECT_EQ(link.max_width, 16U);
  EXPECT_FALSE(BelowMaximum(link));
  EXPECT_EQ(PcieText(link), "32 GT/s x16");
}

TEST_F(LinkAttributesTest, SpeedsOfEachKernel) {
  for (const auto& [text, speed] : std::map<std::string, double>{{"2.5 GT/s", 2.5e9},
                                                                 {"2.5 GT/s PCIe", 2.5e9},
                                                                 {"8 GT/s", 8e9},
                                                                 {"16.0 GT/s PCIe", 16e9},
                                                                 {"64.0 GT/s PCIe", 64e9}}) {
    PcieFile("current_link_speed", text);
    EXPECT_EQ(Read().speed, speed) << text;
  }
}

TEST_F(LinkAttributesTest, UnknownIsUnknown) {
  for (const std::string text : {"Unknown", "Unknown speed", "", "GT/s", "-8 GT/s", "0 GT/s",
                                 "8e9 GT/s", "32.0", "1000000000000 GT/s", "8.00 GT/s"}) {
    PcieFile("current_link_speed", text);
    EXPECT_EQ(Read().speed, std::nullopt) << text;
  }
  for (const std::string text : {"0", "255", "63", "", "x16", "-1", "16 16", "4294967312"}) {
    PcieFile("current_link_width", text);
    EXPECT_EQ(Read().width, std::nullopt) << text;
  }
  EXPECT_EQ(Read().max_width, 16U);
  EXPECT_FALSE(BelowMaximum(Read()));
  PcieFile("current_link_speed", "Unknown");
  EXPECT_EQ(PcieText(Read()), "");
}

TEST_F(LinkAttributesTest, BelowTheMaximum) {
  Pcie("16.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
  EXPECT_TRUE(BelowMaximum(Read()));
  EXPECT_EQ(PcieText(Read()), "16 GT/s x16 of 32 GT/s x16");
  Pcie("32.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "16");
  EXPECT_TRUE(BelowMaximum(Read()));
  Pcie("2.5 GT/s PCIe", "1", "Unknown", "255");
  EXPECT_FALSE(BelowMaximum(Read()));
  EXPECT_EQ(PcieText(Read()), "2.5 GT/s x1");
  Pcie("Unknown", "8", "32.0 GT/s PCIe", "16");
  EXPECT_EQ(PcieText(Read()), "x8 of 32 GT/s x16");
}

TEST_F(LinkAttributesTest, EachFileMayBeMissingByItself) {
  for (const std::string file :
       {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"}) {
    Pcie("16.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "16");
    tree_.Remove(std::string(kNic) + "/" + file);
    const PcieLink link = Read();
    EXPECT_EQ(link.speed.has_value(), file != "current_link_speed");
    EXPECT_EQ(link.width.has_value(), file != "current_link_width");
    EXPECT_EQ(link.max_speed.has_value(), file != "max_link_speed");
    EXPECT_EQ(link.max_width.has_value(), file != "max_link_width");
  }
}

TEST_F(LinkAttributesTest, ASubfunctionHasTheLinkOfItsPciFunction) {
  const std::string aux = std::string(kNic) + "/mlx5_core.sf.4";
  tree_.Link(aux + "/infiniband/sf/device", "../../../mlx5_core.sf.4");
  tree_.Link("class/infiniband/sf", "../../" + aux + "/infiniband/sf");
  reader_.Begin("sf", {});
  while (reader_.Step()) {
  }
  EXPECT_EQ(reader_.pcie().speed, 32e9);
  EXPECT_EQ(reader_.pcie().max_width, 16U);
}

TEST_F(LinkAttributesTest, ASoftwareDeviceHasNoLink) {
  tree_.Directory("class/infiniband/rxe0");
  tree_.File("current_link_width", "16\n");  // of nobody
  Read();
  for (const std::string name : {"rxe0", "gone", "..", ""}) {
    reader_.Begin(name, {});
    EXPECT_TRUE(reader_.done()) << name;
    EXPECT_FALSE(reader_.pcie().width.has_value()) << name;
    Read();
  }
}

TEST_F(LinkAttributesTest, AStepReadsOneFileAndARoundEnds) {
  Bond();
  LinkAttributeReader reader(counting_);
  EXPECT_FALSE(reader.Step());
  reader.Begin("x", netdevs_);
  EXPECT_EQ(reads_, 0);
  int steps = 0;
  while (!reader.done()) {
    EXPECT_TRUE(reader.Step());
    EXPECT_EQ(reads_, ++steps);
  }
  EXPECT_EQ(steps, 4 + 1 + 1 + 2);  // PCIe, carrier, members, each one's state
  EXPECT_FALSE(reader.Step());
}

TEST_F(LinkAttributesTest, OnlyAWholeRoundIsShown) {
  Read();
  Pcie("16.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "16");
  tree_.File("class/net/eth0/carrier_changes", "4\n");
  reader_.Begin("x", netdevs_);
  for (int step = 0; step < 5; ++step) {
    reader_.Step();
  }
  EXPECT_EQ(reader_.pcie().width, 16U);
  EXPECT_EQ(reader_.netdev(1).carrier_changes, 3U);
  reader_.Begin("x", netdevs_);  // the rest of that one is dropped
  while (reader_.Step()) {
  }
  EXPECT_EQ(reader_.pcie().width, 8U);
  EXPECT_EQ(reader_.netdev(1).carrier_changes, 4U);
  // A netdev that went takes its values along.
  reader_.Begin("x", {});
  while (reader_.Step()) {
  }
  EXPECT_EQ(reader_.netdev(1), NetdevAttributes());
}

// As the kernel does it: a netdev that is renamed keeps its directory's inode and its open files.
TEST_F(LinkAttributesTest, ANetdevOfTheSameNameIsNotTakenForTheOneThatWasRenamed) {
  EXPECT_EQ(ReadPort().carrier_changes, 3U);
  std::filesystem::rename(tree_.Path("class/net/eth0"), tree_.Path("class/net/eth9"));
  EXPECT_EQ(ReadPort().carrier_changes, std::nullopt);
  Netdev("eth0");
  tree_.File("class/net/eth0/carrier_changes", "7\n");
  EXPECT_EQ(ReadPort().carrier_changes, 7U);
  std::filesystem::rename(tree_.Path("class/net/eth0"), tree_.Path("class/net/eth8"));
  std::filesystem::rename(tree_.Path("class/net/eth9"), tree_.Path("class/net/eth0"));
  EXPECT_EQ(ReadPort().carrier_changes, 3U);
}

TEST_F(LinkAttributesTest, AMemberThatAnotherTookTheNameOf) {
  Bond();
  EXPECT_EQ(ReadPort().bond_members_up, 2U);
  std::filesystem::rename(tree_.Path("class/net/eth1"), tree_.Path("class/net/eth9"));
  Netdev("eth1");
  tree_.File("class/net/eth1/operstate", "down\n");
  EXPECT_EQ(ReadPort().bond_members_up, 1U);
}

TEST_F(LinkAttributesTest, TheNextDeviceOfANameHasItsOwnLink) {
  EXPECT_EQ(Read().width, 16U);
  const std::string other = "devices/pci0000:3a/0000:3c:00.0";
  tree_.Remove("class/infiniband/x");
  tree_.Link(other + "/infiniband/x/device", "../../../0000:3c:00.0");
  tree_.Link("class/infiniband/x", "../../" + other + "/infiniband/x");
  tree_.File(other + "/current_link_width", "8\n");
  reader_.Forget();
  EXPECT_EQ(Read().width, 8U);
}

TEST_F(LinkAttributesTest, ARoundLooksForNothingThatIsWhereItWas) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  LinkAttributeReader reader(counting_);
  const auto round = [&](const std::map<uint32_t, std::string>& netdevs) {
    reader.Begin("x", netdevs);
    while (reader.Step()) {
    }
  };
  round({});
  const int resolved = resolved_;
  EXPECT_GT(resolved, 0);
  EXPECT_EQ(open_files(), before + 4);
  round({});
  EXPECT_EQ(resolved_, resolved);
  EXPECT_EQ(open_files(), before + 4);
  round(netdevs_);
  EXPECT_EQ(open_files(), before + 5);
  round({});
  round({});
  EXPECT_EQ(open_files(), before + 4) << "what is not read any more is let go";
}

TEST_F(LinkAttributesTest, CarrierChanges) {
  EXPECT_EQ(ReadPort().carrier_changes, 3U);
  EXPECT_EQ(ReadPort().bond_members, std::nullopt);
  EXPECT_EQ(ReadPort(2), NetdevAttributes());
  for (const std::string text : {"", "-1", "many", "3 4"}) {
    tree_.File("class/net/eth0/carrier_changes", text);
    EXPECT_EQ(ReadPort().carrier_changes, std::nullopt) << text;
  }
  tree_.Remove("class/net/eth0");
  EXPECT_EQ(ReadPort(), NetdevAttributes());
}

TEST_F(LinkAttributesTest, MembersOfABond) {
  Bond();
  EXPECT_EQ(ReadPort().carrier_changes, 5U);
  EXPECT_EQ(ReadPort().bond_members, 2U);
  EXPECT_EQ(ReadPort().bond_members_up, 2U);
  tree_.File("class/net/eth1/operstate", "down\n");
  EXPECT_EQ(ReadPort().bond_members, 2U);
  EXPECT_EQ(ReadPort().bond_members_up, 1U);
  tree_.File("class/net/eth0/operstate", "dormant\n");
  EXPECT_EQ(ReadPort().bond_members_up, 0U);
}

TEST_F(LinkAttributesTest, ABondThatHasNoMembers) {
  Bond();
  tree_.File("class/net/bond0/bonding/slaves", "\n");
  EXPECT_EQ(ReadPort().bond_members, 0U);
  EXPECT_EQ(ReadPort().bond_members_up, 0U);
}

TEST_F(LinkAttributesTest, AMemberThatDoesNotSayWhetherItIsUp) {
  Bond();
  for (const std::string silent : {"eth0", "eth1"}) {
    tree_.File("class/net/eth0/operstate", "up\n");
    tree_.File("class/net/eth1/operstate", "up\n");
    tree_.Remove("class/net/" + silent + "/operstate");
    EXPECT_EQ(ReadPort().bond_members, 2U);
    EXPECT_EQ(ReadPort().bond_members_up, std::nullopt);
  }
}

TEST_F(LinkAttributesTest, AMemberOfABondIsNoBond) {
  Bond();
  tree_.Link("class/net/eth0/master", "../bond0");
  netdevs_ = {{1, "eth0"}};
  EXPECT_EQ(ReadPort().carrier_changes, 3U);
  EXPECT_EQ(ReadPort().bond_members, std::nullopt);
}

TEST_F(LinkAttributesTest, ABondOfSeveralRdmaDevicesIsNotOnesOwn) {
  Bond();
  tree_.Link("class/net/eth1/device", "../../../devices/pci0000:3a/0000:3b:00.1");
  tree_.Directory("devices/pci0000:3a/0000:3b:00.1");
  EXPECT_EQ(ReadPort().bond_members, 2U);
  tree_.Directory("devices/pci0000:3a/0000:3b:00.1/infiniband/y");
  EXPECT_EQ(ReadPort().carrier_changes, 5U);
  EXPECT_EQ(ReadPort().bond_members, std::nullopt);
}

TEST_F(LinkAttributesTest, PortsApart) {
  Netdev("eth1");
  tree_.File("class/net/eth1/carrier_changes", "9\n");
  netdevs_ = {{1, "eth0"}, {2, "eth1"}};
  EXPECT_EQ(ReadPort(1).carrier_changes, 3U);
  EXPECT_EQ(ReadPort(2).carrier_changes, 9U);
}

}  // namespace
}  // namespace nicmon
