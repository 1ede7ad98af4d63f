#!/usr/bin/env python3
"""Pictures of the dashboards, to be looked at: preview.py NICMON DIRECTORY [SECONDS].

Runs the faulty fleet for SECONDS (90), asks what the panels ask and draws it roughly as Grafana
would: DIRECTORY/rdma-fleet.html and, where chromium is installed, .png. No Grafana is needed.
"""

import pathlib
import shutil
import subprocess
import sys
import time

import draw
import model
import scenario

NODE = "gpu-01"
SETTINGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-sync",
            "--no-first-run", "--disable-background-networking", "--disable-component-update")


def answer(prometheus, target, start, end, choice):
    """[(labels, [(second, value)...])], one point for a query for now."""
    step = max(1, int((end - start) / 200))
    values = {"__rate_interval": f"{max(5, 4 * step)}s", "__range": f"{int(end - start)}s",
              "status_port": "9879", "status_scheme": "http", **choice}
    expr = model.substitute(target["expr"], values)
    if target["range"]:
        result = prometheus.query_range(expr, start, end, step)
        return [(series["metric"], [(t, float(value)) for t, value in series["values"]])
                for series in result]
    return [(series["metric"], [(series["value"][0], float(series["value"][1]))])
            for series in prometheus.query(expr, end)]


def page(prometheus, dashboard, start, end, choice):
    """The dashboard as HTML, with its collapsed rows open, and its height in pixels."""
    cells, below = [], 0
    for panel in dashboard["panels"]:
        inside = panel["panels"] if panel["type"] == "row" else [panel]
        shift = below
        if panel["type"] == "row":
            cells.append(draw.row(panel, shift))
        for item in inside:
            answers = [(target, answer(prometheus, target, start, end, choice))
                       for target in item["targets"]]
            cells.append(draw.panel(item, answers, shift, start, end))
        if panel["type"] == "row" and inside:
            bottom = max(item["gridPos"]["y"] + item["gridPos"]["h"] for item in inside)
            below += bottom - panel["gridPos"]["y"] - 1
    return draw.document(dashboard["title"], cells)


def main():
    directory = pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    with scenario.Fleet(sys.argv[1], shutil.which("prometheus")) as fleet:
        start = time.time()
        fleet.keep_ticking()
        fleet.break_things()
        time.sleep(max(0, start + float(sys.argv[3] if len(sys.argv) > 3 else 90) - time.time()))
        for name, dashboard in model.load().items():
            everything = {"cluster": ".*", "device": ".*", "port": ".*",
                          "node": ".*" if "fleet" in name else NODE}
            text, height = page(fleet.prometheus, dashboard, start, time.time(), everything)
            file = directory / name.replace(".json", ".html")
            file.write_text(text)
            if chromium := shutil.which("chromium"):
                picture = file.with_suffix(".png")
                subprocess.run([chromium, *SETTINGS, f"--window-size={draw.WIDTH},{height}",
                                f"--screenshot={picture}", file.resolve().as_uri()],
                               check=True, stderr=subprocess.DEVNULL)
                print(picture)
            else:
                print(file)


if __name__ == "__main__":
    main()
