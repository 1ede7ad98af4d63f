"""The faults: what is done to which node, which alerts it raises, and how it is mended.

A phase names every alert that it must raise (`fires`) and those that come along and are right to
(`also`), as (alert, device, port), or with the node as a fourth where it is not the phase's. Whatever else
fires during the run fails it. Without `fires` it is a phase of silence, which lasts `silence` seconds (of
the rules' time, divided like them).
"""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field


@dataclass
class Phase:
    name: str
    node: object
    inject: object
    mend: object
    fires: list = field(default_factory=list)  # (alert, device, port)
    also: list = field(default_factory=list)
    silence: int = 0
    after: str = ""       # the phase that has to be over before: same node, or same devices
    keep: object = None   # called once a second while the fault lasts
    unbroken: object = None  # called when all fire; they must go on without a gap for `silence`
    refused: bool = False    # scrapes of the node fail meanwhile, or the phase is none


def port_alert(name, device, port=1):
    return (name, device, str(port))


def down(node, device, port=1, state="down"):
    """A lost link that stays lost, on a node that needs the port."""
    return dict(
        inject=lambda: node.set_port(device, port, state),
        mend=lambda: node.set_port(device, port, "active"),
        fires=[port_alert("RdmaPortDown", device, port), ("RdmaNodeBelowRequired", "", "")],
        also=[port_alert("RdmaPortFlapped", device, port)])


def roce_phases(node):
    def slow():
        node.simulate({"device": "mlx5_1", "port": 1, "set": {"effective_speed_gbps": 200},
                       "event": "DEVICE_SPEED_CHANGE"})

    def fast():
        node.simulate({"device": "mlx5_1", "port": 1, "set": {"effective_speed_gbps": 400},
                       "event": "DEVICE_SPEED_CHANGE"})

    def lose_unseen():
        node.set_port("mlx5_5", 1, "down", event=None)
        node.await_port("mlx5_5", serving=False, state="down")
        node.set_port("mlx5_5", 1, "active", event=None)
        node.await_port("mlx5_5", serving=True)

    errors = {"count": 50000}

    def more_errors():
        errors["count"] += 200
        node.counters("mlx5_3", 1, port_rcv_errors=errors["count"])

    nothing = lambda: None
    return [
        Phase("a cable is pulled", node, **down(node, "mlx5_0")),
        Phase("a leg of the link is lost: half the speed", node, slow, fast,
              [port_alert("RdmaPortSlow", "mlx5_1"), port_alert("RdmaPortSpeedReduced", "mlx5_1")]),
        Phase("ACTIVE in error recovery", node,
              lambda: node.set_port("mlx5_2", 1, "active", "error_recovery", event=None),
              lambda: node.set_port("mlx5_2", 1, "active", event=None),
              [port_alert("RdmaPortDegraded", "mlx5_2")]),
        Phase("200 errors a second", node, more_errors, nothing,
              [port_alert("RdmaPortErrorsRising", "mlx5_3")], keep=more_errors),
        Phase("the hardware counts a lost link", node,
              lambda: node.counters("mlx5_4", 1, link_downed=8), nothing,
              [port_alert("RdmaLinkDowned", "mlx5_4")]),
        Phase("events are lost", node, lose_unseen, nothing,
              [port_alert("RdmaMissedEvents", "mlx5_5"), port_alert("RdmaPortFlapped", "mlx5_5")]),
        Phase("four flaps between two scrapes", node,
              lambda: [node.flap("mlx5_6") for _ in range(4)], nothing,
              [port_alert("RdmaPortFlapping", "mlx5_6"), port_alert("RdmaPortFlapped", "mlx5_6")]),
        Phase("one flap of a millisecond", node, lambda: node.flap("mlx5_7"), nothing,
              [port_alert("RdmaPortFlapped", "mlx5_7")]),
    ]


def infiniband_phases(node):
    both = [port_alert("RdmaPortDown", "mlx5_1", 1), port_alert("RdmaPortDown", "mlx5_1", 2)]
    return [
        Phase("INIT: the subnet manager is gone", node, **down(node, "mlx5_0", 2, "init")),
        Phase("a device with two ports falls off the bus", node,
              lambda: node.simulate({"device": "mlx5_1", "unplug": True}),
              lambda: node.simulate({"device": "mlx5_1", "plug": True}),
              [("RdmaDeviceGone", "mlx5_1", ""), *both], [("RdmaNodeBelowRequired", "", "")]),
        Phase("link integrity errors", node,
              lambda: node.counters("mlx5_2", 1, local_link_integrity_errors=3), lambda: None,
              [port_alert("RdmaPortErrorsRising", "mlx5_2")]),
        Phase("ACTIVE_DEFER", node,
              lambda: node.set_port("mlx5_3", 1, "active_defer", "link_up", event=None),
              lambda: node.set_port("mlx5_3", 1, "active"),
              [port_alert("RdmaPortDegraded", "mlx5_3"), port_alert("RdmaPortDown", "mlx5_3")],
              [port_alert("RdmaPortFlapped", "mlx5_3"), ("RdmaNodeBelowRequired", "", ""),
               port_alert("RdmaMissedEvents", "mlx5_3")]),
    ]


