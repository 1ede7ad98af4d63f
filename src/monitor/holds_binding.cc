#include "holds_binding.h"

#include <algorithm>
#include <map>

namespace nicmon {
namespace {

/// How sure it is that an entry is a device's.
enum class Match { kNone, kSlot, kGuid, kExact };

bool SamePlace(const KeptDevice& kept, const DeviceKey& key, const std::string& machine_id) {
  const bool same_machine =
      kept.machine_id.empty() || machine_id.empty() || kept.machine_id == machine_id;
  return same_machine && !key.pci_address.empty() && kept.key.pci_address == key.pci_address;
}

Match MatchOf(const KeptDevice& kept, const DeviceKey& key, const std::string& machine_id) {
  if (!key.node_guid.empty() && kept.key.node_guid == key.node_guid) {
    return kept.key.pci_address == key.pci_address ? Match::kExact : Match::kGuid;
  }
  const bool one_has_no_guid = key.node_guid.empty() || kept.key.node_guid.empty();
  return one_has_no_guid && SamePlace(kept, key, machine_id) ? Match::kSlot : Match::kNone;
}

/// Binds present devices to entries, the surest matches first.
class Binder {
 public:
  Binder(HoldsSnapshot& state, const std::vector<SeenDevice>& present,
         const std::string& machine_id)
      : state_(state), machine_id_(machine_id), present_(present) {
    for (SeenDevice& device : present_) {
      device.key = Telling(device.key, present);
    }
  }

  void Bind() {
    for (auto& [number, kept] : state_.kept) {
      kept.present = false;
    }
    for (const SeenDevice& device : present_) {
      StayBound(device);
    }
    for (const Match match : {Match::kExact, Match::kGuid, Match::kSlot}) {
      for (const SeenDevice& device : present_) {
        BindBy(match, device);
      }
    }
    for (const SeenDevice& device : present_) {
      Describe(device);
    }
  }

  const std::vector<SeenDevice>& present() const { return present_; }

 private:
  /// The key without what several devices have in common.
  static DeviceKey Telling(const DeviceKey& key, const std::vector<SeenDevice>& present) {
    const auto shared = std::count_if(present.begin(), present.end(),
                                      [&](const SeenDevice& other) { return other.key == key; });
    return shared > 1 ? DeviceKey() : key;
  }

  bool GuidIsShared(const std::string& guid) const {
    return std::count_if(present_.begin(), present_.end(), [&](const SeenDevice& device) {
             return device.key.node_guid == guid;
           }) > 1;
  }

  /// A device keeps its entry for as long as it may be the entry's. Another one of the same name
  /// in this process may be a new card.
  void StayBound(const SeenDevice& device) {
    const auto it = state_.bound.find(device.id);
    if (it == state_.bound.end()) {
      return;
    }
    KeptDevice& kept = state_.kept.at(it->second);
    if (!kept.key.durable() || !device.key.durable() ||
        MatchOf(kept, device.key, machine_id_) != Match::kNone) {
      kept.present = true;
    } else {
      Unbind(state_, device.id);
    }
  }

  void BindBy(Match match, const SeenDevice& device) {
    const auto bound = state_.bound.find(device.id);
    const bool settled =
        bound != state_.bound.end() &&
        (match != Match::kExact ||
         MatchOf(state_.kept.at(bound->second), device.key, machine_id_) == Match::kExact);
    if (settled || (match == Match::kGuid && GuidIsShared(device.key.node_guid))) {
      return;
    }
    for (auto& [number, kept] : state_.kept) {
      if (MatchOf(kept, device.key, machine_id_) == match && IsFree(kept, match)) {
        Unbind(state_, device.id);
        Unbind(state_, kept.device);
        Attach(number, device.id);
        return;
      }
    }
  }

  /// Whether the entry can be had by a device that matches it so well: nobody who is there has it,
  /// or one that is less sure of it (seen before its rightful owner was).
  bool IsFree(const KeptDevice& kept, Match match) const {
    if (!kept.present) {
      return true;
    }
    const auto owner =
        std::find_if(present_.begin(), present_.end(),
                     [&](const SeenDevice& device) { return device.id == kept.device; });
    return match == Match::kExact && owner != present_.end() &&
           MatchOf(kept, owner->key, machine_id_) != Match::kExact;
  }

  void Attach(uint64_t number, DeviceId device) {
    KeptDevice& kept = state_.kept.at(number);
    state_.bound[device] = number;
    kept.device = device;
    kept.present = true;
    for (auto& [port_number, port] : kept.ports) {
      if (port.hold) {
        port.hold->port.first = device;
      }
    }
  }

  void Describe(const SeenDevice& device) {
    KeptDevice& kept = KeptOf(state_, device.id);
    kept.present = true;
    kept.name = device.name;
    kept.orphaned_since.reset();
    if (!machine_id_.empty()) {
      kept.machine_id = machine_id_;
    }
    // What was not known of it when the entry was made. Its place stays as it was, so that a twin
    // that is found there later gets its own.
    if (kept.key.node_guid.empty() && !GuidIsShared(device.key.node_guid)) {
      kept.key.node_guid = device.key.node_guid;
    }
    if (kept.key.pci_address.empty()) {
      kept.key.pci_address = device.key.pci_address;
    }
  }

  HoldsSnapshot& state_;
  const std::string& machine_id_;
  std::vector<SeenDevice> present_;
};

bool IsDisplaced(const KeptDevice& kept, const std::vector<SeenDevice>& present,
                 const std::string& machine_id) {
  return !kept.present && !kept.key.node_guid.empty() &&
         std::any_of(present.begin(), present.end(), [&](const SeenDevice& device) {
           return !device.key.node_guid.empty() && device.key.node_guid != kept.key.node_guid &&
                  SamePlace(kept, device.key, machine_id);
         });
}

}  // namespace

void BindPresent(HoldsSnapshot& state, const std::vector<SeenDevice>& present,
                 const std::string& machine_id, WallTime now) {
  Binder binder(state, present, machine_id);
  binder.Bind();
  for (auto& [number, kept] : state.kept) {
    if (!kept.orphaned_since && IsDisplaced(kept, binder.present(), machine_id)) {
      kept.orphaned_since = now;
    }
  }
}

KeptDevice& KeptOf(HoldsSnapshot& state, DeviceId device, const std::string& name) {
  const auto [it, is_new] = state.bound.try_emplace(device, state.next_kept);
  KeptDevice& kept = state.kept[it->second];
  if (is_new) {
    ++state.next_kept;
    kept.device = device;
    kept.name = name;
  }
  return kept;
}

void Unbind(HoldsSnapshot& state, DeviceId device) {
  const auto it = state.bound.find(device);
  if (it == state.bound.end()) {
    return;
  }
  KeptDevice& kept = state.kept.at(it->second);
  kept.device = 0;
  kept.present = false;
  for (auto& [number, port] : kept.ports) {
    if (port.hold) {
      port.hold->port.first = 0;
    }
  }
  state.bound.erase(it);
}

void DropEmpty(HoldsSnapshot& state) {
  std::erase_if(state.kept,
                [](const auto& entry) { return entry.second.device == 0 && entry.second.Empty(); });
}

}  // namespace nicmon
