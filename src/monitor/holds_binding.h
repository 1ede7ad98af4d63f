#pragma once

#include <string>
#include <vector>

#include "nicmon/monitor/holds.h"

namespace nicmon {

/// Finds what is kept of each device that is there, by its key: the same GUID in the same place,
/// else the same GUID anywhere (unless several devices have it), else the same place where one side
/// has no GUID. A device of which nothing is kept gets an entry of its own. Whoever is left out
/// while a device of another GUID sits in its place is orphaned. Pure.
void BindPresent(HoldsSnapshot& state, const std::vector<SeenDevice>& present,
                 const std::string& machine_id, WallTime now);

/// The entry of a device; makes one (without a key) for a device that discovery never told of.
KeptDevice& KeptOf(HoldsSnapshot& state, DeviceId device, const std::string& name = {});

/// Takes the device and its entry apart.
void Unbind(HoldsSnapshot& state, DeviceId device);

/// Forgets entries that have nothing in them and belong to no device.
void DropEmpty(HoldsSnapshot& state);

}  // namespace nicmon
