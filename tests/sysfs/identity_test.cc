#include "nicmon/sysfs/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/temp_tree.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kFunction[] = "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0";

class IdentityTest : public ::testing::Test {
 protected:
  /// A device as the kernel lays it out, on the PCI function kFunction.
  void AddDevice(const std::string& name) {
    const std::string base = std::string(kFunction) + "/infiniband/" + name;
    tree_.File(base + "/node_guid", "0C42:a103:0065:4ba2\n");
    tree_.File(base + "/sys_image_guid", "0c42:a103:0065:4ba0\n");
    tree_.File(base + "/board_id", "MT_0000000838\n");
    tree_.File(base + "/hca_type", "MT4129\n");
    tree_.File(base + "/fw_ver", "28.39.1002\n");
    tree_.File(base + "/node_type", "1: CA\n");
    tree_.Link(base + "/device", "../../../0000:3b:00.0");
    tree_.Link("class/infiniband/" + name, "../../" + base);
    tree_.File(std::string(kFunction) + "/numa_node", "1\n");
    tree_.Directory("bus/pci/drivers/mlx5_core");
    tree_.Link(std::string(kFunction) + "/driver", "../../../../bus/pci/drivers/mlx5_core");
  }
  std::string Base(const std::string& name) { return "class/infiniband/" + name; }

  nicmon::testing::TempTree tree_;
  SysfsFiles sysfs_ = RealSysfs(tree_.root());
};

TEST_F(IdentityTest, OfAPhysicalFunction) {
  AddDevice("ibp59s0");
  const Identity identity = ReadIdentity(sysfs_, "ibp59s0");
  EXPECT_EQ(identity.node_guid, "0c42:a103:0065:4ba2");
  EXPECT_EQ(identity.sys_image_guid, "0c42:a103:0065:4ba0");
  EXPECT_EQ(identity.board_id, "MT_0000000838");
  EXPECT_EQ(identity.hca_type, "MT4129");
  EXPECT_EQ(identity.firmware_version, "28.39.1002");
  EXPECT_EQ(identity.driver, "mlx5_core");
  EXPECT_EQ(identity.pci_address, "0000:3b:00.0");
  EXPECT_EQ(identity.numa_node, 1);
  EXPECT_EQ(identity.node_type, "CA");
  EXPECT_EQ(identity.function, DeviceFunction::kPhysical);
  EXPECT_EQ(identity.physical_function, "");
  EXPECT_THAT(identity.netdev, IsEmpty());
}

TEST_F(IdentityTest, UnderNamesOfEachKind) {
  for (const std::string name : {"ibp202s0", "rocep3s0f0", "mlx5_bond_0", "rdmap113s0", "rxe0",
                                 "bnxt_re0", "irdma-ens1f0", "x.y:z"}) {
    AddDevice(name);
    const Identity identity = ReadIdentity(sysfs_, name);
    EXPECT_EQ(identity.node_guid, "0c42:a103:0065:4ba2") << name;
    EXPECT_EQ(identity.pci_address, "0000:3b:00.0") << name;
    EXPECT_EQ(identity.driver, "mlx5_core") << name;
  }
}

TEST_F(IdentityTest, OfAVirtualFunction) {
  AddDevice("x");
  tree_.Directory("devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1");
  tree_.Link(std::string(kFunction) + "/physfn", "../0000:3b:00.1");
  EXPECT_EQ(ReadFunction(sysfs_, "x"), DeviceFunction::kVirtual);
  EXPECT_EQ(ReadIdentity(sysfs_, "x").function, DeviceFunction::kVirtual);
  EXPECT_EQ(ReadIdentity(sysfs_, "x").physical_function, "0000:3b:00.1");
  EXPECT_EQ(ReadIdentity(sysfs_, "x").pci_address, "0000:3b:00.0");
  // A function whose physical one is passed to a guest: the link leads nowhere, and is there.
  for (const std::string nowhere : {"../0000:ff:00.0", "physfn", "/usr", "../../../pci0000:3a"}) {
    tree_.Link(std::string(kFunction) + "/physfn", nowhere);
    EXPECT_EQ(ReadFunction(sysfs_, "x"), DeviceFunction::kVirtual) << nowhere;
    EXPECT_EQ(ReadIdentity(sysfs_, "x").physical_function, "") << nowhere;
  }
}

