#include "nicmon/metrics/table.h"

#include <vector>

#include "emitters.h"
#include "nicmon/sysfs/counter_table.h"
#include "node_rows.h"
#include "samples.h"

namespace nicmon {
namespace {

using emit::BytesPerSecond;
using emit::HasSpeed;
using emit::Released;
using emit::Seconds;
using Device = DeviceView;
using Port = PortView;

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;
constexpr auto kUntyped = prometheus::MetricType::Untyped;
constexpr auto kMinimal = MetricsProfile::kMinimal;
constexpr auto kStandard = MetricsProfile::kStandard;
constexpr auto kFull = MetricsProfile::kFull;

constexpr MetricRow kTable[] = {
    // Devices.
    {"nicmon_device_info", kGauge, kMinimal,
     "Always 1; labels tell who the device is, those that are unknown are missing.",
     emit::DeviceInfo},
    {"nicmon_device_up", kGauge, kMinimal, "1 while nicmon has the device open, else 0.",
     [](Samples& s, const Device& d) { s.Add(d.open()); }},
    {"nicmon_device_not_open", kGauge, kMinimal,
     "1 with the reason why nicmon does not have the device open; absent while it has.",
     emit::DeviceNotOpen},
    {"nicmon_device_stalled", kGauge, kMinimal,
     "1 while the device's thread is stuck in a driver call for three ticks or more, else 0.",
     [](Samples& s, const Device& d) { s.Add(d.stalled); }},
    {"nicmon_snapshot_age_seconds", kGauge, kStandard,
     "Seconds since the device's thread last published its state.",
     [](Samples& s, const Device& d) { s.Add(Seconds(d.snapshot_age)); }},
    {"nicmon_device_events_total", kCounter, kMinimal,
     "Async events of the device itself, by type; those of a port are in nicmon_port_events_total.",
     emit::DeviceEvents},
    {"nicmon_async_read_errors_total", kCounter, kStandard,
     "Reads of the async event queue that failed with anything but an empty queue.",
     [](Samples& s, const Device& d) { s.Add(static_cast<double>(d.data->async_read_errors)); }},
    {"nicmon_device_opens_total", kCounter, kStandard, "Attempts to open the device, by result.",
     emit::DeviceOpens},
    {"nicmon_device_pcie_link_width", kGauge, kStandard,
     "PCIe lanes that the device's link has now.",
     [](Samples& s, const Device& d) { s.Add(d.data->pcie.width); }},
    {"nicmon_device_pcie_link_speed_transfers_per_second", kGauge, kStandard,
     "Speed of a PCIe lane now in transfers per second: 32 GT/s is 32e9.",
     [](Samples& s, const Device& d) { s.Add(d.data->pcie.speed); }},
    {"nicmon_device_pcie_max_link_width", kGauge, kStandard,
     "PCIe lanes that the device could have.",
     [](Samples& s, const Device& d) { s.Add(d.data->pcie.max_width); }},
    {"nicmon_device_pcie_max_link_speed_transfers_per_second", kGauge, kStandard,
     "Speed that a PCIe lane of the device could have in transfers per second.",
     [](Samples& s, const Device& d) { s.Add(d.data->pcie.max_speed); }},
    {"nicmon_sysfs_read_errors_total", kCounter, kStandard,
     "Reads of the device's counter files that failed.",
     [](Samples& s, const Device& d) { s.Add(static_cast<double>(d.data->sysfs_read_errors)); }},
    {"nicmon_device_driver_stat", kUntyped, kFull,
     "What hw_counters of the device itself has, by file name and as the file has it.",
     emit::DeviceDriverStats},
    {"nicmon_device_driver_stats_cut", kGauge, kFull,
     "Files in hw_counters of the device itself that are not read: there are too many of them.",
     emit::DeviceDriverStatsCut},

    // Ports: state.
    {"nicmon_port_info", kGauge, kMinimal, "Always 1; labels tell link layer and netdev.",
     emit::PortInfo},
    {"nicmon_port_state_id", kGauge, kMinimal,
     "Logical state: 0 nop, 1 down, 2 init, 3 armed, 4 active, 5 active_defer.",
     [](Samples& s, const Port& p) { emit::AddUnlessReleased(s, p, p.data->state); }},
    {"nicmon_port_physical_state_id", kGauge, kMinimal,
     "Physical state: 1 sleep, 2 polling, 3 disabled, 4 training, 5 link_up, 6 error_recovery, "
     "7 phy_test.",
     [](Samples& s, const Port& p) { emit::AddUnlessReleased(s, p, p.data->physical_state); }},
    {"nicmon_port_state", kGauge, kFull, "1 for the logical state that the port is in, else 0.",
     emit::PortStateSet},
    {"nicmon_port_physical_state", kGauge, kFull,
     "1 for the physical state that the port is in, else 0.", emit::PortPhysicalStateSet},
    {"nicmon_port_up", kGauge, kMinimal,
     "1 while the logical state is exactly ACTIVE, else 0; 0 too while the device is gone.",
     [](Samples& s, const Port& p) { emit::AddUnlessReleased(s, p, std::optional(p.up)); }},
    {"nicmon_port_serving", kGauge, kMinimal,
     "1 while the port is up, not stale and not paused for any reason, else 0.",
     [](Samples& s, const Port& p) { s.Add(p.serving); }},
    {"nicmon_port_required", kGauge, kMinimal,
     "1 once the port was ACTIVE under its identity, until it is forgotten, else 0.",
     [](Samples& s, const Port& p) { s.Add(p.required); }},
    {"nicmon_port_paused", kGauge, kMinimal,
     "1 for each reason that pauses the port, 0 for the others.", emit::PortPaused},
    {"nicmon_port_pauses_total", kCounter, kStandard,
     "Pauses begun: lost links, however short, and operator holds.", emit::PortPauses},
    {"nicmon_port_flaps_total", kCounter, kMinimal, "Lost links that came back.",
     [](Samples& s, const Port& p) { s.Add(static_cast<double>(p.data->counts.flaps)); }},
    {"nicmon_port_recoveries_total", kCounter, kStandard,
     "Returns to service after a lost link, by what told of them.", emit::PortRecoveries},
    {"nicmon_port_state_last_change_timestamp_seconds", kGauge, kStandard,
     "Last change of the logical state in seconds since 1970; absent until the first.",
     [](Samples& s, const Port& p) {
       emit::AddUnlessReleased(s, p, emit::Timestamp(p.data->last_change));
     }},
    {"nicmon_port_hold_since_timestamp_seconds", kGauge, kStandard,
     "Start of the operator's hold in seconds since 1970; absent without one.",
     [](Samples& s, const Port& p) {
       s.Add(p.hold != nullptr ? std::optional(Seconds(p.hold->since)) : std::nullopt);
     }},
    {"nicmon_port_hold_until_timestamp_seconds", kGauge, kStandard,
     "End of the operator's hold in seconds since 1970; absent without a hold or without an end.",
     [](Samples& s, const Port& p) {
       s.Add(p.hold != nullptr ? emit::Timestamp(p.hold->until) : std::nullopt);
     }},
    {"nicmon_port_down_seconds_total", kCounter, kStandard,
     "Seconds not ACTIVE while the port was required and neither held nor released.",
     [](Samples& s, const Port& p) { s.Add(Seconds(p.data->counts.down)); }},
    {"nicmon_port_transitions_total", kCounter, kStandard,
     "Changes of the logical state, by where they led to.", emit::PortTransitions},

    // Ports: events, queries and whether the two agree.
    {"nicmon_port_events_total", kCounter, kMinimal, "Async events of the port, by type.",
     emit::PortEvents},
    {"nicmon_reconcile_mismatches_total", kCounter, kStandard,
     "Changes that no event told of, and events that the hardware's state contradicts.",
     emit::PortMismatches},
    {"nicmon_port_queries_total", kCounter, kStandard, "Queries of the port's state, by result.",
     emit::PortQueries},

    // Ports: speed.
    {"nicmon_port_effective_speed_bytes_per_second", kGauge, kMinimal,
     "Speed that the port has now in bytes per second, all members of a LAG; absent unless up.",
     [](Samples& s, const Port& p) {
       s.Add(BytesPerSecond(HasSpeed(p), p.data->effective_speed_bps));
     }},
    {"nicmon_port_expected_speed_bytes_per_second", kGauge, kMinimal,
     "Speed that the configuration expects in bytes per second; absent when it does not.",
     [](Samples& s, const Port& p) { s.Add(BytesPerSecond(!Released(p), p.expected_speed_bps)); }},
    {"nicmon_port_nominal_speed_bytes_per_second", kGauge, kStandard,
     "Lanes times lane speed in bytes per second, one member of a LAG; absent unless up.",
     [](Samples& s, const Port& p) {
       s.Add(BytesPerSecond(HasSpeed(p), p.data->nominal_speed_bps));
     }},
    {"nicmon_port_baseline_speed_bytes_per_second", kGauge, kStandard,
     "Highest effective speed seen under this identity in bytes per second; absent until then.",
     [](Samples& s, const Port& p) { s.Add(BytesPerSecond(!Released(p), p.baseline_speed_bps)); }},
    {"nicmon_port_bandwidth_estimate_bytes_per_second", kGauge, kFull,
     "The selector's estimate of free bandwidth in bytes per second; absent unless serving.",
     [](Samples& s, const Port& p) {
       s.Add(p.serving ? p.data->estimate_bytes_per_second : std::nullopt);
     }},
    {"nicmon_port_link_width_lanes", kGauge, kStandard, "Lanes in use; absent unless up.",
     [](Samples& s, const Port& p) { s.Add(HasSpeed(p) ? p.data->lanes : std::nullopt); }},
    {"nicmon_port_speed_source", kGauge, kFull,
     "1 for where the effective speed was read, else 0; absent unless up.",
     emit::PortSpeedSourceSet},
    {"nicmon_port_speed_changes_total", kCounter, kStandard, "Changes of the effective speed.",
     [](Samples& s, const Port& p) { s.Add(static_cast<double>(p.data->counts.speed_changes)); }},

    // Ports: addresses.
    {"nicmon_port_gid_changes_total", kCounter, kStandard, "Changes of the chosen GID.",
     [](Samples& s, const Port& p) { s.Add(static_cast<double>(p.data->counts.gid_changes)); }},
    {"nicmon_port_lid_changes_total", kCounter, kStandard, "Changes of the LID.",
     [](Samples& s, const Port& p) { s.Add(static_cast<double>(p.data->counts.lid_changes)); }},
    {"nicmon_port_mtu_bytes", kGauge, kStandard, "Active RDMA MTU in bytes.",
     [](Samples& s, const Port& p) { s.Add(p.data->mtu_bytes); }},
    {"nicmon_port_lid", kGauge, kStandard, "Local identifier; InfiniBand only.",
     [](Samples& s, const Port& p) { s.Add(p.data->lid); }},
    {"nicmon_port_sm_lid", kGauge, kStandard,
     "Local identifier of the subnet manager; InfiniBand only.",
     [](Samples& s, const Port& p) { s.Add(p.data->sm_lid); }},
    {"nicmon_port_gid_info", kGauge, kStandard,
     "Always 1; labels tell the chosen GID; absent while there is none.", emit::PortGidInfo},

    // Ports: the netdev.
    {"nicmon_port_netdev_carrier_changes_total", kCounter, kStandard,
     "Times the carrier of the port's netdev came or went, since the netdev exists.",
     [](Samples& s, const Port& p) { s.Add(p.data->netdev.carrier_changes); }},
    {"nicmon_port_bond_members", kGauge, kStandard,
     "Members of the bond that the port's netdev is; absent without a bond.",
     [](Samples& s, const Port& p) { s.Add(p.data->netdev.bond_members); }},
    {"nicmon_port_bond_members_up", kGauge, kStandard,
     "Members of the bond that are up; absent without a bond.",
     [](Samples& s, const Port& p) { s.Add(p.data->netdev.bond_members_up); }},

    // Ports: the samples of their counters. The counters themselves are CounterTable()'s.
    {"nicmon_port_stats_available", kGauge, kStandard,
     "1 when the port has counters of this family in sysfs, 0 when none can be seen from here.",
     emit::PortStatsAvailable},
    {"nicmon_port_stats_age_seconds", kGauge, kStandard,
     "Seconds since all counters of the port were last read.",
     [](Samples& s, const Port& p) { s.Add(emit::Age(p.stats_age)); }},
    {"nicmon_port_saturated_stats", kGauge, kStandard,
     "Counters that stand at their field's largest value and count no further.",
     emit::PortSaturatedStats},
    {"nicmon_port_stat_resets_total", kCounter, kStandard,
     "Counter values that went down: the hardware or its driver was reset.",
     [](Samples& s, const Port& p) { s.Add(static_cast<double>(p.data->counts.stat_resets)); }},
    {"nicmon_port_driver_stat", kUntyped, kFull,
     "What the driver counts besides, by file name and as the file has it.", emit::PortDriverStats},
    {"nicmon_port_driver_stats_cut", kGauge, kFull,
     "Files of the driver's own that are not read: there are too many of them.",
     emit::PortDriverStatsCut},
};

std::vector<MetricRow> AllRows() {
  std::vector<MetricRow> rows(NodeRows().begin(), NodeRows().end());
  rows.insert(rows.end(), std::begin(kTable), std::end(kTable));
  const auto counters = CounterTable();
  const auto metric_of_row = CounterMetricOfRow();
  for (size_t i = 0; i < counters.size(); ++i) {
    if (i == 0 || metric_of_row[i] != metric_of_row[i - 1]) {
      const CounterRow& counter = counters[i];
      rows.push_back({counter.metric, kCounter, counter.traits.full ? kFull : kStandard,
                      counter.help, MetricRow::OfCounter{metric_of_row[i]}});
    }
  }
  return rows;
}

}  // namespace

std::span<const MetricRow> MetricTable() {
  static const std::vector<MetricRow> kAll = AllRows();
  return kAll;
}

}  // namespace nicmon
