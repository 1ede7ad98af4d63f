#include "existence.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/group.h"
#include "nicmon/base/unique_fd.h"
#include "values.h"

namespace nicmon::config {
namespace {

/// Why `path` is no readable file, with something in it unless `may_be_empty`; empty when it is
/// one.
std::string FileProblem(const std::string& path, bool may_be_empty) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return ErrnoText(errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return "not a regular file";
  }
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while ((n = ::read(fd.get(), buffer.data(), buffer.size())) > 0) {
    if (!Trim(std::string_view(buffer.data(), static_cast<size_t>(n))).empty()) {
      return {};
    }
  }
  if (n < 0) {
    return ErrnoText(errno);
  }
  return may_be_empty ? "" : "the file is empty";
}

std::string DirectoryProblem(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return ErrnoText(errno);
  }
  return S_ISDIR(status.st_mode) ? "" : "not a directory";
}

}  // namespace

Missing FindMissing(const Config& config) {
  if (!config.admin_token_file.empty()) {
    if (auto why = FileProblem(config.admin_token_file, false); !why.empty()) {
      return {"admin-token-file", why};
    }
  }
  if (!config.web_config_file.empty()) {
    if (auto why = FileProblem(config.web_config_file, true); !why.empty()) {
      return {"web-config-file", why};
    }
  }
  if (!config.admin_socket_group.empty() && !FindGroup(config.admin_socket_group)) {
    return {"admin-socket-group", "no such group"};
  }
  if (config.sysfs_root_given) {
    if (auto why = DirectoryProblem(config.sysfs_root); !why.empty()) {
      return {"sysfs-root", why};
    }
  }
  // It is made when it is missing, but not in the place of something else.
  if (config.state_dir_given && !config.state_dir.empty()) {
    if (struct stat status{};
        ::stat(config.state_dir.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      return {"state-dir", "not a directory"};
    }
  }
  return {};
}

}  // namespace nicmon::config
