#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "nicmon/sysfs/files.h"

namespace nicmon::sysfs_internal {

/// Files that are read in rounds through kept descriptors (SysfsFiles::keep), each time those of
/// the directory that has the name now.
///
/// A descriptor alone does not do where a thing can be renamed: sysfs moves a netdev's files along,
/// also into another network namespace, so that a kept one goes on telling of the old netdev while
/// the name is gone or another's. The directory's inode number stays the same through a rename and
/// is a new one for another netdev; it is looked at once a round. For one thread.
class KeptDirectories {
 public:
  explicit KeptDirectories(SysfsFiles sysfs) : sysfs_(std::move(sysfs)) {}

  /// A round begins. What the last one did not read is let go.
  void Begin();
  /// Lets go of everything.
  void Clear() { directories_.clear(); }
  FileRead Read(const std::string& path);

 private:
  struct Directory {
    bool looked_at = false;  // in this round
    std::optional<std::pair<uint64_t, uint64_t>> inode;
    std::map<std::string, std::function<FileRead()>> files;  // by whole path
  };

  SysfsFiles sysfs_;
  std::map<std::string, Directory> directories_;
};

}  // namespace nicmon::sysfs_internal
