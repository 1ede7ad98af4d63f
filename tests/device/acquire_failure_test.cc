#include <cerrno>
#include <vector>

#include "device/device_context_fixture.h"

namespace nicmon {
namespace {

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

}  // namespace
}  // namespace nicmon
