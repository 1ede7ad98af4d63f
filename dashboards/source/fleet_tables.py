"""The tables of RDMA fleet that name the nodes and ports in trouble, and why."""

from .common import (BASELINE, EFFECTIVE, ERRORS, ERROR_WINDOW, EXPECTED, FLAPS, FLAP_WINDOW,
                     LINK_PAUSES, MISSING, NOT_WATCHED, NOT_WATCHED_REASONS, PHYSICAL_STATES,
                     RECENT_PAUSES, RED_FROM_1, SILENT, SLOW, SLOW_PORTS, STATES,
                     UNLESS_EXCUSED, WHY_NOT, WHY_VALUES, YES_NO)
from .grafana import column, node_link, page_link, steps, table, values, with_page

TOP = 25  # rows of a league


def port_columns():
    """The columns every table of ports begins with."""
    to_node = [node_link("device", "port")]
    return [column("instance", "Node", links=to_node), column("cluster", "Cluster", width=90),
            column("device", "Device", width=110), column("port", "Port", width=55)]


def page_column():
    return column("page", "Status page", links=[page_link()])


def not_serving():
    def of_those(metric):
        return f"max by (KEY) ({metric} and on (KEY) (nicmon_port_serving{{P}} == 0))"

    return table(
        "Ports not serving, and why",
        "Every port that no job should be placed on. Why: link = the hardware; held = an "
        "operator; fatal = the device is dead or gone; settling = just recovered; released = "
        "maintenance; stale = the device has not answered lately. States are empty while "
        "nicmon's hands are off. First: open the node's status page, or POST "
        "/api/v1/ports/DEVICE/PORT/requery on the node. At most 500 rows.",
        [with_page(WHY_NOT), of_those("nicmon_port_state_id{P}"),
         of_those("nicmon_port_physical_state_id{P}"), of_those("nicmon_port_required{P}"),
         of_those("nicmon_port_state_last_change_timestamp_seconds{P} * 1000")],
        [*port_columns(),
         column("Value #A", "Why", mappings=values(WHY_VALUES), colour="background", width=130),
         column("Value #B", "State", mappings=values(STATES), colour="text", width=105),
         column("Value #C", "Physical", mappings=values(PHYSICAL_STATES), colour="text", width=115),
         column("Value #D", "Required", mappings=values(YES_NO), width=85),
         column("Value #E", "State changed", unit="dateTimeFromNow"), page_column()],
        no_value="every port serves", sort=("Why", True))


def below_required():
    missing = f"count by (NODE) ({MISSING})"

    def of_those(metric):
        return f"sum by (NODE) ({metric}) and on (NODE) ({MISSING})"

    return table(
        "Nodes below required, worst first",
        "Nodes with ports down that have to be up, worst first. Required is what was ever ACTIVE "
        "under its identity and was not forgotten since. First: open the status page. All nodes "
        "of a rack at once: the leaf switch. A port that will never come back: POST …/forget.",
        [with_page(missing), of_those("nicmon_port_required{P}"),
         of_those("nicmon_port_serving{P}")],
        [column("instance", "Node", links=[node_link()]), column("cluster", "Cluster", width=90),
         column("Value #A", "Missing", colour="background", thresholds=RED_FROM_1, width=80),
         column("Value #B", "Required", width=85), column("Value #C", "Serving", width=80),
         page_column()],
        no_value="no node is below required", sort=("Missing", True))


def slow():
    def missed(metric):
        return f"8 * max by (KEY) (({metric} > {EFFECTIVE} / {SLOW}) {UNLESS_EXCUSED})"

    now = (f"({EFFECTIVE} < {SLOW} * {BASELINE} or {EFFECTIVE} < {SLOW} * {EXPECTED}) "
           f"{UNLESS_EXCUSED}")
    return table(
        "Slow ports",
        f"Ports that are up with less than {SLOW:.0%} of their baseline (best speed so far) or of "
        "their expected speed; the share is of whichever is missed by more, and only what is "
        "missed is shown. Mostly a lane or a leg of a bond is down. First: compare lanes and "
        "lane_speed with a neighbour on the status page; reseat the cable. If it is meant to be "
        "slower now: POST …/accept-speed.",
        [with_page(SLOW_PORTS), f"8 * max by (KEY) ({now})", missed(BASELINE), missed(EXPECTED)],
        [*port_columns(),
         column("Value #A", "Share", unit="percentunit", decimals=0, colour="background", width=75,
                thresholds=steps("red", ("green", SLOW))),
         column("Value #B", "Now", unit="bps", width=90),
         column("Value #C", "Baseline", unit="bps", width=90),
         column("Value #D", "Expected", unit="bps", width=90), page_column()],
        no_value="no port is slow", sort=("Share", False))


