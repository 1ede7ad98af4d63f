"""What both dashboards say in the same way: limits, states, expressions for nicmon's words."""

from .grafana import datasource_variable, query_variable, steps, text_variable

RED_FROM_1 = steps("green", ("red", 1))

# Those of the alerts in deploy/prometheus: a check holds the two against each other.
SLOW = 0.95            # of the baseline or the expected speed
FLAPS = 3              # link pauses in FLAP_WINDOW
FLAP_WINDOW = "10m"
ERRORS = 10            # packets received with an error, per second
ERROR_WINDOW = "10m"   # in which any local link integrity error counts
OUTAGE = 20            # ports that go down together
STALE = 10             # seconds since a device's thread last published

# The reasons that pause a port, as bits, the worst one highest. Not serving without any: stale.
REASONS = {"released": 1, "admin": 2, "settling": 4, "link": 8, "fatal": 16}
STALE_PORT = 32
REASON_TEXT = {"released": "released", "admin": "held", "settling": "settling", "link": "link",
               "fatal": "fatal"}
REASON_COLOUR = {"released": "purple", "admin": "blue", "settling": "yellow", "link": "red",
                 "fatal": "dark-red"}


def _why():
    """{value of WHY: (text, colour)}: every combination of reasons by name."""
    table = {0: ("serving", "green"), STALE_PORT: ("stale", "orange")}
    for bits in range(1, 2 * max(REASONS.values())):
        names = [name for name in reversed(REASONS) if bits & REASONS[name]]
        # What somebody decided explains more than the link does.
        deciding = next((name for name in ("released", "admin") if name in names), names[0])
        table[bits] = (" + ".join(REASON_TEXT[name] for name in names),
                                     REASON_COLOUR[deciding])
    return table


WHY_VALUES = _why()
STATES = {0: ("nop", "text"), 1: ("down", "red"), 2: ("init", "orange"), 3: ("armed", "yellow"),
          4: ("active", "green"), 5: ("active_defer", "orange")}
PHYSICAL_STATES = {1: ("sleep", "purple"), 2: ("polling", "red"), 3: ("disabled", "dark-red"),
                   4: ("training", "orange"), 5: ("link_up", "green"),
                   6: ("error_recovery", "orange"), 7: ("phy_test", "purple")}
YES_NO = {0: ("no", "text"), 1: ("yes", "text")}

# Filters stand as far inside as they can: of tens of thousands of ports few are left for the rest.

# Nobody is told of these: somebody decided it. Both series exist only for such ports.
UNLESS_EXCUSED = """unless on (KEY) nicmon_port_hold_since_timestamp_seconds{P}
                    unless on (NODE, device) nicmon_device_not_open{D, reason="released"}"""

# The reasons that pause each paused port as a sum of bits.
REASON_BITS = "sum by (KEY) (" + " or ".join(
    f'{bit} * (nicmon_port_paused{{P, reason="{name}"}} == 1)'
    for name, bit in REASONS.items()) + ")"
# Ports that do not serve, with the reason: see WHY_VALUES.
WHY_NOT = f"{REASON_BITS} or max by (KEY) ({STALE_PORT} + (nicmon_port_serving{{P}} == 0))"
# All ports; 0 for one that serves.
WHY = f"{REASON_BITS} or max by (KEY) ({STALE_PORT} * (1 - nicmon_port_serving{{P}}))"

# Ports that have to be up and are not.
MISSING = f"""(nicmon_port_required{{P}} == 1) unless on (KEY) (nicmon_port_up{{P}} == 1)
              {UNLESS_EXCUSED}"""

EFFECTIVE = "nicmon_port_effective_speed_bytes_per_second{P}"
BASELINE = "nicmon_port_baseline_speed_bytes_per_second{P}"
EXPECTED = "nicmon_port_expected_speed_bytes_per_second{P}"


def speed_share(condition=""):
    """Share of what a port should do: of its best speed so far or of the one that was asked for,
    where condition holds for it. The label keeps `or` from taking the one for the other."""
    return f"""min by (KEY) ({EFFECTIVE} / {BASELINE} {condition}
               or label_replace({EFFECTIVE} / {EXPECTED} {condition}, "of", "expected", "", ""))"""


SLOW_PORTS = f"{speed_share(f'< {SLOW}')} {UNLESS_EXCUSED}"

LINK_PAUSES = 'nicmon_port_pauses_total{P, reason="link"}'
RECENT_PAUSES = f"increase({LINK_PAUSES}[{FLAP_WINDOW}])"
FLAPPING_PORTS = f"{RECENT_PAUSES} >= {FLAPS} {UNLESS_EXCUSED}"
HELD_PORTS = "nicmon_port_hold_since_timestamp_seconds{P}"

# Nodes that reported within the hour and do not now, and targets beside a nicmon that fail.
SILENT = """group by (NODE) (last_over_time(nicmon_node_info{N}[1h])
                                unless on (NODE) nicmon_node_info{N})
            or group by (NODE) (up{N} == 0 and on (job) nicmon_build_info)"""

