#!/usr/bin/env python3
"""nicmon and node_exporter give one number for one thing: node_exporter_numbers.py NICMON [NODE_EXPORTER]

Both read the same sysfs tree; each series of node_exporter's infiniband collector must have the value
of nicmon's series that docs/metrics.md maps it to.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/testing"))
import live  # noqa: E402
import mlx5_tree  # noqa: E402

DEVICES = 3
# Rows of docs/metrics.md with a name of each.
PAIR = re.compile(r"\| `(nicmon_\w+)` \|.*`(node_infiniband_\w+)`")


class NodeExporter:
    def __init__(self, program, tree):
        port = live.free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [program, f"--path.sysfs={tree}", "--collector.disable-defaults",
             "--collector.infiniband", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(live.DEADLINE)


def scrape(url, metric):
    """Series -> value, as soon as the page has the metric for every device."""
    def page():
        try:
            with urllib.request.urlopen(f"{url}/metrics") as reply:
                text = reply.read().decode()
        except OSError:  # it does not listen yet
            return None
        return text if text.count(f"\n{metric}{{") >= DEVICES else None

    lines = live.wait_until(page, f"{metric} shows").splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")


def scrape_both(nicmon, node_exporter, directory, tree):
    names = "+".join(f"mlx5_{number}" for number in range(DEVICES))
    ours = live.Nicmon(nicmon, directory, f"--simulate=names={names}", f"--sysfs-root={tree}",
                       "--metrics-profile=full")
    try:
        theirs = NodeExporter(node_exporter, tree)
        try:
            return (scrape(ours.url, "nicmon_port_stats_age_seconds"),
                    scrape(theirs.url, "node_infiniband_state_id"))
        finally:
            theirs.stop()
    finally:
        ours.stop()


def labels(series):
    return dict(re.findall(r'(\w+)="([^"]*)"', series))


def compare(ours, theirs):
    """What differs, and how many series were compared."""
    pairs = {node: nicmon for nicmon, node in
             (match.groups() for match in map(PAIR.match, (ROOT / "docs/metrics.md").open())
              if match)}
    wrong, compared = [], 0
    for series, value in theirs.items():
        name = series.split("{")[0]
        if not name.startswith("node_infiniband_"):
            continue
        if name not in pairs:
            wrong.append(f"{name} is not in docs/metrics.md")
            continue
        same = [own for key, own in ours.items() if key.split("{")[0] == pairs[name]
                and labels(series).items() <= labels(key).items()]
        if [float(own) for own in same] != [float(value)]:
            wrong.append(f"{series} {value}, {pairs[name]} {same}")
        compared += 1
    return wrong, compared


def main():
    nicmon = sys.argv[1]
    node_exporter = sys.argv[2] if len(sys.argv) > 2 else "prometheus-node-exporter"
    if shutil.which(node_exporter) is None:
        live.skip("prometheus-node-exporter is missing (Debian package of that name)")
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory) / "sys"
        mlx5_tree.make_tree(tree, DEVICES)
        # Beyond what a double holds exactly.
        data = tree / "class/infiniband/mlx5_2/ports/1/counters/port_rcv_data"
        data.write_text(f"{2**60 + 12345}\n")
        wrong, compared = compare(*scrape_both(nicmon, node_exporter, directory, tree))
    print("\n".join(wrong) or f"{compared} series with the same number")
    return 1 if wrong or compared < DEVICES * len(mlx5_tree.COUNTERS) else 0


if __name__ == "__main__":
    sys.exit(main())