def flaps():
    worst = f"topk({TOP}, sum by (KEY) (increase({LINK_PAUSES}[$__range]) > 0))"
    down = "increase(nicmon_port_down_seconds_total{P}[$__range])"
    return table(
        "Flap league",
        f"The {TOP} ports whose link paused most often in the chosen time range, and the seconds "
        "they were down while required. The counts come from the hardware's own events, so no "
        "flap is too short. First: look at link downed and link recovered below; swap cable and "
        "transceiver on the worst. Many ports of one switch at the same minute: the switch.",
        [with_page(worst), with_page(f"topk({TOP}, sum by (KEY) ({RECENT_PAUSES} > 0))"),
         with_page(f"sum by (KEY) ({down} > 0 and on (KEY) {worst})")],
        [*port_columns(),
         column("Value #A", "Pauses", decimals=0, width=80),
         column("Value #B", f"In {FLAP_WINDOW}", decimals=0, colour="background", width=80,
                thresholds=steps("green", ("yellow", 1), ("red", FLAPS))),
         column("Value #C", "Down for", unit="s", decimals=0, width=90), page_column()],
        no_value="no link paused in this time range", sort=("Pauses", True))


def unwatched():
    silent = f'label_replace({SILENT}, "reason", "silent", "", "")'
    return table(
        "Nodes and devices not watched",
        "Whatever nicmon cannot see. No answer to scrapes: see Nodes silent. Stalled: the "
        "device's thread is stuck in a driver call; hold its ports and collect dmesg. Absent or "
        "fatal: the card left the bus or its driver gave up; look at dmesg and lspci. Denied: "
        "the pod lacks the device node. Released: maintenance, POST "
        "/api/v1/devices/DEVICE/reopen ends it.",
        [with_page(f"{NOT_WATCHED} or {silent}")],
        [column("instance", "Node", links=[node_link()]), column("cluster", "Cluster", width=90),
         column("device", "Device", width=110),
         column("reason", "Why", mappings=values(NOT_WATCHED_REASONS), colour="text"),
         page_column()],
        no_value="everything is watched", sort=("Why", True), hidden=("Value",))


def top_rate(tail):
    return with_page(f"topk({TOP}, sum by (KEY) "
                     f"(rate(nicmon_port_{tail}_total{{P}}[$__rate_interval]) > 0))")


def top_increase(tail, window):
    return with_page(f"topk({TOP}, sum by (KEY) "
                     f"(increase(nicmon_port_{tail}_total{{P}}[{window}]) > 0))")


def errors():
    any_red = steps("text", ("red", 1))
    return table(
        "Link errors",
        f"The {TOP} worst ports per column; an empty cell is zero or not among those. Red: more "
        f"than {ERRORS} damaged packets a second, or any failure of link integrity in "
        f"{ERROR_WINDOW}. Those, link downed and link recovered point to this cable and its "
        "transceivers; bad upstream means the switch passed damage on; ICRC is corruption on the "
        "way. Symbol errors are left out: PAM4 links always have some. First: reseat, then swap "
        "the cable; then the switch port.",
        [top_rate("errors_received"),
         top_increase("local_link_integrity_errors", ERROR_WINDOW),
         top_increase("link_downed", "1h"), top_increase("link_error_recovery", "1h"),
         top_rate("receive_remote_physical_errors"),
         top_rate("rx_icrc_encapsulated_errors")],
        [*port_columns(),
         column("Value #A", "Errors received", unit="pps", colour="background",
                thresholds=steps("text", ("yellow", 0.001), ("red", ERRORS))),
         column("Value #B", f"Integrity in {ERROR_WINDOW}", decimals=0, colour="background",
                thresholds=any_red),
         column("Value #C", "Downed in 1h", decimals=0, colour="text", thresholds=any_red),
         column("Value #D", "Recovered in 1h", decimals=0),
         column("Value #E", "Bad upstream", unit="pps"),
         column("Value #F", "ICRC", unit="pps"),
         page_column()],
        no_value="no port receives errors", sort=("Errors received", True))


def congestion():
    return table(
        "Congestion and loss",
        f"The {TOP} worst ports per column; an empty cell is zero or not among those. Transmit "
        "wait: ticks with data to send and no credits (InfiniBand), congestion and no error. ECN "
        "marks and CNPs: congestion control at work (RoCE). Out of sequence: loss or reordering. "
        "ACK timeouts rise on the peers of a dead port: look for who is not there. No receive "
        "buffer: the application is slow. First: is it one rail, one leaf, or one job?",
        [top_rate("transmit_wait"), top_rate("np_ecn_marked_roce_packets_received"),
         top_rate("rp_cnp_packets_handled"), top_rate("out_of_sequence_packets_received"),
         top_rate("local_ack_timeout_errors"), top_rate("out_of_buffer_drops")],
        [*port_columns(),
         column("Value #A", "Transmit wait", unit="cps"),
         column("Value #B", "ECN marks", unit="pps"),
         column("Value #C", "CNPs handled", unit="pps"),
         column("Value #D", "Out of sequence", unit="pps"),
         column("Value #E", "ACK timeouts", unit="cps"),
         column("Value #F", "No receive buffer", unit="pps"), page_column()],
        no_value="no port tells of congestion or loss", sort=("Transmit wait", True))
