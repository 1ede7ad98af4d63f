"""Simulated nodes with one of each fault, scraped by a Prometheus: what dashboards are tried on.

Two of the nodes are scraped as the PodMonitor does it (instance is the node's name, and there is a
label cluster), the others by their address alone.
"""

import contextlib
import pathlib
import shutil
import sys
import tempfile
import threading
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/testing"))
import live  # noqa: E402
import mlx5_tree  # noqa: E402

FAST = ("--tick=200ms", "--counters-interval=1s", "--metrics-profile=standard")
# Counters per second of a port, by file; port data is in words of four bytes.
BUSY = {"port_rcv_data": 9e9, "port_xmit_data": 8.7e9, "port_rcv_packets": 9e6,
        "port_xmit_packets": 9e6}
LOSSY = {"port_rcv_errors": 24, "local_link_integrity_errors": 0.4, "link_error_recovery": 0.5,
         "link_downed": 0.2, "port_rcv_remote_physical_errors": 3, "symbol_error": 70,
         "excessive_buffer_overrun_errors": 0.3, "port_xmit_discards": 5, "port_xmit_wait": 40000,
         "out_of_sequence": 30, "packet_seq_err": 11, "local_ack_timeout_err": 4,
         "implied_nak_seq_err": 1, "duplicate_request": 9, "roce_adp_retrans": 20,
         "roce_slow_restart_trans": 2, "rx_icrc_encapsulated": 1,
         "req_transport_retries_exceeded": 0.5, "req_rnr_retries_exceeded": 0.4,
         "rnr_nak_retry_err": 12, "out_of_buffer": 44, "req_cqe_error": 2, "resp_cqe_error": 3,
         "req_remote_access_errors": 1, "resp_remote_access_errors": 1}
CONGESTED = {"np_ecn_marked_roce_packets": 900, "np_cnp_sent": 300, "rp_cnp_handled": 250,
             "port_xmit_wait": 250000, "local_ack_timeout_err": 1}

SWITCH = 24  # devices of the node whose switch restarts


