#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// Values of one port that device/ finds out and monitor/ publishes. Free of verbs.h, so that the
// snapshot stays free of it too.
namespace nicmon {

/// Kernel numbers (ibv_port_state), "nop" "down" "init" "armed" "active" "active_defer".
std::string_view PortStateName(int state);
/// 1 "sleep" … 5 "link_up" … anything else "unknown".
std::string_view PhysicalStateName(int state);

/// Where an effective speed comes from.
enum class SpeedSource {
  kVerb,     // ibv_query_port_speed, aware of LAG
  kEncoded,  // speed code × width code of query_port
  kNetdev,   // class/net/<if>/speed, where the driver's encoding cannot be right
  kBond,     // sum of the bond's members that are up
  kSysfs,    // the port's `rate` file, for a device that cannot be opened
};
/// "verb", "encoded", "netdev", "bond", "sysfs".
std::string_view SpeedSourceName(SpeedSource source);

/// The chosen GID. Identity = (index, bytes).
struct Gid {
  uint32_t index = 0;
  std::array<uint8_t, 16> bytes{};
  uint32_t type = 0;  // 0 IB, 1 RoCE v1, 2 RoCE v2
  std::string netdev;
};

}  // namespace nicmon
