#include "nicmon/verbs/handles.h"

#include <utility>

#include "sim/sim_testing.h"

namespace nicmon {
namespace {

class HandlesTest : public SimTest {
 protected:
  void Fail(const std::string& verb, int error) {
    SimCommand command = ForDevice("mlx5_0");
    command.fail = SimCommand::Fail{verb, error, 1, 0};
    ASSERT_EQ(rnic_.Apply(command), "");
  }
};

TEST_F(HandlesTest, ReleaseOnceWhateverTheyAreMovedThrough) {
  {
    int error = 0;
    ContextHandle first = Open("mlx5_0");
    ContextHandle context = std::move(first);
    PdHandle pd = AllocPd(verbs_, context.get(), &error);
    PdHandle other;
    other = std::move(pd);
    other.reset();
    other.reset();
    EXPECT_EQ(rnic_.Held(), (SimHeld{.contexts = 1}));
  }
  EXPECT_EQ(rnic_.Held(), SimHeld{});
  EXPECT_EQ(rnic_.Calls("close_device"), 1u);
  EXPECT_EQ(rnic_.Calls("dealloc_pd"), 1u);
}

TEST_F(HandlesTest, KeepTheirTableAlive) {
  ContextHandle context = Open("mlx5_0");
  verbs_.reset();
  context.reset();
  EXPECT_EQ(rnic_.Held(), SimHeld{});
}

TEST_F(HandlesTest, FailedAcquisitionGivesTheErrnoAndHoldsNothing) {
  int error = 0;
  Fail("get_device_list", ENOMEM);
  EXPECT_FALSE(DeviceList::Get(verbs_, &error));
  EXPECT_EQ(error, ENOMEM);

  {
    const DeviceList list = DeviceList::Get(verbs_, &error);
    EXPECT_EQ(error, 0);
    Fail("open_device", EACCES);
    EXPECT_FALSE(OpenDevice(verbs_, list.devices()[0], &error));
    EXPECT_EQ(error, EACCES);
  }
  const ContextHandle context = Open("mlx5_0");
  Fail("alloc_pd", ENOMEM);
  EXPECT_FALSE(AllocPd(verbs_, context.get(), &error));
  EXPECT_EQ(error, ENOMEM);
  Fail("create_comp_channel", EMFILE);
  EXPECT_FALSE(CreateChannel(verbs_, context.get(), &error));
  EXPECT_EQ(error, EMFILE);
  Fail("create_cq", EINVAL);
  EXPECT_FALSE(CreateCq(verbs_, context.get(), 1, nullptr, 0, &error));
  EXPECT_EQ(error, EINVAL);
  EXPECT_EQ(rnic_.Held(), (SimHeld{.contexts = 1}));
}

TEST_F(HandlesTest, FailedReleaseStillReleasesTheRest) {
  {
    int error = 0;
    const ContextHandle context = Open("mlx5_0");
    const PdHandle pd = AllocPd(verbs_, context.get(), &error);
    const CqHandle cq = CreateCq(verbs_, context.get(), 1, nullptr, 0, &error);
    Fail("dealloc_pd", EBUSY);
  }
  EXPECT_EQ(rnic_.Held(), (SimHeld{.pds = 1}));
}

TEST_F(HandlesTest, EventAckAcknowledgesOnce) {
  const ContextHandle context = Open("mlx5_0");
  SimCommand command = ForDevice("mlx5_0");
  command.event = IBV_EVENT_PORT_ERR;
  ASSERT_EQ(rnic_.Apply(command), "");
  ibv_async_event event;
  ASSERT_EQ(verbs_->get_async_event(context.get(), &event), 0);
  EXPECT_EQ(rnic_.Held().unacked_events, 1);
  { EventAck ack(*verbs_, &event); }
  EXPECT_EQ(rnic_.Held(), (SimHeld{.contexts = 1}));
  EXPECT_EQ(rnic_.Calls("ack_async_event"), 1u);
}

}  // namespace
}  // namespace nicmon
