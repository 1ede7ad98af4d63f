#include "node_rows.h"
#include "emitters.h"
#include "samples.h"

namespace nicmon {
namespace {

using In = MetricsInput;

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;
constexpr auto kHistogram = prometheus::MetricType::Histogram;
constexpr auto kMinimal = MetricsProfile::kMinimal;
constexpr auto kStandard = MetricsProfile::kStandard;

constexpr MetricRow kNodeTable[] = {
    // The node.
    {"nicmon_build_info", kGauge, kMinimal,
     "Always 1; labels tell the versions of nicmon and of the libibverbs it has loaded.",
     [](Samples& s, const In& in) {
       s.Add({{"version", in.version},
              {"revision", in.revision},
              {"libibverbs", in.libibverbs_version}},
             1);
     }},
    {"nicmon_node_info", kGauge, kMinimal, "Always 1; the label tells the node's name.",
     [](Samples& s, const In& in) { s.Add("nodename", in.view.node_name, 1); }},
    {"nicmon_simulated", kGauge, kStandard,
     "1 while the devices are simulated and say nothing about this node's hardware, else 0.",
     [](Samples& s, const In& in) { s.Add(in.simulated); }},
    {"nicmon_devices", kGauge, kMinimal, "Devices watched, absent ones included.",
     [](Samples& s, const In& in) { s.Add(static_cast<double>(in.view.devices.size())); }},
    {"nicmon_ports", kGauge, kMinimal, "Ports known, those of absent devices included.",
     [](Samples& s, const In& in) { s.Add(in.view.ports); }},
    {"nicmon_ports_serving", kGauge, kMinimal,
     "Ports that are up, not stale and not paused for any reason.",
     [](Samples& s, const In& in) { s.Add(in.view.ports_serving); }},
    {"nicmon_ports_up", kGauge, kMinimal, "Ports whose logical state is exactly ACTIVE.",
     [](Samples& s, const In& in) { s.Add(in.view.ports_up); }},
    {"nicmon_ports_expected", kGauge, kMinimal,
     "Ports that have to be up for the node to be ready; absent while no number is set.",
     [](Samples& s, const In& in) { s.Add(in.view.expected_ports); }},
    {"nicmon_ports_held", kGauge, kMinimal, "Ports held by an operator.",
     [](Samples& s, const In& in) { s.Add(in.view.ports_held); }},
    {"nicmon_holds_durable", kGauge, kStandard,
     "1 while holds and releases survive a restart of nicmon, 0 in memory only or with a failing "
     "disk.",
     [](Samples& s, const In& in) { s.Add(in.view.holds->durable); }},
    {"nicmon_holds_lost", kGauge, kStandard,
     "1 while a file of holds that could not be read whole lies in the state directory, else 0.",
     [](Samples& s, const In& in) { s.Add(in.view.holds->lost); }},
    {"nicmon_holds_orphaned", kGauge, kStandard,
     "Holds whose device is gone while another one sits in its place.",
     [](Samples& s, const In& in) {
       s.Add(static_cast<double>(in.view.holds->CountOrphaned(in.view.now)));
     }},
    {"nicmon_config_reload_success", kGauge, kStandard,
     "1 when the last reload of the re-read files worked, 0 when the older content is in force.",
     [](Samples& s, const In& in) { s.Add(in.config_reload_ok); }},
    {"nicmon_event_publish_duration_seconds", kHistogram, kStandard,
     "Seconds from a device thread's wake-up by an event to the published state.",
     [](Samples& s, const In& in) { s.AddHistogram(in.event_publish); }},
    {"nicmon_async_drain_events_per_wakeup", kHistogram, kStandard,
     "Async events read in one turn of a device thread.",
     [](Samples& s, const In& in) { s.AddHistogram(in.drain_events); }},
    {"nicmon_port_query_duration_seconds", kHistogram, kStandard,
     "Seconds that a query of a port's state took in the driver.",
     [](Samples& s, const In& in) { s.AddHistogram(in.port_query); }},
    {"nicmon_http_request_duration_seconds", kHistogram, kStandard,
     "Seconds from a complete HTTP request to its written answer.",
     [](Samples& s, const In& in) { s.AddHistogram(in.http.request_duration); }},
    {"nicmon_http_requests_total", kCounter, kStandard,
     "HTTP requests answered, by status code; a code appears with its first answer.",
     emit::HttpRequests},
    {"nicmon_http_connections", kGauge, kStandard, "Client connections open now.",
     [](Samples& s, const In& in) { s.Add(in.http.connections); }},
    {"nicmon_stream_clients", kGauge, kStandard, "Clients of the event stream now.",
     [](Samples& s, const In& in) { s.Add(in.http.stream_clients); }},
    {"nicmon_http_rejected_total", kCounter, kStandard,
     "Connections and requests refused before a route saw them, by reason.", emit::HttpRejected},
    {"nicmon_admin_actions_total", kCounter, kStandard,
     "Operator requests, by action and result; a pair appears with its first request.",
     emit::AdminActions},
    {"nicmon_log_suppressed_total", kCounter, kStandard,
     "Log records left out: repeats, and what a reader of the log was too slow for.",
     [](Samples& s, const In& in) { s.Add(static_cast<double>(in.log_suppressed)); }},
    {"nicmon_journal_dropped_total", kCounter, kStandard,
     "Records of the history left out: they came too fast, or could not be written.",
     [](Samples& s, const In& in) { s.Add(static_cast<double>(in.journal_dropped)); }},

    // The process, under the names that every Prometheus client has.
    {"process_cpu_seconds_total", kCounter, kStandard, "User and system CPU time in seconds.",
     [](Samples& s, const In& in) { s.Add(in.process.cpu_seconds); }},
    {"process_open_fds", kGauge, kStandard, "Open file descriptors.",
     [](Samples& s, const In& in) { s.Add(in.process.open_fds); }},
    {"process_max_fds", kGauge, kStandard, "Limit of open file descriptors; absent when unlimited.",
     [](Samples& s, const In& in) { s.Add(in.process.max_fds); }},
    {"process_virtual_memory_bytes", kGauge, kStandard, "Virtual memory size in bytes.",
     [](Samples& s, const In& in) { s.Add(in.process.virtual_bytes); }},
    {"process_resident_memory_bytes", kGauge, kStandard, "Resident memory size in bytes.",
     [](Samples& s, const In& in) { s.Add(in.process.resident_bytes); }},
    {"process_start_time_seconds", kGauge, kStandard,
     "Start time of the process in seconds since 1970.",
     [](Samples& s, const In& in) { s.Add(in.process.start_time_seconds); }},
};

}  // namespace

std::span<const MetricRow> NodeRows() {
  return kNodeTable;
}

}  // namespace nicmon
