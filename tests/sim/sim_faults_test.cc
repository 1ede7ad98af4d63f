#include <atomic>
#include <cerrno>
#include <thread>

#include "sim/sim_testing.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SimFaultsTest : public SimTest {
 protected:
  std::string Fail(const std::string& device, const std::string& verb, int error,
                   uint32_t times = 1, uint32_t skip = 0) {
    SimCommand command = ForDevice(device);
    command.fail = SimCommand::Fail{verb, error, times, skip};
    return rnic_.Apply(command);
  }

  std::string Hang(const std::string& device, const std::string& verb, Duration duration) {
    SimCommand command = ForDevice(device);
    command.hang = SimCommand::Hang{verb, duration};
    return rnic_.Apply(command);
  }

  int Query(const ContextHandle& context) {
    PortAttributes port;
    return verbs_->query_port(context.get(), 1, &port);
  }
};

TEST_F(SimFaultsTest, ACommandThatSaysNothingIsRefused) {
  SimCommand command = ForDevice("mlx5_0");
  command.repeat = 5;  // of an event that was forgotten
  EXPECT_NE(rnic_.Apply(command).find("nothing to do"), std::string::npos);
}

TEST_F(SimFaultsTest, FailsTheNthCallsOfOneDeviceOnly) {
  const ContextHandle context = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  ASSERT_EQ(Fail("mlx5_0", "query_port", ETIMEDOUT, 2, 1), "");
  EXPECT_EQ(Query(context), 0);
  EXPECT_EQ(Query(context), ETIMEDOUT);
  EXPECT_EQ(Query(other), 0);
  EXPECT_EQ(Query(context), ETIMEDOUT);
  EXPECT_EQ(Query(context), 0);
}

TEST_F(SimFaultsTest, EveryVerbFailsWithTheChosenErrno) {
  int error = 0;
  const ContextHandle context = Open("mlx5_0");
  PdHandle pd = AllocPd(verbs_, context.get(), &error);
  ChannelHandle channel = CreateChannel(verbs_, context.get(), &error);
  CqHandle cq = CreateCq(verbs_, context.get(), 1, nullptr, 0, &error);
  DeviceAttributes device;
  uint64_t speed = 0;
  GidEntry gid;
  std::vector<GidEntry> gids;
  ibv_async_event event;
  const std::pair<const char*, std::function<int()>> verbs[] = {
      {"close_device", [&] { return verbs_->close_device(context.get()); }},
      {"query_device", [&] { return verbs_->query_device(context.get(), &device); }},
      {"query_port", [&] { return Query(context); }},
      {"query_port_speed", [&] { return verbs_->query_port_speed(context.get(), 1, &speed); }},
      {"query_gid", [&] { return verbs_->query_gid(context.get(), 1, 0, &gid); }},
      {"query_gid_table", [&] { return verbs_->query_gid_table(context.get(), 99, &gids); }},
      {"get_async_event", [&] { return verbs_->get_async_event(context.get(), &event); }},
      {"dealloc_pd", [&] { return verbs_->dealloc_pd(pd.get()); }},
      {"destroy_comp_channel", [&] { return verbs_->destroy_comp_channel(channel.get()); }},
      {"destroy_cq", [&] { return verbs_->destroy_cq(cq.get()); }},
  };
  for (const auto& [verb, call] : verbs) {
    ASSERT_EQ(Fail("mlx5_0", verb, ENOLINK), "");
    EXPECT_EQ(call(), ENOLINK) << verb;
  }
  // What failed to be released is still held, and can be released.
  EXPECT_EQ(rnic_.Held(), (SimHeld{0, 1, 1, 1, 1, 0, 0}));
}

TEST_F(SimFaultsTest, NewFailureReplacesTheOldAndZeroTimesTakesItBack) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Fail("mlx5_0", "query_port", EIO, 100), "");
  ASSERT_EQ(Fail("mlx5_0", "query_port", EBUSY, 100), "");
  EXPECT_EQ(Query(context), EBUSY);
  ASSERT_EQ(Fail("mlx5_0", "query_port", EBUSY, 0), "");
  EXPECT_EQ(Query(context), 0);
}

TEST_F(SimFaultsTest, ListFailureIsNodeWideAndCountsEveryCallOnce) {
  int error = 0;
  ASSERT_EQ(Fail("", "get_device_list", ENOMEM, 1, 1), "");
  EXPECT_TRUE(DeviceList::Get(verbs_, &error));
  EXPECT_FALSE(DeviceList::Get(verbs_, &error));
  EXPECT_EQ(error, ENOMEM);
  EXPECT_TRUE(DeviceList::Get(verbs_, &error));
  ASSERT_EQ(Fail("mlx5_0", "get_device_list", EIO), "");
  EXPECT_FALSE(DeviceList::Get(verbs_, &error));
  EXPECT_EQ(rnic_.Held(), SimHeld{});
}