class Fleet:
    """Context manager: the nodes and their Prometheus."""

    def __init__(self, nicmon, prometheus):
        self.programs = nicmon, prometheus
        self.nodes, self.started = {}, []
        self.prometheus = None
        self.second = 0
        self.stopping = threading.Event()

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stopping.set()
        with contextlib.ExitStack() as ending:  # the last first, whatever one of them says
            ending.callback(shutil.rmtree, self.directory, ignore_errors=True)
            for process in self.started:
                ending.callback(process.stop)

    def _node(self, name, *flags):
        node = live.Nicmon(self.programs[0], self.directory / name, f"--node-name={name}", *FAST,
                           *flags)
        self.started.append(node)
        self.nodes[name] = node

    def _start(self):
        self._node("gpu-01", "--simulate=devices=8,speed=400", "--expect-speed=400")
        self._node("gpu-02", "--simulate=devices=4,speed=800,link=ib")
        self._node("gpu-03", "--simulate=names=mlx5_0+mlx5_1", f"--sysfs-root={self._tree()}")
        self._node("gpu-04", f"--simulate=devices={SWITCH},speed=400")
        self._node("gpu-05", "--simulate=devices=2,speed=400")
        named = [{"targets": [self.nodes[name].address],
                  "labels": {"instance": name, "cluster": "sim"}} for name in ("gpu-01", "gpu-02")]
        plain = [self.nodes[name].address for name in ("gpu-03", "gpu-04", "gpu-05")]
        self.prometheus = live.Prometheus(self.programs[1], self.directory / "prometheus", {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "nicmon",
                                "static_configs": [*named, {"targets": plain}]}]})
        self.started.append(self.prometheus)

    def _tree(self):
        """Files that say more than the simulator does: a bond with a lost leg, a narrow slot."""
        root = self.directory / "sys"
        port = mlx5_tree.make_device(root, 0)
        mlx5_tree.make_device(root, 1)
        pci = (port / "../../device").resolve()
        mlx5_tree.write(pci / "current_link_width", "8\n")
        mlx5_tree.make_bond(root, port)
        return root

    def scraped(self, expr):
        """Waits until Prometheus answers expr with something."""
        live.wait_until(lambda: self.prometheus.query(expr), expr)

    def break_things(self):
        """One of each fault, once the healthy fleet has been scraped."""
        self.scraped(f"count(rate(nicmon_port_serving[5s])) == {16 + SWITCH}")
        one, two = self.nodes["gpu-01"], self.nodes["gpu-02"]
        one.simulate(
            _set("mlx5_1", event="PORT_ERR", state="down", physical_state="polling"),
            _set("mlx5_2", effective_speed_gbps=200),
            {"device": "mlx5_6", "hang": {"verb": "query_port", "seconds": 300}},
            {"device": "mlx5_7", "unplug": True},
            {"device": "mlx5_0", "port": 1, "event": "GID_CHANGE"},
            {"device": "mlx5_0", "fail": {"verb": "query_port", "errno": "EIO", "times": 2}})
        one.post("/api/v1/ports/mlx5_4/1/pause", {"reason": "bad cable", "ttl": "2h"})
        one.token_file.write_text("not a token\n")
        two.simulate(
            _set("mlx5_0", event="PORT_ERR", state="init", physical_state="link_up"),
            # A change whose event is lost.
            _set("mlx5_2", state="down", physical_state="disabled"),
            {"device": "mlx5_3", "port": 1, "event": "SM_CHANGE", "repeat": 3})
        two.post("/api/v1/devices/mlx5_1/release", {"reason": "firmware"})
        self.nodes["gpu-05"].stop()
        four = self.nodes["gpu-04"]
        four.simulate(*(_set(f"mlx5_{number}", event="PORT_ERR", state="down",
                             physical_state="polling") for number in range(SWITCH)))
        try:
            urllib.request.urlopen(f"http://{four.address}/api/v1/reopen", b"")
        except urllib.error.HTTPError:
            pass  # no token: counted as refused
        self.scraped(f'sum(nicmon_port_transitions_total{{to="down"}}) > {SWITCH}')
        four.simulate(*(_set(f"mlx5_{number}", event="PORT_ACTIVE", state="active",
                             physical_state="link_up") for number in range(SWITCH)))
        self.scraped('nicmon_device_stalled{instance="gpu-01"} == 1')
        self.scraped('nicmon_ports_serving{instance="gpu-02"} == 1')

    def tick(self):
        """One second of traffic, errors and flaps."""
        self.second += 1
        one, two, four = (self.nodes[name] for name in ("gpu-01", "gpu-02", "gpu-04"))
        commands = [_counters("mlx5_0", self.second, BUSY),
                    _counters("mlx5_2", self.second, BUSY, 0.4),
                    _counters("mlx5_5", self.second, {**BUSY, **LOSSY})]
        flap = {0: ("PORT_ERR", "down", "training"), 2: ("PORT_ACTIVE", "active", "link_up")}
        if self.second % 6 in flap:
            event, state, physical = flap[self.second % 6]
            commands.append(_set("mlx5_3", event=event, state=state, physical_state=physical))
        one.simulate(*commands)
        two.simulate(_counters("mlx5_3", self.second, {**BUSY, **CONGESTED}, 2))
        four.simulate(*(_counters(f"mlx5_{number}", self.second, BUSY, 0.9) for number in range(2)))
        tree = self.directory / "sys/class/infiniband/mlx5_0/ports/1"
        for file, rate in {**BUSY, **CONGESTED}.items():
            folder = "counters" if file.startswith("port_") else "hw_counters"
            mlx5_tree.write(tree / folder / file, f"{int(rate * self.second)}\n")

    def keep_ticking(self):
        """Ticks once a second until the fleet ends."""
        def run():
            while not self.stopping.wait(1):
                try:
                    self.tick()
                except (OSError, RuntimeError):
                    if not self.stopping.is_set():
                        raise

        threading.Thread(target=run, daemon=True).start()


def _set(device, event=None, **values):
    command = {"device": device, "port": 1, "set": values}
    if event:
        command["event"] = event
    return command


def _counters(device, second, rates, factor=1):
    return _set(device,
                counters={name: int(rate * factor * second) for name, rate in rates.items()})
