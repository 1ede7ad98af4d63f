#include <algorithm>
#include <sstream>

#include "nicmon/sysfs/identity.h"
#include "parse.h"

namespace nicmon {
namespace sysfs_internal {

std::optional<std::vector<std::string>> ReadBondMembers(const SysfsFiles& sysfs,
                                                        const std::string& netdev) {
  if (!IsComponent(netdev)) {
    return std::nullopt;
  }
  const FileRead file = sysfs.read("class/net/" + netdev + "/bonding/slaves");
  if (file.error != 0) {
    return std::nullopt;
  }
  std::vector<std::string> members;
  std::istringstream words(file.text);
  for (std::string member; words >> member;) {
    if (!IsComponent(member)) {
      return std::nullopt;
    }
    members.push_back(std::move(member));
  }
  return members;
}

std::optional<bool> ReadIsUp(const SysfsFiles& sysfs, const std::string& netdev) {
  const std::string state = ReadLine(sysfs, "class/net/" + netdev + "/operstate");
  return state.empty() ? std::nullopt : std::optional<bool>(state == "up");
}

NetdevOwner OwnerOf(const SysfsFiles& sysfs, const std::string& device, const std::string& netdev) {
  const std::vector<std::string> owners = sysfs.list("class/net/" + netdev + "/device/infiniband");
  if (owners.empty()) {
    return NetdevOwner::kNobody;
  }
  const bool ours = std::all_of(owners.begin(), owners.end(),
                                [&](const std::string& owner) { return owner == device; });
  return ours ? NetdevOwner::kDevice : NetdevOwner::kAnotherDevice;
}

}  // namespace sysfs_internal

std::optional<uint64_t> ReadBondSpeed(const SysfsFiles& sysfs, const std::string& device,
                                      const std::string& netdev) {
  using sysfs_internal::NetdevOwner;
  const auto members = sysfs_internal::ReadBondMembers(sysfs, netdev);
  if (!members) {
    return std::nullopt;
  }
  uint64_t sum = 0;
  bool ours = false;
  for (const std::string& member : *members) {
    const NetdevOwner owner = sysfs_internal::OwnerOf(sysfs, device, member);
    if (owner == NetdevOwner::kAnotherDevice) {
      return std::nullopt;
    }
    ours = ours || owner == NetdevOwner::kDevice;
    if (!sysfs_internal::ReadIsUp(sysfs, member).value_or(false)) {
      continue;
    }
    const std::optional<uint64_t> speed = sysfs_internal::ReadSpeedFile(sysfs, member);
    if (!speed) {
      return std::nullopt;  // a sum without it would be a guess
    }
    sum += *speed;
  }
  return ours && sum > 0 ? std::optional<uint64_t>(sum) : std::nullopt;
}

}  // namespace nicmon
