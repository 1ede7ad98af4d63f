#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nicmon/config/config.h"
#include "nicmon/sim/simulated_rnic.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// The devices a process watches: the node's own, or simulated ones.
struct Hardware {
  std::shared_ptr<const VerbsApi> verbs;
  SysfsFiles sysfs;
  std::shared_ptr<SimulatedRnic> simulated;  // nullptr: the node's own
};

/// As --simulate, --simulate-force and --sysfs-root say. `host_sysfs` is where this host's real
/// devices would show. Throws std::runtime_error, one line, where simulating is refused.
Hardware OpenHardware(const Config& config, const std::string& host_sysfs = "/sys");

/// Whether a device of this name is to be watched (--device-include, --device-exclude).
std::function<bool(const std::string& name)> DeviceFilter(const Config& config);

}  // namespace nicmon