# What keeps a device, or all of a node, from being watched, in the label reason.
NOT_WATCHED = f"""max by (NODE, device, reason) (nicmon_device_not_open{{D}})
    or label_replace(max by (NODE, device) (nicmon_device_stalled{{D}} == 1
                     or nicmon_snapshot_age_seconds{{D}} > {STALE}), "reason", "stalled", "", "")"""
NOT_WATCHED_UNWANTED = NOT_WATCHED.replace("{D}", '{D, reason!="released"}', 1)
NOT_WATCHED_REASONS = {
    "silent": ("no answer to scrapes", "dark-red"), "stalled": ("stalled", "red"),
    "absent": ("absent", "red"), "fatal": ("fatal", "red"), "denied": ("denied", "orange"),
    "opening": ("opening", "yellow"), "released": ("released", "purple")}

# What is wrong with nicmon itself: expressions for how much of it there is.
PROBLEMS = {
    "holds do not outlive a restart": "1 - (nicmon_holds_durable{N} == 0)",
    "holds were lost": "nicmon_holds_lost{N} == 1",
    "holds without their device": "nicmon_holds_orphaned{N} > 0",
    "a changed file was refused": "1 - (nicmon_config_reload_success{N} == 0)",
    "history left out": "increase(nicmon_journal_dropped_total{N}[1h]) > 0",
    "ports without counters in sysfs":
        '1 - (nicmon_port_stats_available{P, family="counters"} == 0)',
    "counter files unreadable": "increase(nicmon_sysfs_read_errors_total{D}[1h]) > 0",
    "events were missed":
        'increase(nicmon_reconcile_mismatches_total{P, kind="missed_event"}[1h]) > 0',
    "devices are simulated": "nicmon_simulated{N} == 1"}
# One row per node and problem, the latter in the label problem.
PROBLEMS_OF_NODES = " or ".join(
    f'label_replace(sum by (NODE) ({expr}), "problem", "{text}", "", "")'
    for text, expr in PROBLEMS.items())


def count(expr):
    """How many series expr has: 0 rather than nothing, but nothing where no nicmon reports."""
    return f"count({expr}) or 0 * count(nicmon_node_info{{N}})"


# Counters whose increase means something, by what it means: (metric's tail, name in legends).
LINK_ERRORS = [("errors_received", "errors received"),
               ("receive_remote_physical_errors", "bad upstream"),
               ("local_link_integrity_errors", "link integrity"),
               ("link_error_recovery", "link recovered"), ("link_downed", "link downed"),
               ("rx_icrc_encapsulated_errors", "corrupt (ICRC)"),
               ("excessive_buffer_overrun_errors", "buffer overrun")]
LOSS = [("out_of_sequence_packets_received", "out of sequence"),
        ("packet_sequence_errors", "sequence NAKs"), ("local_ack_timeout_errors", "ACK timeouts"),
        ("implied_nak_seq_errors", "implied NAKs"), ("duplicate_requests_packets", "duplicates"),
        ("roce_adp_retransmits", "retransmits"), ("roce_slow_restart", "slow restarts"),
        ("discards_transmitted", "discarded on transmit")]
CONGESTION = [("transmit_wait", "transmit wait"),
              ("np_ecn_marked_roce_packets_received", "ECN marks"),
              ("np_cnp_packets_sent", "CNPs sent"), ("rp_cnp_packets_handled", "CNPs handled")]
APPLICATION = [("req_transport_retries_exceeded", "connections lost: no answer"),
               ("req_rnr_retries_exceeded", "connections lost: not ready"),
               ("rnr_nak_retry_packets_received", "not-ready NAKs"),
               ("out_of_buffer_drops", "no receive buffer"),
               ("req_cqes_errors", "requester's completions"),
               ("resp_cqes_errors", "responder's completions"),
               ("req_remote_access_errors", "access refused by the peer"),
               ("resp_remote_access_errors", "access refused to the peer")]


def variables(*, many_nodes):
    """Both dashboards have the same ones, so that links carry them over."""
    return [
        datasource_variable(),
        query_variable("cluster", "Cluster", "label_values(nicmon_node_info, cluster)", multi=True,
                       description="The label cluster, where your Prometheus has one"),
        query_variable("node", "Node",
                       'label_values(nicmon_node_info{cluster=~"$cluster"}, instance)',
                       multi=many_nodes, description="The label instance of nicmon's targets"),
        query_variable("device", "Device", "label_values(nicmon_device_up{N}, device)", multi=True,
                       description="RDMA device; often the rail"),
        query_variable("port", "Port", "label_values(nicmon_port_info{D}, port)", multi=True,
                       description="Port of the device"),
        text_variable("status_port", "Port of the status page", "9879",
                      "Of nodes that are scraped under their name alone"),
        text_variable("status_scheme", "Scheme of the status page", "http",
                      "http, or https with TLS")]
