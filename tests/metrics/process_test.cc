#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <vector>

#include "nicmon/base/unique_fd.h"
#include "nicmon/metrics/exposition.h"

namespace nicmon {
namespace {

TEST(Process, OpenFdsAreCounted) {
  uint64_t open = 0;
  for (int fd = 0; fd < 4096; ++fd) {
    open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  }
  EXPECT_EQ(ReadProcess().open_fds, open);
  std::vector<UniqueFd> fds(10);
  for (UniqueFd& fd : fds) {
    fd.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd);
  }
  EXPECT_EQ(ReadProcess().open_fds, open + 10);
}

TEST(Process, FiguresArePlausible) {
  const MetricsInput::Process process = ReadProcess();
  ASSERT_TRUE(process.start_time_seconds && process.resident_bytes && process.virtual_bytes);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(*process.start_time_seconds, now + 1);
  EXPECT_GT(*process.start_time_seconds, now - 600);
  EXPECT_GT(*process.resident_bytes, 100'000U);
  EXPECT_GT(*process.virtual_bytes, *process.resident_bytes);
}

TEST(Process, CpuTimeGrows) {
  const auto before = ReadProcess().cpu_seconds;
  ASSERT_TRUE(before);
  while (*ReadProcess().cpu_seconds < *before + 0.05) {
    // Reading costs CPU time itself; a value that stood still would run into the test's timeout.
  }
}

TEST(Process, MaxFdsIsTheSoftLimit) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit lower = limit;
  lower.rlim_cur = 200;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
  EXPECT_EQ(ReadProcess().max_fds, 200U);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace nicmon
