#include <cerrno>
#include <thread>

#include "nicmon/verbs/drain.h"
#include "sim/sim_testing.h"

namespace nicmon {
namespace {

class SimLifeTest : public SimTest {
 protected:
  std::string Unplug(const std::string& device, bool silent = false) {
    SimCommand command = ForDevice(device);
    command.unplug = true;
    command.silent = silent;
    return rnic_.Apply(command);
  }
  std::string Plug(const std::string& device, std::optional<std::string> rename = std::nullopt) {
    SimCommand command = ForDevice(device);
    command.plug = true;
    command.rename = std::move(rename);
    return rnic_.Apply(command);
  }
  std::string Rename(const std::string& device, const std::string& name) {
    SimCommand command = ForDevice(device);
    command.rename = name;
    return rnic_.Apply(command);
  }

  int Query(const ContextHandle& context) {
    PortAttributes port;
    return verbs_->query_port(context.get(), 1, &port);
  }
  int Index(const std::string& name) {
    int error = 0;
    const DeviceList list = DeviceList::Get(verbs_, &error);
    for (ibv_device* device : list.devices()) {
      if (verbs_->get_device_name(device) == name) {
        return verbs_->get_device_index(device);
      }
    }
    return -1;
  }
};

TEST_F(SimLifeTest, UnplugSendsFatalThenEveryVerbGivesEio) {
  int error = 0;
  const DeviceList before = DeviceList::Get(verbs_, &error);
  ContextHandle context = Open("mlx5_0");
  PdHandle pd = AllocPd(verbs_, context.get(), &error);
  ASSERT_EQ(Unplug("mlx5_0"), "");
  const DrainResult drained = DrainEvents(*verbs_, context.get(), 10, [](const AsyncEvent& event) {
    EXPECT_EQ(event.type, IBV_EVENT_DEVICE_FATAL);
  });
  EXPECT_TRUE(drained.device_fatal);
  ibv_async_event event;
  EXPECT_EQ(verbs_->get_async_event(context.get(), &event), EAGAIN);
  EXPECT_EQ(Query(context), EIO);
  EXPECT_FALSE(AllocPd(verbs_, context.get(), &error));
  EXPECT_EQ(error, EIO);
  EXPECT_FALSE(OpenDevice(verbs_, before.devices()[0], &error));
  EXPECT_EQ(error, ENOENT);
  EXPECT_EQ(ListSize(), 1u);
  EXPECT_TRUE(sysfs_.list("class/infiniband") == std::vector<std::string>{"mlx5_1"});
  // The kernel has dropped the object although the release verb fails; closing works.
  EXPECT_EQ(verbs_->dealloc_pd(pd.release()), EIO);
  EXPECT_EQ(verbs_->close_device(context.release()), 0);
  EXPECT_EQ(rnic_.Held(), (SimHeld{.device_lists = 1}));
}

TEST_F(SimLifeTest, OldContextStaysDeadAfterReplug) {
  const ContextHandle context = Open("mlx5_0");
  const int index = Index("mlx5_0");
  ASSERT_EQ(Unplug("mlx5_0"), "");
  ASSERT_EQ(Plug("mlx5_0"), "");
  EXPECT_GT(Index("mlx5_0"), index);
  EXPECT_EQ(Query(context), EIO);
  const ContextHandle fresh = Open("mlx5_0");
  EXPECT_EQ(Query(fresh), 0);
}

TEST_F(SimLifeTest, ReplugKeepsIdentityAndStartsFresh) {
  int error = 0;
  uint64_t guid = 0;
  {
    const DeviceList list = DeviceList::Get(verbs_, &error);
    guid = verbs_->get_device_guid(list.devices()[0]);
  }
  const auto pci = sysfs_.resolve("class/infiniband/mlx5_0/device");
  SimCommand down = ForDevice("mlx5_0");
  down.state = IBV_PORT_DOWN;
  ASSERT_EQ(rnic_.Apply(down), "");
  ASSERT_EQ(Unplug("mlx5_0"), "");
  ASSERT_EQ(Plug("mlx5_0", "renamed"), "");
  const DeviceList list = DeviceList::Get(verbs_, &error);
  EXPECT_EQ(verbs_->get_device_name(list.devices()[0]), "renamed");
  EXPECT_EQ(verbs_->get_device_guid(list.devices()[0]), guid);
  EXPECT_EQ(sysfs_.resolve("class/infiniband/renamed/device"), pci);
  EXPECT_EQ(Text("class/infiniband/renamed/ports/1/state"), "4: ACTIVE\n");
}

TEST_F(SimLifeTest, RemovalUnderWayIsNoticedByInode) {
  const auto before = sysfs_.inode("class/infiniband_verbs/uverbs0");
  ASSERT_TRUE(before);
  EXPECT_EQ(sysfs_.inode("class/infiniband_verbs/uverbs0"), before);
  EXPECT_NE(sysfs_.inode("class/infiniband_verbs/uverbs1"), before);
  ASSERT_EQ(Unplug("mlx5_0"), "");
  EXPECT_FALSE(sysfs_.inode("class/infiniband_verbs/uverbs0"));
  ASSERT_EQ(Plug("mlx5_0"), "");
  EXPECT_TRUE(sysfs_.inode("class/infiniband_verbs/uverbs0"));
  EXPECT_NE(sysfs_.inode("class/infiniband_verbs/uverbs0"), before);
}

TEST_F(SimLifeTest, SilentUnplugWaitsForTheLastClose) {
  ContextHandle first = Open("mlx5_0");
  ContextHandle second = Open("mlx5_0");
  ASSERT_EQ(Unplug("mlx5_0", true), "");
  EXPECT_TRUE(rnic_.RemovalPending("mlx5_0"));
  EXPECT_EQ(ListSize(), 1u);
  EXPECT_TRUE(sysfs_.list("class/infiniband_verbs/uverbs0").empty());
  EXPECT_EQ(Text("class/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n");
  ibv_async_event event;
  EXPECT_EQ(verbs_->get_async_event(first.get(), &event), EAGAIN);
  EXPECT_EQ(Query(first), 0);
  EXPECT_NE(Plug("mlx5_0"), "");  // the name is still taken
  first.reset();
  EXPECT_TRUE(rnic_.RemovalPending("mlx5_0"));
  EXPECT_FALSE(rnic_.AwaitRemoval("mlx5_0", Duration::zero()));
  second.reset();
  EXPECT_FALSE(rnic_.RemovalPending("mlx5_0"));
  EXPECT_TRUE(sysfs_.list("class/infiniband/mlx5_0").empty());
  EXPECT_EQ(Plug("mlx5_0"), "");
  EXPECT_EQ(ListSize(), 2u);
}

TEST_F(SimLifeTest, RemovalCanBeWaitedFor) {
  ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Unplug("mlx5_0", true), "");
  std::thread closer([&] { context.reset(); });
  EXPECT_TRUE(rnic_.AwaitRemoval("mlx5_0", kLong));
  closer.join();
}

TEST_F(SimLifeTest, SilentUnplugOfAClosedDeviceIsDoneAtOnce) {
  ASSERT_EQ(Unplug("mlx5_0", true), "");
  EXPECT_FALSE(rnic_.RemovalPending("mlx5_0"));
  EXPECT_TRUE(sysfs_.list("class/infiniband/mlx5_0").empty());
}

TEST_F(SimLifeTest, StaleListEntryOfARemovingDeviceCannotBeOpened) {
  int error = 0;
  const DeviceList list = DeviceList::Get(verbs_, &error);
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(Unplug("mlx5_0", true), "");
  EXPECT_FALSE(OpenDevice(verbs_, list.devices()[0], &error));
  EXPECT_EQ(error, ENOENT);
}

TEST_F(SimLifeTest, RenameKeepsIndexContextAndInode) {
  const ContextHandle context = Open("mlx5_0");
  const int index = Index("mlx5_0");
  const auto inode = sysfs_.inode("class/infiniband/mlx5_0");
  ASSERT_EQ(Rename("mlx5_0", "ibp1s0"), "");
  EXPECT_EQ(Index("ibp1s0"), index);
  EXPECT_EQ(Index("mlx5_0"), -1);
  EXPECT_EQ(Query(context), 0);
  EXPECT_EQ(sysfs_.inode("class/infiniband/ibp1s0"), inode);
  EXPECT_FALSE(sysfs_.inode("class/infiniband/mlx5_0"));
  EXPECT_EQ(Text("class/infiniband_verbs/uverbs0/ibdev"), "ibp1s0\n");
  EXPECT_EQ(Text("class/infiniband/ibp1s0/ports/1/state"), "4: ACTIVE\n");
  SimCommand down = ForDevice("ibp1s0");
  down.state = IBV_PORT_DOWN;
  ASSERT_EQ(rnic_.Apply(down), "");
  EXPECT_EQ(Text("class/infiniband/ibp1s0/ports/1/state"), "1: DOWN\n");
  EXPECT_EQ(Unplug("ibp1s0"), "");
  EXPECT_TRUE(sysfs_.list("class/infiniband") == std::vector<std::string>{"mlx5_1"});
}

// As libibverbs does: see get_device_name.
TEST_F(SimLifeTest, ListEntryKeepsTheNameOfItsFirstListing) {
  int error = 0;
  ASSERT_EQ(Rename("mlx5_1", "early"), "");
  ASSERT_EQ(ListSize(), 2u);
  ASSERT_EQ(Rename("mlx5_0", "late"), "");
  const DeviceList list = DeviceList::Get(verbs_, &error);
  EXPECT_STREQ(list.devices()[0]->name, "mlx5_0");
  EXPECT_EQ(verbs_->get_device_name(list.devices()[0]), "late");
  EXPECT_STREQ(list.devices()[1]->name, "early");
}

TEST_F(SimLifeTest, PlugOfAnUnknownNameAddsADevice) {
  ASSERT_EQ(Plug("mlx5_7"), "");
  EXPECT_EQ(ListSize(), 3u);
  const ContextHandle context = Open("mlx5_7");
  EXPECT_EQ(Query(context), 0);
  EXPECT_NE(sysfs_.resolve("class/infiniband/mlx5_7/device"),
            sysfs_.resolve("class/infiniband/mlx5_0/device"));
}

TEST_F(SimLifeTest, WrongCommandsAreRefused) {
  EXPECT_NE(Plug("mlx5_0"), "");
  EXPECT_NE(Unplug("mlx5_9"), "");
  EXPECT_NE(Rename("mlx5_0", "mlx5_1"), "");
  EXPECT_NE(Rename("mlx5_0", ""), "");
  EXPECT_NE(Rename("mlx5_0", "a/b"), "");
  EXPECT_NE(Rename("mlx5_0", std::string(64, 'a')), "");
  EXPECT_NE(Plug(""), "");
  ASSERT_EQ(Unplug("mlx5_0"), "");
  EXPECT_NE(Unplug("mlx5_0"), "");
  EXPECT_NE(Rename("mlx5_0", "other"), "");
  SimCommand event = ForDevice("mlx5_0");
  event.event = IBV_EVENT_PORT_ERR;
  EXPECT_NE(rnic_.Apply(event), "");
  SimCommand silent = ForDevice("mlx5_1");
  silent.silent = true;
  EXPECT_NE(rnic_.Apply(silent), "");
}

}  // namespace
}  // namespace nicmon
