"""RDMA fleet: which nodes and ports are not well, and why. No line per node or port anywhere."""

import itertools

from .common import (APPLICATION, CONGESTION, FLAPPING_PORTS, FLAPS, FLAP_WINDOW, HELD_PORTS,
                     LINK_ERRORS,
                     LINK_PAUSES, LOSS, MISSING, OUTAGE, PROBLEMS_OF_NODES, RED_FROM_1, SILENT,
                     SLOW, SLOW_PORTS, count, variables)
from .fleet_tables import (TOP, below_required, congestion, errors, flaps, not_serving,
                           page_column, slow, unwatched)
from .grafana import (annotation, bars, column, dashboard, dashboard_link, fixed, graph, node_link,
                      stat, steps, table, with_page)

UID = "nicmon-rdma-fleet"
FILTERS = {"N": 'cluster=~"$cluster", instance=~"$node"',
           "D": 'cluster=~"$cluster", instance=~"$node", device=~"$device"',
           "P": 'cluster=~"$cluster", instance=~"$node", device=~"$device", port=~"$port"'}
YELLOW_FROM_1 = steps("green", ("yellow", 1))


def stats():
    return [
        stat("Nodes reporting",
             "Nodes whose nicmon answered the last scrape, of those chosen above.",
             "count(nicmon_node_info{N})"),
        stat("Nodes silent",
             "Nodes that reported within the last hour and do not now, or whose scrape fails. "
             "Their ports are in no other number here. First: is the node Ready, does its "
             "nicmon pod run, does curl http://NODE:9879/healthz "
             "answer?", count(SILENT), thresholds=RED_FROM_1),
        stat("Nodes below required",
             "Nodes with a port that has to be up and is not, nobody holding or releasing it. A "
             "job that uses every NIC cannot run there. They are in the table below.",
             count(f"count by (NODE) ({MISSING})"), thresholds=RED_FROM_1),
        stat("Required ports down",
             "Ports that were ACTIVE before (or are configured to be), are not now, and are "
             "neither held nor released. First: curl http://NODE:9879/api/v1/ports?format=text",
             count(MISSING), thresholds=RED_FROM_1),
        stat("Ports not serving",
             "Ports no job should be placed on, for whatever reason: link, hold, dead device, "
             "settling, maintenance, or no fresh answer. Spare ports that were never up count, "
             "too.",
             "sum(nicmon_port_serving{P} == bool 0)", thresholds=YELLOW_FROM_1),
        stat("Ports held",
             "Ports an operator took out of service. Who and why: nicmon ctl holds on the node, or "
             "curl http://NODE:9879/api/v1/holds?format=text",
             count(HELD_PORTS), thresholds=steps("green", ("blue", 1))),
        stat("Ports slow",
             f"Ports that are up with less than {SLOW:.0%} of their best speed so far (baseline), "
             "or of the speed that --expect-speed asks for. One slow rail slows a whole job.",
             count(SLOW_PORTS), thresholds=RED_FROM_1),
        stat("Ports flapping",
             f"Ports whose link paused at least {FLAPS} times in {FLAP_WINDOW}. A pause of a "
             "millisecond counts: it comes from the hardware's own event.",
             count(FLAPPING_PORTS), thresholds=RED_FROM_1)]


def trends():
    ports = [("sum(nicmon_ports{N}) - sum(nicmon_ports_serving{N})", "not serving"),
             ("sum(nicmon_ports{N}) - sum(nicmon_ports_up{N})", "not up"),
             ("sum(nicmon_ports_held{N})", "held")]
    pauses = [(f"60 * sum(rate({LINK_PAUSES}[$__rate_interval]))", "link pauses"),
              ('60 * sum(rate(nicmon_port_transitions_total{P, to="down"}[$__rate_interval]))',
               "seen down")]
    traffic = [(f"8 * sum(rate(nicmon_port_data_{way}_bytes_total{{P}}[$__rate_interval]))", way)
               for way in ("received", "transmitted")]
    return [
        graph("Ports not serving over time",
              "Ports of the chosen nodes (all their devices) that do not serve, are not "
              "up, or are held. A step of dozens at once is a switch, a subnet manager or a "
              "rollout of drivers; see "
              "Not serving by device name.", ports, no_value="no nicmon", unit="short",
              overrides=[fixed("not serving", "orange"), fixed("not up", "red"),
                         fixed("held", "blue")],
              decimals=0, few_steps=True),
        graph("Link pauses per minute",
              "How often links paused, by the hardware's events, and how often a port "
              "was seen to go down. More pauses than downs: flaps too short to be seen by "
              "polling. A steady rate is a bad cable somewhere: see the flap league.", pauses,
              no_value="no nicmon", unit="short",
              overrides=[fixed("link pauses", "orange"), fixed("seen down", "red")],
              few_steps=True),
        graph("Traffic", "RDMA bytes of all chosen ports, as bits per second. Received and "
              "transmitted should match on a closed fabric; a gap is loss or ports without "
              "counters.", traffic,
              no_value="no counters", unit="bps", few_steps=True)]


