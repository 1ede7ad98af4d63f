#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <map>
#include <vector>

#include "device/device_context_fixture.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;

TEST_F(DeviceContextTest, StrictBuildsEverythingAndReleasesIt) {
  {
    const auto context = Acquire(Strict());
    SimHeld expected;
    expected.contexts = 1;
    expected.pds = 1;
    expected.channels = 2;
    expected.cqs = 4;
    EXPECT_EQ(sim_.Held(), expected);
    EXPECT_NE(context->pd(), nullptr);
    EXPECT_EQ(context->channel_count(), 2U);
    EXPECT_EQ(context->data_cq_count(), 3U);
    EXPECT_EQ(context->notification_cq_count(), 1U);
    EXPECT_EQ(context->port_count(), 2U);
    EXPECT_EQ(context->kernel_index(), api_->get_device_index(context->context()->device));
    ASSERT_TRUE(context->gid());
    EXPECT_TRUE(epoll_.Contains(context->async_watch()));
    EXPECT_TRUE(epoll_.Contains(context->channel_watch(0)));
    EXPECT_TRUE(epoll_.Contains(context->channel_watch(1)));
    EXPECT_FALSE(context->async_watch() == context->channel_watch(0));
    EXPECT_TRUE(context->first_query().active());
    EXPECT_FALSE(context->pauses().paused());
  }
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(DeviceContextTest, WatchingBuildsTheContextOnly) {
  {
    const auto context = Acquire(Watching());
    SimHeld expected;
    expected.contexts = 1;
    EXPECT_EQ(sim_.Held(), expected);
    EXPECT_EQ(context->pd(), nullptr);
    EXPECT_EQ(context->port_count(), 2U);
    EXPECT_EQ(context->gid(), std::nullopt);
    EXPECT_TRUE(epoll_.Contains(context->async_watch()));
    EXPECT_EQ(context->first_query().error, ENOTCONN);
    EXPECT_TRUE(context->pauses().inert());
    EXPECT_EQ(context->pauses().Set(PauseReason::kLink), PauseChange::kRejected);
  }
  EXPECT_EQ(sim_.Held(), SimHeld{});
  EXPECT_EQ(sim_.Calls("query_port"), 0U);
}

TEST_F(DeviceContextTest, TheWatchEndsWithTheContext) {
  WatchId async;
  WatchId channel;
  {
    const auto context = Acquire(Strict());
    async = context->async_watch();
    channel = context->channel_watch(0);
  }
  EXPECT_FALSE(epoll_.Contains(async));
  EXPECT_FALSE(epoll_.Contains(channel));
}

TEST_F(DeviceContextTest, EventsWakeTheEpollAndReadsDoNotBlock) {
  const auto context = Acquire(Watching());
  ibv_async_event event{};
  EXPECT_EQ(api_->get_async_event(context->context(), &event), EAGAIN);
  Command([](SimCommand& command) {
    command.port = 1;
    command.event = IBV_EVENT_PORT_ERR;
  });
  const auto ready = epoll_.Wait(5000);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].id, context->async_watch());
  EXPECT_TRUE(epoll_.Wait(0).empty());  // edge-triggered: told once, although it is still there
  ASSERT_EQ(api_->get_async_event(context->context(), &event), 0);
  api_->ack_async_event(&event);
}

