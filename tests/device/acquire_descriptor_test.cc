#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <exception>
#include <map>
#include <system_error>

#include "device/device_context_fixture.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon {
namespace {

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
  // What the owner of a context does first. No descriptor is left: an error, not a crash.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::exception_ptr thrown;
  try {
    const Epoll set;
  } catch (...) {  // looked at below: UBSan needs descriptors for that
    thrown = std::current_exception();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EMFILE);
  }
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

}  // namespace
}  // namespace nicmon