def by_device():
    return bars("Not serving by device name",
                "Ports that do not serve, summed over nodes. Where the device name is the rail, "
                "one high bar is a rail's switch or subnet manager; even bars are single cables.",
                "topk(16, count by (device) (nicmon_port_serving{P} == 0))", "{{device}}",
                no_value="every port serves", unit="short", thresholds=steps("orange"))


def sums(title, description, counters):
    return graph(title, description,
                 [(f"sum(rate(nicmon_port_{tail}_total{{P}}[$__rate_interval]))", name)
                  for tail, name in counters],
                 no_value="no counters", unit="cps", legend="table", magnitudes=True,
                 few_steps=True)


def counter_sums():
    return [
        [(12, 9, sums("Link errors",
                      "All chosen ports, per second. Link and cable trouble: see the "
                      "table Link errors for the ports.", LINK_ERRORS)),
         (12, 9, sums("Loss and retransmission",
                      "All chosen ports, per second. Loss or reordering on "
                      "the way, and what senders did about it. ACK timeouts alone, on many "
                      "ports: a peer died.", LOSS))],
        [(12, 9, sums("Congestion", "All chosen ports, per second. Congestion control at work is "
                      "no error; compare with last week's level. Transmit wait is in ticks of "
                      "the port's clock.",
                      CONGESTION)),
         (12, 9, sums("Connections and applications",
                      "All chosen ports, per second. Connections really lost "
                      "(retries exceeded), also by killed ranks; the rest is the application: "
                      "slow receivers, refused accesses, failed completions.", APPLICATION))]]


def nicmon_itself():
    process = "and on (job, instance) nicmon_build_info{N}"
    cpu = f"(rate(process_cpu_seconds_total{{N}}[$__rate_interval]) {process})"
    memory = f"(process_resident_memory_bytes{{N}} {process})"
    scrapes = "(scrape_duration_seconds{N} and on (job, instance) nicmon_build_info{N})"

    def spread(expr):
        return [(f"max({expr})", "worst node"), (f"quantile(0.5, {expr})", "median node")]

    def p99(metric, name):
        return ("histogram_quantile(0.99, sum by (le) "
                f"(rate({metric}_bucket{{N}}[$__rate_interval])))",
                name)

    return [
        [(12, 8, table(
            "nicmon's own problems",
            "What keeps nicmon from doing its work, per node. Holds: "
            "docs/runbook.md, Holds are not safe. No counters: the pod has a network namespace "
            "of its own. Events missed: the tick repaired it; look at the driver when it goes "
            "on. Simulated devices have no place in a fleet. First: the node's "
            "log.", [with_page(PROBLEMS_OF_NODES)],
            [column("instance", "Node", links=[node_link()]),
             column("cluster", "Cluster", width=90), column("problem", "Problem"),
             column("Value", "How much", decimals=0, width=90),
             page_column()], no_value="nicmon is well everywhere", sort=("Problem", False))),
         (12, 8, graph(
             "Events and polling disagree",
             "Changes that the tick saw and no event told of (missed), and events "
             "that the query contradicts (spurious), per second over all chosen ports. Near zero "
             "is normal; a level of either is a driver or firmware fault.",
             [("sum by (kind) (rate(nicmon_reconcile_mismatches_total{P}[$__rate_interval]))",
               "{{kind}}")], no_value="no nicmon", unit="cps", few_steps=True))],
        [(8, 7, graph("CPU of nicmon",
                      "CPU seconds per second. More than a few hundredths of a core: see "
                      "port queries.", spread(cpu), no_value="no nicmon", unit="percentunit",
                      few_steps=True)),
         (8, 7, graph("Memory of nicmon", "Resident memory. It should be flat.", spread(memory),
                      no_value="no nicmon", unit="bytes", few_steps=True)),
         (8, 7, graph("Latency, 99th percentile",
                      "Scrapes as Prometheus sees them (the worst node), port "
                      "queries in the driver, and from an event to the published state. A slow "
                      "query is the driver or the firmware.",
                      [(f"max({scrapes})", "scrape, worst node"),
                       p99("nicmon_port_query_duration_seconds", "port query"),
                       p99("nicmon_event_publish_duration_seconds", "event to published")],
                      no_value="no nicmon", unit="s", few_steps=True))]]


