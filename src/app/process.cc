#include "nicmon/app/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace nicmon {
namespace {

// _exit and not exit: static destructors and threads that hang have no say in this.
extern "C" void LeaveNow(int /*signal*/) {
  ::_exit(0);
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

void Block(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    sigaddset(&set, signal);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

void PrepareSignals() {
  Handle(SIGTERM, LeaveNow);
  Handle(SIGINT, LeaveNow);
  Handle(SIGPIPE, SIG_IGN);
  Handle(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write, not our end
  Block({SIGHUP});
}

void NameProcess() {
  ::prctl(PR_SET_NAME, "nicmon");  // NOLINT(cppcoreguidelines-pro-type-vararg)
}

void HoldStopSignals() {
  Block({SIGTERM, SIGINT});
}

void OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // open() takes the lowest free number, which is this one.
      (void)::open("/dev/null", O_RDWR);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    }
  }
}

void RaiseFileLimit() {
  constexpr rlim_t kEnough = rlim_t{1} << 20;  // a hard limit may be "unlimited"
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (wanted > limit.rlim_cur) {
    limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void TuneAllocator() {
  constexpr int kScrapeBytes = 4 << 20;
  // A scrape's buffers stay with the heap instead of going back to the kernel every few seconds.
  ::mallopt(M_MMAP_THRESHOLD, kScrapeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kScrapeBytes);
  // Every further arena costs resident memory, and our threads hardly ever allocate together.
  ::mallopt(M_ARENA_MAX, 2);
}

void ArmLastResort(Duration delay) {
  Handle(SIGALRM, LeaveNow);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(delay).count();
  itimerval timer{};
  timer.it_value.tv_sec = us / 1'000'000;
  timer.it_value.tv_usec = us % 1'000'000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace nicmon
