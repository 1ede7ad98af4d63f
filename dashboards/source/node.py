"""RDMA node: the ports of one node over time."""

import itertools

from .common import (APPLICATION, CONGESTION, EFFECTIVE, ERRORS, FLAP_WINDOW, FLAPPING_PORTS, FLAPS,
                     LINK_ERRORS, LINK_PAUSES, LOSS, MISSING, NOT_WATCHED, NOT_WATCHED_REASONS,
                     NOT_WATCHED_UNWANTED, PHYSICAL_STATES, PROBLEMS_OF_NODES, SLOW, SLOW_PORTS,
                     SPEED_SHARE, STALE, STATES, WHY, WHY_VALUES, YES_NO, count, variables)
from .grafana import (annotation, column, dashboard, dashboard_link, graph, page_link, stat, steps,
                      table, timeline, values, with_page)

UID = "nicmon-rdma-node"
_NODE = 'cluster=~"$cluster", instance="$node"'
FILTERS = {"N": _NODE, "D": _NODE + ', device=~"$device"',
           "P": _NODE + ', device=~"$device", port=~"$port"'}
PORT = "{{device}}/{{port}}"
RED_FROM_1 = steps("green", ("red", 1))
SINCE = "dateTimeFromNow"


def port_columns():
    return [column("device", "Device", width=120), column("port", "Port", width=55)]


def hidden(*more):
    """Labels that are the same for everything on one node."""
    return ("cluster", "instance", *more)


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
             'sum(nicmon_port_paused{P, reason="admin"})', thresholds=steps("green", ("blue", 1))),
        stat("Slow", f"Ports that are up with less than {SLOW:.0%} of their baseline or expected "
                     "speed.",
             count(SLOW_PORTS), thresholds=RED_FROM_1),
        stat("Flapping", f"Ports whose link paused at least {FLAPS} times in {FLAP_WINDOW}.",
             FLAPPING_PORTS, thresholds=RED_FROM_1),
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


def ports():
    return table(
        "Ports now",
        "Every chosen port as nicmon sees it. Why: link = the hardware; held = an operator; "
        "fatal = the device is dead or gone; settling = just recovered; released = maintenance; "
        "stale = no fresh answer. Share is of the baseline (best speed so far) or of the "
        "expected speed, whichever is missed by more. First, on the node: nicmon ctl requery "
        "DEVICE/PORT asks the hardware now.",
        [WHY, "max by (KEY) (nicmon_port_state_id{P})",
         "max by (KEY) (nicmon_port_physical_state_id{P})",
         "max by (KEY) (nicmon_port_required{P})", f"8 * max by (KEY) ({EFFECTIVE})", SPEED_SHARE,
         "max by (KEY) (nicmon_port_link_width_lanes{P})",
         f"sum by (KEY) (increase({LINK_PAUSES}[$__range]))",
         "1000 * max by (KEY) (nicmon_port_state_last_change_timestamp_seconds{P})",
         "max by (KEY, link_layer, netdev) (nicmon_port_info{P})",
         "max by (KEY, gid) (nicmon_port_gid_info{P})"],
        [*port_columns(), column("netdev", "Netdev", width=90),
         column("link_layer", "Link layer", width=100),
         column("Value #A", "Why", mappings=values(WHY_VALUES), colour="background", width=120),
         column("Value #B", "State", mappings=values(STATES), colour="text", width=100),
         column("Value #C", "Physical", mappings=values(PHYSICAL_STATES), colour="text", width=115),
         column("Value #D", "Required", mappings=values(YES_NO), width=85),
         column("Value #E", "Speed", unit="bps", width=90),
         column("Value #F", "Share", unit="percentunit", decimals=0, colour="text", width=70,
                thresholds=steps("red", ("green", SLOW))),
         column("Value #G", "Lanes", decimals=0, width=65),
         column("Value #H", "Pauses", decimals=0, colour="text", width=75,
                thresholds=steps("text", ("orange", 1))),
         column("Value #I", "State changed", unit=SINCE, width=130), column("gid", "GID")],
        no_value="no ports", sort=("Why", True), hidden=hidden("Value #J", "Value #K"))


def this_node():
    return table(
        "This node",
        "The name nicmon runs under, its version and the address of its status page, which "
        "shows more: history with causes, holds with reasons, GIDs.",
        [with_page("max by (NODE, nodename) (nicmon_node_info{N})"),
         with_page("max by (NODE, version, libibverbs) (nicmon_build_info{N})")],
        [column("nodename", "Node"), column("version", "nicmon"),
         column("libibverbs", "libibverbs"),
         column("page", "Status page", links=[page_link()])],
        no_value="this node does not report", sort=("Node", False),
        hidden=hidden("Value #A", "Value #B"))


