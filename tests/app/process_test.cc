#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <string>

#include "app/process.h"
#include "config/temp_file.h"
#include "testing/wait_for.h"

// The real process: what it says, what it refuses, what it tells systemd, what it reads again.
namespace nicmon {
namespace {

using testing::Child;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WaitFor;

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
  for (const std::string flag : {"--bogus", "--tick=0s", "--data-path=sometimes"}) {
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
  EXPECT_TRUE(WaitFor([&] { return requery("old-token").starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(requery("new-token"), StartsWith("HTTP/1.1 401"));
  dir.Write("tokens", "ann:new-token\n");
  child.Signal(SIGHUP);
  EXPECT_TRUE(child.WaitForOutput("reading files again"));
  EXPECT_TRUE(WaitFor([&] { return requery("new-token").starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(requery("old-token"), StartsWith("HTTP/1.1 401"));
  ExpectStops(child);
}

}  // namespace
}  // namespace nicmon
