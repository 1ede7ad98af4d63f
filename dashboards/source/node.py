"""RDMA node: the ports of one node over time."""

import itertools

from .common import (APPLICATION, CONGESTION, EFFECTIVE, ERRORS, FLAPPING_PORTS, FLAPS, FLAP_WINDOW,
                     HELD_PORTS, LINK_ERRORS, LINK_PAUSES, LOSS, MISSING, NOT_WATCHED_UNWANTED,
                     PHYSICAL_STATES, PROBLEMS_OF_NODES, RED_FROM_1, SLOW, SLOW_PORTS, STALE, STATES,
                     WHY, WHY_VALUES, count, variables)
from .grafana import (annotation, column, dashboard, dashboard_link, graph, stat, steps, table,
                      timeline, values)
from .node_tables import details, devices, hidden, holds, ports, this_node

UID = "nicmon-rdma-node"
_NODE = 'cluster=~"$cluster", instance="$node"'
FILTERS = {"N": _NODE, "D": _NODE + ', device=~"$device"',
           "P": _NODE + ', device=~"$device", port=~"$port"'}
PORT = "{{device}}/{{port}}"


def stats():
    return [
        stat("nicmon answers",
             "Whether the last scrape worked. No: everything below is old. First: "
             "curl http://NODE:9879/healthz, then the pod or systemctl status nicmon.",
             "max(up{N} and on (job) nicmon_build_info)", no_value="never scraped",
             mappings=values({0: ("NO", "red"), 1: ("yes", "green")}), thresholds=RED_FROM_1),
        stat("Ports serving", "Ports a job may be placed on, of the chosen ones.",
             "sum(nicmon_port_serving{P})"),
        stat("Required ports down",
             "Ports that have to be up and are not, neither held nor released. "
             "First: curl http://NODE:9879/api/v1/ports?format=text", count(MISSING),
             thresholds=RED_FROM_1),
        stat("Held", "Ports that an operator holds. Who and why: nicmon ctl holds",
             count(HELD_PORTS), thresholds=steps("green", ("blue", 1))),
        stat("Slow", f"Ports that are up with less than {SLOW:.0%} of their baseline or expected "
                     "speed.",
             count(SLOW_PORTS), thresholds=RED_FROM_1),
        stat("Flapping", f"Ports whose link paused at least {FLAPS} times in {FLAP_WINDOW}.",
             count(FLAPPING_PORTS), thresholds=RED_FROM_1),
        stat("Not watched",
             "Devices that nicmon does not have open although nobody released them, "
             f"or that have not answered for {STALE} s. The table Devices has the "
             "reason.", count(NOT_WATCHED_UNWANTED),
             thresholds=RED_FROM_1),
        stat("Damaged packets",
             f"Packets received with an error, per second, all chosen ports. The alert "
             f"is at {ERRORS} for one port.",
             "sum(rate(nicmon_port_errors_received_total{P}[$__rate_interval]))", unit="pps",
             no_value="no counters", thresholds=steps("green", ("yellow", 0.001), ("red", ERRORS)))]


def states():
    return [
        timeline("Why a port does not serve",
                 "Green: a job may be placed on it. Else the reasons: link, "
                 "held, fatal, settling, released, stale. Gaps: nicmon was not scraped.",
                 WHY, WHY_VALUES, no_value="no ports"),
        timeline("Logical state",
                 "The kernel's state. init: no subnet manager has set the port up. down: "
                 "see the physical state. Gaps: nobody knows, as while the device is released.",
                 "max by (KEY) (nicmon_port_state_id{P})", STATES, no_value="no state is known"),
        timeline("Physical state",
                 "polling: InfiniBand without a cable or peer, RoCE without a carrier. "
                 "disabled: set down, or any loss of the link on mlx5 RoCE. training: it comes "
                 "and goes. error_recovery: a degraded link; swap the cable.",
                 "max by (KEY) (nicmon_port_physical_state_id{P})", PHYSICAL_STATES,
                 no_value="no state is known")]


