#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "app/process.h"
#include "config/temp_file.h"
#include "testing/wait_for.h"

// The real process and its end: at any moment, whatever hangs, whoever reads.
namespace nicmon {
namespace {

using testing::Child;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WaitFor;

TEST(Process, StopsOnTermAndInt) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Child child(Simulated());
    (void)PortOf(child);
    ExpectStops(child, signal);
    EXPECT_THAT(child.Output(), HasSubstr(" INFO stopped\n"));
  }
}

TEST(Process, TermAtAnyMomentExitsWith0) {
  // Blocked before exec, so that what comes before main() cannot be hit.
  std::mt19937 random(4711);
  for (int i = 0; i < 60; ++i) {
    Child child(Simulated(), {.block_stop_signals = true});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60000));
    ExpectStops(child);
  }
}

TEST(Process, TermFromTheFirstStatementOnExitsWith0) {
  std::mt19937 random(4711);
  for (int i = 0; i < 30; ++i) {
    Child child(Simulated());
    // Not blocked here: wait until the signal is caught or blocked, then hit it soon after.
    ASSERT_TRUE(WaitFor([&] {
      const std::string status = ProcFile(child.pid(), "status");
      const size_t caught = status.find("SigCgt:\t");
      const size_t blocked = status.find("SigBlk:\t");
      if (status.find("Name:\tnicmon") != 0 || caught == std::string::npos) {
        return false;
      }
      const uint64_t bits = std::stoull(status.substr(caught + 8, 16), nullptr, 16) |
                            std::stoull(status.substr(blocked + 8, 16), nullptr, 16);
      return (bits >> (SIGTERM - 1) & 1) != 0;
    }));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ExpectStops(child);
  }
}

TEST(Process, StopsAsPid1) {
  Child child(Simulated(), {.pid_namespace = true});
  if (!child.started()) {
    GTEST_SKIP() << "no right to make a PID namespace";
  }
  (void)PortOf(child);
  ExpectStops(child);
}

TEST(Process, StopsWithAHungDeviceAndClientsEvenWhenToldTwice) {
  const TempDir dir;
  const std::string socket = dir.path() + "/admin.sock";
  Child child(Simulated({"--admin-socket=" + socket, "--tick=100ms"}));
  const int port = PortOf(child);
  const UniqueFd idle = testing::ConnectTcp(port);
  const UniqueFd half = testing::ConnectUnix(socket);
  ASSERT_TRUE(idle && half);
  ASSERT_GT(::write(half.get(), "GET /heal", 9), 0);
  const std::string body = R"({"device":"mlx5_0","hang":{"verb":"query_port","seconds":30}})";
  EXPECT_THAT(testing::Exchange(testing::ConnectUnix(socket).get(),
                                "POST /api/v1/simulator HTTP/1.1\r\nHost: localhost\r\n"
                                "Connection: close\r\nContent-Type: application/json\r\n"
                                "Content-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body),
              StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(child.WaitForOutput("device does not answer, its ports do not serve device=mlx5_0"));
  child.Signal(SIGTERM);
  ExpectStops(child);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST(Process, RunsAndStopsWithoutStdout) {
  const TempDir dir;
  const std::string socket = dir.path() + "/admin.sock";
  Child child(Simulated({"--admin-socket=" + socket}), {.close_stdout = true});
  ASSERT_TRUE(WaitFor([&] { return bool(testing::ConnectUnix(socket)); }));
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(child.pid()) + "/fd/1"),
            "/dev/null");
  ExpectStops(child);
}

TEST(Process, RunsAndStopsWhenNobodyReadsItsLog) {
  const TempDir dir;
  const std::string socket = dir.path() + "/admin.sock";
  std::array<int, 2> fds{};
  ASSERT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  const UniqueFd read(fds[0]);
  const UniqueFd write(fds[1]);
  ASSERT_EQ(::fcntl(write.get(), F_SETPIPE_SZ, 4096), 4096);
  const std::string full(4096, 'x');
  ASSERT_EQ(::write(write.get(), full.data(), full.size()), 4096);
  Child child(Simulated({"--admin-socket=" + socket, "--log-level=debug"}),
              {.stdout_fd = write.get()});
  ASSERT_TRUE(WaitFor([&] { return bool(testing::ConnectUnix(socket)); }));
  EXPECT_THAT(testing::Exchange(testing::ConnectUnix(socket).get(),
                                "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                                "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
  ExpectStops(child);
  EXPECT_EQ(::fcntl(write.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(Process, SurvivesAReaderThatLeaves) {
  const TempDir dir;
  const std::string socket = dir.path() + "/admin.sock";
  std::array<int, 2> fds{};
  ASSERT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  UniqueFd read(fds[0]);
  UniqueFd write(fds[1]);
  Child child(Simulated({"--admin-socket=" + socket}), {.stdout_fd = write.get()});
  write.reset();
  read.reset();
  ASSERT_TRUE(WaitFor([&] { return bool(testing::ConnectUnix(socket)); }));
  child.Signal(SIGHUP);  // logs
  ExpectStops(child);
}

}  // namespace
}  // namespace nicmon
