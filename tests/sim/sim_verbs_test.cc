#include <cerrno>

#include "sim/sim_testing.h"

namespace nicmon {
namespace {

using SimVerbsTest = SimTest;

TEST_F(SimVerbsTest, ListsDevicesWithUniqueIdentity) {
  int error = 0;
  const DeviceList list = DeviceList::Get(verbs_, &error);
  ASSERT_EQ(list.devices().size(), 2u);
  EXPECT_EQ(list.devices().data()[2], nullptr);
  EXPECT_EQ(verbs_->get_device_name(list.devices()[0]), "mlx5_0");
  EXPECT_EQ(verbs_->get_device_name(list.devices()[1]), "mlx5_1");
  EXPECT_NE(verbs_->get_device_guid(list.devices()[0]), verbs_->get_device_guid(list.devices()[1]));
  EXPECT_NE(verbs_->get_device_index(list.devices()[0]),
            verbs_->get_device_index(list.devices()[1]));
}

TEST_F(SimVerbsTest, CountsEveryKindOfObjectHeld) {
  int error = 0;
  EXPECT_EQ(rnic_.Held(), SimHeld{});
  {
    const DeviceList list = DeviceList::Get(verbs_, &error);
    const ContextHandle context = Open("mlx5_0");
    const PdHandle pd = AllocPd(verbs_, context.get(), &error);
    const ChannelHandle channel = CreateChannel(verbs_, context.get(), &error);
    const CqHandle first = CreateCq(verbs_, context.get(), 16, channel.get(), 0, &error);
    const CqHandle second = CreateCq(verbs_, context.get(), 16, channel.get(), 1, &error);
    char memory[64];
    const MrHandle mr = RegisterMr(verbs_, pd.get(), memory, sizeof(memory), 0, &error);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = attributes.recv_cq = first.get();
    const QpHandle qp = CreateQp(verbs_, pd.get(), attributes, &error);
    EXPECT_EQ(rnic_.Held(), (SimHeld{1, 1, 1, 1, 2, 1, 1, 0, 0}));
    EXPECT_EQ(verbs_->dealloc_pd(pd.get()), EBUSY);
    EXPECT_EQ(verbs_->destroy_cq(first.get()), EBUSY);
  }
  EXPECT_EQ(rnic_.Held(), SimHeld{});
}

TEST_F(SimVerbsTest, ReleasingWhatIsNotHeldIsCountedAsMisuse) {
  int error = 0;
  {
    const ContextHandle context = Open("mlx5_0");
    ibv_pd* pd = AllocPd(verbs_, context.get(), &error).get();
    EXPECT_EQ(verbs_->dealloc_pd(pd), EINVAL);
  }
  ibv_async_event event{};
  verbs_->ack_async_event(&event);
  EXPECT_EQ(rnic_.Held(), (SimHeld{.misuses = 2}));
}

TEST_F(SimVerbsTest, ClosingWithObjectsLeftShowsThemAsHeld) {
  int error = 0;
  PdHandle pd;
  {
    const ContextHandle context = Open("mlx5_0");
    pd = AllocPd(verbs_, context.get(), &error);
  }
  EXPECT_EQ(rnic_.Held(), (SimHeld{.pds = 1}));
}

TEST_F(SimVerbsTest, PortStartsActiveAtTheSpecifiedSpeed) {
  const ContextHandle context = Open("mlx5_0");
  PortAttributes port;
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.physical_state, 5);
  EXPECT_EQ(port.active_speed, 128u);
  EXPECT_EQ(port.active_width, 2u);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  uint64_t speed = 0;
  ASSERT_EQ(verbs_->query_port_speed(context.get(), 1, &speed), 0);
  EXPECT_EQ(speed, 4000u);
  EXPECT_EQ(verbs_->query_port(context.get(), 2, &port), EINVAL);
  EXPECT_EQ(verbs_->query_port(context.get(), 0, &port), EINVAL);
}

TEST_F(SimVerbsTest, SetChangesWhatQueriesAnswerAndNothingElse) {
  const ContextHandle context = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  command.physical_state = 2;
  ASSERT_EQ(rnic_.Apply(command), "");
  PortAttributes port;
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  EXPECT_EQ(port.physical_state, 2);
  EXPECT_EQ(port.active_speed, 128u);
  uint64_t speed = 1;
  ASSERT_EQ(verbs_->query_port_speed(context.get(), 1, &speed), 0);
  EXPECT_EQ(speed, 0u);
  ASSERT_EQ(verbs_->query_port(other.get(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  ibv_async_event event;
  EXPECT_EQ(verbs_->get_async_event(context.get(), &event), EAGAIN);
}

TEST_F(SimVerbsTest, CqLimitsAreTheDevicesOwn) {
  ASSERT_EQ(rnic_.SetLimits("mlx5_0", 32, 2), "");
  const ContextHandle context = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  EXPECT_EQ(context->num_comp_vectors, 2);
  int error = 0;
  EXPECT_TRUE(CreateCq(verbs_, context.get(), 32, nullptr, 1, &error));
  EXPECT_FALSE(CreateCq(verbs_, context.get(), 33, nullptr, 0, &error));
  EXPECT_EQ(error, EINVAL);
  EXPECT_FALSE(CreateCq(verbs_, context.get(), 1, nullptr, 2, &error));
  EXPECT_TRUE(CreateCq(verbs_, other.get(), 33, nullptr, 3, &error));
}

TEST_F(SimVerbsTest, ChannelWithACompletionQueueIsBusy) {
  const ContextHandle context = Open("mlx5_0");
  int error = 0;
  const ChannelHandle channel = CreateChannel(verbs_, context.get(), &error);
  const CqHandle cq = CreateCq(verbs_, context.get(), 1, channel.get(), 0, &error);
  EXPECT_EQ(verbs_->destroy_comp_channel(channel.get()), EBUSY);
}

}  // namespace
}  // namespace nicmon
