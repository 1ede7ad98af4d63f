#include "app/child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace nicmon::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // exec's signature, it changes nothing
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// In the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void Execute(char* const* argv, char* const* environment,
                          const Child::Options& options, int output) {
  sigset_t set;
  sigemptyset(&set);
  if (options.block_stop_signals) {
    sigaddset(&set, SIGTERM);
  }
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(output, STDERR_FILENO);
  ::dup2(options.stdout_fd >= 0 ? options.stdout_fd : output, STDOUT_FILENO);
  if (options.close_stdout) {
    ::close(STDOUT_FILENO);
  }
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

/// A process as PID 1 of a new namespace: unshare() is for the children of its caller, so the
/// caller is a process in between. Returns -1 where this is not permitted.
template <typename Function>
pid_t ForkIntoNamespace(Function function) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    return -1;
  }
  const UniqueFd read(report[0]);
  UniqueFd write(report[1]);
  const pid_t between = ::fork();
  if (between == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      ::_exit(1);
    }
    const pid_t first = ::fork();
    if (first == 0) {
      function();
    }
    (void)!::write(write.get(), &first, sizeof first);
    int status = 0;
    ::waitpid(first, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  write.reset();
  pid_t first = -1;
  if (::read(read.get(), &first, sizeof first) != sizeof first) {
    ::waitpid(between, nullptr, 0);
    return -1;
  }
  return between;
}

/// The only child of a process.
pid_t ChildOf(pid_t pid) {
  const std::string path =
      "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  (void)!::read(fd.get(), text.data(), text.size() - 1);
  return static_cast<pid_t>(std::strtol(text.data(), nullptr, 10));
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, const Options& options,
             const std::vector<std::string>& environment) {
  const auto argv = Pointers(arguments);
  const auto variables = Pointers(environment);
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return;
  }
  output_.reset(fds[0]);
  const UniqueFd write(fds[1]);
  const auto execute = [&] { Execute(argv.data(), variables.data(), options, write.get()); };
  // Blocked until the child has the mask that it is to have: a signal right after the fork waits.
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &stop, &before);
  pid_ = options.pid_namespace ? ForkIntoNamespace(execute) : ::fork();
  if (pid_ == 0) {
    execute();
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid_ > 0) {
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  if (options.pid_namespace && pid_ > 0) {
    // Signals go to PID 1, its exit status comes from the process in between.
    const pid_t first = ChildOf(pid_);
    between_ = pid_;
    pid_ = first;
  }
}

Child::~Child() {
  if (started() && !status_) {
    Signal(SIGKILL);
    (void)Wait(milliseconds(10000));
  }
}

void Child::Signal(int signal) const {
  if (pid_ > 0) {
    ::kill(pid_, signal);
  }
}

std::optional<int> Child::Wait(milliseconds timeout) {
  pollfd wait{pidfd_.get(), POLLIN, 0};
  if (!status_ && ::poll(&wait, 1, static_cast<int>(timeout.count())) == 1) {
    int status = 0;
    ::waitpid(between_ > 0 ? between_ : pid_, &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return status_;
}

bool Child::ReadMore(milliseconds timeout) {
  pollfd wait{output_.get(), POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(timeout.count())) != 1) {
    return false;
  }
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(output_.get(), buffer.data(), buffer.size());
  if (n > 0) {
    text_.append(buffer.data(), static_cast<size_t>(n));
  }
  return n > 0;
}

bool Child::WaitForOutput(const std::string& text) {
  const auto deadline = steady_clock::now() + milliseconds(10000);
  while (text_.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || !ReadMore(left)) {
      return false;
    }
  }
  return true;
}

const std::string& Child::Output() {
  while (ReadMore(milliseconds(10000))) {
  }
  return text_;
}

std::string Exchange(int socket, const std::string& request, milliseconds patience) {
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return {};
  }
  std::string answer;
  std::array<char, 4096> buffer;
  pollfd wait{socket, POLLIN, 0};
  while (::poll(&wait, 1, static_cast<int>(patience.count())) == 1) {
    const ssize_t n = ::read(socket, buffer.data(), buffer.size());
    if (n <= 0) {
      break;
    }
    answer.append(buffer.data(), static_cast<size_t>(n));
  }
  return answer;
}

UniqueFd ConnectTcp(int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

UniqueFd ConnectUnix(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace nicmon::testing
