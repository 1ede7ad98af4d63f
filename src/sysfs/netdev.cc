#include <algorithm>
#include <sstream>

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

}  // namespace

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

std::optional<uint64_t> ReadNetdevSpeed(const SysfsFiles& sysfs, const std::string& netdev) {
  if (!sysfs_internal::IsComponent(netdev)) {
    return std::nullopt;
  }
  constexpr uint64_t kMegabit = 1'000'000;
  const auto speed = sysfs_internal::ReadNumber(sysfs, "class/net/" + netdev + "/speed");
  // "-1", or the same unsigned: not known.
  if (!speed || *speed == 0 || *speed >= UINT32_MAX) {
    return std::nullopt;
  }
  return *speed * kMegabit;
}

std::optional<uint64_t> ReadBondSpeed(const SysfsFiles& sysfs, const std::string& device,
                                      const std::string& netdev) {
  if (!sysfs_internal::IsComponent(netdev)) {
    return std::nullopt;
  }
  std::istringstream members(
      sysfs_internal::ReadLine(sysfs, "class/net/" + netdev + "/bonding/slaves"));
  uint64_t sum = 0;
  bool ours = false;
  for (std::string member; members >> member;) {
    if (!sysfs_internal::IsComponent(member)) {
      return std::nullopt;
    }
    const std::string path = "class/net/" + member;
    for (const std::string& owner : sysfs.list(path + "/device/infiniband")) {
      if (owner != device) {
        return std::nullopt;
      }
      ours = true;
    }
    if (sysfs_internal::ReadLine(sysfs, path + "/operstate") != "up") {
      continue;
    }
    const std::optional<uint64_t> speed = ReadNetdevSpeed(sysfs, member);
    if (!speed) {
      return std::nullopt;  // a sum without it would be a guess
    }
    sum += *speed;
  }
  return ours && sum > 0 ? std::optional<uint64_t>(sum) : std::nullopt;
}

}  // namespace nicmon
