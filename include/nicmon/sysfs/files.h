#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nicmon {

/// One small file, read whole.
struct FileRead {
  int error = 0;  // 0, or the errno of open or read
  std::string text;
};

/// The seam to sysfs, as VerbsApi is the one to the hardware. Paths are relative to the sysfs root,
/// without a leading slash: "class/infiniband/mlx5_0/ports/1/state".
///
/// RealSysfs() reads a directory (the root is a parameter), the simulator answers from memory.
struct SysfsFiles {
  /// At most 4 KiB; regular files only, opened O_NONBLOCK (anything else: EINVAL).
  std::function<FileRead(const std::string& path)> read;
  /// The same file to be read again and again: each call of the result reads it anew, at most 256
  /// bytes. Holds a
  /// descriptor where the process has plenty, else opens the file each time; a file that was
  /// replaced or is not there yet is opened again. Never fails itself. For one thread at a time.
  std::function<std::function<FileRead()>(const std::string& path)> keep;
  /// Entry names, sorted; empty when there is no such directory.
  std::function<std::vector<std::string>(const std::string& path)> list;
  /// Where a (symbolic link to a) directory really is, as a path relative to the root, so that it
  /// can be read on; nullopt when it does not exist or leads outside the root.
  std::function<std::optional<std::string>(const std::string& path)> resolve;
  /// (st_dev, st_ino) of the path, to tell a thing from its successor of the same name.
  std::function<std::optional<std::pair<uint64_t, uint64_t>>(const std::string& path)> inode;
};

SysfsFiles RealSysfs(std::string root);

}  // namespace nicmon
