#include <cerrno>
#include <set>

#include "sim/sim_testing.h"

namespace nicmon {
namespace {

class SimSysfsTest : public SimTest {};
class SimIbSysfsTest : public SimTest {
 protected:
  SimIbSysfsTest() : SimTest("devices=2,ports=2,link=ib") {}
};

const std::string kPort = "class/infiniband/mlx5_0/ports/1";

GidEntry Gid(uint32_t index, uint32_t type, uint8_t last) {
  GidEntry entry;
  entry.index = index;
  entry.type = type;
  entry.gid.raw[10] = entry.gid.raw[11] = 0xff;
  entry.gid.raw[12] = 192;
  entry.gid.raw[15] = last;
  return entry;
}

TEST_F(SimSysfsTest, LayoutOfAClassDevice) {
  EXPECT_EQ(sysfs_.list("class/infiniband"), (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(sysfs_.list("class/infiniband/mlx5_0/ports"), (std::vector<std::string>{"1"}));
  EXPECT_EQ(Text("class/infiniband/mlx5_0/node_type"), "1: CA\n");
  EXPECT_EQ(Text("class/infiniband/mlx5_0/node_guid"), "0c42:a103:0065:0000\n");
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs1/ibdev"), "mlx5_1\n");
  EXPECT_EQ(sysfs_.resolve("class/infiniband/mlx5_0/device"), "devices/pci0000:01/0000:01:00.0");
  EXPECT_EQ(sysfs_.resolve("class/infiniband/mlx5_0/device/driver"), "bus/pci/drivers/mlx5_core");
  EXPECT_EQ(sysfs_.resolve("class/net/eth0/device"), "devices/pci0000:01/0000:01:00.0");
  EXPECT_EQ(Text("class/infiniband/mlx5_0/device/numa_node"), "0\n");
  EXPECT_EQ(Text("class/infiniband/mlx5_1/device/numa_node"), "1\n");
}

TEST_F(SimSysfsTest, PortFilesOfAFreshPort) {
  EXPECT_EQ(Text(kPort + "/state"), "4: ACTIVE\n");
  EXPECT_EQ(Text(kPort + "/phys_state"), "5: LinkUp\n");
  EXPECT_EQ(Text(kPort + "/rate"), "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(Text(kPort + "/lid"), "0x0\n");
  EXPECT_EQ(Text(kPort + "/link_layer"), "Ethernet\n");
  EXPECT_EQ(Text("class/net/eth0/speed"), "400000\n");
  EXPECT_EQ(Text(kPort + "/counters/link_downed"), "0\n");
  EXPECT_EQ(Text(kPort + "/hw_counters/out_of_buffer"), "0\n");
}

TEST_F(SimSysfsTest, FollowsTheState) {
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  command.physical_state = 2;
  command.counters = {{"link_downed", 3}, {"out_of_buffer", 7}, {"vendor_counter", 9}};
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text(kPort + "/state"), "1: DOWN\n");
  EXPECT_EQ(Text(kPort + "/phys_state"), "2: Polling\n");
  EXPECT_EQ(Text("class/net/eth0/speed"), "-1\n");
  EXPECT_EQ(Text(kPort + "/counters/link_downed"), "3\n");
  EXPECT_EQ(Text(kPort + "/hw_counters/out_of_buffer"), "7\n");
  EXPECT_EQ(Text(kPort + "/hw_counters/vendor_counter"), "9\n");
  EXPECT_EQ(Text("class/infiniband/mlx5_1/ports/1/state"), "4: ACTIVE\n");
}

TEST_F(SimSysfsTest, CarrierChangesCountTheLinkComingAndGoing) {
  const std::string file = "class/net/eth0/carrier_changes";
  EXPECT_EQ(Text(file), "1\n");
  SimCommand command = ForDevice("mlx5_0");
  for (const int state : {IBV_PORT_ACTIVE, IBV_PORT_DOWN, IBV_PORT_INIT, IBV_PORT_ACTIVE}) {
    command.state = state;
    ASSERT_EQ(rnic_.Apply(command), "");
  }
  EXPECT_EQ(Text(file), "3\n");
  EXPECT_EQ(Text("class/net/eth1/carrier_changes"), "1\n");
  SimCommand life = ForDevice("mlx5_0");
  life.unplug = true;
  ASSERT_EQ(rnic_.Apply(life), "");
  life = ForDevice("mlx5_0");
  life.plug = true;
  ASSERT_EQ(rnic_.Apply(life), "");
  EXPECT_EQ(Text(file), "1\n");  // a new netdev
}

TEST_F(SimSysfsTest, RateFollowsTheCodes) {
  SimCommand command = ForDevice("mlx5_0");
  command.active_speed = 32;
  command.active_width = 1;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text(kPort + "/rate"), "25 Gb/sec (1X EDR)\n");
  EXPECT_EQ(Text("class/net/eth0/speed"), "25000\n");
  command.active_speed = 1;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text(kPort + "/rate"), "2.5 Gb/sec (1X SDR)\n");
  command.active_speed = 128;
  command.active_speed_ex = 256;
  command.active_width = 2;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text(kPort + "/rate"), "800 Gb/sec (4X XDR)\n");
  command.active_width = 3;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(sysfs_.read(kPort + "/rate").error, EINVAL);
}

TEST_F(SimSysfsTest, SpeedCodesStayInStepUnlessTheLongOneIsAbsent) {
  const ContextHandle context = Open("mlx5_0");
  PortAttributes port;
  SimCommand command = ForDevice("mlx5_0");
  command.active_speed = 64;
  ASSERT_EQ(rnic_.Apply(command), "");
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.active_speed_ex, 64u);
  command.active_speed_ex = 0;  // as an old library
  ASSERT_EQ(rnic_.Apply(command), "");
  command.active_speed_ex.reset();
  command.active_speed = 32;
  ASSERT_EQ(rnic_.Apply(command), "");
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.active_speed, 32u);
  EXPECT_EQ(port.active_speed_ex, 0u);
}