def odd_phases(node):
    """Names of another driver, the minimal profile."""
    def flap_often():
        for _ in range(4):
            node.flap("rocep3s0f0")

    def hold():
        node.ctl("pause", "ibp1s0/1", "--reason", "bad cable")
        node.set_port("ibp1s0", 1, "down")

    def lift():
        node.set_port("ibp1s0", 1, "active")
        node.ctl("resume", "ibp1s0/1")

    return [
        Phase("flapping, in the minimal profile", node, flap_often, lambda: None,
              [port_alert("RdmaPortFlapping", "rocep3s0f0"),
               port_alert("RdmaPortFlapped", "rocep3s0f0")]),
        Phase("silence: held, then down", node, hold, lift, silence=420),
        Phase("silence: renamed", node,
              lambda: node.simulate({"device": "ibp5s0", "rename": "ibp5s0_new"}),
              lambda: node.simulate({"device": "ibp5s0_new", "rename": "ibp5s0"}), silence=420),
    ]


def many_port_phases(node, prometheus):
    names = [each.name for each in prometheus.nodes]

    def forget():
        node.set_port("mlx5_1", 8, "down")
        node.await_port("mlx5_1", 8, up=False)
        node.post("/api/v1/ports/mlx5_1/8/forget")

    return [
        Phase("eight ports hang in one driver call", node,
              lambda: node.simulate({"device": "mlx5_0", "hang": {"verb": "query_port", "seconds": 900}}),
              lambda: node.simulate({"device": "mlx5_0", "hang": {"verb": "query_port", "seconds": 0}}),
              [("NicmonDeviceStalled", "mlx5_0", "")]),
        Phase("silence: a spare port without a cable", node, forget,
              lambda: node.set_port("mlx5_1", 8, "active"),
              also=[port_alert("RdmaPortFlapped", "mlx5_1", 8)], silence=420),
        Phase("silence: the hardware starts counting anew", node,
              lambda: node.counters("mlx5_1", 1, link_downed=1, port_rcv_errors=40,
                                    local_link_integrity_errors=0), lambda: None, silence=300),
        Phase("simulated devices", node,
              lambda: prometheus.hide_simulated([name for name in names if name != node.name]),
              lambda: prometheus.hide_simulated(names), [("NicmonSimulated", "", "")]),
    ]


def access_phases(node):
    def fail(verb, device, error, times):
        node.simulate({"device": device, "fail": {"verb": verb, "errno": error, "times": times}})

    def deny():
        fail("open_device", "mlx5_1", "EACCES", 100000)
        node.simulate({"device": "mlx5_1", "event": "DEVICE_FATAL"})

    def grant():
        fail("open_device", "mlx5_1", "EACCES", 0)

    def upgrade():
        """A driver update, with nicmon's hands off; the link takes its time afterwards."""
        node.ctl("release", "mlx5_2", "--reason", "driver update", "--ttl", "2h")
        node.simulate({"device": "mlx5_2", "unplug": True})

    def upgraded():
        node.simulate({"device": "mlx5_2", "plug": True})
        node.set_port("mlx5_2", 1, "down", event=None)
        node.post("/api/v1/devices/mlx5_2/reopen")  # "absent" while discovery has not seen it yet
        node.await_port("mlx5_2", state="down")
        node.set_port("mlx5_2", 1, "active")

    def spoil():
        node.tokens.write_text("this is no line of tokens\n")

    def repair():
        node.tokens.write_text("on-call:another-token-of-the-live-test\n")

    return [
        Phase("queries of a port fail", node,
              lambda: fail("query_port", "mlx5_0", "ENOMEM", 1000000),
              lambda: fail("query_port", "mlx5_0", "ENOMEM", 0),
              [port_alert("RdmaPortRecoveryStuck", "mlx5_0")]),
        Phase("the device node is denied", node, deny, grant, [("NicmonDeviceDenied", "mlx5_1", "")]),
        Phase("silence: released for a driver update", node, upgrade, upgraded, silence=420),
        Phase("a bad edit of the tokens", node, spoil, repair, [("NicmonConfigReloadFailed", "", "")]),
    ]


