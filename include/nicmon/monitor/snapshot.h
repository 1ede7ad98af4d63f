#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/device/pause_reasons.h"
#include "nicmon/device/port_values.h"
#include "nicmon/device/probe_result.h"
#include "nicmon/sysfs/identity.h"
#include "nicmon/sysfs/link_attributes.h"
#include "nicmon/sysfs/stats.h"

namespace nicmon {

/// Names a device for the life of the process, whatever it is renamed to.
using DeviceId = uint32_t;

enum class DeviceStatus { kOpening, kOpen, kAbsent, kDenied, kFatal, kReleased };
std::string_view DeviceStatusName(DeviceStatus status);

inline constexpr int kStateDown = 1;
inline constexpr int kStateActive = 4;
inline constexpr int kPhysicalLinkUp = 5;

/// "fe80:0000:…": eight groups of four hex digits, as sysfs prints it.
std::string GidText(const Gid& gid);
/// "IB", "RoCE v1", "RoCE v2".
std::string_view GidTypeName(uint32_t type);

/// Port-scoped async events in label order.
enum class PortEvent {
  kPortActive,
  kPortErr,
  kLidChange,
  kPkeyChange,
  kSmChange,
  kClientReregister,
  kGidChange
};
inline constexpr int kPortEventCount = 7;
std::string_view PortEventName(PortEvent event);

/// An event type that is counted on the device, not on a port.
struct DeviceEventRow {
  int type;               // ibv_event_type, index into DeviceSnapshot::events
  std::string_view name;  // "device_fatal"
  bool own_objects;       // of a queue pair or the like: only the object's owner ever gets it
};
/// Ascending by type.
const std::vector<DeviceEventRow>& DeviceEventRows();

/// Monotonic counts since this process first saw the port. They outlive closes and re-opens.
struct PortCounts {
  uint64_t link_pauses = 0;  // pauses{link}: an unplanned loss of the link
  uint64_t flaps = 0;        // link pauses that ended
  uint64_t recovered_by_event = 0;
  uint64_t recovered_by_tick = 0;
  uint64_t recovered_by_admin = 0;
  uint64_t to_active = 0, to_down = 0, to_other = 0;  // transitions of the logical state
  uint64_t missed_events = 0, spurious_events = 0;
  uint64_t queries_ok = 0, queries_failed = 0;
  uint64_t speed_changes = 0, gid_changes = 0, lid_changes = 0;
  std::array<uint64_t, kPortEventCount> events{};
  Duration down{0};          // while required and neither held nor released
  uint64_t stat_resets = 0;  // hardware counters (of CounterTable()) found lower than before
};

/// One port as its device's thread last saw it. Unknown is nullopt or empty, never 0.
struct PortSnapshot {
  uint32_t number = 0;
  std::optional<int> state;  // logical
  std::optional<int> physical_state;
  bool stale = false;  // the last query failed; the values are older than they look
  bool event_evidence =
      false;  // ACTIVE by PORT_ACTIVE alone: serves, although stale, until the next tick
  int last_query_error = 0;  // errno of the last query, 0 when it succeeded
  std::string link_layer;    // "InfiniBand", "Ethernet"
  PauseReasons pauses;       // without admin: holds are node state, merged in the view
  std::array<WallTime, kPauseReasons.size()> pause_since{};  // by reason, valid while set
  std::optional<WallTime> settling_until;
  std::string fatal_note;  // why fatal is set

  std::optional<uint64_t> effective_speed_bps;  // only while ACTIVE
  std::optional<SpeedSource> speed_source;
  std::optional<uint64_t> nominal_speed_bps;  // lanes × lane speed, only while ACTIVE
  std::optional<uint32_t> lanes;              // only while ACTIVE
  std::string lane_speed;                     // "EDR", only while ACTIVE
  std::optional<uint32_t> mtu_bytes;
  std::optional<uint32_t> lid, sm_lid;  // InfiniBand only
  std::optional<Gid> gid;
  std::string gid_note;                             // why there is no GID
  std::optional<double> estimate_bytes_per_second;  // selector's estimate of free bandwidth

  std::optional<WallTime> last_change;  // of the logical state, after the first observation
  std::optional<WallTime> last_query;   // last query that succeeded
  SteadyTime last_query_steady{};       // same, on the monotonic clock
  PortCounts counts;

  /// nullopt until the first round of samples is complete, and while the device is closed: what was
  /// read before is not the hardware's word any more.
  std::optional<StatsSample> stats;
  NetdevAttributes netdev;  // sampled with them

  bool up() const { return state == kStateActive; }
};

/// Everything one device's thread knows, immutable once published.
struct DeviceSnapshot {
  DeviceId id = 0;
  std::string name;
  int kernel_index = -1;
  Identity identity;
  DeviceStatus status = DeviceStatus::kOpening;
  std::string detail;  // why it is not open and what to do, one line
  DataPathStatus data_path;
  WallTime published_wall{};
  SteadyTime published{};
  uint64_t opens_ok = 0, opens_failed = 0;
  uint64_t async_read_errors = 0;
  uint64_t sysfs_read_errors = 0;    // counter files that could not be read
  std::optional<StatsSample> stats;  // hw_counters of the device itself, else nullopt
  PcieLink pcie;
  std::array<uint64_t, 21> events{};  // by ibv_event_type; port-scoped ones are on their port
  uint64_t events_other = 0;          // unknown types, and port events with a number out of range
  std::vector<PortSnapshot> ports;    // ascending by number
};

}  // namespace nicmon
