#!/usr/bin/env python3
"""Checks of the dashboards that need nothing but their files."""

import re
import subprocess
import sys

import model

# Prometheus makes these itself for each target.
SYNTHETIC = {"up", "scrape_duration_seconds"}
UNITS = {"short", "bps", "bytes", "s", "pps", "cps", "reqps", "percentunit", "dateTimeFromNow"}
LEAST_WORDS = 3  # of a description
RULES = "deploy/prometheus/nicmon.rules.yml"


def standard_metrics():
    """Metrics of the standard profile in docs/metrics.md, and those a histogram is made of."""
    names = set()
    for line in (model.ROOT / "docs/metrics.md").read_text().splitlines():
        if match := re.match(r"\| `(\w+)` \| (\w+) \| (minimal|standard) \|", line):
            names.add(match[1])
            if match[2] == "histogram":
                names |= {match[1] + tail for tail in ("_bucket", "_sum", "_count")}
    return names


def check_places(dashboard):
    """No two panels on one spot, none beside the grid; a collapsed row counts alone."""
    def overlaps(group):
        taken = {}
        for panel in group:
            place = panel["gridPos"]
            if place["x"] + place["w"] > 24 or min(place["w"], place["h"]) < 1:
                yield f"{panel['title']}: is not on the grid"
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    other = taken.setdefault((x, y), panel["title"])
                    if other != panel["title"]:
                        yield f"{panel['title']}: overlaps {other}"
                        return

    yield from overlaps(dashboard["panels"])
    for row in dashboard["panels"]:
        if row["type"] == "row" and row["collapsed"]:
            yield from overlaps(row["panels"])
            if any(panel["gridPos"]["y"] <= row["gridPos"]["y"] for panel in row["panels"]):
                yield f"{row['title']}: has a panel above it"


def check_panel(panel):
    defaults = panel["fieldConfig"]["defaults"]
    if len(panel.get("description", "").split()) < LEAST_WORDS:
        yield "no description"
    if not defaults.get("noValue"):
        yield "says nothing when there is nothing"
    sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
    if any(source != {"type": "prometheus", "uid": "${datasource}"} for source in sources):
        yield "a data source of its own"
    units = {item["value"] for override in panel["fieldConfig"]["overrides"]
             for item in override["properties"] if item["id"] == "unit"}
    if panel["type"] != "state-timeline" and panel["type"] != "table":
        units.add(defaults.get("unit"))
    if unknown := units - UNITS:
        yield f"unit {unknown}"
    if panel["type"] == "table":
        titles = [item["value"] for override in panel["fieldConfig"]["overrides"]
                  for item in override["properties"] if item["id"] == "displayName"]
        if any(sort["displayName"] not in titles for sort in panel["options"]["sortBy"]):
            yield "is sorted by a column that it does not have"


def check_expressions(dashboard, fleet):
    known = standard_metrics() | SYNTHETIC
    own = {variable["name"] for variable in dashboard["templating"]["list"]}
    for where, expr in model.expressions(dashboard):
        if unknown := model.metrics_in(expr) - known:
            yield f"{where}: not in the standard profile: {', '.join(sorted(unknown))}"
        if unknown := model.variables_in(expr) - own - model.BUILT_IN:
            yield f"{where}: unknown variables {unknown}"
        for window in re.findall(r"\b(?:rate|irate)\([^\[]*\[([^\]]+)\]", expr):
            if window != "$__rate_interval":
                yield f"{where}: a rate over {window}"
        if not model.metrics_in(expr) <= SYNTHETIC and "$cluster" not in expr:
            yield f"{where}: is not filtered"
    if not fleet:
        return
    for panel in model.panels(dashboard):
        for target in panel["targets"]:
            outer = re.match(r"(?:[\d.]+ \* )?(sum|max|count|quantile|histogram_quantile)\b",
                             target["expr"])
            keys = re.match(r"sum by \(([^)]*)\)", target["expr"])
            if target["range"] and (not outer or keys and "instance" in keys[1]):
                yield f"{panel['title']} {target['refId']}: draws a line per node or port"