TEST_F(IdentityTest, OfASubfunctionNamesThePciFunctionAbove) {
  AddDevice("parent");
  const std::string base = std::string(kFunction) + "/mlx5_core.sf.2/infiniband/x";
  tree_.File(base + "/node_type", "1: CA\n");
  tree_.Link(base + "/device", "../../../mlx5_core.sf.2");
  tree_.Link(Base("x"), "../../" + base);
  const Identity identity = ReadIdentity(sysfs_, "x");
  EXPECT_EQ(identity.function, DeviceFunction::kSubfunction);
  EXPECT_EQ(identity.pci_address, "0000:3b:00.0");
  EXPECT_EQ(identity.physical_function, "0000:3b:00.0");
  EXPECT_EQ(identity.numa_node, 1);
}

TEST_F(IdentityTest, OfAnotherAuxiliaryDeviceIsPhysicalUnlessNumbered) {
  const std::string aux = std::string(kFunction) + "/vendor.rdma.0";
  tree_.Directory(aux + "/infiniband/x");
  tree_.Link(aux + "/infiniband/x/device", "../../../vendor.rdma.0");
  tree_.Link(Base("x"), "../../" + aux + "/infiniband/x");
  EXPECT_EQ(ReadFunction(sysfs_, "x"), DeviceFunction::kPhysical);
  EXPECT_EQ(ReadIdentity(sysfs_, "x").pci_address, "0000:3b:00.0");
  tree_.File(aux + "/sfnum", "88\n");
  EXPECT_EQ(ReadFunction(sysfs_, "x"), DeviceFunction::kSubfunction);
}

TEST_F(IdentityTest, OfASoftwareDeviceHasNoHardware) {
  const std::string base = "devices/virtual/infiniband/rxe0";
  tree_.File(base + "/node_guid", "0000:0000:0000:0000\n");
  tree_.File(base + "/fw_ver", "\n");
  tree_.File(base + "/parent", "eth0\n");
  tree_.Directory(base + "/ports/1");
  tree_.Link(Base("rxe0"), "../../" + base);
  const Identity identity = ReadIdentity(sysfs_, "rxe0");
  EXPECT_EQ(identity.node_guid, "");
  EXPECT_EQ(identity.firmware_version, "");
  EXPECT_EQ(identity.pci_address, "");
  EXPECT_EQ(identity.driver, "");
  EXPECT_EQ(identity.numa_node, std::nullopt);
  EXPECT_EQ(identity.function, DeviceFunction::kPhysical);
  EXPECT_THAT(identity.netdev, ElementsAre(Pair(1, "eth0")));
}

TEST_F(IdentityTest, AVmdDomainIsAPciAddress) {
  tree_.Directory("devices/10000:e1:00.0");
  tree_.Link("class/infiniband/x/device", "../../../devices/10000:e1:00.0");
  EXPECT_EQ(ReadIdentity(sysfs_, "x").pci_address, "10000:e1:00.0");
}

TEST_F(IdentityTest, EachFieldMayBeMissingByItself) {
  const std::vector<std::string> files = {"node_guid", "sys_image_guid", "board_id", "hca_type",
                                          "fw_ver",    "node_type",      "device"};
  for (const std::string& file : files) {
    AddDevice("x");
    tree_.Remove(Base("x") + "/" + file);
    const Identity identity = ReadIdentity(sysfs_, "x");
    EXPECT_EQ(identity.node_guid.empty(), file == "node_guid");
    EXPECT_EQ(identity.sys_image_guid.empty(), file == "sys_image_guid");
    EXPECT_EQ(identity.board_id.empty(), file == "board_id");
    EXPECT_EQ(identity.hca_type.empty(), file == "hca_type");
    EXPECT_EQ(identity.firmware_version.empty(), file == "fw_ver");
    EXPECT_EQ(identity.node_type.empty(), file == "node_type");
    EXPECT_EQ(identity.pci_address.empty(), file == "device");
    EXPECT_EQ(identity.numa_node.has_value(), file != "device");
  }
}

TEST_F(IdentityTest, SomethingElseInPlaceOfAFile) {
  AddDevice("x");
  tree_.Remove(Base("x") + "/fw_ver");
  tree_.Directory(Base("x") + "/fw_ver");
  tree_.Remove(Base("x") + "/board_id");
  ASSERT_EQ(::mkfifo(tree_.Path(Base("x") + "/board_id").c_str(), 0600), 0);
  tree_.Link(Base("x") + "/hca_type", "hca_type");
  const Identity identity = ReadIdentity(sysfs_, "x");
  EXPECT_EQ(identity.firmware_version, "");
  EXPECT_EQ(identity.board_id, "");
  EXPECT_EQ(identity.hca_type, "");
  EXPECT_EQ(identity.node_guid, "0c42:a103:0065:4ba2");
}

