#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "app/child.h"
#include "config/temp_file.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::Child;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TempDir;

constexpr milliseconds kStopLimit(2000);
constexpr milliseconds kLong(20000);

std::vector<std::string> Program(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {NICMON_PROGRAM};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

std::vector<std::string> Simulated(const std::vector<std::string>& flags = {}) {
  auto arguments = Program({"--simulate", "--simulate-force", "--listen=127.0.0.1:0"});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  if (flags.empty()) {
    arguments.emplace_back("--admin-socket=none");
  }
  return arguments;
}

/// The port in `serving listen=127.0.0.1:PORT`.
int PortOf(Child& child) {
  EXPECT_TRUE(child.WaitForOutput(" serving listen="));
  EXPECT_TRUE(child.WaitForOutput("simulated="));
  const std::string& text = child.OutputSoFar();
  const size_t colon = text.find(':', text.find(" serving listen=") + 16);
  return std::stoi(text.substr(colon + 1));
}

/// Waits for a condition that nothing announces.
template <typename Condition>
bool Eventually(Condition condition) {
  const auto deadline = steady_clock::now() + milliseconds(10000);
  while (!condition()) {
    if (steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

std::string ProcFile(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Exit 0 within two seconds after SIGTERM.
void ExpectStops(Child& child, int signal = SIGTERM) {
  const auto began = steady_clock::now();
  child.Signal(signal);
  EXPECT_EQ(child.Wait(kLong), 0) << child.OutputSoFar();
  EXPECT_LT(steady_clock::now() - began, kStopLimit);
}

TEST(Process, HelpVersionAndCheckConfig) {
  for (const std::string flag : {"--help", "--version", "--check-config"}) {
    Child child(Program({flag}));
    EXPECT_EQ(child.Wait(kLong), 0) << flag;
    EXPECT_THAT(child.Output(), HasSubstr(flag == "--check-config" ? "tick = 1s" : "nicmon"));
  }
}

TEST(Process, UsageErrorsExitWith2AndOneLine) {
  const TempDir dir;
  const std::string file = dir.Write("f", "bogus = 1\n");
  for (const std::string flag : {"--bogus", "--tick=0s", "--data-path=never"}) {
    Child child(Program({flag}));
    EXPECT_EQ(child.Wait(kLong), 2) << flag;
    EXPECT_THAT(child.Output(), StartsWith("nicmon: "));
    EXPECT_EQ(std::count(child.Output().begin(), child.Output().end(), '\n'), 1);
  }
  Child child(Program({"--config=" + file}));
  EXPECT_EQ(child.Wait(kLong), 2);
  Child environment(Program({}), {}, {"NICMON_TICK=5x"});
  EXPECT_EQ(environment.Wait(kLong), 2);
  EXPECT_THAT(environment.Output(), HasSubstr("environment variable NICMON_TICK"));
}

TEST(Process, LogsItsConfigurationOnceAndWarnsOfUnknownVariables) {
  Child child(Simulated(), {}, {"NICMON_SERVICE_HOST=10.0.0.1", "NODE_NAME=node-7"});
  (void)PortOf(child);
  ExpectStops(child);
  const std::string& text = child.Output();
  EXPECT_THAT(text,
              HasSubstr(" INFO effective configuration listen=127.0.0.1:0 admin-socket=none"));
  EXPECT_THAT(text, HasSubstr("node-name=node-7"));
  EXPECT_THAT(text, HasSubstr(" WARNING environment variable NICMON_SERVICE_HOST"));
  EXPECT_EQ(text.find("effective configuration"), text.rfind("effective configuration"));
}

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
    ASSERT_TRUE(Eventually([&] {
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
  ASSERT_TRUE(Eventually([&] { return bool(testing::ConnectUnix(socket)); }));
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
  ASSERT_TRUE(Eventually([&] { return bool(testing::ConnectUnix(socket)); }));
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
  ASSERT_TRUE(Eventually([&] { return bool(testing::ConnectUnix(socket)); }));
  child.Signal(SIGHUP);  // logs
  ExpectStops(child);
}

TEST(Process, RaisesTheSoftLimitOfOpenFiles) {
  std::vector<std::string> arguments = {"/bin/sh", "-c",
                                        "ulimit -Sn 256; ulimit -Hn 300; exec \"$0\" \"$@\""};
  const auto program = Simulated();
  arguments.insert(arguments.end(), program.begin(), program.end());
  Child child(arguments);
  ASSERT_TRUE(child.WaitForOutput(" serving listen="));
  EXPECT_THAT(ProcFile(child.pid(), "limits"),
              ::testing::ContainsRegex("Max open files +300 +300 "));
  ExpectStops(child);
}

TEST(Process, ASecondStartOnTheSamePortExitsWith1) {
  Child first(Simulated());
  const int port = PortOf(first);
  Child second(Simulated({"--admin-socket=none", "--listen=127.0.0.1:" + std::to_string(port)}));
  EXPECT_EQ(second.Wait(kLong), 1);
  const std::string& text = second.Output();
  const size_t error = text.find(" ERROR ");
  ASSERT_NE(error, std::string::npos) << text;
  EXPECT_THAT(text.substr(error), HasSubstr(":" + std::to_string(port)));
  EXPECT_EQ(std::count(text.begin() + static_cast<std::ptrdiff_t>(error), text.end(), '\n'), 1)
      << text;
  ExpectStops(first);
}

/// What systemd listens on.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)), path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  const std::string& path() const { return path_; }

  /// Reads messages until one holds `text`; which, or "" when 10 s passed without any.
  std::string WaitFor(const std::string& text) {
    std::array<char, 512> message;
    for (;;) {
      pollfd entry{fd_.get(), POLLIN, 0};
      if (::poll(&entry, 1, 10'000) <= 0) {
        return "";
      }
      const ssize_t size = ::recv(fd_.get(), message.data(), message.size(), 0);
      const std::string received(message.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
      if (received.find(text) != std::string::npos) {
        return received;
      }
    }
  }

 private:
  UniqueFd fd_;
  std::string path_;
};

TEST(Process, TellsTheServiceManagerHowItDoes) {
  const TempDir dir;
  NotifySocket manager(dir.path() + "/notify");
  Child child(Simulated({"--simulate=devices=2", "--admin-socket=none"}), {},
              {"NOTIFY_SOCKET=" + manager.path()});
  EXPECT_EQ(manager.WaitFor("READY=1"), "READY=1");
  // Whoever orders itself after us finds us listening.
  EXPECT_TRUE(testing::ConnectTcp(PortOf(child)));
  EXPECT_EQ(manager.WaitFor("2 of 2"), "WATCHDOG=1\nSTATUS=2 of 2 ports serving");
  EXPECT_EQ(manager.WaitFor("WATCHDOG"), "WATCHDOG=1");
  child.Signal(SIGHUP);
  EXPECT_THAT(manager.WaitFor("RELOADING"), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.WaitFor("READY=1"), "READY=1");
  child.Signal(SIGTERM);
  EXPECT_EQ(manager.WaitFor("STOPPING"), "STOPPING=1");
  EXPECT_EQ(child.Wait(kLong), 0);
}

TEST(Process, AServiceManagerThatIsGoneIsNoProblem) {
  for (const std::string address : {"/nonexistent/notify", "vsock:2:1", "@nicmon-test-nobody"}) {
    Child child(Simulated({"--admin-socket=none"}), {}, {"NOTIFY_SOCKET=" + address});
    EXPECT_TRUE(child.WaitForOutput("simulated=")) << address;
    EXPECT_THAT(child.OutputSoFar(), HasSubstr("service manager")) << address;
    ExpectStops(child);
  }
}

TEST(Process, AWebConfigThatCannotBeUsedStopsTheStart) {
  const TempDir dir;
  const std::string file = dir.Write("web.yml", "basic_auth_users:\n  ann: hunter2\n");
  for (const char* mode : {"--check-config", "--admin-socket=none"}) {
    Child child(Simulated({mode, "--web-config-file=" + file}));
    EXPECT_EQ(child.Wait(kLong), 2);
    EXPECT_THAT(child.Output(), HasSubstr("web.yml\" is not accepted (line 2: user \"ann\": not a "
                                          "bcrypt hash"));
    EXPECT_EQ(child.Output().find("hunter2"), std::string::npos);
  }
}

TEST(Process, HupReadsTheTokenFileAgain) {
  const TempDir dir;
  const std::string file = dir.Write("tokens", "ann:old-token\n");
  Child child(Simulated({"--admin-socket=none", "--admin-token-file=" + file}));
  const int port = PortOf(child);
  const auto requery = [&](const std::string& token) {
    return testing::Exchange(testing::ConnectTcp(port).get(),
                             "POST /api/v1/devices/mlx5_0/requery HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\nContent-Length: 0\r\nAuthorization: Bearer " +
                                 token + "\r\n\r\n");
  };
  EXPECT_TRUE(Eventually([&] { return requery("old-token").starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(requery("new-token"), StartsWith("HTTP/1.1 401"));
  dir.Write("tokens", "ann:new-token\n");
  child.Signal(SIGHUP);
  EXPECT_TRUE(child.WaitForOutput("reading files again"));
  EXPECT_TRUE(Eventually([&] { return requery("new-token").starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(requery("old-token"), StartsWith("HTTP/1.1 401"));
  ExpectStops(child);
}

}  // namespace
}  // namespace nicmon
