#include "nicmon/sysfs/identity.h"

#include <algorithm>
#include <cctype>
#include <climits>

#include "nicmon/base/text.h"
#include "parse.h"

namespace nicmon {
namespace {

using sysfs_internal::BaseName;
using sysfs_internal::DevicePath;
using sysfs_internal::FindNetdev;
using sysfs_internal::ParseNumber;
using sysfs_internal::ReadLine;

/// Whether `text` looks like `pattern`, in which 'h' stands for a hexadecimal digit.
bool Looks(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char c, char p) {
    return p == 'h' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == p;
  });
}

bool IsPciAddress(std::string_view name) {
  // Five digits and more: the domains of a VMD controller and of Hyper-V.
  while (name.size() > 12 && std::isxdigit(static_cast<unsigned char>(name.front())) != 0) {
    name.remove_prefix(1);
  }
  return Looks(name, "hhhh:hh:hh.h");
}

/// Cut where a name ends to be one: each sample of a series would carry it.
std::string Label(const std::string& text) {
  constexpr size_t kMost = 128;
  const std::string line = CleanLine(text);
  size_t length = std::min(line.size(), kMost);
  while (length < line.size() && (static_cast<uint8_t>(line[length]) & 0xC0) == 0x80) {
    --length;  // not in the middle of a character
  }
  return CleanLine(line.substr(0, length));
}

