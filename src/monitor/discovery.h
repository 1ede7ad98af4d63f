#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "nicmon/monitor/roster.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

/// Looks at which devices there are: the verbs list, and in sysfs those whose device node is
/// missing. Used by the discovery thread.
class Discovery {
 public:
  Discovery(std::shared_ptr<const VerbsApi> verbs, SysfsFiles sysfs,
            std::function<bool(const std::string&)> watch, bool all_functions)
      : verbs_(std::move(verbs)),
        sysfs_(std::move(sysfs)),
        watch_(std::move(watch)),
        all_functions_(all_functions) {}

  /// Looks once; blocks as long as the kernel does. Nothing of a device that is not to be watched
  /// is read, and the files of a device that has not changed are not read again. `note` gets one
  /// line when something is wrong with the node as a whole, else it is emptied.
  DiscoveryPass Look(std::string* note);

 private:
  using Key = std::tuple<std::string, int, std::string>;  // name, kernel index, uverbs

  std::string CurrentName(ibv_device* device, const std::set<std::string>& names) const;
  /// Devices that sysfs has under one of `names` and the verbs list has not.
  void FindUnlisted(const std::set<std::string>& names, const std::set<std::string>& listed_uverbs,
                    DiscoveryPass* pass, std::string* note);
  /// Adds a device to the pass, unless it is a function that is not watched.
  void Describe(const DeviceSighting& sighting, uint64_t node_guid, DiscoveryPass* pass);

  std::shared_ptr<const VerbsApi> verbs_;
  SysfsFiles sysfs_;
  std::function<bool(const std::string&)> watch_;
  bool all_functions_;
  std::map<Key, FoundDevice> seen_;       // in the last pass
  std::map<Key, FoundDevice> seen_next_;  // in this one
};

/// Present (st_dev, st_ino) of class/infiniband_verbs/<uverbs>.
std::optional<Inode> UverbsInode(const SysfsFiles& sysfs, const std::string& uverbs);

}  // namespace nicmon