def holds():
    return table(
        "Holds", "Ports an operator holds, since when and until when. Who and why: nicmon ctl "
        "holds on the node, or the status page. End one: nicmon ctl resume DEVICE/PORT. A hold "
        "does not touch the port.",
        ["1000 * max by (KEY) (nicmon_port_hold_since_timestamp_seconds{P})",
         "1000 * max by (KEY) (nicmon_port_hold_until_timestamp_seconds{P})"],
        [*port_columns(), column("Value #A", "Since", unit=SINCE),
         column("Value #B", "Until (empty: no end)", unit=SINCE)],
        no_value="nothing is held", sort=("Since", False), hidden=hidden())


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
                 no_value="none in this time range", unit="cps", bars=True, stacked=True, **rest)


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


def devices():
    pcie = "nicmon_device_pcie_"
    return table(
        "Devices", "Each device with its identity. Not watched: absent or fatal, look at dmesg "
        "and lspci; denied, grant the device node; stalled, hold the ports and collect dmesg; "
        "released, nicmon ctl reopen DEVICE. A PCIe share below 100 %: reseat the card, look at "
        "the slot and the BIOS.",
        ["max by (NODE, device, hca_type, board_id, firmware_version, driver, pci_address, "
         "numa_node, node_guid) (nicmon_device_info{D})", NOT_WATCHED,
         f"max by (NODE, device) ({pcie}link_width{{D}} / {pcie}max_link_width{{D}} * "
         f"{pcie}link_speed_transfers_per_second{{D}} / "
         f"{pcie}max_link_speed_transfers_per_second{{D}})"],
        [column("device", "Device"),
         column("reason", "Not watched", mappings=values(NOT_WATCHED_REASONS), colour="text"),
         column("Value #C", "PCIe share", unit="percentunit", decimals=0, colour="text",
                thresholds=steps("red", ("green", 1))),
         column("hca_type", "Type"), column("board_id", "Board"),
         column("firmware_version", "Firmware"), column("driver", "Driver"),
         column("pci_address", "PCI address"), column("numa_node", "NUMA"),
         column("node_guid", "Node GUID")],
        no_value="no devices", sort=("Device", False), hidden=hidden("Value #A", "Value #B"))


def details():
    addresses = ["max by (KEY, index, gid, type) (nicmon_port_gid_info{P})",
                 "max by (KEY) (nicmon_port_mtu_bytes{P})", "max by (KEY) (nicmon_port_lid{P})",
                 "max by (KEY) (nicmon_port_sm_lid{P})",
                 "max by (KEY) (nicmon_port_bond_members_up{P})",
                 "max by (KEY) (nicmon_port_bond_members{P})",
                 "max by (KEY) (nicmon_port_netdev_carrier_changes_total{P})"]
    counters = ['max by (KEY) (nicmon_port_stats_available{P, family="counters"})',
                'max by (KEY) (nicmon_port_stats_available{P, family="hw_counters"})',
                "max by (KEY) (nicmon_port_stats_age_seconds{P})",
                "max by (KEY) (nicmon_port_saturated_stats{P})",
                "sum by (KEY) (increase(nicmon_port_stat_resets_total{P}[$__range]))"]
    return [
        table("Addresses and bonds",
              "The GID that jobs should use (index for NCCL_IB_GID_INDEX), MTU, LIDs "
              "(InfiniBand) and the legs of a bond. SM LID 0 with state init: no subnet manager.",
              addresses,
              [*port_columns(), column("index", "GID index", width=90),
               column("type", "GID type", width=95),
               column("gid", "GID"), column("Value #B", "MTU", unit="bytes", width=80),
               column("Value #C", "LID", decimals=0, width=60),
               column("Value #D", "SM LID", decimals=0, width=75),
               column("Value #E", "Legs up", decimals=0, width=80),
               column("Value #F", "Legs", decimals=0, width=60),
               column("Value #G", "Carrier changes", decimals=0)],
              no_value="no ports", sort=("Device", False), hidden=hidden("Value #A")),
        table("Counters", "How far the counters can be trusted. None: a driver without them, or "
              "nicmon in a network namespace of its own. Age above the counters' interval: the "
              "device is slow. At the cap: a counter has stopped counting. Resets: driver "
              "reloads, counted in this time range.",
              counters,
              [*port_columns(), column("Value #A", "counters", mappings=values(YES_NO)),
               column("Value #B", "hw_counters", mappings=values(YES_NO)),
               column("Value #C", "Age", unit="s", decimals=0),
               column("Value #D", "At the cap", decimals=0, colour="text",
                      thresholds=steps("text", ("orange", 1))),
               column("Value #E", "Resets", decimals=0)],
              no_value="no counters were read", sort=("Device", False), hidden=hidden())]


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
        time_from="now-3h",
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
                [(12, 4, this_node()), (12, 4, holds())],
                [(24, 8, why)],
                [(12, 8, logical), (12, 8, physical)],
                [(8, 8, panel) for panel in speed()],
                [(12, 9, link), (12, 9, loss)],
                [(12, 9, congestion), (12, 9, application)],
                [(8, 8, panel) for panel in happenings()]]),
            ("Devices, addresses, counters", True, [
                [(24, 8, devices())], [(13, 8, addresses), (11, 8, counters)]]),
            ("nicmon itself", True, nicmon_itself())])
