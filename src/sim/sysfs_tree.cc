#include "sysfs_tree.h"

#include <cerrno>
#include <deque>

namespace nicmon::sim {
namespace {

constexpr uint64_t kDeviceNumber = 0x5350;  // st_dev of the whole tree
constexpr int kMaxLinks = 40;               // as the kernel: ELOOP after that

std::deque<std::string> Split(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

}  // namespace

struct SysfsTree::Node {
  enum class Kind { kDirectory, kFile, kLink };

  Kind kind = Kind::kDirectory;
  bool pinned = false;
  bool hidden = false;
  int owner = kNoOwner;
  int error = 0;  // of reading the file
  uint64_t inode = 0;
  Node* parent = nullptr;
  std::string name;
  std::string text;  // of a file; the target of a link
  std::map<std::string, std::unique_ptr<Node>> children;
};

SysfsTree::SysfsTree() : root_(std::make_unique<Node>()) {
  root_->inode = next_inode_++;
  root_->parent = root_.get();
}

SysfsTree::~SysfsTree() = default;

SysfsTree::Node* SysfsTree::Find(std::string_view path, bool follow_last) const {
  std::deque<std::string> parts = Split(path);
  Node* node = root_.get();
  int links = 0;
  while (!parts.empty()) {
    const std::string part = std::move(parts.front());
    parts.pop_front();
    if (part == "..") {
      node = node->parent;
      continue;
    }
    const auto child = node->children.find(part);
    if (child == node->children.end() || child->second->hidden) {
      return nullptr;
    }
    node = child->second.get();
    if (node->kind == Node::Kind::kLink && (follow_last || !parts.empty())) {
      if (++links > kMaxLinks) {
        return nullptr;
      }
      const std::deque<std::string> target = Split(node->text);
      parts.insert(parts.begin(), target.begin(), target.end());
      node = root_.get();
    }
  }
  return node;
}

SysfsTree::Node* SysfsTree::Make(const std::string& path, int owner) {
  Node* node = root_.get();
  for (std::string& part : Split(path)) {
    std::unique_ptr<Node>& child = node->children[part];
    if (child == nullptr) {
      child = std::make_unique<Node>();
      child->owner = owner;
      child->inode = next_inode_++;
      child->parent = node;
      child->name = std::move(part);
    }
    node = child.get();
    if (node->kind == Node::Kind::kLink) {
      node = Find(node->text, true);
    }
  }
  return node;
}

void SysfsTree::MakeDirectory(const std::string& path, int owner) {
  Make(path, owner);
}

void SysfsTree::Write(const std::string& path, int owner, FileRead content) {
  Node* node = Make(path, owner);
  if (node->pinned) {
    return;
  }
  node->kind = Node::Kind::kFile;
  node->error = content.error;
  node->text = std::move(content.text);
}

bool SysfsTree::Pin(const std::string& path, FileRead content) {
  Node* node = Find(path, true);
  if (node != nullptr && node->kind == Node::Kind::kDirectory) {
    return false;
  }
  if (node == nullptr) {
    const size_t slash = path.rfind('/');
    const Node* directory = Find(
        slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash),
        true);
    node = Make(path, directory != nullptr ? directory->owner : kNoOwner);
  }
  node->kind = Node::Kind::kFile;
  node->pinned = true;
  node->hidden = false;
  node->error = content.error;
  node->text = std::move(content.text);
  return true;
}

void SysfsTree::Link(const std::string& path, int owner, const std::string& target) {
  Remove(path);
  Node* node = Make(path, owner);
  node->kind = Node::Kind::kLink;
  node->text = target;
}

void SysfsTree::Remove(const std::string& path) {
  const size_t slash = path.rfind('/');
  Node* directory = Find(std::string_view(path).substr(0, slash), true);
  if (slash != std::string::npos && directory != nullptr) {
    directory->children.erase(path.substr(slash + 1));
  }
}

bool SysfsTree::Hide(const std::string& path) {
  Node* node = Find(path, false);
  if (node == nullptr || node == root_.get()) {
    return false;
  }
  node->hidden = true;
  return true;
}

void SysfsTree::Rename(const std::string& path, const std::string& name) {
  Node* node = Find(path, false);
  Node* parent = node->parent;
  auto entry = parent->children.extract(node->name);
  entry.key() = name;
  node->name = name;
  parent->children.insert(std::move(entry));
}

FileRead SysfsTree::Read(const std::string& path) const {
  const Node* node = Find(path, true);
  if (node == nullptr) {
    return {ENOENT, ""};
  }
  if (node->kind != Node::Kind::kFile) {
    return {EINVAL, ""};
  }
  return {node->error, node->error == 0 ? node->text : std::string()};
}

std::vector<std::string> SysfsTree::List(const std::string& path) const {
  std::vector<std::string> names;
  if (const Node* node = Find(path, true); node != nullptr) {
    for (const auto& [name, child] : node->children) {
      if (!child->hidden) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::optional<std::string> SysfsTree::Resolve(const std::string& path) const {
  const Node* node = Find(path, true);
  if (node == nullptr) {
    return std::nullopt;
  }
  std::string resolved;
  for (; node != root_.get(); node = node->parent) {
    resolved = resolved.empty() ? node->name : node->name + "/" + resolved;
  }
  return resolved;
}

std::optional<std::pair<uint64_t, uint64_t>> SysfsTree::Inode(const std::string& path) const {
  const Node* node = Find(path, true);
  if (node == nullptr) {
    return std::nullopt;
  }
  return std::pair(kDeviceNumber, node->inode);
}

int SysfsTree::Owner(const std::string& path) const {
  const Node* node = Find(path, true);
  return node != nullptr ? node->owner : kNoOwner;
}

}  // namespace nicmon::sim
