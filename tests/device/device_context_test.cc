#include "nicmon/device/device_context.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "nicmon/sim/simulated_rnic.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kGbps = 1'000'000'000;

int OpenFds() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

/// Two devices of two ports; verbs can be wrapped one by one through `api_`.
class DeviceContextTest : public ::testing::Test {
 protected:
  static SimulationSpec Spec() {
    SimulationSpec spec;
    spec.names = {"a0", "b0"};
    spec.ports = 2;
    spec.speed_gbps = 400;
    return spec;
  }
  static AcquireOptions Watching(const std::string& name = "a0") {
    AcquireOptions options;
    options.name = name;
    return options;
  }
  static AcquireOptions Strict() {
    AcquireOptions options;
    options.name = "a0";
    options.port = 1;
    options.need_data_path = true;
    options.need_gid = true;
    options.channels = 2;
    options.data_cqs = 3;
    options.notification_cqs = 1;
    return options;
  }
  void Command(const std::function<void(SimCommand&)>& fill) {
    SimCommand command;
    command.device = "a0";
    fill(command);
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void FailVerb(const std::string& verb, int error, uint32_t skip = 0, uint32_t times = 1) {
    Command([&](SimCommand& command) {
      command.fail = SimCommand::Fail{verb, error, times, skip};
    });
  }
  void SetState(int state, uint32_t port = 1) {
    Command([&](SimCommand& command) {
      command.port = port;
      command.state = state;
    });
  }
  std::unique_ptr<DeviceContext> Acquire(AcquireOptions options) {
    return std::make_unique<DeviceContext>(api_, epoll_, std::move(options));
  }
  /// Expects the acquisition to fail at `step`, and that nothing is held then.
  void ExpectFailure(AcquireOptions options, AcquireStep step, int error) {
    const int fds = OpenFds();
    try {
      Acquire(std::move(options));
      ADD_FAILURE() << "acquired";
    } catch (const AcquireError& e) {
      EXPECT_EQ(AcquireStepName(e.step()), AcquireStepName(step)) << e.what();
      EXPECT_EQ(e.error(), error) << e.what();
      EXPECT_THAT(e.what(), HasSubstr("a0: "));
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
    EXPECT_EQ(sim_.Held(), SimHeld{});
    EXPECT_EQ(OpenFds(), fds);
  }
  /// The same, and that the next attempt works.
  void ExpectOneFailure(AcquireStep step, int error) {
    ExpectFailure(Strict(), step, error);
    EXPECT_NE(Acquire(Strict()), nullptr);
    EXPECT_EQ(sim_.Held(), SimHeld{});
  }
  /// A table of our own to wrap functions of.
  VerbsApi& Wrap() {
    auto copy = std::make_shared<VerbsApi>(*sim_.verbs());
    VerbsApi& reference = *copy;
    api_ = std::move(copy);
    return reference;
  }

  SimulatedRnic sim_{Spec()};
  std::shared_ptr<const VerbsApi> api_ = sim_.verbs();
  Epoll epoll_;
};

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

TEST_F(DeviceContextTest, UnknownNameOrIndex) {
  for (const char* name : {"a", "a00", "", "A0", "a0 "}) {
    EXPECT_THROW(Acquire(Watching(name)), AcquireError) << name;
  }
  EXPECT_EQ(sim_.Held(), SimHeld{});
  AcquireOptions options = Strict();
  options.kernel_index = 4711;
  ExpectFailure(options, AcquireStep::kFindDevice, ENODEV);
  options.kernel_index = Acquire(Watching())->kernel_index();
  EXPECT_NE(Acquire(options), nullptr);
}

TEST_F(DeviceContextTest, DeviceListFails) {
  VerbsApi& api = Wrap();
  for (const auto& [set, reported] : {std::pair(ENOSYS, ENOSYS), {EMFILE, EMFILE}, {0, EIO}}) {
    api.get_device_list = [error = set](int*) -> ibv_device** {
      errno = error;
      return nullptr;
    };
    ExpectFailure(Strict(), AcquireStep::kDeviceList, reported);
  }
}

TEST_F(DeviceContextTest, OpenFails) {
  for (const int error : {EPERM, EACCES, ENOENT, EAGAIN}) {
    FailVerb("open_device", error);
    ExpectOneFailure(AcquireStep::kOpen, error);
  }
}

TEST_F(DeviceContextTest, QueryDeviceFails) {
  FailVerb("query_device", EIO);
  ExpectOneFailure(AcquireStep::kQueryDevice, EIO);
  FailVerb("query_device", EIO);
  ExpectFailure(Watching(), AcquireStep::kQueryDevice, EIO);
}

TEST_F(DeviceContextTest, PortNumberOutOfRange) {
  for (const uint32_t port : {0U, 3U, UINT32_MAX}) {
    AcquireOptions options = Strict();
    options.port = port;
    ExpectFailure(options, AcquireStep::kPortNumber, EINVAL);
  }
  AcquireOptions watching = Watching();
  watching.port = 3;
  ExpectFailure(watching, AcquireStep::kPortNumber, EINVAL);
  for (const uint32_t port : {1U, 2U}) {
    AcquireOptions options = Strict();
    options.port = port;
    EXPECT_NE(Acquire(options), nullptr);
  }
}

TEST_F(DeviceContextTest, FirstPortQueryFails) {
  FailVerb("query_port", ETIMEDOUT);
  ExpectOneFailure(AcquireStep::kQueryPort, ETIMEDOUT);
}

TEST_F(DeviceContextTest, FinalPortQueryFails) {
  FailVerb("query_port", EIO, /*skip=*/1);
  ExpectOneFailure(AcquireStep::kFinalQuery, EIO);
}

TEST_F(DeviceContextTest, NoUsableGid) {
  VerbsApi& api = Wrap();
  const auto real = api.query_gid_table;
  api.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>*) { return EIO; };
  ExpectFailure(Strict(), AcquireStep::kGid, EIO);
  api.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>*) { return 0; };
  ExpectFailure(Strict(), AcquireStep::kGid, ENODATA);
  api.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>* out) {
    out->resize(2);
    (*out)[0].port = (*out)[1].port = 1;
    (*out)[1].index = 1;
    return 0;
  };
  ExpectFailure(Strict(), AcquireStep::kGid, ENODATA);
  // Slot by slot, failing.
  api.query_gid_table = [](ibv_context*, size_t, std::vector<GidEntry>*) { return EOPNOTSUPP; };
  api.query_gid = [](ibv_context*, uint32_t, uint32_t, GidEntry*) { return EIO; };
  ExpectFailure(Strict(), AcquireStep::kGid, EIO);
  // Nobody who does not ask for a GID is bothered.
  AcquireOptions options = Strict();
  options.need_gid = false;
  EXPECT_NE(Acquire(options), nullptr);
  EXPECT_NE(Acquire(Watching()), nullptr);
  api.query_gid_table = real;
  EXPECT_NE(Acquire(Strict()), nullptr);
}

