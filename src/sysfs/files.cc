#include "nicmon/sysfs/files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kept_file.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon {
namespace {

using sysfs_internal::KeptFile;
using sysfs_internal::kMaxFile;

/// Paths are put together from names that drivers choose: nothing that climbs or cuts a path short.
bool IsPlainPath(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) {
    return false;
  }
  while (true) {
    const size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
}

FileRead Failed(int error) {
  return {error, ""};
}

FileRead ReadAll(int fd) {
  FileRead result;
  std::array<char, kMaxFile> buffer;
  while (result.text.size() < kMaxFile) {
    const ssize_t n = ::read(fd, buffer.data(), kMaxFile - result.text.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return Failed(errno);
    }
    if (n == 0) {
      break;
    }
    result.text.append(buffer.data(), static_cast<size_t>(n));
  }
  return result;
}

FileRead ReadSmallFile(const std::string& root, const std::string& path) {
  if (!IsPlainPath(path)) {
    return Failed(EINVAL);
  }
  int error = 0;
  const UniqueFd fd = sysfs_internal::OpenRegular(root + "/" + path, error);
  if (!fd) {
    return Failed(error);
  }
  return ReadAll(fd.get());
}

std::vector<std::string> ListDirectory(const std::string& root, const std::string& path) {
  std::vector<std::string> names;
  if (!IsPlainPath(path)) {
    return names;
  }
  struct CloseDir {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(::opendir((root + "/" + path).c_str()));
  if (dir == nullptr) {
    return names;
  }
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> RealPath(const std::string& path) {
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  return real == nullptr ? std::nullopt : std::optional<std::string>(real.get());
}

/// sysfs links are relative, so they stay inside wherever the tree is mounted or copied to. One
/// that leads out (an absolute link of a copied tree) is the host's business, not this tree's.
std::optional<std::string> ResolveInside(const std::string& root, const std::string& path) {
  if (!IsPlainPath(path)) {
    return std::nullopt;
  }
  const std::optional<std::string> real_root = RealPath(root.empty() ? "/" : root);
  const std::optional<std::string> real = RealPath(root + "/" + path);
  struct stat status {};
  if (!real_root || !real || ::stat(real->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return std::nullopt;
  }
  if (*real == *real_root) {
    return "";
  }
  const std::string inside = *real_root == "/" ? "/" : *real_root + "/";
  if (!real->starts_with(inside)) {
    return std::nullopt;
  }
  return real->substr(inside.size());
}

std::optional<std::pair<uint64_t, uint64_t>> Inode(const std::string& root,
                                                   const std::string& path) {
  struct stat status {};
  if (!IsPlainPath(path) || ::stat((root + "/" + path).c_str(), &status) != 0) {
    return std::nullopt;
  }
  return std::pair<uint64_t, uint64_t>(status.st_dev, status.st_ino);
}

}  // namespace

SysfsFiles RealSysfs(std::string root) {
  while (!root.empty() && root.back() == '/') {
    root.pop_back();
  }
  SysfsFiles files;
  files.read = [root](const std::string& path) { return ReadSmallFile(root, path); };
  files.keep = [root](const std::string& path) -> std::function<FileRead()> {
    if (!IsPlainPath(path)) {
      return [] { return Failed(EINVAL); };
    }
    return [file = std::make_shared<KeptFile>(root + "/" + path)] { return file->Read(); };
  };
  files.list = [root](const std::string& path) { return ListDirectory(root, path); };
  files.resolve = [root](const std::string& path) { return ResolveInside(root, path); };
  files.inode = [root](const std::string& path) { return Inode(root, path); };
  return files;
}

}  // namespace nicmon
