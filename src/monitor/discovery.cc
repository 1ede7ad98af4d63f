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

/// The name a device has now, by its uverbs entry; empty when sysfs does not tell.
std::string ReadName(const SysfsFiles& sysfs, const std::string& uverbs) {
  std::string name = sysfs.read(std::string(kVerbsClass) + "/" + uverbs + "/ibdev").text;
  while (!name.empty() && name.back() == '\n') {
    name.pop_back();
  }
  return name;
}

}  // namespace

std::optional<Inode> UverbsInode(const SysfsFiles& sysfs, const std::string& uverbs) {
  return uverbs.empty() ? std::nullopt : sysfs.inode(std::string(kVerbsClass) + "/" + uverbs);
}

void Discovery::Describe(const DeviceSighting& sighting, uint64_t node_guid, DiscoveryPass* pass) {
  const Key key{sighting.name, sighting.kernel_index, sighting.uverbs};
  const auto known = seen_.find(key);
  FoundDevice device = known != seen_.end() ? known->second : FoundDevice{};
  if (known == seen_.end()) {
    device.function = ReadFunction(sysfs_, sighting.name);
  }
  const bool watched = all_functions_ || device.function == DeviceFunction::kPhysical;
  if (known == seen_.end() && watched) {
    const Identity identity = ReadIdentity(sysfs_, sighting.name);
    device.pci_address = identity.pci_address;
    device.node_guid_text = identity.node_guid;
    device.inode = UverbsInode(sysfs_, sighting.uverbs);
  } else if (sighting.kernel_index < 0 && watched) {
    device.inode = UverbsInode(sysfs_, sighting.uverbs);  // all that tells a successor
  }
  device.node_guid = node_guid;
  device.sighting = sighting;
  seen_next_[key] = device;
  if (watched) {
    pass->found.push_back(std::move(device));
  }
}

std::string Discovery::CurrentName(ibv_device* device, const std::set<std::string>& names) const {
  // Asking for the name reads a file of the device: not of an excluded one, as long as the name it
  // was listed under is in use.
  if (names.contains(device->name) && !watch_(device->name)) {
    return device->name;
  }
  return verbs_->get_device_name(device);
}

void Discovery::FindUnlisted(const std::set<std::string>& names,
                             const std::set<std::string>& listed_uverbs, DiscoveryPass* pass,
                             std::string* note) {
  if (names.empty()) {
    return;
  }
  for (const std::string& uverbs : sysfs_.list(kVerbsClass)) {
    // Entries of listed devices are not read: some of those may be excluded. An entry under
    // class/infiniband alone is no sign of a device, it outlives the device's removal.
    if (listed_uverbs.contains(uverbs) || !uverbs.starts_with("uverbs")) {
      continue;
    }
    const std::string name = ReadName(sysfs_, uverbs);
    if (names.contains(name)) {
      *note +=
          (note->empty() ? "sysfs has devices whose /dev/infiniband node is missing: " : ", ") +
          name + " (" + uverbs + ")";
      Describe({name, -1, uverbs, false}, 0, pass);
    }
  }
}

DiscoveryPass Discovery::Look(std::string* note) {
  DiscoveryPass pass;
  note->clear();
  seen_next_.clear();
  const std::vector<std::string> listing = sysfs_.list(kClass);
  const std::set<std::string> names(listing.begin(), listing.end());
  int list_error = 0;
  const DeviceList list = DeviceList::Get(verbs_, &list_error);
  if (!list && list_error != ENOSYS) {
    pass.list = DiscoveryPass::List::kFailed;
    *note = "the verbs device list cannot be had: " + ErrnoText(list_error);
    return pass;
  }
  std::set<std::string> unlisted = names;
  std::set<std::string> listed_uverbs;
  for (ibv_device* device : list.devices()) {
    const std::string name = CurrentName(device, names);
    listed_uverbs.insert(device->dev_name);
    unlisted.erase(name);
    if (watch_(name)) {
      Describe({name, verbs_->get_device_index(device), device->dev_name, true},
               verbs_->get_device_guid(device), &pass);
    }
  }
  std::erase_if(unlisted, [this](const std::string& name) { return !watch_(name); });
  FindUnlisted(unlisted, listed_uverbs, &pass, note);
  seen_ = std::move(seen_next_);
  return pass;
}

}  // namespace nicmon
