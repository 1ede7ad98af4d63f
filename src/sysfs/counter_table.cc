#include "nicmon/sysfs/counter_table.h"

#include <algorithm>
#include <array>

namespace nicmon {
namespace {

constexpr std::string_view kExt = "counters_ext";  // 64-bit copies that old drivers have beside
constexpr std::string_view kPma = "counters";      // the port's performance counters (IBTA PMA)
constexpr std::string_view kHw = "hw_counters";    // the driver's

constexpr std::string_view kRxBytes = "Bytes received on all virtual lanes.";
constexpr std::string_view kTxBytes = "Bytes transmitted on all virtual lanes.";
constexpr std::string_view kRxPackets = "Packets received, those with errors included.";
constexpr std::string_view kTxPackets = "Packets transmitted, those with errors included.";
constexpr std::string_view kRxUnicast = "Unicast packets received, those with errors included.";
constexpr std::string_view kTxUnicast = "Unicast packets transmitted, those with errors included.";
constexpr std::string_view kRxMulticast = "Multicast packets received, those with errors included.";
constexpr std::string_view kLinkDowned = "Times the link went down; any increase matters.";
constexpr std::string_view kTxMulticast =
    "Multicast packets transmitted, those with errors included.";

// Widths are those of the PMA's PortCounters attribute (IBTA 16.1.3.5).
constexpr CounterRow kTable[] = {
    // Traffic. The kernel counts port data in words of four bytes, whatever the number of lanes.
    {kExt,
     "port_rcv_data_64",
     "nicmon_port_data_received_bytes_total",
     kRxBytes,
     {.scale = 4, .traffic = Traffic::kReceived}},
    {kPma,
     "port_rcv_data",
     "nicmon_port_data_received_bytes_total",
     kRxBytes,
     {.scale = 4, .bits = 32, .traffic = Traffic::kReceived}},
    {kHw,
     "rx_bytes",
     "nicmon_port_data_received_bytes_total",
     kRxBytes,
     {.traffic = Traffic::kReceived}},
    {kExt,
     "port_xmit_data_64",
     "nicmon_port_data_transmitted_bytes_total",
     kTxBytes,
     {.scale = 4, .traffic = Traffic::kTransmitted}},
    {kPma,
     "port_xmit_data",
     "nicmon_port_data_transmitted_bytes_total",
     kTxBytes,
     {.scale = 4, .bits = 32, .traffic = Traffic::kTransmitted}},
    {kHw,
     "tx_bytes",
     "nicmon_port_data_transmitted_bytes_total",
     kTxBytes,
     {.traffic = Traffic::kTransmitted}},
    {kExt, "port_rcv_packets_64", "nicmon_port_packets_received_total", kRxPackets},
    {kPma, "port_rcv_packets", "nicmon_port_packets_received_total", kRxPackets, {.bits = 32}},
    {kExt, "port_xmit_packets_64", "nicmon_port_packets_transmitted_total", kTxPackets},
    {kPma, "port_xmit_packets", "nicmon_port_packets_transmitted_total", kTxPackets, {.bits = 32}},
    {kExt,
     "port_unicast_rcv_packets",
     "nicmon_port_unicast_packets_received_total",
     kRxUnicast,
     {.full = true}},
    {kPma,
     "unicast_rcv_packets",
     "nicmon_port_unicast_packets_received_total",
     kRxUnicast,
     {.full = true}},
    {kExt,
     "port_unicast_xmit_packets",
     "nicmon_port_unicast_packets_transmitted_total",
     kTxUnicast,
     {.full = true}},
    {kPma,
     "unicast_xmit_packets",
     "nicmon_port_unicast_packets_transmitted_total",
     kTxUnicast,
     {.full = true}},
    {kExt,
     "port_multicast_rcv_packets",
     "nicmon_port_multicast_packets_received_total",
     kRxMulticast,
     {.full = true}},
    {kPma,
     "multicast_rcv_packets",
     "nicmon_port_multicast_packets_received_total",
     kRxMulticast,
     {.full = true}},
    {kExt,
     "port_multicast_xmit_packets",
     "nicmon_port_multicast_packets_transmitted_total",
     kTxMulticast,
     {.full = true}},
    {kPma,
     "multicast_xmit_packets",
     "nicmon_port_multicast_packets_transmitted_total",
     kTxMulticast,
     {.full = true}},

    // The link and the cable.
    {kPma, "link_downed", "nicmon_port_link_downed_total", kLinkDowned, {.bits = 8}},
    {kHw, "link_downed", "nicmon_port_link_downed_total", kLinkDowned},
    {kPma,
     "link_error_recovery",
     "nicmon_port_link_error_recovery_total",
     "Times the link recovered from an error by itself; a bad cable if it keeps rising.",
     {.bits = 8}},
    {kPma,
     "local_link_integrity_errors",
     "nicmon_port_local_link_integrity_errors_total",
     "Times local physical errors exceeded the port's threshold.",
     {.bits = 4}},
    {kPma,
     "symbol_error",
     "nicmon_port_symbol_error_total",
     "Minor link errors on any lane; a PAM4 link always has some.",
     {.bits = 16}},
    {kPma,
     "port_rcv_errors",
     "nicmon_port_errors_received_total",
     "Packets received with an error.",
     {.bits = 16}},
    {kPma,
     "port_rcv_remote_physical_errors",
     "nicmon_port_receive_remote_physical_errors_total",
     "Packets received that somebody upstream had marked as bad.",
     {.bits = 16}},
    {kPma,
     "excessive_buffer_overrun_errors",
     "nicmon_port_excessive_buffer_overrun_errors_total",
     "Times the receive buffer overran in consecutive flow control periods.",
     {.bits = 4}},

    // Congestion and refusals.
    {kPma,
     "port_xmit_discards",
     "nicmon_port_discards_transmitted_total",
     "Packets to be transmitted that were discarded: the port was down or congested.",
     {.bits = 16}},
    {kPma, "port_rcv_discards", "nicmon_port_discards_received_total",
     "Packets received that were discarded."},
    {kPma,
     "port_xmit_wait",
     "nicmon_port_transmit_wait_total",
     "Clock ticks with data to send and no credits to send it: congestion, no error.",
     {.bits = 32}},
    {kPma,
     "port_rcv_constraint_errors",
     "nicmon_port_constraint_errors_received_total",
     "Packets received that partition or raw-packet rules forbid.",
     {.bits = 8, .full = true}},
    {kPma,
     "port_xmit_constraint_errors",
     "nicmon_port_constraint_errors_transmitted_total",
     "Packets to be transmitted that partition or raw-packet rules forbid.",
     {.bits = 8, .full = true}},
    {kPma,
     "port_rcv_switch_relay_errors",
     "nicmon_port_receive_switch_relay_errors_total",
     "Packets that a switch could not forward; 0 on a host.",
     {.bits = 16, .full = true}},
    {kPma,
     "VL15_dropped",
     "nicmon_port_vl15_dropped_total",
     "Management packets dropped for want of buffers.",
     {.bits = 16, .full = true}},

    // RoCE and the transport: loss and reordering.
    {kHw, "out_of_sequence", "nicmon_port_out_of_sequence_packets_received_total",
     "Packets received out of order: loss or reordering on the way."},
    {kHw, "packet_seq_err", "nicmon_port_packet_sequence_errors_total",
     "NAKs for a sequence error received: what this port sent was lost or reordered."},
    {kHw, "implied_nak_seq_err", "nicmon_port_implied_nak_seq_errors_total",
     "Times the peer's acknowledgement implied that a packet had been lost."},
    {kHw, "duplicate_request", "nicmon_port_duplicate_requests_packets_total",
     "Requests received again: the peer repeated what it took for lost."},
    {kHw, "local_ack_timeout_err", "nicmon_port_local_ack_timeout_errors_total",
     "Acknowledgements that did not come in time: loss, or the peer's port is dead."},
    {kHw, "roce_adp_retrans", "nicmon_port_roce_adp_retransmits_total",
     "Adaptive retransmissions."},
    {kHw, "roce_adp_retrans_to", "nicmon_port_roce_adp_retransmits_timeout_total",
     "Timeouts by adaptive retransmission."},
    {kHw, "roce_slow_restart_trans", "nicmon_port_roce_slow_restart_total",
     "Changes of a connection to slow restart."},
    {kHw,
     "roce_slow_restart",
     "nicmon_port_roce_slow_restart_used_total",
     "Times slow restart was used.",
     {.full = true}},
    {kHw,
     "roce_slow_restart_cnps",
     "nicmon_port_roce_slow_restart_cnps_total",
     "Congestion notifications made by slow restart.",
     {.full = true}},
    {kHw, "rx_icrc_encapsulated", "nicmon_port_rx_icrc_encapsulated_errors_total",
     "RoCE packets received with a wrong ICRC: corruption on the way."},

    // Connections that were lost.
    {kHw, "req_transport_retries_exceeded", "nicmon_port_req_transport_retries_exceeded_total",
     "Connections lost because the peer did not answer any retry."},
    {kHw, "req_rnr_retries_exceeded", "nicmon_port_req_rnr_retries_exceeded_total",
     "Connections lost because the peer stayed not ready to receive."},
    {kHw, "rnr_nak_retry_err", "nicmon_port_rnr_nak_retry_packets_received_total",
     "NAKs of a peer that was not ready to receive; the retry limit was not reached."},
    {kHw, "out_of_buffer", "nicmon_port_out_of_buffer_drops_total",
     "Packets dropped for want of a receive work request: the application is too slow."},

    // Congestion control.
    {kHw, "np_cnp_sent", "nicmon_port_np_cnp_packets_sent_total",
     "Congestion notifications sent: packets came in with the ECN mark."},
    {kHw, "np_ecn_marked_roce_packets", "nicmon_port_np_ecn_marked_roce_packets_received_total",
     "RoCE packets received with the ECN mark of a congested switch."},
    {kHw, "rp_cnp_handled", "nicmon_port_rp_cnp_packets_handled_total",
     "Congestion notifications received that slowed a sender down."},
    {kHw, "rp_cnp_ignored", "nicmon_port_rp_cnp_ignored_packets_received_total",
     "Congestion notifications received and ignored."},

    // Completions with an error, and requests.
    {kHw, "req_cqe_error", "nicmon_port_req_cqes_errors_total",
     "Completions with an error on the requester's side."},
    {kHw, "resp_cqe_error", "nicmon_port_resp_cqes_errors_total",
     "Completions with an error on the responder's side."},
    {kHw,
     "req_cqe_flush_error",
     "nicmon_port_req_cqes_flush_errors_total",
     "Requester's completions flushed; every teardown of a connection makes some.",
     {.full = true}},
    {kHw,
     "resp_cqe_flush_error",
     "nicmon_port_resp_cqes_flush_errors_total",
     "Responder's completions flushed; every teardown of a connection makes some.",
     {.full = true}},
    {kHw, "req_remote_access_errors", "nicmon_port_req_remote_access_errors_total",
     "Requests that the peer refused for want of access rights."},
    {kHw, "req_remote_invalid_request", "nicmon_port_req_remote_invalid_request_errors_total",
     "Requests that the peer refused as invalid."},
    {kHw,
     "resp_local_length_error",
     "nicmon_port_resp_local_length_errors_total",
     "Requests received that did not fit their buffer.",
     {.full = true}},
    {kHw, "resp_remote_access_errors", "nicmon_port_resp_remote_access_errors_total",
     "Requests of a peer refused for want of access rights."},
    {kHw,
     "rx_atomic_requests",
     "nicmon_port_rx_atomic_requests_total",
     "Atomic requests received.",
     {.full = true}},
    {kHw,
     "rx_read_requests",
     "nicmon_port_rx_read_requests_total",
     "Read requests received.",
     {.full = true}},
    {kHw,
     "rx_write_requests",
     "nicmon_port_rx_write_requests_total",
     "Write requests received.",
     {.full = true}},
    {kHw,
     "rx_dct_connect",
     "nicmon_port_rx_dct_connect_requests_total",
     "Connection requests received for dynamically connected transport.",
     {.full = true}},
};

constexpr size_t kRows = std::size(kTable);

constexpr std::array<uint16_t, kRows> NumberMetrics() {
  std::array<uint16_t, kRows> numbers{};
  for (size_t i = 1; i < kRows; ++i) {
    const bool same = kTable[i].metric == kTable[i - 1].metric;
    numbers[i] = static_cast<uint16_t>(numbers[i - 1] + (same ? 0 : 1));
  }
  return numbers;
}
constexpr std::array<uint16_t, kRows> kMetricOfRow = NumberMetrics();

}  // namespace

std::span<const CounterRow> CounterTable() {
  return kTable;
}

std::span<const uint16_t> CounterMetricOfRow() {
  return kMetricOfRow;
}

size_t CounterMetricCount() {
  return kMetricOfRow.back() + 1;
}

}  // namespace nicmon