def speed():
    return [
        graph("Effective speed",
              "What the port can do now, all legs of a bond. It has no line while the "
              f"port is down. A step down that stays is a lost lane or leg; below {SLOW:.0%} of "
              "the best so far there is an "
              "alert.", [(f"8 * max by (device, port) ({EFFECTIVE})", PORT)],
              no_value="no port is up", unit="bps"),
        graph("Received", "RDMA bytes as bits per second. A port that is flat among busy ones: "
              "is its job on another NIC? See select.",
              [("8 * sum by (device, port) (rate(nicmon_port_data_received_bytes_total{P}"
                "[$__rate_interval]))", PORT)], no_value="no counters", unit="bps"),
        graph("Transmitted", "RDMA bytes as bits per second.",
              [("8 * sum by (device, port) (rate(nicmon_port_data_transmitted_bytes_total{P}"
                "[$__rate_interval]))", PORT)], no_value="no counters", unit="bps")]


def by_port(title, description, counters, **rest):
    """Per port and counter, those that count at all: most are zero most of the time."""
    return graph(title, description,
                 [("sum by (device, port) "
                   f"(rate(nicmon_port_{tail}_total{{P}}[$__rate_interval])) > 0",
                   f"{PORT} {name}") for tail, name in counters],
                 no_value="none in this time range", unit="cps", magnitudes=True, **rest)


def errors():
    return [
        by_port("Link errors",
                "Per second; only what is not zero. Errors received above the red "
                "line raise an alert, as does any failure of link integrity. They, link downed "
                "and link recovered are this cable or its transceivers; bad upstream is passed "
                "on by the switch. First: reseat, then swap the "
                "cable.", LINK_ERRORS, thresholds=steps("text", ("red", ERRORS))),
        by_port("Loss and retransmission",
                "Per second; only what is not zero. Out of sequence and "
                "sequence NAKs: loss or reordering on the way. ACK timeouts: loss, or a peer "
                "that died; look there.",
                LOSS),
        by_port("Congestion", "Per second; only what is not zero. No error: congestion control "
                "at work (RoCE), or waiting for credits (InfiniBand, in ticks of the "
                "port).", CONGESTION),
        by_port("Connections and applications",
                "Per second; only what is not zero. Retries exceeded: a "
                "connection was really lost, also by a killed rank. No receive buffer, "
                "not-ready NAKs: the application is slow, not the network.", APPLICATION)]


def happenings():
    def counted(metric, by, legend):
        return (f"sum by ({by}) (increase({metric}[$__rate_interval])) > 0", legend)

    changes = " or ".join(
        "label_replace(sum by (device, port) (increase("
        f'nicmon_port_{what.lower()}_changes_total{{P}}[$__rate_interval])), '
        f'"change", "{what}", "", "")'
        for what in ("speed", "GID", "LID"))
    return [
        graph("Events", "Async events of the driver within each step. port_err and port_active "
              "are flaps; sm_change and client_reregister on all ports at once: the subnet "
              "manager moved.",
              [counted("nicmon_port_events_total{P}", "device, port, event",
                       f"{PORT} {{{{event}}}}"),
               counted("nicmon_device_events_total{D}", "device, event", "{{device}} {{event}}")],
              no_value="no events in this time range", unit="short", bars=True, stacked=True),
        graph("Link pauses and recoveries",
              "Pauses of the link within each step, and returns to service by "
              "what told of them: an event, the tick (the event was lost) or an operator.",
              [counted(LINK_PAUSES, "device, port", f"{PORT} paused"),
               counted("nicmon_port_recoveries_total{P}", "device, port, source",
                       f"{PORT} back by {{{{source}}}}")],
              no_value="no link paused in this time range", unit="short", bars=True, stacked=True),
        graph("Changes and disagreements",
              "Changes of speed, GID and LID, and how often events and polling "
              "disagreed, within each step. Jobs with fixed GIDs or LIDs break when these move.",
              [(f"({changes}) > 0", f"{PORT} {{{{change}}}}"),
               counted("nicmon_reconcile_mismatches_total{P}", "device, port, kind",
                       f"{PORT} {{{{kind}}}}")],
              no_value="nothing changed in this time range", unit="short", bars=True, stacked=True)]