TEST_F(SimSysfsTest, GidsAgreeWithTheVerbs) {
  const ContextHandle context = Open("mlx5_0");
  std::vector<GidEntry> gids;
  ASSERT_EQ(verbs_->query_gid_table(context.get(), 16, &gids), 0);
  ASSERT_EQ(gids.size(), 4u);
  EXPECT_EQ(gids[3].index, 3u);
  EXPECT_EQ(gids[3].port, 1u);
  EXPECT_EQ(gids[3].type, 2u);
  EXPECT_EQ(Text(kPort + "/gids/3"), "0000:0000:0000:0000:0000:ffff:0a01:0001\n");
  EXPECT_EQ(Text(kPort + "/gid_attrs/types/3"), "RoCE v2\n");
  EXPECT_EQ(Text(kPort + "/gid_attrs/types/2"), "IB/RoCE v1\n");
  EXPECT_EQ(Text(kPort + "/gid_attrs/ndevs/3"), "eth0\n");
  EXPECT_EQ(Text(kPort + "/gids/4"), "0000:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(sysfs_.read(kPort + "/gid_attrs/types/4").error, EINVAL);
  GidEntry entry;
  EXPECT_EQ(verbs_->query_gid(context.get(), 1, 4, &entry), ENODATA);
  EXPECT_EQ(verbs_->query_gid(context.get(), 1, 16, &entry), EINVAL);
  EXPECT_EQ(verbs_->query_gid_table(context.get(), 3, &gids), EINVAL);
}

TEST_F(SimSysfsTest, SetGidsReplacesTheTable) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(rnic_.SetGids("mlx5_0", 1, {Gid(5, 2, 9), Gid(7, 2, 10)}, {{7, "cni0"}}), "");
  GidEntry entry;
  EXPECT_EQ(verbs_->query_gid(context.get(), 1, 0, &entry), ENODATA);
  ASSERT_EQ(verbs_->query_gid(context.get(), 1, 5, &entry), 0);
  EXPECT_EQ(entry.port, 1u);
  EXPECT_EQ(entry.gid.raw[15], 9);
  EXPECT_EQ(Text(kPort + "/gids/5"), "0000:0000:0000:0000:0000:ffff:c000:0009\n");
  EXPECT_EQ(sysfs_.read(kPort + "/gid_attrs/ndevs/5").error, EINVAL);
  EXPECT_EQ(Text(kPort + "/gid_attrs/ndevs/7"), "cni0\n");
  EXPECT_EQ(sysfs_.read(kPort + "/gid_attrs/types/0").error, EINVAL);

  EXPECT_EQ(rnic_.SetGids("mlx5_0", 1, {}), "");
  std::vector<GidEntry> gids = {entry};
  ASSERT_EQ(verbs_->query_gid_table(context.get(), 16, &gids), 0);
  EXPECT_TRUE(gids.empty());
  EXPECT_NE(rnic_.SetGids("mlx5_0", 2, {}), "");
  EXPECT_NE(rnic_.SetGids("mlx5_0", 1, {Gid(16, 2, 1)}), "");
}

