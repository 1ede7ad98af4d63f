#include "nicmon/device/port_values.h"

namespace nicmon {

std::string_view SpeedSourceName(SpeedSource source) {
  switch (source) {
    case SpeedSource::kVerb:
      return "verb";
    case SpeedSource::kEncoded:
      return "encoded";
    case SpeedSource::kNetdev:
      return "netdev";
    case SpeedSource::kBond:
      return "bond";
    case SpeedSource::kSysfs:
      return "sysfs";
  }
  return "";
}

std::string_view PortStateName(int state) {
  constexpr std::array<std::string_view, 6> kNames = {"nop",   "down",   "init",
                                                      "armed", "active", "active_defer"};
  return state >= 0 && state < static_cast<int>(kNames.size()) ? kNames[state] : "unknown";
}

std::string_view PhysicalStateName(int state) {
  constexpr std::array<std::string_view, 8> kNames = {"unknown",        "sleep",    "polling",
                                                      "disabled",       "training", "link_up",
                                                      "error_recovery", "phy_test"};
  return state >= 0 && state < static_cast<int>(kNames.size()) ? kNames[state] : "unknown";
}

}  // namespace nicmon
