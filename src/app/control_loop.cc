#include "nicmon/app/control_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace nicmon {
namespace {

UniqueFd Checked(int fd, const char* what) {
  if (fd < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return UniqueFd(fd);
}

}  // namespace

ControlLoop::ControlLoop() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  signals_ = Checked(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  timer_ = Checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd");
  const itimerspec second{{1, 0}, {1, 0}};
  ::timerfd_settime(timer_.get(), 0, &second, nullptr);
}

ControlLoop::Event ControlLoop::Wait() {
  while (true) {
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      return signal.ssi_signo == SIGHUP ? Event::kReload : Event::kStop;
    }
    uint64_t seconds = 0;
    if (::read(timer_.get(), &seconds, sizeof seconds) == sizeof seconds) {
      return Event::kSecond;
    }
    std::array<pollfd, 2> wait = {pollfd{signals_.get(), POLLIN, 0},
                                  pollfd{timer_.get(), POLLIN, 0}};
    ::poll(wait.data(), wait.size(), -1);
  }
}

}  // namespace nicmon
