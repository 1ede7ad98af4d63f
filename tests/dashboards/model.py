"""The dashboards as the checks see them."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "dashboards"
BUILT_IN = {"__rate_interval", "__range", "__interval", "__url_time_range"}
VARIABLE = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$([A-Za-z_]\w*)")


def load():
    """{file name: dashboard}"""
    return {file.name: json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))}


def panels(dashboard, rows=False):
    """Every panel, those of collapsed rows included."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            if rows:
                yield panel
            yield from panel["panels"]
        else:
            yield panel


def expressions(dashboard):
    """(where, expression) of everything that goes to Prometheus as PromQL."""
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation["expr"]


def variables_in(text):
    return {name or bare for name, bare in VARIABLE.findall(text)}


def metrics_in(expr):
    """Names of metrics: what stands before a selector or alone, labels and strings left out."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expr)
    bare = re.sub(r"\{[^}]*\}", "", bare)
    bare = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", "", bare)
    return set(re.findall(r"\b(nicmon_\w+|process_\w+|up|scrape_\w+)\b", bare))


def links(dashboard):
    """(where, url) of every link and data link."""
    for link in dashboard["links"]:
        yield f"link {link['title']}", link["url"]
    for panel in panels(dashboard):
        for link in panel.get("links", ()):
            yield panel["title"], link["url"]
        for override in panel["fieldConfig"]["overrides"]:
            for item in override["properties"]:
                if item["id"] == "links":
                    for link in item["value"]:
                        yield panel["title"], link["url"]


def columns(panel):
    """The columns of a table that are named, and those that are hidden."""
    named = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
    organize = next(item["options"] for item in panel["transformations"]
                    if item["id"] == "organize")
    return named, {name for name, hide in organize["excludeByName"].items() if hide}


def substitute(text, values):
    """The text with variables replaced, as Grafana does it."""
    return VARIABLE.sub(lambda match: values.get(match[1] or match[2], match[0]), text)
