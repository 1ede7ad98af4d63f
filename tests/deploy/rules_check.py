#!/usr/bin/env python3
"""What promtool does not look at in deploy/prometheus/nicmon.rules.yml: rules_check.py [ROOT].

- Every alert has a severity, a summary, a description that names what it is about and a command to type,
  and a runbook_url whose heading is in docs/runbook.md; and it stands in the table of docs/metrics.md with
  its severity and duration.
- Every alert has a test that makes it fire and one in which it must stay silent ("not ALERT" in its
  name).
- Every alert that waits (`for:`) for what a failed scrape would interrupt waits for a series ...:waiting,
  which bridges such scrapes in the one way that the head of the rules describes.
- Every metric named in an expression is in docs/metrics.md, is recorded here, or is Prometheus' or
  kube-state-metrics' own. Every threshold that is recorded is used.

The files are read line by line: they are ours, and always written the same way.
"""

import pathlib
import re
import sys

FOREIGN = {"up", "kube_node_status_condition", "kube_node_labels"}
SEVERITIES = {"critical", "warning", "info"}
COMMAND = re.compile(r"`(nicmon ctl|curl|kubectl|journalctl|df|ls) ?|the log of nicmon")
METRIC = re.compile(r"\b(?:nicmon_[a-z0-9_]+|kube_[a-z_]+|up|[a-z]+:nicmon_[a-z0-9_]+:[a-z0-9]+|"
                    r"nicmon:[a-z0-9_]+:threshold)(?=[^a-z0-9_:(]|$)")


def rules_of(text):
    """Each rule as {"alert" or "record": name, "text": its lines without comments}."""
    rule = None
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line)
        if match := re.match(r"      - (alert|record): (\S+)", line):
            rule = {match[1]: match[2], "text": ""}
            yield rule
        elif line.startswith("  - name:"):
            rule = None
        elif rule is not None:
            rule["text"] += line + "\n"


def expression(rule):
    return re.split(r"\n        (?:for|keep_firing_for|labels|annotations):", rule["text"])[0]


def field(rule, name):
    """A field's text, folded lines put together; "" when it is missing."""
    match = re.search(rf"^ +{name}: *(?:>-)?(.*(?:\n            .*)*)", rule["text"], re.M)
    return " ".join(match[1].split()) if match else ""


def anchors(markdown):
    """The anchors that GitHub makes of the headings."""
    for heading in re.findall(r"^#+ (.*)", markdown, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_alert(rule, headings, table):
    name = rule["alert"]
    severity = field(rule, "severity")
    if severity not in SEVERITIES:
        yield f"{name}: severity '{severity}'"
    for text in ("summary", "description"):
        if "or $labels.node $labels.instance" not in field(rule, text) and name != "RdmaFabricOutage":
            yield f"{name}: its {text} does not name the node"
    if not COMMAND.search(field(rule, "description")):
        yield f"{name}: its description has nothing to type"
    if re.match("RdmaPort|RdmaLink|RdmaGid|RdmaMissed", name):
        for label in ("device", "port"):
            if f"$labels.{label}" not in field(rule, "summary"):
                yield f"{name}: its summary does not name the {label}"
    url = field(rule, "runbook_url")
    if not url.startswith("docs/runbook.md#") or url.partition("#")[2] not in headings:
        yield f"{name}: docs/runbook.md has no heading for {url}"
    if url.partition("#")[2] != name.lower():
        yield f"{name}: its runbook_url is that of another alert"
    if (severity, field(rule, "for") or "–") != table.get(name):
        yield f"{name}: docs/metrics.md says {table.get(name)}, not {severity}, {field(rule, 'for') or '–'}"


def bridge(series, window):
    return (f"or {series} and ignoring (device, port) "
            f'(max_over_time(up{{job=~".*nicmon.*"}}[{window}]) == 1 unless up{{job=~".*nicmon.*"}} == 1)')


def check_waits(rules):
    recorded = {rule["record"]: " ".join(expression(rule).split()) for rule in rules if "record" in rule}
    for rule in rules:
        wait = field(rule, "for") if "alert" in rule else ""
        text = " ".join(expression(rule).removeprefix("        expr:").replace("|", "").split())
        if not wait or "[" in text or "up{" in text:  # a window, or the failed scrapes themselves
            continue
        if not re.fullmatch(r"\w+:nicmon_\w+:waiting", text):
            yield f"{rule['alert']}: waits {wait} for {text}, which is no series ...:waiting"
        elif not recorded[text].endswith(bridge(text, min(wait, "2m", key=seconds))):
            yield f"{text}: does not bridge scrapes that fail, for {wait} but no longer than 2m"


def seconds(duration):
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def check_tests(alerts, text):
    fires, silent = set(), set()
    for test in text.split("\n  - name: ")[1:]:
        title = test.split("\n", 1)[0]
        expected = set(re.findall(r'alertname="(\w+)"', re.sub(r"expr: .*", "", test)))
        fires |= {alert for alert in expected if re.search(rf"(?<!not )\b{alert}\b", title)}
        for alert in re.findall(r"\bnot ((?:Nicmon|Rdma)\w+)", title):
            silent.add(alert)
            if "ALERTS" not in test and "*firing" not in test:
                yield f"the test {title} asks for no alerts"
    for alert in alerts:
        if alert not in fires:
            yield f"{alert}: no test makes it fire"
        if alert not in silent:
            yield f"{alert}: no test keeps it silent"
    for alert in silent - set(alerts):
        yield f"a test is about {alert}, which is no alert"


def check_metrics(rules, documented):
    recorded = {rule["record"] for rule in rules if "record" in rule}
    used = set()
    for rule in rules:
        # What stands in strings, in braces and in lists of labels is no metric.
        text = re.sub(r"\{[^}]*\}|\b(?:without|by|on|ignoring) \([^)]*\)", "", expression(rule))
        used |= {re.sub("(?<=_seconds)_(count|sum|bucket)$", "", name) for name in METRIC.findall(text)}
    for name in sorted(used - recorded - FOREIGN - documented):
        yield f"{name} is neither documented nor recorded"
    for name in sorted(recorded - used):
        if name.endswith(":threshold"):
            yield f"{name} is used nowhere"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    deploy = root / "deploy" / "prometheus"
    metrics = (root / "docs" / "metrics.md").read_text()
    rules = list(rules_of((deploy / "nicmon.rules.yml").read_text()))
    alerts = [rule for rule in rules if "alert" in rule]
    headings = set(anchors((root / "docs" / "runbook.md").read_text()))
    table = {match[1]: (match[2], match[3]) for match in re.finditer(
        r"^\| `(\w+)` \| (\w+) \| ([^|]+) \|", metrics, re.M)}
    wrong = [line for rule in alerts for line in check_alert(rule, headings, table)]
    names = [rule["alert"] for rule in alerts]
    wrong += check_waits(rules)
    wrong += check_tests(names, (deploy / "nicmon.test.yml").read_text())
    wrong += check_metrics(rules, set(re.findall(r"^\| `(\w+)`", metrics, re.M)))
    wrong += [f"{name} is there twice" for name in set(names) if names.count(name) > 1]
    print("\n".join(wrong) or f"{len(alerts)} alerts, {len(rules) - len(alerts)} recorded series")
    return 1 if wrong or not alerts else 0


if __name__ == "__main__":
    sys.exit(main())