TEST_F(SimFaultsTest, FaultWithoutADeviceMeetsEveryDevice) {
  const ContextHandle context = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  ASSERT_EQ(Fail("", "query_port", EIO, 2), "");
  EXPECT_EQ(Query(context), EIO);
  EXPECT_EQ(Query(other), EIO);
  EXPECT_EQ(Query(other), 0);
}

TEST_F(SimFaultsTest, HangBlocksItsDeviceOnlyAndEndsEarly) {
  const ContextHandle context = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  ASSERT_EQ(Hang("mlx5_0", "query_port", kLong), "");
  std::atomic<bool> done{false};
  std::thread stuck([&] {
    EXPECT_EQ(Query(context), 0);
    done = true;
  });
  ASSERT_TRUE(rnic_.AwaitHanging(1, kLong));
  EXPECT_EQ(rnic_.Hanging(), 1);
  EXPECT_EQ(Query(other), 0);
  EXPECT_EQ(ListSize(), 2u);
  EXPECT_EQ(Text("class/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n");
  EXPECT_FALSE(done);
  rnic_.EndHangs();
  stuck.join();
  EXPECT_EQ(rnic_.Hanging(), 0);
  EXPECT_EQ(Query(context), 0);  // none hangs any more
}

TEST_F(SimFaultsTest, HangEndsByItselfAndAnswersWithTheStateOfThatMoment) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Hang("mlx5_0", "query_port", kLong), "");
  PortAttributes port;
  std::thread stuck([&] { EXPECT_EQ(verbs_->query_port(context.get(), 1, &port), 0); });
  ASSERT_TRUE(rnic_.AwaitHanging(1, kLong));
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  command.hang = SimCommand::Hang{"query_port", milliseconds(1)};
  ASSERT_EQ(rnic_.Apply(command), "");
  stuck.join();
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
}

TEST_F(SimFaultsTest, ZeroEndsAHang) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Hang("mlx5_0", "query_port", kLong), "");
  std::thread stuck([&] { EXPECT_EQ(Query(context), 0); });
  ASSERT_TRUE(rnic_.AwaitHanging(1, kLong));
  ASSERT_EQ(Hang("mlx5_0", "query_port", Duration::zero()), "");
  stuck.join();
}

TEST_F(SimFaultsTest, UnpluggedWhileHangingGivesEio) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Hang("mlx5_0", "query_port", kLong), "");
  std::thread stuck([&] { EXPECT_EQ(Query(context), EIO); });
  ASSERT_TRUE(rnic_.AwaitHanging(1, kLong));
  SimCommand unplug = ForDevice("mlx5_0");
  unplug.unplug = true;
  ASSERT_EQ(rnic_.Apply(unplug), "");
  rnic_.EndHangs();
  stuck.join();
}

TEST_F(SimFaultsTest, SysfsReadsFailAndHangByDevice) {
  ASSERT_EQ(Fail("mlx5_0", "sysfs_read", EIO), "");
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_1/ports/1/state").error, 0);
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_0/ports/1/state").error, EIO);
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_0/ports/1/state").error, 0);
  ASSERT_EQ(Hang("mlx5_0", "sysfs_read", kLong), "");
  std::thread stuck(
      [&] { EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_0/device/numa_node").error, 0); });
  ASSERT_TRUE(rnic_.AwaitHanging(1, kLong));
  EXPECT_EQ(sysfs_.read("class/infiniband/mlx5_1/device/numa_node").error, 0);
  rnic_.EndHangs();
  stuck.join();
}

TEST_F(SimFaultsTest, DestructionFreesWhatHangs) {
  auto rnic = std::make_unique<SimulatedRnic>(Spec("devices=1"));
  const auto verbs = rnic->verbs();
  SimCommand command;
  command.hang = SimCommand::Hang{"get_device_list", kLong};
  ASSERT_EQ(rnic->Apply(command), "");
  std::thread stuck([&] {
    int error = 0;
    EXPECT_EQ(DeviceList::Get(verbs, &error).devices().size(), 1u);
  });
  ASSERT_TRUE(rnic->AwaitHanging(1, kLong));
  rnic.reset();
  stuck.join();
}

TEST_F(SimFaultsTest, WrongCommandsAreExplainedAndChangeNothing) {
  EXPECT_NE(Fail("mlx5_0", "query_pork", EIO).find("query_port"), std::string::npos);
  EXPECT_NE(Fail("mlx5_0", "query_port", 0), "");
  EXPECT_NE(Hang("mlx5_0", "nothing", kLong), "");
  EXPECT_NE(Hang("mlx5_0", "query_port", seconds(-1)), "");
  EXPECT_NE(Fail("mlx5_9", "query_port", EIO), "");
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  command.fail = SimCommand::Fail{"no_such_verb", EIO, 1, 0};
  EXPECT_NE(rnic_.Apply(command), "");
  const ContextHandle context = Open("mlx5_0");
  PortAttributes port;
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
}

}  // namespace
}  // namespace nicmon
