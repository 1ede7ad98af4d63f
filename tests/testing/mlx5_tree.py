"""A sysfs tree as mlx5 fills it, for whatever reads infiniband devices from a directory."""

import pathlib

COUNTERS = """VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery
local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors
port_rcv_data port_rcv_errors port_rcv_packets port_rcv_remote_physical_errors
port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data port_xmit_discards
port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets""".split()

HW_COUNTERS = """duplicate_request implied_nak_seq_err local_ack_timeout_err np_cnp_sent
np_ecn_marked_roce_packets out_of_buffer out_of_sequence packet_seq_err req_cqe_error
req_cqe_flush_error req_remote_access_errors req_remote_invalid_request
req_rnr_retries_exceeded req_transport_retries_exceeded resp_cqe_error resp_cqe_flush_error
resp_local_length_error resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans
roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans
rp_cnp_handled rp_cnp_ignored rx_atomic_requests rx_dct_connect rx_icrc_encapsulated
rx_read_requests rx_write_requests""".split()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_device(root, number, hw_counters=True):
    """mlx5_<number> with one port; every counter has a value of its own. Its port's directory."""
    root = pathlib.Path(root)
    name = f"mlx5_{number}"
    pci = root / "devices" / "pci0000:00" / f"0000:{number:02x}:00.0"
    base = pci / "infiniband" / name
    for file, text in {
            "node_type": "1: CA", "node_guid": f"0c42:a103:0000:{number:04x}",
            "sys_image_guid": f"0c42:a103:0000:{number:04x}", "fw_ver": "28.39.1002",
            "node_desc": "tree", "board_id": "MT_0000000838", "hca_type": "MT4129",
            "hw_rev": "0"}.items():
        write(base / file, text + "\n")
    for file, text in {
            "numa_node": "0", "current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16",
            "max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16"}.items():
        write(pci / file, text + "\n")
    (base / "device").symlink_to("../../")
    port = base / "ports" / "1"
    for file, text in {
            "state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)",
            "link_layer": "InfiniBand", "lid": hex(number + 1), "sm_lid": "0x1",
            "lid_mask_count": "0", "sm_sl": "0", "cap_mask": "0x2651e848"}.items():
        write(port / file, text + "\n")
    for place, file in enumerate(COUNTERS):
        write(port / "counters" / file, f"{number * 1000 + place + 1}\n")
    if hw_counters:
        for place, file in enumerate(HW_COUNTERS):
            write(port / "hw_counters" / file, f"{number * 1000 + place + 501}\n")
        write(port / "hw_counters" / "lifespan", "12\n")
    link = root / "class" / "infiniband" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(f"../../devices/pci0000:00/0000:{number:02x}:00.0/infiniband/{name}")
    return port


def make_bond(root, port):
    """bond0 above a port: its member eth0 is up, eth1 is down, and its carrier has changed five times."""
    net = pathlib.Path(root) / "class/net"
    for member, state in ("eth0", "up"), ("eth1", "down"):
        write(net / member / "operstate", state + "\n")
        (net / member / "device").symlink_to((port / "../../device").resolve())
        (net / "bond0" / f"lower_{member}").mkdir(parents=True)
    write(net / "bond0/bonding/slaves", "eth0 eth1\n")
    write(net / "bond0/carrier_changes", "5\n")
    write(port / "gid_attrs/ndevs/0", "bond0\n")


def make_tree(root, devices, hw_counters=True):
    """A tree of that many devices; the names of them."""
    for number in range(devices):
        make_device(root, number, hw_counters)
    return [f"mlx5_{number}" for number in range(devices)]
