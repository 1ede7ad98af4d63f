#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nicmon/sysfs/files.h"
#include "nicmon/sysfs/stats.h"

namespace nicmon::sysfs_internal {

/// What a port has in counters_ext/, counters/ and hw_counters/ below `directory`, which may have
/// none of them. Lists directories, reads no file.
std::shared_ptr<const StatsLayout> PortLayout(const SysfsFiles& sysfs,
                                              const std::string& directory);

/// What a device itself has in hw_counters/, all of it the driver's own: CounterTable() is about
/// ports.
std::shared_ptr<const StatsLayout> DeviceLayout(const SysfsFiles& sysfs,
                                                const std::string& directory);

}  // namespace nicmon::sysfs_internal