def nicmon_itself():
    process = "and on (job, instance) nicmon_build_info{N}"

    def quantiles(metric, name):
        return [(f"histogram_quantile({q}, sum by (le) "
                 f"(rate({metric}_bucket{{N}}[$__rate_interval])))",
                 f"{name}, {text}") for q, text in ((0.5, "median"), (0.99, "99 %"))]

    return [
        [(8, 7, table("nicmon's own problems",
                      "What keeps nicmon from doing its work here. First: its log. "
                      "Holds: docs/runbook.md, Holds are not safe.", [PROBLEMS_OF_NODES],
                      [column("problem", "Problem"),
                       column("Value", "How much", decimals=0, width=100)],
                      no_value="nicmon is well", sort=("Problem", False), hidden=hidden())),
         (8, 7, graph("CPU and descriptors",
                      "CPU seconds per second, and open files as a share of the "
                      "limit.",
                      [(f"rate(process_cpu_seconds_total{{N}}[$__rate_interval]) {process}", "CPU"),
                       (f"process_open_fds{{N}} / process_max_fds{{N}} {process}", "descriptors")],
                      no_value="no nicmon", unit="percentunit")),
         (8, 7, graph("Memory", "Resident memory. It should be flat.",
                      [(f"process_resident_memory_bytes{{N}} {process}", "resident")],
                      no_value="no nicmon", unit="bytes"))],
        [(8, 7, graph("Latency", "Port queries in the driver, and from an event to the published "
                      "state. A slow query is the driver or the firmware.",
                      [*quantiles("nicmon_port_query_duration_seconds", "query"),
                       *quantiles("nicmon_event_publish_duration_seconds", "event to published")],
                      no_value="no nicmon", unit="s")),
         (8, 7, graph("HTTP", "Requests answered per second by status code, and connections "
                      "refused by reason.",
                      [("sum by (code) (rate(nicmon_http_requests_total{N}[$__rate_interval]))",
                        "{{code}}"),
                       ("sum by (reason) (rate(nicmon_http_rejected_total{N}[$__rate_interval])) "
                        "> 0",
                        "refused: {{reason}}")], no_value="no requests", unit="reqps")),
         (8, 7, graph("Operators and queries",
                      "Operator requests within each step by action and result, "
                      "and port queries that failed.",
                      [("sum by (action, result) (increase(nicmon_admin_actions_total{N}"
                        "[$__rate_interval])) > 0", "{{action}}: {{result}}"),
                       ("sum by (device, port) (increase("
                        'nicmon_port_queries_total{P, result="error"}'
                        "[$__rate_interval])) > 0", f"{PORT} query failed")],
                      no_value="none in this time range", unit="short", bars=True, stacked=True))]]


def node():
    why, logical, physical = states()
    link, loss, congestion, application = errors()
    addresses, counters = details()
    return dashboard(
        UID, "RDMA node",
        "The RDMA ports of one node over time: states, speed, traffic, errors, "
        "events and holds. Needs nicmon's standard profile.",
        filters=FILTERS, variables=variables(many_nodes=False), ids=itertools.count(1),
        time_from="now-3h", refresh="30s",
        annotations=[
            annotation("Link pauses",
                       "sum by (device, port) "
                       f"(increase({LINK_PAUSES}[$__rate_interval])) > 0",
                       "orange", "Link paused", "{{device}}/{{port}}"),
            annotation("nicmon started",
                       "1000 * process_start_time_seconds{N} and on (job, instance) "
                       "nicmon_build_info{N}", "blue", "nicmon started",
                       "Counts of nicmon's own begin at 0 again", useValueForTime=True)],
        links=[dashboard_link("RDMA fleet", "/d/nicmon-rdma-fleet/rdma-fleet")],
        sections=[
            (None, False, [
                [(3, 4, panel) for panel in stats()],
                [(24, 9, ports())],
                [(12, 5, this_node()), (12, 5, holds())],
                [(24, 8, why)],
                [(12, 8, logical), (12, 8, physical)],
                [(8, 8, panel) for panel in speed()],
                [(12, 9, link), (12, 9, loss)],
                [(12, 9, congestion), (12, 9, application)],
                [(8, 8, panel) for panel in happenings()]]),
            ("Devices, addresses, counters", True, [
                [(24, 8, devices())], [(13, 8, addresses), (11, 8, counters)]]),
            ("nicmon itself", True, nicmon_itself())])