TEST_F(DeviceContextTest, DescriptorsKeepTheirOtherFlags) {
  VerbsApi& api = Wrap();
  int before = 0;
  api.open_device = [&, real = api.open_device](ibv_device* device) {
    ibv_context* context = real(device);
    ::fcntl(context->async_fd, F_SETFL, O_APPEND);
    before = ::fcntl(context->async_fd, F_GETFL);
    return context;
  };
  const auto context = Acquire(Strict());
  EXPECT_NE(before & O_APPEND, 0);
  EXPECT_EQ(before & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(context->context()->async_fd, F_GETFL), before | O_NONBLOCK);
  EXPECT_NE(::fcntl(context->channel(0)->fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(DeviceContextTest, QueuesAreSpreadOverChannelsAndVectors) {
  VerbsApi& api = Wrap();
  std::vector<std::pair<ibv_comp_channel*, int>> made;
  std::vector<int> sizes;
  api.query_device = [real = api.query_device](ibv_context* context, DeviceAttributes* out) {
    const int error = real(context, out);
    out->completion_vectors = 3;
    out->max_cqe = 100;
    return error;
  };
  api.create_cq = [&, real = api.create_cq](ibv_context* context, int cqe,
                                            ibv_comp_channel* channel, int vector) {
    made.emplace_back(channel, vector);
    sizes.push_back(cqe);
    return real(context, cqe, channel, vector);
  };
  AcquireOptions options = Strict();
  options.data_cqs = 4;
  options.cqes = 64;
  const auto context = Acquire(options);
  ibv_comp_channel* first = context->channel(0);
  ibv_comp_channel* second = context->channel(1);
  EXPECT_THAT(made, ElementsAre(std::pair(first, 0), std::pair(second, 1), std::pair(first, 2),
                                std::pair(second, 0), std::pair(first, 0)));
  EXPECT_THAT(sizes, ElementsAre(64, 64, 64, 64, 64));
}

TEST_F(DeviceContextTest, OneDevicesLimitLowersNoOthers) {
  VerbsApi& api = Wrap();
  std::map<std::string, int> sizes;
  api.query_device = [real = api.query_device](ibv_context* context, DeviceAttributes* out) {
    const int error = real(context, out);
    out->max_cqe = std::string(context->device->name) == "a0" ? 4 : 1000;
    return error;
  };
  api.create_cq = [&, real = api.create_cq](ibv_context* context, int cqe,
                                            ibv_comp_channel* channel, int vector) {
    sizes[context->device->name] = cqe;
    return real(context, cqe, channel, vector);
  };
  const auto a = Acquire(Strict());
  AcquireOptions options = Strict();
  options.name = "b0";
  const auto b = Acquire(options);
  EXPECT_EQ(sizes["a0"], 4);
  EXPECT_EQ(sizes["b0"], 16);
}

TEST_F(DeviceContextTest, TheGidsNetdevIsLookedUpForItsPort) {
  AcquireOptions options = Strict();
  options.port = 2;
  options.gid_netdev = [](uint32_t port, uint32_t index) {
    return "net" + std::to_string(port) + "-" + std::to_string(index);
  };
  const auto context = Acquire(options);
  ASSERT_TRUE(context->gid());
  EXPECT_EQ(context->gid()->netdev, "net2-" + std::to_string(context->gid()->index));
}

TEST_F(DeviceContextTest, NotActiveAtOpenIsPausedWithEverythingBuilt) {
  for (const int state : {IBV_PORT_DOWN, IBV_PORT_INIT, IBV_PORT_ARMED, IBV_PORT_ACTIVE_DEFER}) {
    SetState(state);
    const auto context = Acquire(Strict());
    EXPECT_EQ(context->first_query().attributes.state, state);
    EXPECT_TRUE(context->pauses().Has(PauseReason::kLink)) << state;
    EXPECT_EQ(context->notification_cq_count(), 1U);
    EXPECT_EQ(context->first_query().effective, std::nullopt);
  }
}

TEST_F(DeviceContextTest, TheQueryThatDecidesComesAfterTheSubscription) {
  VerbsApi& api = Wrap();
  std::vector<std::string> calls;
  api.query_port = [&, real = api.query_port](ibv_context* context, uint32_t port,
                                              PortAttributes* out) {
    calls.emplace_back("query_port");
    return real(context, port, out);
  };
  api.create_cq = [&, real = api.create_cq](ibv_context* context, int cqe,
                                            ibv_comp_channel* channel, int vector) {
    calls.emplace_back("create_cq");
    // The link goes while the context is being built: nobody has read an event yet.
    SetState(IBV_PORT_DOWN);
    return real(context, cqe, channel, vector);
  };
  AcquireOptions options = Strict();
  options.data_cqs = 1;
  const auto context = Acquire(options);
  EXPECT_THAT(calls, ElementsAre("query_port", "create_cq", "create_cq", "query_port"));
  EXPECT_TRUE(context->pauses().Has(PauseReason::kLink));
}

TEST_F(DeviceContextTest, SpeedIsSeeded) {
  Command([](SimCommand& command) {
    command.port = 1;
    command.effective_speed_100mbps = 8000;
  });
  const auto context = Acquire(Strict());
  EXPECT_EQ(context->first_query().effective,
            (EffectiveSpeed{800'000'000'000, SpeedSource::kVerb}));
}

TEST_F(DeviceContextTest, SpeedOfZeroIsTheEncodedOne) {
  Command([](SimCommand& command) {
    command.port = 1;
    command.effective_speed_100mbps = 0;
    command.active_speed = 64;
    command.active_speed_ex = 0;
    command.active_width = 2;
  });
  const auto context = Acquire(Strict());
  EXPECT_EQ(context->first_query().effective,
            (EffectiveSpeed{200'000'000'000, SpeedSource::kEncoded}));
}

TEST_F(DeviceContextTest, WatchingSurvivesAPortThatCannotBeAsked) {
  FailVerb("query_port", EIO);
  AcquireOptions options = Watching();
  options.port = 1;
  const auto context = Acquire(options);
  EXPECT_EQ(context->first_query().error, EIO);
  EXPECT_FALSE(context->pauses().paused());
  EXPECT_TRUE(context->Query(2, {}).active());
  EXPECT_TRUE(context->Query(1, {}).active());
}

}  // namespace
}  // namespace nicmon
