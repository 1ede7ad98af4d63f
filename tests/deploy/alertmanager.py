#!/usr/bin/env python3
"""deploy/prometheus/alertmanager-example.yml in a real Alertmanager: who is told what.

Each case sends the alerts of one fault and says which of them are to be left; the rest must be inhibited.
Where the alerts go to is asked of amtool. Exits 77 when Alertmanager is missing (1 with CI=true).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "testing"))
from live import free_port, skip, wait_until  # noqa: E402

CONFIGURATION = HERE.parents[2] / "deploy" / "prometheus" / "alertmanager-example.yml"
RULES = HERE.parents[2] / "deploy" / "prometheus" / "nicmon.rules.yml"


def alert(name, **labels):
    return {"alertname": name, "instance": "n1", **labels}


def port(name, number=0, **labels):
    return alert(name, device=f"mlx5_{number}", port="1", **labels)


def leaf_switch():
    yield {"alertname": "RdmaFabricOutage"}
    for node in ("n1", "n2", "n3", "n4"):
        yield alert("RdmaNodeBelowRequired", instance=node)
        for number in range(16):
            for name in ("RdmaPortDown", "RdmaPortFlapped", "RdmaLinkDowned"):
                yield port(name, number, instance=node)


# (what happened, alerts, those that are left)
CASES = [
    ("a leaf switch with 64 ports reboots", list(leaf_switch()), [{"alertname": "RdmaFabricOutage"}]),
    ("an outage in one fleet, a cable in another",
     [{"alertname": "RdmaFabricOutage", "cluster": "a"}, port("RdmaPortDown", cluster="a"),
      port("RdmaPortDown", cluster="b")],
     [{"alertname": "RdmaFabricOutage", "cluster": "a"}, port("RdmaPortDown", cluster="b")]),
    ("an outage, and a port that is slow", [{"alertname": "RdmaFabricOutage"}, port("RdmaPortSlow", 3)],
     [{"alertname": "RdmaFabricOutage"}, port("RdmaPortSlow", 3)]),
    ("a node is paged for a port; another port of it is slow, another node has one down",
     [alert("RdmaNodeBelowRequired"), port("RdmaPortDown"), port("RdmaPortSlow", 1),
      port("RdmaPortDown", instance="n2")],
     [alert("RdmaNodeBelowRequired"), port("RdmaPortSlow", 1), port("RdmaPortDown", instance="n2")]),
    ("a device with its port falls off the bus",
     [alert("RdmaDeviceGone", device="mlx5_0"), port("RdmaPortDown"), port("RdmaPortDown", 1)],
     [alert("RdmaDeviceGone", device="mlx5_0"), port("RdmaPortDown", 1)]),
    ("a device hangs", [alert("NicmonDeviceStalled", device="mlx5_0"), port("RdmaPortRecoveryStuck")],
     [alert("NicmonDeviceStalled", device="mlx5_0")]),
    ("a denied device misses events",
     [alert("NicmonDeviceDenied", device="mlx5_0"), port("RdmaMissedEvents"), port("RdmaPortSlow")],
     [alert("NicmonDeviceDenied", device="mlx5_0"), port("RdmaPortSlow")]),
    ("a port is down after it flapped",
     [port("RdmaPortDown"), port("RdmaPortFlapping"), port("RdmaPortFlapped"), port("RdmaLinkDowned"),
      port("RdmaLinkDowned", 1)],
     [port("RdmaPortDown"), port("RdmaLinkDowned", 1)]),
    ("a port flaps",
     [port("RdmaPortFlapping"), port("RdmaPortFlapped"), port("RdmaLinkDowned"), port("RdmaGidMoved")],
     [port("RdmaPortFlapping")]),
    ("a bond loses a leg",
     [port("RdmaPortSlow"), port("RdmaPortDegraded"), port("RdmaPortSpeedReduced"),
      port("RdmaPortSpeedReduced", 1)],
     [port("RdmaPortSlow"), port("RdmaPortDegraded"), port("RdmaPortSpeedReduced", 1)]),
    ("a node is simulated",
     [alert("NicmonSimulated"), alert("RdmaNodeBelowRequired"), port("RdmaPortDown"), alert("NicmonDown")],
     [alert("NicmonSimulated"), alert("NicmonDown")]),
]

ROUTES = [("RdmaFabricOutage", "critical", "pager"), ("RdmaNodeBelowRequired", "critical", "pager"),
          ("RdmaPortDown", "warning", "tickets"), ("NicmonDown", "warning", "tickets"),
          ("RdmaPortFlapped", "info", "nobody"), ("SomethingElse", "critical", "tickets")]


# Debian's Alertmanager reads its templates from here, whatever the configuration says.
TEMPLATES = pathlib.Path("/usr/share/prometheus/alertmanager")


def with_templates(program):
    """The command for it, where the package is only unpacked: its templates in a /usr/share that no other
    process sees."""
    unpacked = pathlib.Path(program).resolve().parents[2] / TEMPLATES.relative_to("/")
    if TEMPLATES.exists() or not unpacked.exists():
        return [program]
    script = (f"mount -t tmpfs none /usr/share && mkdir -p {TEMPLATES} && "
              f"cp '{unpacked}'/*.tmpl {TEMPLATES} && exec \"$@\"")
    keep = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *keep, "sh", "-c", script, "sh", program]


class Alertmanager:
    def __init__(self, program, directory):
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [*with_templates(program), f"--config.file={CONFIGURATION}", f"--storage.path={directory}",
             "--web.listen-address=" + self.url[7:], "--cluster.listen-address=", "--log.level=error"])

    def call(self, path, body=None):
        request = urllib.request.Request(self.url + path, body and json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            text = reply.read()
            return json.loads(text) if text else None

    def send(self, alerts, seconds):
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        self.call("/api/v2/alerts", [{"labels": labels, "endsAt": ends} for labels in alerts])

    def started(self):
        try:
            return self.left()[1] == 0
        except OSError:
            return False

    def left(self):
        """Labels of the alerts that nothing inhibits, and how many there are in all."""
        alerts = self.call("/api/v2/alerts")
        return [each["labels"] for each in alerts if not each["status"]["inhibitedBy"]], len(alerts)


def run_case(manager, name, alerts, wanted):
    def sort(labels):
        return sorted(map(sorted, (each.items() for each in labels)))

    manager.send(alerts, 3600)
    try:
        wait_until(lambda: manager.left()[1] == len(alerts) and sort(manager.left()[0]) == sort(wanted),
                   name)
    except RuntimeError:
        print(f"WRONG {name}: left are {manager.left()[0]}, wanted {wanted}")
        return 1
    finally:
        manager.send(alerts, -1)
        wait_until(lambda: manager.left()[1] == 0, name + ": over")
    print(f"{len(alerts):4} alerts, {len(wanted)} left: {name}")
    return 0


def known_names():
    return {line.split()[-1] for line in RULES.read_text().splitlines() if "- alert:" in line}


def main():
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    amtool = shutil.which("amtool")
    if not program or not amtool:
        skip("alertmanager is missing (Debian package prometheus-alertmanager)")
    wrong = 0
    subprocess.run([amtool, "check-config", CONFIGURATION], check=True, stdout=subprocess.DEVNULL)
    for name, severity, receiver in ROUTES:
        done = subprocess.run([amtool, "config", "routes", "test", f"--config.file={CONFIGURATION}",
                               f"alertname={name}", f"severity={severity}"], capture_output=True, text=True)
        if done.stdout.strip() != receiver:
            print(f"WRONG {name} goes to {done.stdout.strip()}, not to {receiver}")
            wrong += 1
    for unknown in {labels["alertname"] for _, alerts, _ in CASES for labels in alerts} - known_names():
        print(f"WRONG {unknown} is no alert of {RULES.name}")
        wrong += 1
    with tempfile.TemporaryDirectory() as directory:
        manager = Alertmanager(program, directory)
        try:
            wait_until(manager.started, "alertmanager starts")
            wrong += sum(run_case(manager, *case) for case in CASES)
        finally:
            manager.process.terminate()
            manager.process.wait()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
