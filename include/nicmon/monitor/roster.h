#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/sysfs/identity.h"

namespace nicmon {

/// (st_dev, st_ino) of a device's class/infiniband_verbs entry.
using Inode = std::pair<uint64_t, uint64_t>;

/// One device as a discovery pass found it.
struct FoundDevice {
  DeviceSighting sighting;
  uint64_t node_guid = 0;
  std::string node_guid_text;  // as sysfs has it: "0c42:a103:0065:4ba2", empty when there is none
  std::string pci_address;
  DeviceFunction function = DeviceFunction::kPhysical;
  std::optional<Inode> inode;
};

/// One discovery pass.
struct DiscoveryPass {
  enum class List { kOk, kFailed };
  List list = List::kOk;  // kFailed: the verbs list could not be had, `found` has nothing from it
  std::vector<FoundDevice> found;
};

struct RosterChange {
  enum class Kind {
    kNew,      // start a monitor
    kPresent,  // there, under the sighting given: renamed, re-created, or back
    kGone,     // close it, keep the monitor
    kDrop,     // a virtual function or sub-function that left: end the monitor
  };
  Kind kind;
  DeviceId id = 0;
  DeviceSighting sighting;
};

/// Which devices there are and were, and which of those that are found is which. Does no I/O but
/// through `inode`. Used by the discovery thread.
class Roster {
 public:
  /// `inode` tells the present (st_dev, st_ino) of class/infiniband_verbs/<uverbs>.
  explicit Roster(std::function<std::optional<Inode>(const std::string& uverbs)> inode)
      : inode_(std::move(inode)) {}

  /// Takes one pass in; what has changed, gone devices first, so that closes come before opens.
  std::vector<RosterChange> Update(const DiscoveryPass& pass);

  /// Whether the last pass left something open that a second look soon would settle.
  bool unsettled() const { return unsettled_; }

  /// The devices that are there, and what tells them from others for good.
  std::vector<SeenDevice> Present() const;

  /// Forgets a device that is absent; false when it is present or unknown.
  bool Forget(DeviceId id);

 private:
  struct Known {
    FoundDevice last;
    bool present = true;
    int misses = 0;  // passes in a row without it, while its inode was still the same
  };

  const FoundDevice* FindSame(const Known& known, const std::vector<FoundDevice>& found) const;
  bool IsGone(Known& known, const DiscoveryPass& pass);
  std::map<DeviceId, Known>::iterator FindPredecessor(const FoundDevice& device);

  std::function<std::optional<Inode>(const std::string&)> inode_;
  std::map<DeviceId, Known> known_;
  DeviceId next_id_ = 1;
  bool unsettled_ = false;
};

}  // namespace nicmon
