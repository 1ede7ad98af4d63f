#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "nicmon/sysfs/files.h"
#include "nicmon/sysfs/link_attributes.h"

namespace nicmon {

namespace sysfs_internal {
class KeptDirectories;
}  // namespace sysfs_internal

/// Reads the link attributes of a device in rounds, a file at a time, so that its thread can look
/// for events in between: some of these files take the kernel's RTNL lock, or ask the PCI bus.
/// For one thread.
class LinkAttributeReader {
 public:
  explicit LinkAttributeReader(SysfsFiles sysfs);
  ~LinkAttributeReader();
  LinkAttributeReader(const LinkAttributeReader&) = delete;  // steps_ refer to it
  LinkAttributeReader& operator=(const LinkAttributeReader&) = delete;

  /// Starts a round, which is over at once when there is nothing to read; what is left of an
  /// unfinished one is dropped. `netdevs` are the ports' netdevs by port number, as in Identity.
  void Begin(const std::string& device, const std::map<uint32_t, std::string>& netdevs);
  /// The device may be another one of the same name by now: what is known of where its files are,
  /// and what is held open of them, is let go. Call when it is opened.
  void Forget();
  /// Reads at most one file. False when nothing was left to do.
  bool Step();
  bool done() const { return steps_.empty(); }

  /// What the last round that was finished found.
  const PcieLink& pcie() const { return pcie_; }
  /// All nullopt for a port without a netdev.
  NetdevAttributes netdev(uint32_t port) const;

 private:
  void FinishIfDone();
  void PlanPcie(const std::string& device);
  void PlanNetdev(const std::string& device, uint32_t port, const std::string& netdev);
  void PlanMembers(const std::string& device, uint32_t port, const std::string& netdev);

  std::unique_ptr<sysfs_internal::KeptDirectories> kept_;
  SysfsFiles sysfs_;                         // reads through kept_
  std::string planned_device_;               // whose pci_path_ it is
  std::string pci_path_;                     // empty for a device without a PCI function
  std::deque<std::function<void()>> steps_;  // each reads one file, and may add others
  PcieLink next_pcie_, pcie_;
  std::map<uint32_t, NetdevAttributes> next_netdevs_, netdevs_;
};

}  // namespace nicmon
