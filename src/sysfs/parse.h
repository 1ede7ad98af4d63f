#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/sysfs/files.h"

namespace nicmon::sysfs_internal {

/// The whole of `text` as a number: digits (of the base) only, no sign, no blanks, no overflow.
std::optional<uint64_t> ParseNumber(std::string_view text, int base = 10);

/// Tenths of the number in front of `unit`: "2.5 Gb/sec (1X SDR)" with " Gb/sec" gives 25. nullopt
/// for 0, more than one digit behind the point, anything that is no such number.
std::optional<uint64_t> ParseTenths(std::string_view text, std::string_view unit);

/// Whether a name can stand as one component of a path.
bool IsComponent(std::string_view name);

/// "class/infiniband/<device>"; empty when the name cannot be a component.
std::string DevicePath(const std::string& device);

/// A file as one clean line; empty when it cannot be read or says nothing.
std::string ReadLine(const SysfsFiles& sysfs, const std::string& path);

/// A file that holds one decimal number.
std::optional<uint64_t> ReadNumber(const SysfsFiles& sysfs, const std::string& path);

/// What follows the last slash.
std::string BaseName(const std::string& path);

/// The netdev of one port, empty when there is none or it is not certain.
std::string FindNetdev(const SysfsFiles& sysfs, const std::string& device, uint32_t port,
                       bool only_port);

/// The PCI function of a device, or the one above it: "devices/pci0000:3a/…/0000:3b:00.0", as a
/// path relative to the root; empty for a software device.
std::string PciFunctionPath(const SysfsFiles& sysfs, const std::string& device);

/// Whether `netdev` is to be seen here and is what `device` goes by. GID tables name the netdevs of
/// the host's network namespace: in another one the name may be a stranger's ("eth0" of a
/// container). No file is read.
bool IsNetdevOf(const SysfsFiles& sysfs, const std::string& device, const std::string& netdev);

/// class/net/<netdev>/speed in bits per second, nullopt when it is not known.
std::optional<uint64_t> ReadSpeedFile(const SysfsFiles& sysfs, const std::string& netdev);

/// The members of a bond; nullopt when `netdev` is none. One file.
std::optional<std::vector<std::string>> ReadBondMembers(const SysfsFiles& sysfs,
                                                        const std::string& netdev);

/// Whether its operstate is "up"; nullopt when it has none. One file.
std::optional<bool> ReadIsUp(const SysfsFiles& sysfs, const std::string& netdev);

/// Which RDMA device the hardware of a netdev has. kNobody also for the second function of a bonded
/// pair, whose first one has the RDMA device of both. No file is read.
enum class NetdevOwner { kNobody, kDevice, kAnotherDevice };
NetdevOwner OwnerOf(const SysfsFiles& sysfs, const std::string& device, const std::string& netdev);

}  // namespace nicmon::sysfs_internal
