#include "nicmon/monitor/snapshot.h"

#include <cstdio>

namespace nicmon {

std::string_view DeviceStatusName(DeviceStatus status) {
  switch (status) {
    case DeviceStatus::kOpening:
      return "opening";
    case DeviceStatus::kOpen:
      return "open";
    case DeviceStatus::kAbsent:
      return "absent";
    case DeviceStatus::kDenied:
      return "denied";
    case DeviceStatus::kFatal:
      return "fatal";
    case DeviceStatus::kReleased:
      return "released";
  }
  return "";
}

std::string GidText(const Gid& gid) {
  std::string text;
  for (size_t i = 0; i < gid.bytes.size(); i += 2) {
    char group[8];
    std::snprintf(group, sizeof(group), "%02x%02x", gid.bytes[i], gid.bytes[i + 1]);
    text += i == 0 ? "" : ":";
    text += group;
  }
  return text;
}

std::string_view GidTypeName(uint32_t type) {
  constexpr std::array<std::string_view, 3> kNames = {"IB", "RoCE v1", "RoCE v2"};
  return type < kNames.size() ? kNames[type] : "unknown";
}

std::string_view PortEventName(PortEvent event) {
  constexpr std::array<std::string_view, kPortEventCount> kNames = {
      "port_active", "port_err",          "lid_change", "pkey_change",
      "sm_change",   "client_reregister", "gid_change"};
  return kNames[static_cast<size_t>(event)];
}

}  // namespace nicmon
