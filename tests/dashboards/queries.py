#!/usr/bin/env python3
"""Every query of the dashboards on a real Prometheus: queries.py NICMON PROMETHEUS.

Each has to answer with something on a fleet that has one of each fault, and with nothing that its
panel cannot show: columns without a name, values without a text, a line per node.
"""

import os
import re
import shutil
import sys
import time

import model
import scenario

DEADLINE = 45  # seconds until every query has answered
# As Grafana would have them on scrapes every second.
TIMES = {"__rate_interval": "8s", "__range": "60s", "__interval": "1s", "status_port": "9879",
         "status_scheme": "http"}
EVERYTHING = {"cluster": ".*", "node": ".*", "device": ".*", "port": ".*"}
FLEET_LINES = 40  # no graph of the fleet has more


class Query:
    """One target (or annotation) with the sets of variables that are tried in turn."""

    def __init__(self, where, panel, target, choices):
        self.where, self.panel, self.target = where, panel, target
        self.exprs = [model.substitute(target["expr"], {**TIMES, **choice}) for choice in choices]
        self.results = []
        self.error = None

    def run(self, prometheus):
        """Whether it is done: some choice has an answer, or an error."""
        now = time.time()
        for expr in self.exprs:
            try:
                if self.target.get("range", True):
                    result = prometheus.query_range(expr, now - 20, now, 2)
                else:
                    result = prometheus.query(expr)
            except ValueError as error:
                self.error = f"{error}: {expr}"
                return True
            if result:
                self.results.append(result)
        return bool(self.results)

    def labels(self):
        return {name for result in self.results for series in result for name in series["metric"]}

    def numbers(self):
        for result in self.results:
            for series in result:
                yield from (float(value) for _, value in series.get("values") or [series["value"]])


def queries_of(name, dashboard, nodes):
    """The node dashboard shows one node, so each query has to answer for one of them at least."""
    choices = [EVERYTHING] if "fleet" in name else [{**EVERYTHING, "node": node} for node in nodes]
    for panel in model.panels(dashboard):
        for target in panel["targets"]:
            yield Query(f"{name}: {panel['title']} {target['refId']}", panel, target, choices)
    for annotation in dashboard["annotations"]["list"]:
        yield Query(f"{name}: annotation {annotation['name']}", None, annotation, choices)


def check_query(query, fleet):
    """What the answers have to be like."""
    if query.error or not query.results:
        yield f"{query.where}: {query.error or 'no answer: ' + query.exprs[0]}"
        return
    if query.panel is None:
        return
    kind, labels = query.panel["type"], query.labels()
    lines = max(len(result) for result in query.results)
    if kind == "stat" and lines != 1:
        yield f"{query.where}: {lines} numbers"
    if fleet and query.target["range"] and lines > FLEET_LINES:
        yield f"{query.where}: {lines} lines"
    if missing := set(re.findall(r"\{\{(\w+)\}\}", query.target.get("legendFormat", ""))) - labels:
        yield f"{query.where}: its legend names {missing}, it has {labels}"
    if not any(value == value for value in query.numbers()):
        yield f"{query.where}: nothing but NaN"


def mappings_of(panel, column):
    """The values that have a text in a column of a table, or in all of another panel."""
    found = list(panel["fieldConfig"]["defaults"].get("mappings", ()))
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"] == column:
            found += [mapping for item in override["properties"] if item["id"] == "mappings"
                      for mapping in item["value"]]
    return {value for mapping in found for value in mapping["options"]}


def check_values(query):
    """Every value that is to be shown as a text has one."""
    column = f"Value #{query.target['refId']}"
    if mapped := mappings_of(query.panel, column):
        for value in {"%g" % number for number in query.numbers()} - mapped:
            yield f"{query.where}: no text for {value}"
    if query.panel["type"] == "table":
        for label in query.labels():
            values = {series["metric"].get(label) for result in query.results for series in result}
            mapped = mappings_of(query.panel, label)
            if mapped and (unknown := values - mapped - {None}):
                yield f"{query.where}: no text for {unknown}"


def check_table(panel, queries):
    """Each column has a name, each name and each link a column."""
    numbers = {f"Value #{query.target['refId']}" if len(queries) > 1 else "Value"
               for query in queries}
    has = set().union(*(query.labels() for query in queries)) | numbers
    named, hidden = model.columns(panel)
    where = f"{queries[0].where.rsplit(' ', 1)[0]}"
    if stray := has - named - hidden:
        yield f"{where}: columns without a name: {sorted(stray)}"
    if missing := named - has - {"cluster"}:  # not everybody has that label
        yield f"{where}: no such columns: {sorted(missing)}"
    for override in panel["fieldConfig"]["overrides"]:
        for item in override["properties"]:
            if item["id"] == "links":
                fields = set(re.findall(r"__data\.fields\.(\w+)", str(item["value"])))
                if missing := fields - has:
                    yield f"{where}: a link needs {missing}"


def check_variables(name, dashboard, prometheus):
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        query = model.substitute(variable["query"]["query"], {**EVERYTHING, "node": "gpu-01"})
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", query).groups()
        series = prometheus.get("series", **{"match[]": selector})
        if not any(label in labels for labels in series):
            yield f"{name}: variable {variable['name']}: {len(series)} series, none with {label}"


def run(fleet):
    """The problems that were found."""
    prometheus = fleet.prometheus
    nodes = {series["metric"]["instance"] for series in prometheus.query("nicmon_node_info")}
    dashboards = model.load()
    queries = [query for name, dashboard in dashboards.items()
               for query in queries_of(name, dashboard, sorted(nodes))]
    pending, end = queries, time.monotonic() + DEADLINE
    while pending and time.monotonic() < end:
        pending = [query for query in pending if not query.run(prometheus)]
        if pending:
            time.sleep(0.5)
    bad = []
    scraped = set(prometheus.get("label/__name__/values"))
    for name, dashboard in dashboards.items():
        bad += check_variables(name, dashboard, prometheus)
        for where, expr in model.expressions(dashboard):
            if missing := model.metrics_in(expr) - scraped:
                bad.append(f"{name}: {where}: not on any /metrics: {missing}")
    for query in queries:
        problems = list(check_query(query, "fleet" in query.where))
        if not problems and query.panel:
            problems += check_values(query)
        bad += problems
    by_panel = {}
    for query in queries:
        if query.panel and query.panel["type"] == "table":
            by_panel.setdefault(id(query.panel), []).append(query)
    for group in by_panel.values():
        if all(query.results for query in group):
            bad += check_table(group[0].panel, group)
    print(f"{len(queries)} queries, {len(bad)} problems")
    return bad


def main():
    prometheus = sys.argv[2] if len(sys.argv) > 2 else shutil.which("prometheus")
    if not prometheus or not os.access(prometheus, os.X_OK):
        scenario.live.skip("prometheus is missing (Debian package prometheus)")
    with scenario.Fleet(sys.argv[1], prometheus) as fleet:
        fleet.keep_ticking()
        fleet.break_things()
        bad = run(fleet)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