TEST_F(SimSysfsTest, SetFileStandsAgainstTheState) {
  ASSERT_EQ(rnic_.SetFile(kPort + "/rate", {0, "garbage"}), "");
  ASSERT_EQ(rnic_.SetFile("class/net/eth0/speed", {0, "50000\n"}), "");
  ASSERT_EQ(rnic_.SetFile(kPort + "/counters/link_downed", {EINVAL, ""}), "");
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_ACTIVE;
  command.counters = {{"link_downed", 3}};
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text(kPort + "/rate"), "garbage");
  EXPECT_EQ(Text("class/net/eth0/speed"), "50000\n");
  EXPECT_EQ(sysfs_.read(kPort + "/counters/link_downed").error, EINVAL);
  ASSERT_EQ(rnic_.SetFile("class/infiniband/mlx5_0/device/physfn/marker", {0, ""}), "");
  EXPECT_TRUE(sysfs_.inode("class/infiniband/mlx5_0/device/physfn"));
  EXPECT_NE(rnic_.SetFile(kPort, {0, ""}), "");
}

TEST_F(SimSysfsTest, RemoveFileTakesAwayFilesAndDirectories) {
  ASSERT_EQ(rnic_.RemoveFile(kPort + "/counters"), "");
  EXPECT_EQ(sysfs_.read(kPort + "/counters/link_downed").error, ENOENT);
  EXPECT_TRUE(sysfs_.list(kPort + "/counters").empty());
  EXPECT_NE(rnic_.RemoveFile(kPort + "/counters"), "");
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(sysfs_.read(kPort + "/counters/link_downed").error, ENOENT);
}

TEST_F(SimSysfsTest, ReadsAreToldApart) {
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_9/state").error, ENOENT);
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_0").error, EINVAL);
  EXPECT_TRUE(sysfs_.list("class/nothing").empty());
  EXPECT_EQ(sysfs_.resolve("class/nothing"), std::nullopt);
  EXPECT_EQ(sysfs_.inode("class/nothing"), std::nullopt);
  const uint64_t reads = rnic_.Calls("sysfs_read");
  Text(kPort + "/state");
  EXPECT_EQ(rnic_.Calls("sysfs_read"), reads + 1);
}

TEST_F(SimIbSysfsTest, InfinibandHasLidsAndOneGidAndNoNetdevBehindIt) {
  const ContextHandle context = Open("mlx5_1");
  PortAttributes port;
  ASSERT_EQ(verbs_->query_port(context.get(), 2, &port), 0);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_NE(port.lid, 0u);
  EXPECT_EQ(port.sm_lid, 1u);
  std::vector<GidEntry> gids;
  ASSERT_EQ(verbs_->query_gid_table(context.get(), 32, &gids), 0);
  ASSERT_EQ(gids.size(), 2u);
  EXPECT_EQ(gids[1].port, 2u);
  EXPECT_EQ(gids[1].type, 0u);
  const std::string directory = "class/infiniband/mlx5_1/ports/2";
  EXPECT_EQ(Text(directory + "/link_layer"), "InfiniBand\n");
  EXPECT_EQ(sysfs_.read(directory + "/gid_attrs/ndevs/0").error, EINVAL);
  EXPECT_EQ(Text("class/infiniband/mlx5_1/device/net/ib3/dev_port"), "1\n");
}

TEST_F(SimIbSysfsTest, TwoPortsNeedAPortNumberAndKeepApart) {
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  EXPECT_NE(rnic_.Apply(command), "");
  command.port = 3;
  EXPECT_NE(rnic_.Apply(command), "");
  command.port = 2;
  EXPECT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Text("class/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n");
  EXPECT_EQ(Text("class/infiniband/mlx5_0/ports/2/state"), "1: DOWN\n");
  SimCommand event = ForDevice("mlx5_0");
  event.event = IBV_EVENT_PORT_ERR;
  EXPECT_NE(rnic_.Apply(event), "");
  event.event = IBV_EVENT_DEVICE_FATAL;
  EXPECT_EQ(rnic_.Apply(event), "");
}

}  // namespace
}  // namespace nicmon