std::string ReadGuid(const SysfsFiles& sysfs, const std::string& path) {
  std::string guid = ReadLine(sysfs, path);
  if (!Looks(guid, "hhhh:hhhh:hhhh:hhhh") || guid == "0000:0000:0000:0000") {
    return "";
  }
  std::transform(guid.begin(), guid.end(), guid.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return guid;
}

/// The text after "4: ".
std::string ReadNumberedName(const SysfsFiles& sysfs, const std::string& path) {
  const std::string line = ReadLine(sysfs, path);
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

/// The number before ": ACTIVE".
std::optional<int> ReadNamedNumber(const SysfsFiles& sysfs, const std::string& path) {
  const std::string line = ReadLine(sysfs, path);
  const std::optional<uint64_t> number = ParseNumber(line.substr(0, line.find(':')));
  if (!number || *number > INT_MAX) {
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

/// "0x1f", as lid and sm_lid print it.
std::optional<uint32_t> ReadHex(const SysfsFiles& sysfs, const std::string& path) {
  const std::string line = ReadLine(sysfs, path);
  if (!line.starts_with("0x")) {
    return std::nullopt;
  }
  const std::optional<uint64_t> number = ParseNumber(std::string_view(line).substr(2), 16);
  if (!number || *number > UINT32_MAX) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(*number);
}

std::optional<uint64_t> ReadRate(const SysfsFiles& sysfs, const std::string& path) {
  constexpr uint64_t kTenth = 100'000'000;
  const auto tenths = sysfs_internal::ParseTenths(ReadLine(sysfs, path), " Gb/sec");
  return tenths ? std::optional<uint64_t>(*tenths * kTenth) : std::nullopt;
}

/// Whether the resolved path of a device is a sub-function: an auxiliary device whose bus names it
/// "<module>.sf.<id>" and gives it a number.
bool IsSubfunction(const SysfsFiles& sysfs, const std::string& resolved) {
  return BaseName(resolved).find(".sf.") != std::string::npos ||
         sysfs.read(resolved + "/sfnum").error == 0;
}

/// The path up to its last component that is a PCI address: a function itself, or the one above.
std::string NearestPciFunction(std::string path) {
  while (!path.empty() && !IsPciAddress(BaseName(path))) {
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return path;
}

bool HasEntry(const SysfsFiles& sysfs, const std::string& directory, const std::string& name) {
  if (sysfs.resolve(directory + "/" + name)) {
    return true;
  }
  const std::vector<std::string> names = sysfs.list(directory);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<int> ReadNumaNode(const SysfsFiles& sysfs, const std::string& path) {
  const std::optional<uint64_t> node = sysfs_internal::ReadNumber(sysfs, path);  // "-1": no number
  if (!node || *node > INT_MAX) {
    return std::nullopt;
  }
  return static_cast<int>(*node);
}

/// Where the physical function of a VF is; empty when it is not to be seen (passed to a guest).
std::string PhysicalFunction(const SysfsFiles& sysfs, const std::string& device,
                             const Identity& identity) {
  if (identity.function == DeviceFunction::kSubfunction) {
    return identity.pci_address;
  }
  const std::optional<std::string> physical = sysfs.resolve(device + "/physfn");
  const std::string address = physical ? BaseName(*physical) : "";
  return IsPciAddress(address) ? address : "";
}

/// What the `device` link leads to: the PCI function, its driver, its NUMA node.
void ReadHardware(const SysfsFiles& sysfs, const std::string& name, Identity* identity) {
  const std::string device = DevicePath(name) + "/device";
  const std::string function = sysfs_internal::PciFunctionPath(sysfs, name);
  identity->pci_address = BaseName(function);
  identity->physical_function = PhysicalFunction(sysfs, device, *identity);
  identity->numa_node = ReadNumaNode(sysfs, device + "/numa_node");
  if (!identity->numa_node && identity->function == DeviceFunction::kSubfunction) {
    identity->numa_node = ReadNumaNode(sysfs, function + "/numa_node");
  }
  if (const auto driver = sysfs.resolve(device + "/driver")) {
    identity->driver = Label(BaseName(*driver));
  }
}

}  // namespace

std::string sysfs_internal::PciFunctionPath(const SysfsFiles& sysfs, const std::string& device) {
  const std::string base = DevicePath(device);
  const std::optional<std::string> hardware =
      base.empty() ? std::nullopt : sysfs.resolve(base + "/device");
  return hardware ? NearestPciFunction(*hardware) : "";
}

DeviceFunction ReadFunction(const SysfsFiles& sysfs, const std::string& device) {
  const std::string base = DevicePath(device);
  if (base.empty()) {
    return DeviceFunction::kPhysical;
  }
  if (HasEntry(sysfs, base + "/device", "physfn")) {
    return DeviceFunction::kVirtual;
  }
  const std::optional<std::string> resolved = sysfs.resolve(base + "/device");
  if (resolved && !IsPciAddress(BaseName(*resolved)) && IsSubfunction(sysfs, *resolved)) {
    return DeviceFunction::kSubfunction;
  }
  return DeviceFunction::kPhysical;
}

Identity ReadIdentity(const SysfsFiles& sysfs, const std::string& device) {
  Identity identity;
  const std::string base = DevicePath(device);
  if (base.empty()) {
    return identity;
  }
  identity.node_guid = ReadGuid(sysfs, base + "/node_guid");
  identity.sys_image_guid = ReadGuid(sysfs, base + "/sys_image_guid");
  identity.board_id = Label(ReadLine(sysfs, base + "/board_id"));
  identity.hca_type = Label(ReadLine(sysfs, base + "/hca_type"));
  identity.firmware_version = Label(ReadLine(sysfs, base + "/fw_ver"));
  identity.node_type = Label(ReadNumberedName(sysfs, base + "/node_type"));
  identity.function = ReadFunction(sysfs, device);
  ReadHardware(sysfs, device, &identity);
  const std::vector<uint32_t> ports = ReadPortNumbers(sysfs, device);
  for (const uint32_t port : ports) {
    if (const std::string netdev = FindNetdev(sysfs, device, port, ports.size() == 1);
        !netdev.empty()) {
      identity.netdev[port] = CleanLine(netdev);  // a name from a directory has any bytes
    }
  }
  return identity;
}

std::vector<uint32_t> ReadPortNumbers(const SysfsFiles& sysfs, const std::string& device) {
  std::vector<uint32_t> ports;
  const std::string base = DevicePath(device);
  if (base.empty()) {
    return ports;
  }
  for (const std::string& name : sysfs.list(base + "/ports")) {
    const std::optional<uint64_t> number = ParseNumber(name);
    if (number && *number > 0 && *number <= UINT32_MAX) {
      ports.push_back(static_cast<uint32_t>(*number));
    }
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

SysfsPort ReadPort(const SysfsFiles& sysfs, const std::string& device, uint32_t port) {
  SysfsPort result;
  const std::string base = DevicePath(device);
  if (base.empty()) {
    return result;
  }
  const std::string path = base + "/ports/" + std::to_string(port);
  result.state = ReadNamedNumber(sysfs, path + "/state");
  result.physical_state = ReadNamedNumber(sysfs, path + "/phys_state");
  result.speed_bps = ReadRate(sysfs, path + "/rate");
  result.lid = ReadHex(sysfs, path + "/lid");
  result.sm_lid = ReadHex(sysfs, path + "/sm_lid");
  const std::string layer = ReadLine(sysfs, path + "/link_layer");
  if (layer == "InfiniBand" || layer == "Ethernet") {
    result.link_layer = layer;
  }
  return result;
}

}  // namespace nicmon
