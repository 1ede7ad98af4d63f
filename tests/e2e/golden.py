#!/usr/bin/env python3
"""Compares whole scrapes with golden ones: golden.py NICMON [--update].

Runs nicmon on simulated devices, takes it through a fixed story over HTTP, scrapes each profile and
compares the page with tests/e2e/golden/PROFILE.prom. Values that differ from run to run are masked,
their series are not. --update writes the golden files anew: read the difference before committing it.
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "testing"))
import live  # noqa: E402
import mlx5_tree  # noqa: E402

GOLDEN = pathlib.Path(__file__).parent / "golden"

# Values of these depend on time, the machine or the build.
MASKED = re.compile(
    r"^(process_|nicmon_http_|nicmon_event_publish_|nicmon_port_query_duration|nicmon_async_drain_"
    r"|nicmon_snapshot_age|nicmon_port_queries_total|nicmon_port_down_seconds_total"
    r"|nicmon_port_state_last_change|nicmon_port_hold_since|nicmon_port_hold_until"
    r"|nicmon_port_stats_age|nicmon_log_suppressed)")
# So do these labels.
LABELS = re.compile(r'(version|revision|libibverbs)="[^"]*"')


class Nicmon(live.Nicmon):
    def __init__(self, program, profile, directory):
        super().__init__(program, directory, "--simulate=names=mlx5_0+rocep3s0f0,speed=400",
                         "--node-name=golden", "--counters-interval=1s", "--expect-speed=400",
                         "--expect-ports=2", f"--metrics-profile={profile}")

    def wait_for(self, *lines):
        def there():
            page = self.scrape()
            return all("\n" + line + "\n" in page for line in lines)

        live.wait_until(there, ", ".join(lines))


def counters(nicmon, profile):
    """mlx5_0 gets counters with values of their own, one at its cap, and one that goes down."""
    def set_counters(values):
        nicmon.post("/api/v1/simulator",
                    {"device": "mlx5_0", "port": 1, "set": {"counters": values}})

    # Released, so that the files of the driver's own are found when the device is opened anew.
    nicmon.post("/api/v1/devices/mlx5_0/release", {"reason": "golden"})
    nicmon.wait_for('nicmon_device_not_open{device="mlx5_0",reason="released"} 1')
    values = {name: place for place, name in enumerate(mlx5_tree.COUNTERS, 1)}
    values.update({name: place for place, name in enumerate(mlx5_tree.HW_COUNTERS, 501)})
    set_counters({**values, "link_downed": 255, "cc_rx_ce_pkts": 601, "rx,32": 602})
    nicmon.post("/api/v1/devices/mlx5_0/reopen", {"reason": "golden"})
    nicmon.wait_for('nicmon_device_up{device="mlx5_0"} 1')
    if profile == "minimal":
        return
    nicmon.wait_for(
        f'nicmon_port_symbol_error_total{{device="mlx5_0",port="1"}} {values["symbol_error"]}',
        'nicmon_port_saturated_stats{device="mlx5_0",port="1"} 1')
    set_counters({"symbol_error": 3})
    nicmon.wait_for('nicmon_port_symbol_error_total{device="mlx5_0",port="1"} 3',
                    'nicmon_port_stat_resets_total{device="mlx5_0",port="1"} 1')


def story(nicmon, profile):
    """Counters, a flap, a loss, a hold and a removal, each waited for."""
    def port(device, event=None, state=None):
        command = {"device": device, "port": 1}
        if state:
            command["set"] = {"state": state}
        if event:
            command["event"] = event
        nicmon.post("/api/v1/simulator", command)

    nicmon.wait_for('nicmon_ports_up 2')
    counters(nicmon, profile)
    nicmon.wait_for('nicmon_ports_up 2')
    port("mlx5_0", "PORT_ERR", "down")
    nicmon.wait_for('nicmon_port_paused{device="mlx5_0",port="1",reason="link"} 1',
                    'nicmon_port_up{device="mlx5_0",port="1"} 0')
    port("mlx5_0", "PORT_ACTIVE", "active")
    nicmon.wait_for('nicmon_port_flaps_total{device="mlx5_0",port="1"} 1')
    if profile != "minimal":
        nicmon.wait_for('nicmon_port_netdev_carrier_changes_total{device="mlx5_0",port="1"} 3')
    port("mlx5_0", "GID_CHANGE")
    nicmon.wait_for('nicmon_port_events_total{device="mlx5_0",port="1",event="gid_change"} 1')
    nicmon.post("/api/v1/ports/mlx5_0/1/pause", {"reason": "golden", "ttl": "1h"})
    nicmon.post("/api/v1/simulator", {"device": "rocep3s0f0", "unplug": True, "silent": True})
    nicmon.wait_for('nicmon_device_not_open{device="rocep3s0f0",reason="absent"} 1')


def masked(page):
    lines = []
    for line in page.splitlines():
        if not line.startswith("#"):
            line = LABELS.sub(r'\1="*"', line)
            if MASKED.match(line):
                line = line.rsplit(" ", 1)[0] + " *"
        lines.append(line + "\n")
    return lines


def main():
    program, update = sys.argv[1], "--update" in sys.argv[2:]
    failed = False
    for profile in ("minimal", "standard", "full"):
        with tempfile.TemporaryDirectory() as directory:
            nicmon = Nicmon(program, profile, directory)
            try:
                story(nicmon, profile)
                page = nicmon.scrape()
            finally:
                nicmon.stop()
        if promtool := shutil.which("promtool"):
            subprocess.run([promtool, "check", "metrics"], input=page, text=True, check=True)
        elif os.environ.get("CI") == "true":
            raise RuntimeError("promtool is missing (Debian package prometheus)")
        golden = GOLDEN / f"{profile}.prom"
        if update:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text("".join(masked(page)))
            continue
        difference = list(difflib.unified_diff(golden.read_text().splitlines(True), masked(page),
                                               str(golden), "scraped"))
        sys.stdout.writelines(difference)
        failed = failed or bool(difference)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
