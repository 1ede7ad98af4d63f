#include "ctl/ctl_run.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "testing/wait_for.h"

namespace nicmon::testing {
namespace {

constexpr std::chrono::milliseconds kLong(20000);

Strings DaemonArguments(const std::string& socket, const Strings& flags) {
  Strings arguments = {NICMON_PROGRAM, "--simulate-force", "--listen=127.0.0.1:0",
                       "--admin-socket=" + socket};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

std::string Contents(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while ((n = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

CtlResult RunProgram(const Strings& arguments, const Strings& environment, int stdout_fd) {
  const UniqueFd out(::memfd_create("stdout", MFD_CLOEXEC));
  Child::Options options;
  options.stdout_fd = stdout_fd >= 0 ? stdout_fd : out.get();
  Child child(arguments, options, environment);
  CtlResult result;
  result.code = child.Wait(kLong).value_or(-1);
  result.err = result.code < 0 ? child.OutputSoFar() : child.Output();
  result.out = Contents(out.get());
  return result;
}

CtlResult Ctl(const Strings& arguments, const Strings& environment) {
  Strings all = {NICMON_PROGRAM, "ctl"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return RunProgram(all, environment);
}

Daemon::Daemon(const Strings& flags)
    : socket_(directory_.path() + "/admin.sock"),
      child_(DaemonArguments(socket_, flags), Child::Options(), {"NICMON_STATE_DIR=none"}) {
  EXPECT_TRUE(child_.WaitForOutput(" serving listen=")) << child_.OutputSoFar();
  EXPECT_TRUE(child_.WaitForOutput("simulated="));
  // Each device comes up for itself: whatever the flags, there are two.
  EXPECT_TRUE(Becomes({"check", "--expect-ports", "2"}, 0)) << Ctl({"ports"}).out;
}

std::string Daemon::url() {
  const std::string& text = child_.OutputSoFar();
  const size_t begin = text.find(" serving listen=") + 16;
  return "http://" + text.substr(begin, text.find(' ', begin) - begin);
}

CtlResult Daemon::Ctl(const Strings& arguments) const {
  return testing::Ctl(arguments, {environment()});
}

bool Daemon::Becomes(const Strings& arguments, int code) const {
  return WaitFor([&] { return Ctl(arguments).code == code; });
}

void Daemon::Simulate(const std::string& command) const {
  const std::string answer =
      Exchange(ConnectUnix(socket_).get(),
               "POST /api/v1/simulator HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
               "Content-Type: application/json\r\nContent-Length: " +
                   std::to_string(command.size()) + "\r\n\r\n" + command);
  EXPECT_EQ(answer.rfind("HTTP/1.1 200", 0), 0u) << answer;
}

UniqueFd UnixSocket(const std::string& path, bool listens) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  if (!listens) {
    return {};
  }
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

}  // namespace nicmon::testing
