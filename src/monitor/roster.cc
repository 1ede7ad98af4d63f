#include "nicmon/monitor/roster.h"

#include <algorithm>
#include <utility>

namespace nicmon {
namespace {

/// A device that left the list while its class/infiniband_verbs entry is unchanged, or cannot be
/// looked at, is believed to be gone in the second pass: a class that reads empty once is no mass
/// removal.
constexpr int kMissesUntilGone = 2;

}  // namespace

const FoundDevice* Roster::FindSame(const Known& known,
                                    const std::vector<FoundDevice>& found) const {
  for (const FoundDevice& device : found) {
    const bool same_index = device.sighting.kernel_index >= 0 &&
                            device.sighting.kernel_index == known.last.sighting.kernel_index;
    // Without an index (old kernel, or a device that is not in the verbs list) the name has to do,
    // and the inode tells a successor of that name.
    const bool index_unknown =
        device.sighting.kernel_index < 0 || known.last.sighting.kernel_index < 0;
    const bool same_name = index_unknown && device.sighting.name == known.last.sighting.name &&
                           (!device.inode || !known.last.inode || device.inode == known.last.inode);
    if (same_index || same_name) {
      return &device;
    }
  }
  return nullptr;
}

bool Roster::IsGone(Known& known, const DiscoveryPass& pass) {
  // Its name or its uverbs number belongs to another registration now. The inode alone would not
  // tell, where it was read just after the device had been replaced.
  const DeviceSighting& last = known.last.sighting;
  if (std::any_of(pass.found.begin(), pass.found.end(), [&](const FoundDevice& device) {
        return device.sighting.name == last.name || device.sighting.uverbs == last.uverbs;
      })) {
    return true;
  }
  const std::optional<Inode> inode = inode_(last.uverbs);
  if (known.last.inode && inode != known.last.inode) {
    return true;  // its uverbs entry is gone, or is another device's: sure, whatever the list says
  }
  if (pass.list == DiscoveryPass::List::kFailed) {
    return false;  // unknown is not gone
  }
  unsettled_ = true;
  return ++known.misses >= kMissesUntilGone;
}

std::map<DeviceId, Roster::Known>::iterator Roster::FindPredecessor(const FoundDevice& device) {
  const auto by_name = std::find_if(known_.begin(), known_.end(), [&](const auto& entry) {
    return !entry.second.present && entry.second.last.sighting.name == device.sighting.name;
  });
  if (by_name != known_.end()) {
    return by_name;
  }
  return std::find_if(known_.begin(), known_.end(), [&](const auto& entry) {
    const FoundDevice& last = entry.second.last;
    return !entry.second.present && device.node_guid != 0 && last.node_guid == device.node_guid &&
           !device.pci_address.empty() && last.pci_address == device.pci_address;
  });
}

std::vector<RosterChange> Roster::Update(const DiscoveryPass& pass) {
  std::vector<RosterChange> changes;
  std::vector<const FoundDevice*> claimed;
  unsettled_ = false;
  for (auto it = known_.begin(); it != known_.end();) {
    auto& [id, known] = *it;
    if (!known.present) {
      ++it;
      continue;
    }
    if (const FoundDevice* same = FindSame(known, pass.found)) {
      claimed.push_back(same);
      known.misses = 0;
      FoundDevice now = *same;
      if (now.sighting.kernel_index < 0) {
        now.sighting.kernel_index = known.last.sighting.kernel_index;  // out of sight, not new
      }
      if (now.sighting != known.last.sighting) {
        changes.push_back({RosterChange::Kind::kPresent, id, now.sighting});
      }
      known.last = std::move(now);
    } else if (IsGone(known, pass)) {
      known.present = false;
      known.misses = 0;
      if (known.last.function != DeviceFunction::kPhysical) {
        changes.push_back({RosterChange::Kind::kDrop, id, known.last.sighting});
        it = known_.erase(it);
        continue;
      }
      changes.push_back({RosterChange::Kind::kGone, id, known.last.sighting});
    }
    ++it;
  }
  for (const FoundDevice& device : pass.found) {
    if (std::find(claimed.begin(), claimed.end(), &device) != claimed.end()) {
      continue;
    }
    if (const auto it = FindPredecessor(device); it != known_.end()) {
      it->second.present = true;
      it->second.last = device;
      changes.push_back({RosterChange::Kind::kPresent, it->first, device.sighting});
    } else {
      const DeviceId id = next_id_++;
      known_[id] = Known{device};
      changes.push_back({RosterChange::Kind::kNew, id, device.sighting});
    }
  }
  return changes;
}

std::vector<SeenDevice> Roster::Present() const {
  std::vector<SeenDevice> present;
  for (const auto& [id, known] : known_) {
    if (known.present) {
      // A sub-function has its parent's address, which is not its own.
      const FoundDevice& device = known.last;
      const bool own_address = device.function != DeviceFunction::kSubfunction;
      present.push_back({id,
                         device.sighting.name,
                         {device.node_guid_text, own_address ? device.pci_address : ""}});
    }
  }
  return present;
}

bool Roster::Forget(DeviceId id) {
  const auto it = known_.find(id);
  if (it == known_.end() || it->second.present) {
    return false;
  }
  known_.erase(it);
  return true;
}

}  // namespace nicmon
