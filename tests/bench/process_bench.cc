// Figures of the whole program with 16 simulated devices: start, idle, scrapes alone, under 50
// scrapers, with a hung device, and pauses that are on disk before they are answered, beside a bare
// write of the same file. Usage: process_bench NICMON [IDLE_SECONDS]; TMPDIR says on which disk.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "bench/table.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::bench {
namespace {

constexpr int kDevices = 16;

/// A nicmon on loopback ports that the kernel chose, ended with its owner.
class Process {
 public:
  explicit Process(const std::string& program) {
    std::string directory = std::filesystem::temp_directory_path() / "nicmon-bench-XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr) {
      throw std::runtime_error("mkdtemp failed");
    }
    directory_ = directory;
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
      throw std::runtime_error("pipe failed");
    }
    output_ = UniqueFd(pipe_fds[0]);
    const UniqueFd write_end(pipe_fds[1]);
    started_ = BenchClock::now();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(write_end.get(), STDOUT_FILENO);
      const std::string simulate = "--simulate=devices=" + std::to_string(kDevices);
      const std::string socket = directory_ + "/admin.sock";
      const std::string state = state_directory();
      ::execl(program.c_str(), program.c_str(), "--listen", "127.0.0.1:0", "--admin-socket",
              socket.c_str(), "--state-dir", state.c_str(), simulate.c_str(), "--simulate-force",
              nullptr);
      ::_exit(127);
    }
    ReadPort();
  }
  ~Process() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  BenchClock::time_point started() const { return started_; }
  std::string state_directory() const { return directory_ + "/state"; }

  /// CPU seconds used so far, to the nanosecond.
  double CpuSeconds() const {
    clockid_t clock;
    timespec time{};
    ::clock_getcpuclockid(pid_, &clock);
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
  double ResidentMib() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
    long size = 0;
    long resident = 0;
    file >> size >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
  }

  /// One request on a connection of its own; the whole reply, empty when there was none.
  std::string Request(const std::string& text) const {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return Exchange(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address, text);
  }
  /// The same through the admin socket.
  std::string Operate(const std::string& path, const std::string& body) const {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory_ + "/admin.sock").c_str(),
                 sizeof address.sun_path - 1);
    return Exchange(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address,
                    "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  std::string Scrape() const {
    return Request("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  /// Through the admin socket, which needs no token.
  void Simulate(const std::string& json) const {
    const std::string command = "curl -s -o /dev/null --unix-socket " + directory_ +
                                "/admin.sock http://localhost/api/v1/simulator -d '" + json + "'";
    if (std::system(command.c_str()) != 0) {
      throw std::runtime_error("the simulator command failed: " + command);
    }
  }

 private:
  static std::string Exchange(int fd, const sockaddr* address, socklen_t length,
                              const std::string& text) {
    if (::connect(fd, address, length) != 0 ||
        ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return "";
    }
    std::string reply;
    char buffer[65536];
    ssize_t n = 0;
    while ((n = ::read(fd, buffer, sizeof buffer)) > 0) {
      reply.append(buffer, static_cast<size_t>(n));
    }
    return reply;
  }

  void ReadPort() {
    std::string text;
    char c = 0;
    const std::string key = "listen=127.0.0.1:";
    while (::read(output_.get(), &c, 1) == 1) {
      text += c;
      // The configuration line has port 0; the line that counts follows it.
      const size_t at = text.rfind(" serving listen=127.0.0.1:");
      if (c == '\n' && at != std::string::npos) {
        port_ = static_cast<uint16_t>(std::atoi(text.c_str() + text.find(key, at) + key.size()));
        return;
      }
    }
    throw std::runtime_error("nicmon did not start: " + text);
  }

  std::string directory_;
  UniqueFd output_;
  BenchClock::time_point started_;
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

void Start(const Process& process) {
  Heading("Start with 16 devices");
  std::string page;
  do {
    page = process.Scrape();
  } while (Count(page, "\nnicmon_port_up{") != kDevices);
  Row("fork to first complete scrape",
      Number(Seconds(BenchClock::now() - process.started()) * 1e3, " ms", 1));
  Row("page", Number(static_cast<double>(page.size()) / 1024, " KiB", 0) + ", " +
                  std::to_string(Count(page, "\nnicmon_")) + " series");
}

void Idle(const Process& process, int seconds) {
  Heading("Idle with 16 ports at 1 Hz");
  const double before = process.CpuSeconds();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double used = process.CpuSeconds() - before;
  Row("CPU per minute", Number(used / seconds * 60 * 1e3, " ms", 1));
  Row("share of one core", Number(used / seconds * 100, " %", 3), "aim: < 0.3 %");
  Row("RSS", Number(process.ResidentMib(), " MiB", 1), "aim: < 15 MiB");
}

void Scrapes(const Process& process, const char* what, int scrapers, int each) {
  const double cpu_before = process.CpuSeconds();
  std::vector<Samples> samples(static_cast<size_t>(scrapers));
  std::vector<std::thread> threads;
  for (Samples& mine : samples) {
    threads.emplace_back([&process, &mine, each] {
      for (int i = 0; i < each; ++i) {
        const auto start = BenchClock::now();
        if (process.Scrape().size() > 1000) {
          mine.Add(Seconds(BenchClock::now() - start));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Samples all;
  size_t answered = 0;
  for (Samples& mine : samples) {
    answered += mine.size();
    for (size_t i = 0; i < mine.size(); ++i) {
      all.Add(mine.Quantile(
          mine.size() > 1 ? static_cast<double>(i) / static_cast<double>(mine.size() - 1) : 0));
    }
  }
  const double cpu = (process.CpuSeconds() - cpu_before) / static_cast<double>(scrapers * each);
  Row(std::string(what) + ", p50 / p99",
      Micros(all.Quantile(0.5)) + " / " + Micros(all.Quantile(0.99)));
  Row("  answered, CPU per scrape",
      std::to_string(answered) + "/" + std::to_string(scrapers * each) + ", " + Micros(cpu));
}

/// What no durable write of a file can do without: 0 when all of it worked.
int WriteDurably(const std::string& directory, const std::string& text) {
  const std::string temporary = directory + "/bare.tmp";
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  const UniqueFd above(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool written =
      ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(fd.get()) == 0 && ::rename(temporary.c_str(), (directory + "/bare").c_str()) == 0 &&
      ::fsync(above.get()) == 0;
  return written ? 0 : 1;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// In turn with a bare write of the same file in the same directory, as the disk has its moods.
void Pauses(const Process& process, int count) {
  Heading("Pause of one of 16 ports, on disk before the reply");
  const std::string path = "/api/v1/ports/mlx5_5/1/pause";
  Samples bare, pause, requery;
  for (int i = 0; i < count; ++i) {
    const std::string text = FileText(process.state_directory() + "/holds.json");
    auto start = BenchClock::now();
    const int failed = WriteDurably(process.state_directory(), text);
    bare.Add(Seconds(BenchClock::now() - start));
    start = BenchClock::now();
    const std::string reply = process.Operate(path, "replace=true&reason=r" + std::to_string(i));
    pause.Add(Seconds(BenchClock::now() - start));
    start = BenchClock::now();
    (void)process.Operate("/api/v1/ports/mlx5_5/1/requery", "");
    requery.Add(Seconds(BenchClock::now() - start));
    if (failed != 0 || reply.find("\"durable\":true") == std::string::npos) {
      throw std::runtime_error("not on disk: " + reply);
    }
  }
  const auto figures = [](Samples& samples) {
    return Micros(samples.Quantile(0.5)) + " / " + Micros(samples.Quantile(0.99));
  };
  Row("bare write, fsync, rename, fsync, p50 / p99", figures(bare));
  Row("pause round trip, p50 / p99", figures(pause));
  Row("  the same without a disk (requery)", figures(requery));
  Row("pause / bare, p50", Number(pause.Quantile(0.5) / bare.Quantile(0.5), ""),
      "1: the disk and nothing else");
}

}  // namespace
}  // namespace nicmon::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: process_bench NICMON [IDLE_SECONDS]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  using namespace nicmon::bench;
  const Process process(argv[1]);
  Start(process);
  Idle(process, argc > 2 ? std::atoi(argv[2]) : 20);
  Heading("Scrapes of 16 ports");
  Scrapes(process, "alone", 1, 500);
  Scrapes(process, "50 scrapers at once", 50, 20);
  Pauses(process, 200);
  process.Simulate(R"({"device":"mlx5_3","hang":{"verb":"query_port","seconds":600}})");
  Scrapes(process, "alone, one device hung", 1, 500);
  Row("RSS after all that", Number(process.ResidentMib(), " MiB", 1));
  return 0;
}