TEST_F(DeviceContextTest, ExplicitGidIndex) {
  AcquireOptions options = Strict();
  const uint32_t index = Acquire(options)->gid()->index;
  options.gid_index = index;
  EXPECT_EQ(Acquire(options)->gid()->index, index);
  options.gid_index = 1'000'000;
  ExpectFailure(options, AcquireStep::kGid, EINVAL);
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

TEST_F(DeviceContextTest, ProtectionDomainFails) {
  FailVerb("alloc_pd", ENOMEM);
  ExpectOneFailure(AcquireStep::kProtectionDomain, ENOMEM);
}

TEST_F(DeviceContextTest, AnyChannelFails) {
  for (const uint32_t skip : {0U, 1U}) {
    FailVerb("create_comp_channel", EMFILE, skip);
    ExpectOneFailure(AcquireStep::kChannel, EMFILE);
  }
}

TEST_F(DeviceContextTest, AnyQueueFails) {
  for (const uint32_t skip : {0U, 1U, 2U}) {
    FailVerb("create_cq", ENOMEM, skip);
    ExpectOneFailure(AcquireStep::kDataQueue, ENOMEM);
  }
  FailVerb("create_cq", ENOMEM, 3);
  ExpectOneFailure(AcquireStep::kNotificationQueue, ENOMEM);
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
  EXPECT_EQ(context->first_query().effective, (EffectiveSpeed{800 * kGbps, SpeedSource::kVerb}));
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
  EXPECT_EQ(context->first_query().effective, (EffectiveSpeed{200 * kGbps, SpeedSource::kEncoded}));
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

TEST_F(DeviceContextTest, AsyncFdIsClosed) {
  VerbsApi& api = Wrap();
  int saved = -1;
  api.open_device = [&, real = api.open_device](ibv_device* device) {
    ibv_context* context = real(device);
    saved = std::exchange(context->async_fd, 1 << 20);  // no such descriptor
    return context;
  };
  api.close_device = [&, real = api.close_device](ibv_context* context) {
    context->async_fd = saved;
    return real(context);
  };
  ExpectFailure(Strict(), AcquireStep::kAsyncFlags, EBADF);
}

TEST_F(DeviceContextTest, AsyncFdIsARegularFile) {
  const UniqueFd file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_TRUE(file);
  VerbsApi& api = Wrap();
  int saved = -1;
  api.open_device = [&, real = api.open_device](ibv_device* device) {
    ibv_context* context = real(device);
    saved = std::exchange(context->async_fd, file.get());
    return context;
  };
  api.close_device = [&, real = api.close_device](ibv_context* context) {
    context->async_fd = saved;
    return real(context);
  };
  ExpectFailure(Strict(), AcquireStep::kAsyncRegistration, EPERM);
  ExpectFailure(Watching(), AcquireStep::kAsyncRegistration, EPERM);
}

TEST_F(DeviceContextTest, ALaterChannelsFdIsClosedOrAFile) {
  const UniqueFd file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_TRUE(file);
  VerbsApi& api = Wrap();
  std::map<ibv_comp_channel*, int> saved;
  int replacement = -1;
  int made = 0;
  api.create_comp_channel = [&, real = api.create_comp_channel](ibv_context* context) {
    ibv_comp_channel* channel = real(context);
    if (++made % 2 == 0) {
      saved[channel] = std::exchange(channel->fd, replacement);
    }
    return channel;
  };
  api.destroy_comp_channel = [&, real = api.destroy_comp_channel](ibv_comp_channel* channel) {
    if (const auto fd = saved.extract(channel)) {
      channel->fd = fd.mapped();
    }
    return real(channel);
  };
  replacement = 1 << 20;
  ExpectFailure(Strict(), AcquireStep::kChannelFlags, EBADF);
  replacement = file.get();
  ExpectFailure(Strict(), AcquireStep::kChannelRegistration, EPERM);
}

TEST_F(DeviceContextTest, TheEpollSetItselfCannotBeCreated) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs descriptors to look at an object that is thrown";
#endif
  // What the owner of a context does first. No descriptor is left: an error, not a crash.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  int error = 0;
  try {
    const Epoll set;
  } catch (const std::system_error& e) {
    error = e.code().value();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(error, EMFILE);
}

TEST_F(DeviceContextTest, AnyShortageOfDescriptorsLeavesNothing) {
  // One descriptor more each round, until everything fits: every exit on the way is taken.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int fds = OpenFds();
  int failures = 0;
  bool built = false;
  for (rlim_t limit = 0; limit < 256 && !built; ++limit) {
    const rlimit tight{limit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    try {
      Acquire(Strict());
      built = true;
    } catch (const AcquireError&) {
      ++failures;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_EQ(sim_.Held(), SimHeld{}) << limit;
    ASSERT_EQ(OpenFds(), fds) << limit;
  }
  EXPECT_TRUE(built);
  EXPECT_GT(failures, 0);
}

TEST_F(DeviceContextTest, AThousandFailedRoundsLeakNothing) {
  const std::vector<std::pair<std::string, uint32_t>> points = {
      {"open_device", 0},         {"query_device", 0}, {"query_port", 0}, {"alloc_pd", 0},
      {"create_comp_channel", 1}, {"create_cq", 2},    {"create_cq", 3},  {"query_port", 1}};
  EXPECT_NE(Acquire(Strict()), nullptr);
  const int fds = OpenFds();
  int failures = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto& [verb, skip] = points[round % points.size()];
    FailVerb(verb, EIO, skip);
    try {
      Acquire(Strict());
    } catch (const AcquireError&) {
      ++failures;
    }
    ASSERT_EQ(sim_.Held(), SimHeld{}) << verb;
  }
  EXPECT_EQ(failures, 1000);
  EXPECT_EQ(OpenFds(), fds);
  EXPECT_NE(Acquire(Strict()), nullptr);
}

/// Records what is released, in order, and may refuse.
class ReleaseTest : public DeviceContextTest {
 protected:
  void Record(int error) {
    VerbsApi& api = Wrap();
    const auto note = [this, error](const std::string& what, int result) {
      released_.push_back(what);
      return error != 0 ? error : result;
    };
    api.destroy_cq = [=, real = api.destroy_cq](ibv_cq* cq) { return note("cq", real(cq)); };
    api.destroy_comp_channel = [=, real = api.destroy_comp_channel](ibv_comp_channel* channel) {
      return note("channel", real(channel));
    };
    api.dealloc_pd = [=, real = api.dealloc_pd](ibv_pd* pd) { return note("pd", real(pd)); };
    api.close_device = [=, real = api.close_device](ibv_context* context) {
      return note("context", real(context));
    };
  }
  std::vector<std::string> released_;
};

TEST_F(ReleaseTest, InReverse) {
  Record(0);
  Acquire(Strict());
  EXPECT_THAT(released_,
              ElementsAre("cq", "cq", "cq", "cq", "channel", "channel", "pd", "context"));
}

TEST_F(ReleaseTest, AFailingReleaseStopsNoOther) {
  Record(EBUSY);
  Acquire(Strict());
  EXPECT_EQ(released_.size(), 8U);
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(ReleaseTest, OnFailureOnlyWhatWasAcquired) {
  Record(0);
  FailVerb("create_cq", ENOMEM, 1);
  EXPECT_THROW(Acquire(Strict()), AcquireError);
  EXPECT_THAT(released_, ElementsAre("cq", "channel", "channel", "pd", "context"));
}

TEST_F(ReleaseTest, TwiceIsHarmless) {
  Record(0);
  std::optional<DeviceContext> slot;
  slot.emplace(api_, epoll_, Watching());
  slot.reset();
  slot.reset();
  EXPECT_THAT(released_, ElementsAre("context"));
}

TEST_F(ReleaseTest, LastInFirstOut) {
  VerbsApi& api = Wrap();
  std::vector<ibv_cq*> made;
  std::vector<ibv_cq*> destroyed;
  api.create_cq = [&, real = api.create_cq](ibv_context* context, int cqe,
                                            ibv_comp_channel* channel, int vector) {
    return made.emplace_back(real(context, cqe, channel, vector));
  };
  api.destroy_cq = [&, real = api.destroy_cq](ibv_cq* cq) {
    destroyed.push_back(cq);
    return real(cq);
  };
  Acquire(Strict());
  EXPECT_EQ(destroyed, std::vector<ibv_cq*>(made.rbegin(), made.rend()));
}

}  // namespace
}  // namespace nicmon
