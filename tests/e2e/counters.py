#!/usr/bin/env python3
"""Holds docs/metrics.md against a real scrape: counters.py NICMON.

Every file of its table of counters is put into a sysfs tree, each source of a metric on a device of its
own, and nicmon is run on it. Each must show up as the documented metric, times the documented scale,
and nothing that the table does not have may show up as a counter of sysfs. So must what a driver has of
its own, the PCIe link and a bond.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/testing"))
import live  # noqa: E402
import mlx5_tree  # noqa: E402

ROW = re.compile(r"\| `(nicmon_port_\w+)` \| counter \| \w+ \| \S+ \| (`\w+/.*`) \| ([\d, ]+) \|")


def documented():
    """[(metric, file below the port's directory, scale, place of the source)]"""
    rows = []
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        if match := ROW.match(line):
            files = re.findall(r"`([^`]+)`", match[2])
            scales = [int(scale) for scale in match[3].split(",")]
            scales = scales * len(files) if len(scales) == 1 else scales
            rows += [(match[1], file, scale, place)
                     for place, (file, scale) in enumerate(zip(files, scales, strict=True))]
    return rows


def make_tree(root, rows):
    """One device per place; what has to show: series -> value."""
    expected = {}
    for device in range(1 + max(place for *_, place in rows)):
        port = mlx5_tree.make_device(root, device, hw_counters=False)
        for file in (port / "counters").iterdir():
            file.unlink()
    for number, (metric, file, scale, place) in enumerate(rows, 1):
        port = root / "class/infiniband" / f"mlx5_{place}" / "ports/1"
        mlx5_tree.write(port / file, f"{number}\n")
        expected[f'{metric}{{device="mlx5_{place}",port="1"}}'] = number * scale
    # Beside them: what has no row, on the port and on the device.
    port = root / "class/infiniband/mlx5_0/ports/1"
    for number in range(70):
        mlx5_tree.write(port / "hw_counters" / f"own{number:02}", f"{number + 1}\n")
    mlx5_tree.write(port / "hw_counters/lifespan", "12\n")
    mlx5_tree.write(port.parent.parent / "hw_counters/submitted_cmds", "9\n")
    for number in range(64):
        expected[f'nicmon_port_driver_stat{{device="mlx5_0",port="1",stat="own{number:02}"}}'] = \
            number + 1
    expected['nicmon_port_driver_stats_cut{device="mlx5_0",port="1"}'] = 6
    expected['nicmon_device_driver_stat{device="mlx5_0",stat="submitted_cmds"}'] = 9
    expected.update(make_links(root, port))
    return expected


def make_links(root, port):
    """A slow PCIe link below mlx5_0, a bond above its port."""
    pci = (port / "../../device").resolve()
    mlx5_tree.write(pci / "current_link_speed", "16.0 GT/s PCIe\n")
    mlx5_tree.write(pci / "current_link_width", "8\n")
    mlx5_tree.make_bond(root, port)
    device, one = '{device="mlx5_0"}', '{device="mlx5_0",port="1"}'
    return {"nicmon_device_pcie_link_speed_transfers_per_second" + device: 16 * 10**9,
            "nicmon_device_pcie_max_link_speed_transfers_per_second" + device: 32 * 10**9,
            "nicmon_device_pcie_link_width" + device: 8,
            "nicmon_device_pcie_max_link_width" + device: 16,
            "nicmon_port_netdev_carrier_changes_total" + one: 5,
            "nicmon_port_bond_members" + one: 2,
            "nicmon_port_bond_members_up" + one: 1}


def scrape(program, directory, tree, devices):
    """The page once the first round of every device is over, as series -> value."""
    names = "+".join(f"mlx5_{number}" for number in range(devices))
    nicmon = live.Nicmon(program, directory, f"--simulate=names={names}", f"--sysfs-root={tree}",
                         "--metrics-profile=full")

    def page():
        text = nicmon.scrape()
        return text if text.count("\nnicmon_port_stats_age_seconds{") == devices else None

    try:
        lines = live.wait_until(page, "the first round is over").splitlines()
    finally:
        nicmon.stop()
    return dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")


def main():
    rows = documented()
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory) / "sys"
        expected = make_tree(tree, rows)
        page = scrape(sys.argv[1], directory, tree, 1 + max(place for *_, place in rows))
    metrics = {metric for metric, *_ in rows}
    # nicmon's own counters exist from the first scrape, without any file.
    shown = {series: value for series, value in page.items()
             if re.match(r"nicmon_(port|device)_driver_stat", series)
             or series.split("{")[0] in metrics}
    wrong = [f"{series}: documented {value}, scraped {page.get(series)}"
             for series, value in expected.items() if page.get(series) != str(value)]
    wrong += [f"{series} {value}: not documented" for series, value in shown.items()
              if series not in expected and not series.startswith("nicmon_device_driver_stats_cut")
              and not (series.startswith("nicmon_port_driver_stats_cut") and value == "0")]
    print("\n".join(wrong) or f"{len(expected)} series as documented")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