TEST_F(IdentityTest, GarbageIsAbsentOrMadeHarmless) {
  AddDevice("x");
  tree_.File(Base("x") + "/node_guid", "not a guid\n");
  tree_.File(Base("x") + "/sys_image_guid", "0c42:a103:0065:4ba0:1111\n");
  tree_.File(Base("x") + "/node_type", "CA\n");
  tree_.File(Base("x") + "/board_id", "\xff\xfe board\x1b[31m \n\n");
  tree_.File(Base("x") + "/fw_ver", "  1.2\x01.3\t\n");
  tree_.File(std::string(kFunction) + "/numa_node", "-1\n");
  const Identity identity = ReadIdentity(sysfs_, "x");
  EXPECT_EQ(identity.node_guid, "");
  EXPECT_EQ(identity.sys_image_guid, "");
  EXPECT_EQ(identity.node_type, "");
  EXPECT_EQ(identity.board_id, "\xEF\xBF\xBD\xEF\xBF\xBD board[31m");
  EXPECT_EQ(identity.firmware_version, "1.2.3");
  EXPECT_EQ(identity.numa_node, std::nullopt);
  for (const char* node : {"99999999999999999999", "1x", "", "2147483648", "0x1"}) {
    tree_.File(std::string(kFunction) + "/numa_node", node);
    EXPECT_EQ(ReadIdentity(sysfs_, "x").numa_node, std::nullopt) << node;
  }
}

TEST_F(IdentityTest, HugeFilesAreCutOrAbsent) {
  AddDevice("x");
  const std::string huge(1 << 20, '1');
  for (const char* file : {"node_guid", "sys_image_guid", "board_id", "fw_ver", "node_type"}) {
    tree_.File(Base("x") + "/" + file, huge);
  }
  // Cut before a character, not in it, and not behind a blank.
  tree_.File(Base("x") + "/hca_type", std::string(126, 'h') + "\xe2\x82\xac\xe2\x82\xac");
  tree_.File(std::string(kFunction) + "/numa_node", huge);
  Identity identity = ReadIdentity(sysfs_, "x");
  EXPECT_EQ(identity.node_guid, "");
  EXPECT_EQ(identity.sys_image_guid, "");
  EXPECT_EQ(identity.node_type, "");
  EXPECT_EQ(identity.board_id, std::string(128, '1'));
  EXPECT_EQ(identity.firmware_version, std::string(128, '1'));
  EXPECT_EQ(identity.hca_type, std::string(126, 'h'));
  EXPECT_EQ(identity.numa_node, std::nullopt);
  tree_.File(Base("x") + "/hca_type", std::string(125, 'h') + "\xe2\x82\xac and more");
  tree_.File(Base("x") + "/board_id", std::string(127, 'b') + " and more");
  identity = ReadIdentity(sysfs_, "x");
  EXPECT_EQ(identity.hca_type, std::string(125, 'h') + "\xe2\x82\xac");
  EXPECT_EQ(identity.board_id, std::string(127, 'b'));
}

TEST_F(IdentityTest, NamesOfOddBytesComeOutAsText) {
  AddDevice("x");
  tree_.Directory(Base("x") + "/ports/1");
  tree_.File(std::string(kFunction) + "/net/eth\xff/dev_port", "0\n");
  tree_.Directory("bus/pci/drivers/odd\xfe");
  tree_.Link(std::string(kFunction) + "/driver", "../../../../bus/pci/drivers/odd\xfe");
  const Identity identity = ReadIdentity(sysfs_, "x");
  EXPECT_THAT(identity.netdev, ElementsAre(Pair(1, "eth\xEF\xBF\xBD")));
  EXPECT_EQ(identity.driver, "odd\xEF\xBF\xBD");
}

TEST_F(IdentityTest, ADeviceLinkOutOfTheRootOrInALoopIsNone) {
  AddDevice("x");
  tree_.Link(Base("x") + "/device", "/usr");
  EXPECT_EQ(ReadIdentity(sysfs_, "x").pci_address, "");
  tree_.Link(Base("x") + "/device", "device");
  EXPECT_EQ(ReadIdentity(sysfs_, "x").pci_address, "");
  EXPECT_EQ(ReadIdentity(sysfs_, "x").board_id, "MT_0000000838");
}

