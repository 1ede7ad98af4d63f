#include "nicmon/sysfs/link_attribute_reader.h"

#include <optional>
#include <utility>

#include "kept_directories.h"
#include "parse.h"

namespace nicmon {
namespace {

using sysfs_internal::ReadLine;
using sysfs_internal::ReadNumber;

/// "32.0 GT/s PCIe", "8 GT/s"; "Unknown" and the like are no number.
std::optional<double> ReadLinkSpeed(const SysfsFiles& sysfs, const std::string& path) {
  constexpr double kTenth = 1e8;
  const auto tenths = sysfs_internal::ParseTenths(ReadLine(sysfs, path), " GT/s");
  return tenths ? std::optional<double>(static_cast<double>(*tenths) * kTenth) : std::nullopt;
}

/// 0 and 255 stand for "unknown", 63 is what a device that fell off the bus reads as; links have 32
/// lanes at most.
std::optional<uint32_t> ReadLinkWidth(const SysfsFiles& sysfs, const std::string& path) {
  constexpr uint64_t kMaxLanes = 32;
  const std::optional<uint64_t> width = ReadNumber(sysfs, path);
  if (!width || *width == 0 || *width > kMaxLanes) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(*width);
}

}  // namespace

LinkAttributeReader::LinkAttributeReader(SysfsFiles sysfs)
    : kept_(std::make_unique<sysfs_internal::KeptDirectories>(sysfs)), sysfs_(std::move(sysfs)) {
  sysfs_.read = [this](const std::string& path) { return kept_->Read(path); };
}

LinkAttributeReader::~LinkAttributeReader() = default;

void LinkAttributeReader::Begin(const std::string& device,
                                const std::map<uint32_t, std::string>& netdevs) {
  kept_->Begin();
  steps_.clear();
  next_pcie_ = {};
  next_netdevs_.clear();
  PlanPcie(device);
  for (const auto& [port, netdev] : netdevs) {
    PlanNetdev(device, port, netdev);
  }
  FinishIfDone();
}

void LinkAttributeReader::Forget() {
  steps_.clear();
  kept_->Clear();
  planned_device_.clear();
}

bool LinkAttributeReader::Step() {
  if (steps_.empty()) {
    return false;
  }
  const std::function<void()> step = std::move(steps_.front());
  steps_.pop_front();
  step();
  FinishIfDone();
  return true;
}

void LinkAttributeReader::FinishIfDone() {
  if (steps_.empty()) {
    pcie_ = next_pcie_;
    netdevs_ = next_netdevs_;
  }
}

NetdevAttributes LinkAttributeReader::netdev(uint32_t port) const {
  const auto found = netdevs_.find(port);
  return found != netdevs_.end() ? found->second : NetdevAttributes();
}

void LinkAttributeReader::PlanPcie(const std::string& device) {
  if (planned_device_ != device) {
    planned_device_ = device;
    pci_path_ = sysfs_internal::PciFunctionPath(sysfs_, device);
  }
  if (pci_path_.empty()) {
    return;
  }
  const auto plan = [&](const char* file, auto* value, auto read) {
    steps_.push_back(
        [this, name = pci_path_ + "/" + file, value, read] { *value = read(sysfs_, name); });
  };
  plan("current_link_speed", &next_pcie_.speed, ReadLinkSpeed);
  plan("current_link_width", &next_pcie_.width, ReadLinkWidth);
  plan("max_link_speed", &next_pcie_.max_speed, ReadLinkSpeed);
  plan("max_link_width", &next_pcie_.max_width, ReadLinkWidth);
}

void LinkAttributeReader::PlanNetdev(const std::string& device, uint32_t port,
                                     const std::string& netdev) {
  if (!sysfs_internal::IsNetdevOf(sysfs_, device, netdev)) {
    return;
  }
  steps_.push_back([this, port, netdev] {
    next_netdevs_[port].carrier_changes =
        ReadNumber(sysfs_, "class/net/" + netdev + "/carrier_changes");
  });
  steps_.push_back([this, device, port, netdev] { PlanMembers(device, port, netdev); });
}

/// A port has bond members when its own netdev is the bond, and the bond is one RDMA device. A
/// netdev that is a member of a bond says nothing: its RDMA device carries its own traffic alone.
void LinkAttributeReader::PlanMembers(const std::string& device, uint32_t port,
                                      const std::string& netdev) {
  const auto members = sysfs_internal::ReadBondMembers(sysfs_, netdev);
  if (!members) {
    return;
  }
  for (const std::string& member : *members) {
    if (sysfs_internal::OwnerOf(sysfs_, device, member) ==
        sysfs_internal::NetdevOwner::kAnotherDevice) {
      return;
    }
  }
  NetdevAttributes& attributes = next_netdevs_[port];
  attributes.bond_members = static_cast<uint32_t>(members->size());
  attributes.bond_members_up = 0;
  for (const std::string& member : *members) {
    steps_.push_back([this, port, member] {
      std::optional<uint32_t>& up = next_netdevs_[port].bond_members_up;
      const std::optional<bool> is_up = sysfs_internal::ReadIsUp(sysfs_, member);
      // One that does not say: any number would be a guess.
      up = up && is_up ? std::optional<uint32_t>(*up + (*is_up ? 1 : 0)) : std::nullopt;
    });
  }
}

}  // namespace nicmon
