#pragma once

#include <memory>
#include <string>

#include "nicmon/base/state_directory.h"
#include "nicmon/config/config.h"
#include "nicmon/monitor/holds.h"

namespace nicmon {

/// The state directory as --state-dir says; nullptr: nothing outlives the process, which the log
/// says. A default that cannot be used is done without, as is any default while devices are
/// simulated: theirs is no state of the node. Throws std::runtime_error, one line, for a directory
/// that was asked for and cannot be used, and for one that another nicmon uses.
std::shared_ptr<const StateDirectory> OpenState(const Config& config);

/// Where holds are kept: in `directory`, or in memory where that is nullptr. What they are bound to
/// is read from etc/machine-id and proc/sys/kernel/random/boot_id under `root`.
HoldsHome MakeHoldsHome(const std::shared_ptr<const StateDirectory>& directory,
                        const std::string& root = "/");

}  // namespace nicmon
