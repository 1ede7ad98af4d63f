#include "kept_directories.h"

namespace nicmon::sysfs_internal {
namespace {

/// Of what is read here nothing else is.
bool CanBeRenamed(const std::string& path) {
  return path.starts_with("class/net/");
}

}  // namespace

void KeptDirectories::Begin() {
  std::erase_if(directories_, [](const auto& entry) { return !entry.second.looked_at; });
  for (auto& [path, directory] : directories_) {
    directory.looked_at = false;
  }
}

FileRead KeptDirectories::Read(const std::string& path) {
  const std::string parent = path.substr(0, path.rfind('/'));
  Directory& directory = directories_[parent];
  if (!std::exchange(directory.looked_at, true) && CanBeRenamed(path)) {
    const auto inode = sysfs_.inode(parent);
    if (inode != directory.inode) {
      directory.files.clear();
      directory.inode = inode;
    }
  }
  auto file = directory.files.find(path);
  if (file == directory.files.end()) {
    file = directory.files.emplace(path, sysfs_.keep(path)).first;
  }
  return file->second();
}

}  // namespace nicmon::sysfs_internal