def state_phases(node):
    def forget_hold():
        """A hold of yesterday, as it stands in the file of a node that nobody looked at since."""
        node.ctl("pause", "mlx5_1/1", "--reason", "cable swap")
        node.stop()
        path = node.state / "holds.json"
        holds = json.loads(path.read_text())
        for device in holds["devices"]:
            for port in device["ports"]:
                if "hold" in port:
                    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 90000))
                    port["hold"]["since"] = stamp
        path.write_text(json.dumps(holds))
        node.start()

    def lose():
        node.stop()
        path = node.state / "holds.json"
        path.write_text(path.read_text()[:-40])
        node.start()

    def find():
        for broken in node.state.glob("holds.json.broken*"):
            broken.unlink()

    return [
        Phase("a hold of yesterday without an end", node, forget_hold,
              lambda: node.ctl("resume", "mlx5_1/1"), [port_alert("RdmaPortHoldForgotten", "mlx5_1")]),
        Phase("the state directory is left out", node, lambda: node.restart(state=False), node.restart,
              [("NicmonHoldsNotDurable", "", "")], after="a hold of yesterday without an end"),
        Phase("holds.json is torn", node, lose, find, [("NicmonHoldsLost", "", "")],
              after="the state directory is left out"),
    ]


def leaf_phase(nodes):
    """A leaf switch with 64 ports: all of four nodes."""
    ports = [(node, f"mlx5_{number}") for node in nodes for number in range(16)]

    def each(state):
        for node in nodes:
            node.simulate(*[
                {"device": f"mlx5_{number}", "port": 1, "event": event, "set": {
                    "state": state, "physical_state": "link_up" if state == "active" else "polling"}}
                for number in range(16)
                for event in ["PORT_ACTIVE" if state == "active" else "PORT_ERR"]])

    phase = Phase("a leaf switch with 64 ports reboots", None, lambda: each("down"),
                  lambda: each("active"), [("RdmaFabricOutage", "", "", "")])
    phase.fires += [("RdmaPortDown", device, "1", node.name) for node, device in ports]
    phase.fires += [("RdmaNodeBelowRequired", "", "", node.name) for node in nodes]
    phase.also += [("RdmaPortFlapped", device, "1", node.name) for node, device in ports]
    return phase


def bare_phase(node, tree):
    """The same devices with a sysfs that has no counters."""
    def hide():
        for folder in ("counters", "hw_counters"):
            for path in tree.glob(f"devices/*/*/infiniband/*/ports/*/{folder}"):
                path.rename(path.with_name("hidden_" + folder))
        node.restart()

    def show():
        for path in tree.glob("devices/*/*/infiniband/*/ports/*/hidden_*"):
            path.rename(path.with_name(re.sub("^hidden_", "", path.name)))
        node.restart()

    return Phase("sysfs shows no counters", node, hide, show, [("NicmonCountersUnavailable", "", "")])


def refused_phase(node, interval):
    """A fault on a node of which every other scrape fails or so, with the longer interval of the two; never
    two of those in a row."""
    over = threading.Event()
    cable = down(node, "mlx5_0")

    def refuse():
        while not over.is_set():
            node.refuse_scrapes(True)
            over.wait(0.75 * interval)
            node.refuse_scrapes(False)
            over.wait(interval)

    thread = threading.Thread(target=refuse, daemon=True)

    def pull():
        thread.start()
        cable["inject"]()

    def plug():
        cable["mend"]()
        over.set()
        thread.join()

    return Phase("a cable is pulled while scrapes fail", node,
                 **{**cable, "inject": pull, "mend": plug}, unbroken=lambda: None, silence=300, refused=True)


def victim_phase(node):
    return Phase("nicmon is killed", node, node.kill, node.start, [("NicmonDown", "", "")])


def rollout_phase(nodes, keeper):
    """nicmon is updated on every node while a port of one has been down for long: its alert goes on as
    it was, and no other comes."""
    def roll():
        def one(node):
            node.restart()
            if node is keeper:
                node.set_port("mlx5_0", 1, "down")

        with ThreadPoolExecutor(max_workers=4) as pool:  # as maxUnavailable does
            list(pool.map(one, nodes))

    return Phase("nicmon is updated on all nodes", keeper, **down(keeper, "mlx5_0"),
                 unbroken=roll, silence=300)
