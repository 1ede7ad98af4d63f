#include <algorithm>
#include <tuple>

#include "name_order.h"
#include "nicmon/monitor/holds.h"

// What readers ask of a snapshot.
namespace nicmon {
namespace {

bool Running(const Hold& hold, WallTime now) {
  return !hold.until || now < *hold.until;
}

const KeptPort* FindPort(const HoldsSnapshot& state, PortKey port) {
  const KeptDevice* kept = state.Find(port.first);
  if (kept == nullptr) {
    return nullptr;
  }
  const auto it = kept->ports.find(port.second);
  return it != kept->ports.end() ? &it->second : nullptr;
}

}  // namespace

bool KeptDevice::Empty() const {
  return !release && extra.empty() && std::all_of(ports.begin(), ports.end(), [](const auto& port) {
    return port.second.Empty();
  });
}

const KeptDevice* HoldsSnapshot::Find(DeviceId device) const {
  const auto it = bound.find(device);
  return it != bound.end() ? &kept.at(it->second) : nullptr;
}

const Hold* HoldsSnapshot::FindHold(PortKey port, WallTime now) const {
  const KeptPort* found = FindPort(*this, port);
  return found != nullptr && found->hold && Running(*found->hold, now) ? &*found->hold : nullptr;
}

const Release* HoldsSnapshot::FindRelease(DeviceId device, WallTime now) const {
  const KeptDevice* found = Find(device);
  return found != nullptr && found->release && now < found->release->until ? &*found->release
                                                                           : nullptr;
}

const PortRecord* HoldsSnapshot::FindRecord(PortKey port) const {
  const KeptPort* found = FindPort(*this, port);
  return found != nullptr && found->record != PortRecord() ? &found->record : nullptr;
}

std::vector<HoldsSnapshot::Item> HoldsSnapshot::InForce(WallTime now) const {
  std::vector<Item> items;
  for (const auto& [number, device] : kept) {
    for (const auto& [port_number, port] : device.ports) {
      if (port.hold && Running(*port.hold, now)) {
        items.push_back({&*port.hold, &device});
      }
    }
  }
  const auto in_device = [](const Item& item) {
    return std::tie(item.hold->port.second, item.hold->id);
  };
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return a.kept->name == b.kept->name ? in_device(a) < in_device(b)
                                        : NameLess(a.kept->name, b.kept->name);
  });
  return items;
}

size_t HoldsSnapshot::CountOrphaned(WallTime now) const {
  const auto items = InForce(now);
  return static_cast<size_t>(std::count_if(items.begin(), items.end(), [](const Item& item) {
    return item.kept->orphaned_since.has_value();
  }));
}

}  // namespace nicmon
