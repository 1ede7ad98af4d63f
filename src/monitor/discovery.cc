#include "discovery.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "nicmon/base/errno_text.h"
#include "nicmon/verbs/handles.h"

namespace nicmon {
namespace {

constexpr char kClass[] = "class/infiniband";
constexpr char kVerbsClass[] = "class/infiniband_verbs";

/// Devices that sysfs has and the verbs list has not: their device node is missing. The entry under
/// class/infiniband alone is no sign of a device, it outlives the device's removal.
std::vector<DeviceSighting> FindUnlisted(const SysfsFiles& sysfs,
                                         const std::set<std::string>& names,
                                         const std::set<std::string>& listed_uverbs) {
  std::vector<DeviceSighting> unlisted;
  if (names.empty()) {
    return unlisted;
  }
  for (const std::string& uverbs : sysfs.list(kVerbsClass)) {
    // Entries of listed devices are not read: some of those may be excluded.
    if (listed_uverbs.contains(uverbs) || !uverbs.starts_with("uverbs")) {
      continue;
    }
    std::string name = sysfs.read(std::string(kVerbsClass) + "/" + uverbs + "/ibdev").text;
    while (!name.empty() && name.back() == '\n') {
      name.pop_back();
    }
    if (names.contains(name)) {
      unlisted.push_back({name, -1, uverbs, false});
    }
  }
  return unlisted;
}

}  // namespace

std::optional<Inode> UverbsInode(const SysfsFiles& sysfs, const std::string& uverbs) {
  return uverbs.empty() ? std::nullopt : sysfs.inode(std::string(kVerbsClass) + "/" + uverbs);
}

FoundDevice Discovery::Describe(const DeviceSighting& sighting, uint64_t node_guid) {
  const Key key{sighting.name, sighting.kernel_index, sighting.uverbs};
  FoundDevice device;
  if (const auto it = seen_.find(key); it != seen_.end()) {
    device = it->second;
  } else {
    device.function = ReadFunction(sysfs_, sighting.name);
    if (Watched(device)) {
      device.pci_address = ReadIdentity(sysfs_, sighting.name).pci_address;
    }
    device.inode = UverbsInode(sysfs_, sighting.uverbs);
  }
  if (sighting.kernel_index < 0) {
    device.inode = UverbsInode(sysfs_, sighting.uverbs);  // all that tells a successor
  }
  device.node_guid = node_guid;
  device.sighting = sighting;
  seen_next_[key] = device;
  return device;
}

DiscoveryPass Discovery::Look(std::string* note) {
  DiscoveryPass pass;
  note->clear();
  seen_next_.clear();
  std::set<std::string> unlisted;  // names in sysfs that are watched and not in the verbs list
  for (const std::string& name : sysfs_.list(kClass)) {
    if (watch_(name)) {
      unlisted.insert(name);
    }
  }
  std::set<std::string> listed_uverbs;
  int list_error = 0;
  const DeviceList list = DeviceList::Get(verbs_, &list_error);
  if (!list && list_error != ENOSYS) {
    pass.list = DiscoveryPass::List::kFailed;
    *note = "the verbs device list cannot be had: " + ErrnoText(list_error);
    return pass;
  }
  const auto add = [&](const DeviceSighting& sighting, uint64_t guid) {
    FoundDevice device = Describe(sighting, guid);
    if (Watched(device)) {
      pass.found.push_back(std::move(device));
    }
  };
  for (ibv_device* device : list.devices()) {
    listed_uverbs.insert(device->dev_name);
    const std::string name = verbs_->get_device_name(device);
    unlisted.erase(name);
    if (watch_(name)) {
      add({name, verbs_->get_device_index(device), device->dev_name, true},
          verbs_->get_device_guid(device));
    }
  }
  for (const DeviceSighting& sighting : FindUnlisted(sysfs_, unlisted, listed_uverbs)) {
    *note += (note->empty() ? "sysfs has devices whose /dev/infiniband node is missing: " : ", ") +
             sighting.name + " (" + sighting.uverbs + ")";
    add(sighting, 0);
  }
  seen_ = std::move(seen_next_);
  return pass;
}

}  // namespace nicmon
