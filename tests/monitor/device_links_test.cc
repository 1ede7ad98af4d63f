#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <map>
#include <string>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/sim/simulated_rnic.h"
#include "testing/fake_clock.h"

// What a device's thread reads of its PCIe link and its netdevs, turn by turn.
namespace nicmon {
namespace {

using std::chrono::seconds;

constexpr char kFunction[] = "devices/pci0000:01/0000:01:00.0";

class DeviceLinksTest : public ::testing::Test {
 protected:
  DeviceLinksTest() {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->sysfs.keep = [this, keep = shared->sysfs.keep](const std::string& path) {
      ++kept_[path];
      return [this, path, read = keep(path)] {
        last_read_ = path;
        clock_.Advance(read_takes_);
        return read();
      };
    };
    shared->clock = clock_.clock();
    shared->holds = std::make_shared<Holds>(clock_.clock());
    shared->stats = std::make_shared<NodeStats>();
    monitor_ = std::make_unique<DeviceMonitor>(1, shared, DeviceSighting{"rdma0", 0, "uverbs0"});
    Turn();
  }
  void Turn() { monitor_->Turn(Duration(0)); }
  /// Until what is due has been read.
  void Settle() {
    for (uint64_t reads = 0; reads != sim_.Calls("sysfs_read");) {
      reads = sim_.Calls("sysfs_read");
      Turn();
    }
  }
  /// Into the next round, up to this file.
  void TurnUntilRead(const std::string& file) {
    clock_.Advance(seconds(15));
    for (int turn = 0; turn < 1000 && !last_read_.ends_with("/" + file); ++turn) {
      Turn();
    }
    ASSERT_TRUE(last_read_.ends_with("/" + file));
  }
  void Advance(Duration by) {
    clock_.Advance(by);
    Settle();
  }
  void SetFile(const std::string& path, const std::string& text) {
    ASSERT_EQ(sim_.SetFile(path, {0, text + "\n"}), "");
  }
  void Apply(SimCommand command) {
    command.device = "rdma0";
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void Unplug() {
    SimCommand gone;
    gone.unplug = true;
    Apply(gone);
    Settle();
  }
  void PlugBackIn() {
    SimCommand back;
    back.plug = true;
    Apply(back);
    monitor_->OnDiscovery(DeviceSighting{"rdma0", 1, "uverbs0"});
    Settle();
  }
  std::shared_ptr<const DeviceSnapshot> Device() { return monitor_->snapshot(); }
  PortSnapshot Port() { return Device()->ports.at(0); }

  nicmon::testing::FakeClock clock_;
  std::string last_read_;
  std::map<std::string, int> kept_;                       // how often, by path
  Duration read_takes_ = std::chrono::microseconds(100);  // each has a turn of its own
  SimulatedRnic sim_{SimulationSpec{{"rdma0"}, 1, 400, false}};
  std::unique_ptr<DeviceMonitor> monitor_;
};

TEST_F(DeviceLinksTest, AreReadWithTheCountersAFileATurn) {
  EXPECT_EQ(Device()->pcie, PcieLink());
  while (Device()->pcie == PcieLink()) {
    const uint64_t reads = sim_.Calls("sysfs_read");
    Turn();
    ASSERT_EQ(sim_.Calls("sysfs_read"), reads + 1);
  }
  EXPECT_EQ(Device()->pcie, (PcieLink{32e9, 32e9, 16, 16}));
  EXPECT_EQ(Port().netdev.carrier_changes, 1U);
  EXPECT_EQ(Port().netdev.bond_members, std::nullopt);
  EXPECT_NE(Port().stats, std::nullopt);
}

TEST_F(DeviceLinksTest, AreReadAgainOnceAnInterval) {
  Settle();
  Advance(seconds(15));
  SetFile(std::string(kFunction) + "/current_link_width", "8");
  SimCommand down;
  down.state = kStateDown;
  Apply(down);
  Turn();
  EXPECT_EQ(Device()->pcie.width, 16U);
  EXPECT_EQ(Port().netdev.carrier_changes, 1U);
  Advance(seconds(15));
  EXPECT_EQ(Device()->pcie.width, 8U);
  EXPECT_TRUE(BelowMaximum(Device()->pcie));
  EXPECT_EQ(Port().netdev.carrier_changes, 2U);
}

TEST_F(DeviceLinksTest, AClosedDeviceHasNone) {
  Settle();
  TurnUntilRead("current_link_width");
  Unplug();
  EXPECT_EQ(Device()->status, DeviceStatus::kFatal);
  EXPECT_EQ(Device()->pcie, PcieLink());
  EXPECT_EQ(Port().netdev, NetdevAttributes());
  PlugBackIn();
  EXPECT_EQ(Device()->pcie.width, 16U);
  EXPECT_EQ(Port().netdev.carrier_changes, 1U);
}

TEST_F(DeviceLinksTest, DescriptorsAreKeptWhileTheDeviceIsOpenAndNoLonger) {
  const std::string width = std::string(kFunction) + "/current_link_width";
  Settle();
  Advance(seconds(15));
  EXPECT_EQ(kept_[width], 1);
  Unplug();
  PlugBackIn();
  EXPECT_EQ(Device()->pcie.width, 16U);
  EXPECT_EQ(kept_[width], 2);
}

TEST_F(DeviceLinksTest, ARoundThatARenameCutShortIsBegunAnew) {
  Settle();
  TurnUntilRead("current_link_width");
  SimCommand rename;
  rename.rename = "rdma1";
  Apply(rename);
  monitor_->OnDiscovery(DeviceSighting{"rdma1", 0, "uverbs0"});
  SetFile(std::string(kFunction) + "/current_link_speed", "8.0 GT/s PCIe");
  Settle();
  EXPECT_EQ(Device()->name, "rdma1");
  EXPECT_EQ(Device()->pcie, (PcieLink{8e9, 32e9, 16, 16}));
}

TEST_F(DeviceLinksTest, AnotherNetdevHasItsSpeedReadAtOnce) {
  SimCommand codes;  // 100 Gb/s without a speed verb: what is not to be believed
  codes.fail = SimCommand::Fail{"query_port_speed", EOPNOTSUPP, 1000, 0};
  codes.active_speed = 32;
  Apply(codes);
  // For ten seconds after it came back a port's GIDs are looked at with each tick.
  for (const auto& [state, event] : {std::pair(kStateDown, IBV_EVENT_PORT_ERR),
                                     std::pair(kStateActive, IBV_EVENT_PORT_ACTIVE)}) {
    SimCommand flap;
    flap.state = state;
    flap.event = event;
    Apply(flap);
    Turn();
  }
  Advance(seconds(1));
  EXPECT_EQ(Port().speed_source, SpeedSource::kEncoded);
  SetFile(std::string(kFunction) + "/net/eth9/dev_port", "0");
  SetFile("class/net/eth9/speed", "50000");
  GidEntry gid;
  gid.port = 1;
  gid.type = 2;
  gid.gid.raw[15] = 1;
  ASSERT_EQ(sim_.SetGids("rdma0", 1, {gid}, {{0, "eth9"}}), "");
  Advance(seconds(1));  // the scan finds it
  EXPECT_EQ(Device()->identity.netdev.at(1), "eth9");
  Advance(seconds(1));
  EXPECT_EQ(Port().speed_source, SpeedSource::kNetdev);
  EXPECT_EQ(Port().effective_speed_bps, 50'000'000'000U);
}

TEST_F(DeviceLinksTest, TheFirmwareOfTheVerbsOutlivesANewIdentity) {
  SetFile("class/infiniband/rdma0/fw_ver", "");
  GidEntry gid;
  gid.port = 1;
  gid.type = 2;
  gid.gid.raw[15] = 1;
  ASSERT_EQ(sim_.SetGids("rdma0", 1, {gid}), "");
  ASSERT_EQ(sim_.SetFile("class/infiniband/rdma0/hca_type", {0, "read again"}), "");
  SimCommand change;
  change.event = IBV_EVENT_GID_CHANGE;
  Apply(change);
  Turn();
  EXPECT_EQ(Device()->identity.hca_type, "read again");
  EXPECT_EQ(Device()->identity.firmware_version, "28.42.1000");
}

}  // namespace
}  // namespace nicmon
