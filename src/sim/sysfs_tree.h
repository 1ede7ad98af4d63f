#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nicmon/sysfs/files.h"

namespace nicmon::sim {

/// A directory tree in memory with files and symbolic links, as much of sysfs as nicmon looks at.
/// Paths are relative to its root; link targets too. Not thread-safe.
class SysfsTree {
 public:
  static constexpr int kNoOwner = -1;

  SysfsTree();
  ~SysfsTree();

  /// Makes a directory and its parents; those that are new belong to `owner`.
  void MakeDirectory(const std::string& path, int owner);
  /// Writes a file, whose directory is made when needed. A pinned file stays as it is.
  void Write(const std::string& path, int owner, FileRead content);
  /// Writes a file that Write() will not change again; false when the path is a directory.
  bool Pin(const std::string& path, FileRead content);
  void Link(const std::string& path, int owner, const std::string& target);
  /// Removes what stands at the path itself (a link, not its target) with all below.
  void Remove(const std::string& path);
  /// Makes the path and all below look absent, whatever is written there later, until it is removed
  /// or pinned; false when there is no such path.
  bool Hide(const std::string& path);
  /// Gives the entry another name in the same directory. It stays the same thing (inode).
  void Rename(const std::string& path, const std::string& name);

  // The four of SysfsFiles.
  FileRead Read(const std::string& path) const;
  std::vector<std::string> List(const std::string& path) const;
  std::optional<std::string> Resolve(const std::string& path) const;
  std::optional<std::pair<uint64_t, uint64_t>> Inode(const std::string& path) const;

  /// To whom the thing at the path belongs.
  int Owner(const std::string& path) const;

 private:
  struct Node;
  Node* Find(std::string_view path, bool follow_last) const;
  Node* Make(const std::string& path, int owner);

  std::unique_ptr<Node> root_;
  uint64_t next_inode_ = 1;
};

}  // namespace nicmon::sim