def inventory():
    narrow = ("nicmon_device_pcie_link_width{D} / nicmon_device_pcie_max_link_width{D} * on "
              "(NODE, device) nicmon_device_pcie_link_speed_transfers_per_second{D} / on (NODE, "
              "device) nicmon_device_pcie_max_link_speed_transfers_per_second{D}")
    return [[
        (9, 8, table("Firmware", "Devices by type, board, driver and firmware. A firmware that "
                     "few have is worth a look when those few misbehave.",
                     ["count by (hca_type, board_id, driver, firmware_version) "
                      "(nicmon_device_info{D})"],
                     [column("hca_type", "Type", width=85), column("board_id", "Board"),
                      column("driver", "Driver", width=105), column("firmware_version", "Firmware"),
                      column("Value", "Devices", width=85)],
                     no_value="no devices", sort=("Devices", True))),
        (6, 8, table("nicmon versions",
                     "Nodes by the version of nicmon, its revision and the "
                     "libibverbs it found. More than one row outside a rollout: a DaemonSet that "
                     "is stuck.",
                     ["count by (version, revision, libibverbs) (nicmon_build_info{N})"],
                     [column("version", "Version", width=75), column("revision", "Revision"),
                      column("libibverbs", "libibverbs", width=95),
                      column("Value", "Nodes", width=70)],
                     no_value="no nicmon", sort=("Nodes", True))),
        (9, 8, table("Narrow PCIe links",
                     f"The {TOP} cards with the smallest share of the PCIe bandwidth "
                     "they could have. The port shows full speed and cannot move the data. "
                     "First: lspci -vv on the node; reseat the card, look at the slot and the "
                     "BIOS.",
                     [with_page(f"bottomk({TOP}, max by (NODE, device) ({narrow}) < 1)")],
                     [column("instance", "Node", links=[node_link("device")]),
                      column("cluster", "Cluster", width=90), column("device", "Device", width=110),
                      column("Value", "Share", unit="percentunit", decimals=0, width=75,
                             colour="text", thresholds=steps("red", ("green", 1))), page_column()],
                     no_value="every card has its full PCIe link", sort=("Share", False)))]]


def fleet():
    big = [(3, 4, panel) for panel in stats()]
    widths = (8, 8, 8)
    return dashboard(
        UID, "RDMA fleet",
        "Which RDMA nodes and ports are not well, and why. Problems first; every row "
        "leads to the node and to its own status page. Needs nicmon's standard profile.",
        filters=FILTERS, variables=variables(many_nodes=True), ids=itertools.count(1),
        time_from="now-3h", refresh="2m",
        annotations=[annotation(
            "Many links at once", "sum(increase(nicmon_port_transitions_total{P, to=\"down\"}"
            f"[$__rate_interval])) > {OUTAGE}", "red", "Many links went down",
            f"More than {OUTAGE} ports went down together: a switch, a subnet manager or a driver "
            "rollout")],
        links=[dashboard_link("RDMA node", "/d/nicmon-rdma-node/rdma-node")],
        sections=[
            (None, False, [
                big,
                [(10, 9, below_required()), (14, 9, not_serving())],
                [(12, 9, slow()), (12, 9, flaps())],
                [(15, 9, errors()), (9, 9, unwatched())],
                [(15, 9, congestion()), (9, 9, by_device())],
                [(width, 8, panel) for width, panel in zip(widths, trends(), strict=True)]]),
            ("Counters of all chosen ports over time", True, counter_sums()),
            ("nicmon itself", True, nicmon_itself()),
            ("Inventory", True, inventory())])
