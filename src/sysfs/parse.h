#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nicmon/sysfs/files.h"

namespace nicmon::sysfs_internal {

/// The whole of `text` as a number: digits (of the base) only, no sign, no blanks, no overflow.
std::optional<uint64_t> ParseNumber(std::string_view text, int base = 10);

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

}  // namespace nicmon::sysfs_internal
