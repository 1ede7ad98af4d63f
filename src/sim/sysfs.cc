#include "node.h"

namespace nicmon::sim {
namespace {

FileRead Read(Node& node, const std::string& path) {
  node.faults.Count(Verb::kSysfsRead);
  std::unique_lock lock(node.mutex);
  if (const int error = node.faults.Enter(lock, node.tree.Owner(path), Verb::kSysfsRead)) {
    return {error, ""};
  }
  return node.tree.Read(path);
}

}  // namespace

SysfsFiles MakeSysfs(std::shared_ptr<Node> node) {
  SysfsFiles files;
  files.read = [node](const std::string& path) { return Read(*node, path); };
  files.keep = [node](const std::string& path) {
    return [node, path] { return Read(*node, path); };
  };
  files.list = [node](const std::string& path) {
    std::lock_guard lock(node->mutex);
    return node->tree.List(path);
  };
  files.resolve = [node](const std::string& path) {
    std::lock_guard lock(node->mutex);
    return node->tree.Resolve(path);
  };
  files.inode = [node](const std::string& path) {
    std::lock_guard lock(node->mutex);
    return node->tree.Inode(path);
  };
  return files;
}

}  // namespace nicmon::sim
