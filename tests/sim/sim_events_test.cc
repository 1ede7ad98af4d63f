#include <sys/epoll.h>

#include <cerrno>
#include <thread>

#include "nicmon/base/unique_fd.h"
#include "nicmon/verbs/drain.h"
#include "sim/sim_testing.h"

namespace nicmon {
namespace {

class SimEventsTest : public SimTest {
 protected:
  void Queue(int type, std::optional<uint32_t> port = std::nullopt, uint32_t repeat = 1) {
    SimCommand command = ForDevice("mlx5_0");
    command.event = type;
    command.port = port;
    command.repeat = repeat;
    ASSERT_EQ(rnic_.Apply(command), "");
  }

  std::vector<AsyncEvent> Drain(const ContextHandle& context) {
    std::vector<AsyncEvent> events;
    EXPECT_EQ(DrainEvents(*verbs_, context.get(), 1000,
                          [&](const AsyncEvent& event) { events.push_back(event); })
                  .error,
              0);
    return events;
  }
};

TEST_F(SimEventsTest, EveryOpenContextOfTheDeviceGetsItsOwnCopy) {
  const ContextHandle first = Open("mlx5_0");
  const ContextHandle second = Open("mlx5_0");
  const ContextHandle other = Open("mlx5_1");
  Queue(IBV_EVENT_PORT_ERR);
  EXPECT_EQ(Drain(first).size(), 1u);
  EXPECT_EQ(Drain(second).size(), 1u);
  EXPECT_EQ(Drain(other).size(), 0u);
  EXPECT_EQ(rnic_.Held(), (SimHeld{.contexts = 3}));
}

TEST_F(SimEventsTest, EventsBeforeTheOpenAreNotReplayed) {
  Queue(IBV_EVENT_PORT_ERR);
  const ContextHandle context = Open("mlx5_0");
  EXPECT_TRUE(Drain(context).empty());
}

TEST_F(SimEventsTest, OrderIsKeptAcrossRepeats) {
  const ContextHandle context = Open("mlx5_0");
  Queue(IBV_EVENT_PORT_ERR, 1, 2);
  Queue(IBV_EVENT_PORT_ACTIVE, 1);
  Queue(IBV_EVENT_PORT_ERR, 1);
  const std::vector<AsyncEvent> events = Drain(context);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(events[2].type, IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(events[3].type, IBV_EVENT_PORT_ERR);
}

TEST_F(SimEventsTest, PortNumberThatDoesNotExistIsDelivered) {
  const ContextHandle context = Open("mlx5_0");
  Queue(IBV_EVENT_PORT_ERR, 9);
  Queue(IBV_EVENT_PORT_ERR, 0);
  const std::vector<AsyncEvent> events = Drain(context);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].port, 9);
  EXPECT_EQ(events[1].port, 0);
}

TEST_F(SimEventsTest, StateAndEventOfOneCommandComeTogether) {
  const ContextHandle context = Open("mlx5_0");
  SimCommand command = ForDevice("mlx5_0");
  command.state = IBV_PORT_DOWN;
  command.event = IBV_EVENT_PORT_ERR;
  ASSERT_EQ(rnic_.Apply(command), "");
  EXPECT_EQ(Drain(context).size(), 1u);
  PortAttributes port;
  ASSERT_EQ(verbs_->query_port(context.get(), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
}

TEST_F(SimEventsTest, EdgeTriggeredEpollReArmsWithEveryEnqueueOnly) {
  const ContextHandle context = Open("mlx5_0");
  const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event watch{};
  watch.events = EPOLLIN | EPOLLET;
  ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, context->async_fd, &watch), 0);
  epoll_event ready;
  EXPECT_EQ(::epoll_wait(epoll.get(), &ready, 1, 0), 0);

  Queue(IBV_EVENT_PORT_ERR, 1, 3);
  EXPECT_EQ(::epoll_wait(epoll.get(), &ready, 1, 0), 1);
  ibv_async_event event;
  ASSERT_EQ(verbs_->get_async_event(context.get(), &event), 0);
  verbs_->ack_async_event(&event);
  EXPECT_EQ(::epoll_wait(epoll.get(), &ready, 1, 0), 0);  // two are left

  Queue(IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(::epoll_wait(epoll.get(), &ready, 1, 0), 1);
  EXPECT_EQ(Drain(context).size(), 3u);
}

TEST_F(SimEventsTest, ReadBlocksUntilTheUserSetsNonBlocking) {
  const ContextHandle context = Open("mlx5_0");
  ASSERT_EQ(::fcntl(context->async_fd, F_SETFL, 0), 0);
  EXPECT_NE(::fcntl(context->async_fd, F_GETFD) & FD_CLOEXEC, 0);
  std::thread producer([&] { Queue(IBV_EVENT_PORT_ERR); });
  ibv_async_event event;
  EXPECT_EQ(verbs_->get_async_event(context.get(), &event), 0);  // however late it comes
  producer.join();
  verbs_->ack_async_event(&event);
}

TEST_F(SimEventsTest, FreshFdIsBlocking) {
  int error = 0;
  const DeviceList list = DeviceList::Get(verbs_, &error);
  const ContextHandle context = OpenDevice(verbs_, list.devices()[0], &error);
  EXPECT_EQ(::fcntl(context->async_fd, F_GETFL) & O_NONBLOCK, 0);
  const ChannelHandle channel = CreateChannel(verbs_, context.get(), &error);
  EXPECT_EQ(::fcntl(channel->fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(SimEventsTest, MillionQueuedEventsAreKept) {
  const ContextHandle context = Open("mlx5_0");
  Queue(IBV_EVENT_COMM_EST, std::nullopt, 1'000'000);
  uint64_t drained = 0;
  DrainResult result;
  do {
    result = DrainEvents(*verbs_, context.get(), 4096, [&](const AsyncEvent&) { ++drained; });
  } while (result.more);
  EXPECT_EQ(drained, 1'000'000u);
  EXPECT_EQ(rnic_.Held().unacked_events, 0);
}

TEST_F(SimEventsTest, EnqueueRunsBesideTheDrain) {
  const ContextHandle context = Open("mlx5_0");
  constexpr uint32_t kEvents = 2000;
  std::thread producer([&] {
    for (uint32_t i = 0; i < kEvents; ++i) {
      Queue(i % 2 == 0 ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE);
    }
  });
  size_t drained = 0;
  while (drained < kEvents) {
    drained += Drain(context).size();
  }
  producer.join();
  EXPECT_TRUE(Drain(context).empty());
}

TEST_F(SimEventsTest, ElementOfAnotherScopeIsNoPortNumber) {
  const ContextHandle context = Open("mlx5_0");
  Queue(IBV_EVENT_COMM_EST);
  Queue(kDeviceSpeedChange);
  ibv_async_event event;
  ASSERT_EQ(verbs_->get_async_event(context.get(), &event), 0);
  EXPECT_NE(event.element.port_num, 1);
  verbs_->ack_async_event(&event);
  ASSERT_EQ(verbs_->get_async_event(context.get(), &event), 0);
  EXPECT_EQ(event.element.port_num, 0);
  verbs_->ack_async_event(&event);
}

}  // namespace
}  // namespace nicmon
