#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "nicmon/sysfs/files.h"

namespace nicmon {

enum class DeviceFunction { kPhysical, kVirtual, kSubfunction };

/// Who a device is. Every field is optional (empty string, nullopt): drivers differ in what they
/// have. Strings are valid UTF-8, trimmed and at most 128 bytes, whatever the driver reports.
struct Identity {
  std::string node_guid;       // "0c42:a103:0065:4ba2", empty when absent or all zero
  std::string sys_image_guid;  // likewise
  std::string board_id;
  std::string hca_type;
  std::string firmware_version;
  std::string driver;            // "mlx5_core"
  std::string pci_address;       // "0000:3b:00.0"; of the parent function for a sub-function
  std::optional<int> numa_node;  // absent when the kernel says -1
  std::string node_type;         // "CA", "RNIC"
  DeviceFunction function = DeviceFunction::kPhysical;
  std::map<uint32_t, std::string> netdev;  // by port number
  /// PCI address of the function that a virtual function or sub-function is part of; empty for a
  /// physical one, and where the kernel does not show it (a VF in a guest).
  std::string physical_function;
};

/// What sysfs says of a port when the device cannot be opened.
struct SysfsPort {
  std::optional<int> state;
  std::optional<int> physical_state;
  std::optional<uint64_t> speed_bps;  // from `rate`
  std::optional<uint32_t> lid;
  std::optional<uint32_t> sm_lid;
  std::string link_layer;  // "InfiniBand", "Ethernet", "" when unknown
};

Identity ReadIdentity(const SysfsFiles& sysfs, const std::string& device);

/// Only what --functions needs, so that a function that is not watched has nothing else read.
DeviceFunction ReadFunction(const SysfsFiles& sysfs, const std::string& device);

/// Port numbers in ports/, ascending.
std::vector<uint32_t> ReadPortNumbers(const SysfsFiles& sysfs, const std::string& device);
SysfsPort ReadPort(const SysfsFiles& sysfs, const std::string& device, uint32_t port);

/// The netdev behind one GID slot, empty when there is none (or on InfiniBand).
std::string ReadGidNetdev(const SysfsFiles& sysfs, const std::string& device, uint32_t port,
                          uint32_t gid_index);

/// Speed of the netdev of a device's port in bits per second; nullopt when unknown, down or not
/// visible here (in another network namespace, where something else may have its name).
std::optional<uint64_t> ReadNetdevSpeed(const SysfsFiles& sysfs, const std::string& device,
                                        const std::string& netdev);

/// Speed of a bond in bits per second: its members that are up, added up. nullopt when `netdev` is
/// no bond, when a member that is up hides its speed, or when the bond is not one RDMA device: a
/// member with an RDMA device of its own besides `device` means that each carries its own share.
std::optional<uint64_t> ReadBondSpeed(const SysfsFiles& sysfs, const std::string& device,
                                      const std::string& netdev);

}  // namespace nicmon
