#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/unique_fd.h"
#include "nicmon/metrics/exposition.h"

namespace nicmon {
namespace {

std::string ReadAll(const char* path) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while (fd && (got = ::read(fd.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// /proc/self/stat behind the command name, which may hold spaces and parentheses. Field n of
/// proc(5) is at(n - 3).
std::vector<std::string_view> StatFields(std::string_view stat) {
  std::vector<std::string_view> fields;
  size_t at = stat.rfind(')');
  while (at != std::string_view::npos && (at = stat.find_first_not_of(") \n", at)) < stat.size()) {
    const size_t end = std::min(stat.find_first_of(" \n", at), stat.size());
    fields.push_back(stat.substr(at, end - at));
    at = end;
  }
  return fields;
}

/// When the process started, in seconds since 1970. It never changes, and /proc/stat is long on a
/// machine with many CPUs, so it is read once.
std::optional<double> StartTime(uint64_t ticks_after_boot, double ticks_per_second) {
  static const std::optional<double> start = [&]() -> std::optional<double> {
    const std::string stat = ReadAll("/proc/stat");
    constexpr std::string_view kKey = "\nbtime ";
    const size_t at = stat.find(kKey);
    const auto boot = at == std::string::npos
                          ? std::nullopt
                          : Number(std::string_view(stat).substr(at + kKey.size()));
    if (!boot) {
      return std::nullopt;
    }
    return static_cast<double>(*boot) + static_cast<double>(ticks_after_boot) / ticks_per_second;
  }();
  return start;
}

std::optional<uint64_t> OpenFds() {
  // Since Linux 6.2 the size of the directory is their number: no walk over what may be thousands.
  struct stat status {};
  if (::stat("/proc/self/fd", &status) == 0 && status.st_size > 0) {
    return static_cast<uint64_t>(status.st_size);
  }
  struct CloseDir {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(::opendir("/proc/self/fd"));
  uint64_t entries = 0;
  while (dir != nullptr && ::readdir(dir.get()) != nullptr) {
    ++entries;
  }
  constexpr uint64_t kOthers = 3;  // "." and "..", and the one that reads the directory
  return entries > kOthers ? std::optional(entries - kOthers) : std::nullopt;
}

}  // namespace

MetricsInput::Process ReadProcess() {
  MetricsInput::Process process;
  const std::string stat = ReadAll("/proc/self/stat");
  const auto fields = StatFields(stat);
  const auto field = [&](size_t n) {
    return n - 3 < fields.size() ? Number(fields[n - 3]) : std::nullopt;
  };
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto user = field(14), system = field(15), start = field(22), resident = field(24);
  if (user && system) {
    process.cpu_seconds = static_cast<double>(*user + *system) / ticks;
  }
  if (start) {
    process.start_time_seconds = StartTime(*start, ticks);
  }
  process.virtual_bytes = field(23);
  if (resident) {
    process.resident_bytes = *resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  process.open_fds = OpenFds();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    process.max_fds = limit.rlim_cur;
  }
  return process;
}

}  // namespace nicmon
