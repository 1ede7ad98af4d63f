#include <algorithm>

#include "nicmon/sysfs/identity.h"
#include "parse.h"

namespace nicmon {
namespace sysfs_internal {
namespace {

// Tables have up to 1,024 slots (rxe) and the kernel fills them from the front; a read of an empty
// slot fails. So a long empty stretch is the end.
constexpr uint32_t kMaxSlots = 256;
constexpr uint32_t kMaxEmptyStretch = 16;

/// The different netdevs of a port's GID table, in the order of their first slot.
std::vector<std::string> GidNetdevs(const SysfsFiles& sysfs, const std::string& device,
                                    uint32_t port) {
  std::vector<std::string> names;
  uint32_t empty = 0;
  for (uint32_t slot = 0; slot < kMaxSlots && empty < kMaxEmptyStretch; ++slot) {
    std::string name = ReadGidNetdev(sysfs, device, port, slot);
    if (name.empty()) {
      ++empty;
      continue;
    }
    empty = 0;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Of the netdevs on the same piece of hardware the one that says it is this port's.
std::string NetdevOfHardware(const SysfsFiles& sysfs, const std::string& net,
                             const std::vector<std::string>& names, uint32_t port, bool only_port) {
  std::vector<std::string> matching;
  for (const std::string& name : names) {
    if (ReadNumber(sysfs, net + "/" + name + "/dev_port") == port - 1) {
      matching.push_back(name);
    }
  }
  if (matching.size() == 1) {
    return matching.front();
  }
  return names.size() == 1 && only_port ? names.front() : "";
}

/// A VLAN or bond stands on other netdevs, which may stand on others.
bool IsOnHardware(const SysfsFiles& sysfs, const std::string& device, const std::string& netdev,
                  int depth) {
  const std::string path = "class/net/" + netdev;
  const NetdevOwner owner = OwnerOf(sysfs, device, netdev);
  if (owner != NetdevOwner::kNobody || sysfs.resolve(path + "/device")) {
    return owner != NetdevOwner::kAnotherDevice;
  }
  constexpr std::string_view kLower = "lower_";
  const std::vector<std::string> entries =
      depth > 0 ? sysfs.list(path) : std::vector<std::string>();
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return entry.starts_with(kLower) &&
           IsOnHardware(sysfs, device, entry.substr(kLower.size()), depth - 1);
  });
}

}  // namespace

bool IsNetdevOf(const SysfsFiles& sysfs, const std::string& device, const std::string& netdev) {
  constexpr int kDepth = 3;
  if (!IsComponent(netdev) || !sysfs.resolve("class/net/" + netdev)) {
    return false;
  }
  const std::string base = DevicePath(device);
  const std::vector<std::string> own = sysfs.list(base + "/device/net");
  return !sysfs.resolve(base + "/device") ||
         std::find(own.begin(), own.end(), netdev) != own.end() ||
         IsOnHardware(sysfs, device, netdev, kDepth);
}

std::optional<uint64_t> ReadSpeedFile(const SysfsFiles& sysfs, const std::string& netdev) {
  constexpr uint64_t kMegabit = 1'000'000;
  const auto speed = ReadNumber(sysfs, "class/net/" + netdev + "/speed");
  // "-1", or the same unsigned: not known.
  if (!speed || *speed == 0 || *speed >= UINT32_MAX) {
    return std::nullopt;
  }
  return *speed * kMegabit;
}

std::string FindNetdev(const SysfsFiles& sysfs, const std::string& device, uint32_t port,
                       bool only_port) {
  const std::string base = DevicePath(device);
  const std::string net = base + "/device/net";
  const std::vector<std::string> hardware = sysfs.list(net);
  const std::vector<std::string> of_gids = GidNetdevs(sysfs, device, port);
  if (!of_gids.empty()) {
    // VLANs and the like fill slots too: the one on the hardware is meant, else the first (the
    // kernel puts a port's default GIDs in front).
    const auto on_hardware =
        std::find_if(of_gids.begin(), of_gids.end(), [&](const std::string& name) {
          return std::find(hardware.begin(), hardware.end(), name) != hardware.end();
        });
    return on_hardware != of_gids.end() ? *on_hardware : of_gids.front();
  }
  if (std::string parent = ReadLine(sysfs, base + "/parent"); IsComponent(parent)) {
    return parent;
  }
  return NetdevOfHardware(sysfs, net, hardware, port, only_port);
}

}  // namespace sysfs_internal

std::string ReadGidNetdev(const SysfsFiles& sysfs, const std::string& device, uint32_t port,
                          uint32_t gid_index) {
  const std::string base = sysfs_internal::DevicePath(device);
  if (base.empty()) {
    return "";
  }
  std::string name =
      sysfs_internal::ReadLine(sysfs, base + "/ports/" + std::to_string(port) +
                                          "/gid_attrs/ndevs/" + std::to_string(gid_index));
  return sysfs_internal::IsComponent(name) ? name : "";
}

std::optional<uint64_t> ReadNetdevSpeed(const SysfsFiles& sysfs, const std::string& device,
                                        const std::string& netdev) {
  return sysfs_internal::IsNetdevOf(sysfs, device, netdev)
             ? sysfs_internal::ReadSpeedFile(sysfs, netdev)
             : std::nullopt;
}

}  // namespace nicmon