TEST_F(IdentityTest, NamesOfAnyShape) {
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."), std::string("a/b"),
        std::string("\xff\xff"), std::string("a\0b", 3), std::string(4096, 'a'),
        std::string("../../etc")}) {
    const Identity identity = ReadIdentity(sysfs_, name);
    EXPECT_EQ(identity.node_guid, "");
    EXPECT_THAT(ReadPortNumbers(sysfs_, name), IsEmpty());
    EXPECT_EQ(ReadPort(sysfs_, name, 1).state, std::nullopt);
    EXPECT_EQ(ReadGidNetdev(sysfs_, name, 1, 0), "");
    EXPECT_EQ(ReadFunction(sysfs_, name), DeviceFunction::kPhysical);
  }
  AddDevice("a b \xc3\xa9");
  EXPECT_EQ(ReadIdentity(sysfs_, "a b \xc3\xa9").pci_address, "0000:3b:00.0");
}

TEST_F(IdentityTest, PortNumbersAreNumbers) {
  for (const char* name : {"10", "2", "1", "0", "x", "3x", "-1", " 4", "99999999999"}) {
    tree_.Directory(std::string("class/infiniband/x/ports/") + name);
  }
  EXPECT_THAT(ReadPortNumbers(sysfs_, "x"), ElementsAre(1, 2, 10));
  EXPECT_THAT(ReadPortNumbers(sysfs_, "y"), IsEmpty());
}

TEST_F(IdentityTest, Port) {
  const std::string port = "class/infiniband/x/ports/1";
  tree_.File(port + "/state", "4: ACTIVE\n");
  tree_.File(port + "/phys_state", "5: LinkUp\n");
  tree_.File(port + "/rate", "400 Gb/sec (4X NDR)\n");
  tree_.File(port + "/lid", "0x1f\n");
  tree_.File(port + "/sm_lid", "0x1\n");
  tree_.File(port + "/link_layer", "InfiniBand\n");
  const SysfsPort read = ReadPort(sysfs_, "x", 1);
  EXPECT_EQ(read.state, 4);
  EXPECT_EQ(read.physical_state, 5);
  EXPECT_EQ(read.speed_bps, 400'000'000'000U);
  EXPECT_EQ(read.lid, 0x1fU);
  EXPECT_EQ(read.sm_lid, 1U);
  EXPECT_EQ(read.link_layer, "InfiniBand");
}

TEST_F(IdentityTest, RatesToTenths) {
  const std::string rate = "class/infiniband/x/ports/1/rate";
  const auto read = [&](const char* text) {
    tree_.File(rate, text);
    return ReadPort(sysfs_, "x", 1).speed_bps;
  };
  EXPECT_EQ(read("2.5 Gb/sec (1X SDR)\n"), 2'500'000'000U);
  EXPECT_EQ(read("56 Gb/sec (4X FDR)\n"), 56'000'000'000U);
  EXPECT_EQ(read("1600 Gb/sec (8X XDR)\n"), 1'600'000'000'000U);
  for (const char* bad :
       {"", "\n", "0 Gb/sec", "100", "x Gb/sec", "-5 Gb/sec", "2.55 Gb/sec", "2.05 Gb/sec",
        "2. Gb/sec", ".5 Gb/sec", "99999999999999999999 Gb/sec", "18446744073709551615 Gb/sec"}) {
    EXPECT_EQ(read(bad), std::nullopt) << bad;
  }
}

TEST_F(IdentityTest, AnUnreadablePortFieldHidesNoOther) {
  const std::string port = "class/infiniband/x/ports/1";
  tree_.File(port + "/state", "ACTIVE\n");
  tree_.Directory(port + "/phys_state");
  tree_.File(port + "/lid", "17\n");
  tree_.File(port + "/sm_lid", "0x1ffffffff\n");
  tree_.File(port + "/link_layer", "Unknown\n");
  tree_.File(port + "/rate", "10 Gb/sec (1X FDR10)\n");
  const SysfsPort read = ReadPort(sysfs_, "x", 1);
  EXPECT_EQ(read.state, std::nullopt);
  EXPECT_EQ(read.physical_state, std::nullopt);
  EXPECT_EQ(read.lid, std::nullopt);
  EXPECT_EQ(read.sm_lid, std::nullopt);
  EXPECT_EQ(read.link_layer, "");
  EXPECT_EQ(read.speed_bps, 10'000'000'000U);
  EXPECT_EQ(ReadPort(sysfs_, "x", 2).state, std::nullopt);
}

}  // namespace
}  // namespace nicmon
