"""The tables of RDMA node: its ports, devices and holds as they are now."""

from .common import (EFFECTIVE, LINK_PAUSES, NOT_WATCHED, NOT_WATCHED_REASONS, PHYSICAL_STATES,
                     SLOW, STATES, WHY, WHY_VALUES, YES_NO, speed_share)
from .grafana import column, page_link, steps, table, values, with_page

SINCE = "dateTimeFromNow"


def port_columns():
    return [column("device", "Device", width=120), column("port", "Port", width=55)]


def hidden(*more):
    """Labels that are the same for everything on one node."""
    return ("cluster", "instance", *more)


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
         "max by (KEY) (nicmon_port_required{P})", f"8 * max by (KEY) ({EFFECTIVE})",
         speed_share(),
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