def check_links(dashboards):
    by_uid = {dashboard["uid"]: dashboard for dashboard in dashboards.values()}
    for name, dashboard in dashboards.items():
        own = {variable["name"] for variable in dashboard["templating"]["list"]}
        reached = set()
        for where, url in model.links(dashboard):
            # What a cell's link takes from its row is held against real rows, in queries.py.
            fields = re.sub(r"\$\{__data\.fields\.\w+\}", "", url)
            if unknown := model.variables_in(fields) - own - model.BUILT_IN:
                yield f"{name}: {where}: unknown variables {unknown}"
            if not url.startswith("/d/"):
                if not url.startswith("${status_scheme}://${__data.fields.page}/"):
                    yield f"{name}: {where}: leads to {url}"
                continue
            target = by_uid.get(url.split("/")[2])
            if target is None:
                yield f"{name}: {where}: leads nowhere: {url}"
                continue
            reached.add(target["uid"])
            theirs = {variable["name"] for variable in target["templating"]["list"]}
            carried = set(re.findall(r"[?&]var-(\w+)=", url)) | set(
                re.findall(r"\$\{(\w+):queryparam\}", url))
            if missing := carried - theirs:
                yield f"{name}: {where}: {missing} are no variables there"
            if missing := {"datasource", "cluster"} - carried:
                yield f"{name}: {where}: does not carry {missing}"
        if others := set(by_uid) - {dashboard["uid"]} - reached:
            yield f"{name}: no link to {others}"


def check_whole(dashboard, name):
    ids = [panel["id"] for panel in model.panels(dashboard, rows=True)]
    if len(ids) != len(set(ids)):
        yield "panels share an id"
    titles = [panel["title"] for panel in dashboard["panels"]]
    if len(titles) != len(set(titles)):
        yield "panels share a title"
    if f"nicmon-{name}" != dashboard["uid"] + ".json":
        yield "the uid is not the file's name"
    if dashboard["schemaVersion"] < 39 or "nicmon" not in dashboard["tags"]:
        yield "schemaVersion or tags"
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    if names[:5] != ["datasource", "cluster", "node", "device", "port"]:
        yield f"variables: {names}"
    for variable in dashboard["templating"]["list"]:
        if variable.get("includeAll") and variable["allValue"] != ".*":
            yield f"All of {variable['name']} would name each value"


def limits():
    """{alert: what its expression has to contain for the dashboards to be red where it fires}"""
    sys.path.insert(0, str(model.FOLDER))
    from source import common
    return {"RdmaPortSpeedReduced": {str(common.SLOW), "baseline"},
            "RdmaPortSlow": {str(common.SLOW), "expected"},
            "RdmaPortFlapping": {str(common.FLAPS), common.FLAP_WINDOW},
            "RdmaPortErrorsRising": {str(common.ERRORS), common.ERROR_WINDOW},
            "RdmaFabricOutage": {str(common.OUTAGE)},
            "NicmonDeviceStalled": {str(common.STALE)}}


def expressions_of_rules(text):
    """{name of an alert or recorded series: its expression}, recorded ones written out in it."""
    rules = {}
    for block in re.split(r"\n *- (?=alert:|record:)", text)[1:]:
        name = re.match(r"\w+: *([\w:]+)", block)[1]
        expr = re.search(r"\n( *)expr:(.*(?:\n\1 +.*|\n *(?=\n))*)", block)
        rules[name] = " ".join(line.split(" #")[0] for line in expr[2].strip(" |\n").splitlines())
    for name in rules:
        for other, expr in rules.items():
            if ":" in other:
                rules[name] = rules[name].replace(other, f"({expr})")
    return rules


def check_limits(file):
    rules = expressions_of_rules(file.read_text())
    for alert, wanted in limits().items():
        if alert not in rules:
            yield f"{file.name} has no alert {alert}"
            continue
        words = set(re.findall(r"[\d.]+[smhd]?\b|[a-z]+", rules[alert].replace("_", " ")))
        if missing := wanted - words:
            yield f"{alert}: the dashboards say {missing}, which is not in {rules[alert]}"


def main():
    dashboards = model.load()
    bad = list(check_links(dashboards)) + list(check_limits(model.ROOT / RULES))
    uids = [dashboard["uid"] for dashboard in dashboards.values()]
    if len(uids) != 2 or len(set(uids)) != 2:
        bad.append(f"dashboards: {uids}")
    for name, dashboard in dashboards.items():
        found = [*check_whole(dashboard, name), *check_places(dashboard),
                 *check_expressions(dashboard, "fleet" in name)]
        for panel in model.panels(dashboard):
            found += [f"{panel['title']}: {problem}" for problem in check_panel(panel)]
        bad += [f"{name}: {problem}" for problem in found]
    step = subprocess.run([sys.executable, model.FOLDER / "generate.py", "--check"], text=True,
                          capture_output=True)
    if step.returncode:
        bad.append((step.stdout + step.stderr).strip() + ": run dashboards/generate.py")
    print("\n".join(bad))
    print("%d panels, %d problems" % (sum(len(list(model.panels(dashboard)))
                                          for dashboard in dashboards.values()), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
