#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nicmon::testing {

/// A directory tree of a test's own, gone with it. Paths are relative to it; parent directories are
/// made as needed.
class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "nicmon-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("mkdtemp failed");
    }
    root_ = name;
  }
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  const std::string& root() const { return root_; }
  std::filesystem::path Path(const std::string& path) const {
    return std::filesystem::path(root_) / path;
  }
  void File(const std::string& path, std::string_view content) const {
    MakeParent(path);
    std::ofstream(Path(path), std::ios::binary | std::ios::trunc) << content;
  }
  void Directory(const std::string& path) const { std::filesystem::create_directories(Path(path)); }
  /// `target` as it is to stand in the link.
  void Link(const std::string& path, const std::string& target) const {
    MakeParent(path);
    std::filesystem::remove(Path(path));
    std::filesystem::create_symlink(target, Path(path));
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(Path(path)); }

 private:
  void MakeParent(const std::string& path) const {
    std::filesystem::create_directories(Path(path).parent_path());
  }
  std::string root_;
};

}  // namespace nicmon::testing
