"""What Grafana's dashboard JSON is made of, as small functions.

Expressions are written with shorthands, so that filters and keys are the same everywhere:
{N}, {D} and {P} stand for the label filters of a node, a device and a port (more matchers may
follow: {P, reason="link"}), NODE and KEY for the labels that tell nodes and ports apart.
"""

import re

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
NODE = "cluster, instance"
KEY = "cluster, instance, device, port"
SCHEMA_VERSION = 41  # Grafana 11.6; newer ones migrate it themselves
COLUMNS = 24


def expand(expr, filters):
    """The expression with its shorthands written out, on one line."""
    expr = re.sub(r"\{([NDP])\b", lambda match: "{" + filters[match[1]], expr)
    expr = re.sub(r"\bNODE\b", NODE, expr)
    expr = re.sub(r"\bKEY\b", KEY, expr)
    return re.sub(r"\s+", " ", expr).strip()


def instant(expr, legend=""):
    """A query for now: tables and single numbers."""
    return {"expr": expr, "legendFormat": legend, "instant": True, "range": False}


def over_time(expr, legend):
    return {"expr": expr, "legendFormat": legend, "instant": False, "range": True}


def steps(base, *changes):
    """Thresholds: steps("green", ("red", 10)) is red from 10 on."""
    return {"mode": "absolute", "steps": [
        {"color": base, "value": None},
        *({"color": color, "value": value} for color, value in changes)]}


def values(table):
    """Value mappings from {value: (text, colour)}."""
    return [{"type": "value", "options": {
        str(value): {"text": text, "color": color, "index": index}
        for index, (value, (text, color)) in enumerate(table.items())}}]


def page_link(field="page"):
    return {"title": "Status page of this node", "targetBlank": True,
            "url": f"${{status_scheme}}://${{__data.fields.{field}}}/"}


def node_link(*variables):
    """To the node dashboard, with the row's node, whatever else is named and the time range."""
    carried = "".join(f"&var-{name}=${{__data.fields.{name}}}" for name in variables)
    return {"title": "This node over time",
            "url": "/d/nicmon-rdma-node/rdma-node?${datasource:queryparam}&${cluster:queryparam}"
                   f"&var-node=${{__data.fields.instance}}{carried}&${{__url_time_range}}"}


def dashboard_link(title, place):
    """To the other dashboard, at its top; not the node, of which the other may have many or one."""
    return {"title": title, "type": "link", "icon": "dashboard", "tooltip": title, "tags": [],
            "url": f"{place}?${{datasource:queryparam}}&${{cluster:queryparam}}"
                   "&${device:queryparam}&${port:queryparam}",
            "asDropdown": False, "targetBlank": False, "includeVars": False, "keepTime": True}


def with_page(expr):
    """Adds the label page, HOST:PORT of the node's status page: a node that is scraped by its name
    alone has it on the port of the variable status_port."""
    return (f'label_replace(label_replace({expr}, "page", "$1:${{status_port}}", "instance", '
            '"(.+)"), "page", "$1", "instance", "(.+:[0-9]+)")')


def column(field, title, **properties):
    """An override for one column of a table; colour: "text" or "background"."""
    result = [{"id": "displayName", "value": title}]
    links = properties.pop("links", None)
    if colour := properties.pop("colour", None):
        cell = {"type": f"color-{colour}"}
        if colour == "background":
            cell["mode"] = "basic"
        result.append({"id": "custom.cellOptions", "value": cell})
    for name in "width", "align":
        if name in properties:
            result.append({"id": f"custom.{name}", "value": properties.pop(name)})
    result += [{"id": name, "value": value} for name, value in properties.items()]
    if links:
        result.append({"id": "links", "value": links})
    return {"matcher": {"id": "byName", "options": field}, "properties": result}


def fixed(series, color):
    """An override: this series always has this colour."""
    return {"matcher": {"id": "byName", "options": series},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}]}


def _panel(kind, title, description, queries, no_value, options, defaults, overrides=(), **rest):
    targets = [{"refId": chr(ord("A") + place), "datasource": DATASOURCE, "editorMode": "code",
                "exemplar": False, **query} for place, query in enumerate(queries)]
    return {"type": kind, "title": title, "description": description, "datasource": DATASOURCE,
            "targets": targets, "options": options,
            "fieldConfig": {"defaults": {"noValue": no_value, **defaults},
                            "overrides": list(overrides)}, **rest}


def stat(title, description, expr, *, no_value="no nicmon", thresholds=None, unit="short",
         mappings=(), links=(), decimals=None):
    """One big number, coloured by its thresholds."""
    defaults = {"unit": unit, "color": {"mode": "thresholds"}, "mappings": list(mappings),
                "thresholds": thresholds or steps("text")}
    if decimals is not None:
        defaults["decimals"] = decimals
    return _panel("stat", title, description, [instant(expr)], no_value, {
        "colorMode": "background" if thresholds else "value", "graphMode": "none",
        "justifyMode": "center", "textMode": "value", "wideLayout": True, "orientation": "auto",
        "showPercentChange": False, "percentChangeColorMode": "standard",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
        defaults, links=list(links))


def table(title, description, queries, columns, *, no_value, sort, hidden=(), rows=500):
    """A table of the queries' results joined by their labels. Every label is named by columns or
    hidden: the checks hold that. sort: the title of a column, biggest first."""
    organize = {"excludeByName": {name: True for name in ("Time", *hidden)}, "renameByName": {},
                "indexByName": {item["matcher"]["options"]: place
                                for place, item in enumerate(columns)}}
    joined = [{"id": "merge", "options": {}}] if len(queries) > 1 else []
    return _panel("table", title, description,
                  [{**instant(expr), "format": "table"} for expr in queries], no_value, {
                      "cellHeight": "sm", "showHeader": True, "frameIndex": 0,
                      "sortBy": [{"displayName": sort[0], "desc": sort[1]}]},
                  {"custom": {"align": "auto", "inspect": False, "filterable": True},
                   "thresholds": steps("text"), "color": {"mode": "thresholds"}}, columns,
                  transformations=[*joined, {"id": "organize", "options": organize},
                                   {"id": "limit", "options": {"limitField": rows}}])


def graph(title, description, queries, *, no_value, unit, bars=False, stacked=False, overrides=(),
          thresholds=None, legend="list", few_steps=False, magnitudes=False, **defaults):
    """Lines over time, or bars for what happens now and then. few_steps: of a whole fleet's ports,
    each step of which costs as much as a query for now. magnitudes: a logarithmic axis, on which
    what is rare shows beside what is not."""
    custom = {"drawStyle": "bars" if bars else "line", "lineWidth": 1,
              "fillOpacity": 70 if bars else 8,
              "showPoints": "auto" if magnitudes else "never", "spanNulls": False,
              "lineInterpolation": "linear",
              "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
              "thresholdsStyle": {"mode": "line" if thresholds else "off"}}
    if magnitudes:
        custom["scaleDistribution"] = {"type": "symlog", "log": 10, "linearThreshold": 1}
    places = {"list": ("list", "bottom", []), "table": ("table", "right", ["max", "lastNotNull"])}
    mode, placement, calcs = places[legend]
    return _panel("timeseries", title, description, [over_time(*query) for query in queries],
                  no_value, {
                      "legend": {"displayMode": mode, "placement": placement, "showLegend": True,
                                 "calcs": calcs},
                      "tooltip": {"mode": "multi", "sort": "desc"}},
                  {"unit": unit, "min": 0, "custom": custom, "color": {"mode": "palette-classic"},
                   "thresholds": thresholds or steps("text"), **defaults}, overrides,
                  **({"maxDataPoints": 90} if few_steps else {}))


def timeline(title, description, expr, mappings, *, no_value):
    """A state over time, one line per port."""
    return _panel("state-timeline", title, description, [over_time(expr, "{{device}}/{{port}}")],
                  no_value, {
                      "mergeValues": True, "showValue": "auto", "alignValue": "left",
                      "rowHeight": 0.85, "perPage": 32,
                      "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True,
                                 "calcs": []},
                      "tooltip": {"mode": "single", "sort": "none"}},
                  {"mappings": values(mappings), "color": {"mode": "thresholds"},
                   "custom": {"lineWidth": 0, "fillOpacity": 80, "spanNulls": False,
                              "insertNulls": False},
                   "thresholds": steps("text")})


def bars(title, description, expr, legend, *, no_value, unit, thresholds):
    """One bar per label value."""
    return _panel("bargauge", title, description, [instant(expr, legend)], no_value, {
        "displayMode": "basic", "valueMode": "text", "namePlacement": "left", "showUnfilled": False,
        "sizing": "auto", "minVizWidth": 8, "minVizHeight": 16, "maxVizHeight": 28,
        "orientation": "horizontal",
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []},
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
        {"unit": unit, "min": 0, "color": {"mode": "thresholds"}, "thresholds": thresholds})


def query_variable(name, label, query, *, multi, description):
    """A variable filled by Prometheus; multi: starts as All, which matches a missing label, too."""
    result = {"type": "query", "name": name, "label": label, "description": description,
              "datasource": DATASOURCE, "definition": query, "refresh": 2, "sort": 7, "regex": "",
              "query": {"query": query, "refId": f"variable-{name}"}, "hide": 0,
              "multi": multi, "includeAll": multi, "options": [], "skipUrlSync": False}
    if multi:
        result["allValue"] = ".*"
        result["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
    return result


def datasource_variable():
    return {"type": "datasource", "name": "datasource", "label": "Prometheus",
            "query": "prometheus", "description": "The Prometheus that scrapes nicmon", "hide": 0,
            "multi": False,
            "includeAll": False, "options": [], "refresh": 1, "regex": "", "skipUrlSync": False}


def text_variable(name, label, value, description):
    option = {"selected": True, "text": value, "value": value}
    return {"type": "textbox", "name": name, "label": label, "query": value, "hide": 2,
            "description": description, "current": option, "options": [option],
            "skipUrlSync": False}


def annotation(name, expr, color, title, text, **rest):
    return {"name": name, "datasource": DATASOURCE, "enable": True, "hide": False,
            "iconColor": color, "expr": expr, "step": "30s", "titleFormat": title,
            "textFormat": text,
            "tagKeys": "device,port", **rest}


def _place(lines, y, ids):
    """Panels line by line, each line a list of (width, height, panel) of one height."""
    placed = []
    for line in lines:
        x = 0
        for width, height, panel in line:
            placed.append({"id": next(ids), **panel,
                           "gridPos": {"x": x, "y": y, "w": width, "h": height}})
            x += width
        if x != COLUMNS or len({height for _, height, _ in line}) != 1:
            raise ValueError(f"a line is {x} wide: {[panel['title'] for *_, panel in line]}")
        y += line[0][1]
    return placed, y


def layout(sections, ids):
    """[(title or None, collapsed, lines)] as Grafana's list of panels."""
    panels, y = [], 0
    for title, collapsed, lines in sections:
        row = None
        if title:
            row = {"type": "row", "id": next(ids), "title": title, "collapsed": collapsed,
                   "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}, "panels": []}
            panels.append(row)
            y += 1
        placed, end = _place(lines, y, ids)
        if collapsed:
            row["panels"] = placed  # they take no room until the row is opened
        else:
            panels += placed
            y = end
    return panels


def _expand_all(value, filters):
    """Every expression and query below value, with its shorthands written out."""
    if isinstance(value, dict):
        return {key: expand(item, filters)
                if key in ("expr", "definition", "query") and isinstance(item, str)
                else _expand_all(item, filters) for key, item in value.items()}
    if isinstance(value, list):
        return [_expand_all(item, filters) for item in value]
    return value


def dashboard(uid, title, description, *, filters, variables, annotations, links, sections,
              time_from, refresh, ids):
    """The whole of it, as Grafana imports and provisions it."""
    return _expand_all({
        "uid": uid, "title": title, "description": description, "tags": ["nicmon", "rdma"],
        "schemaVersion": SCHEMA_VERSION, "version": 1, "editable": True, "graphTooltip": 1,
        "timezone": "browser", "refresh": refresh, "time": {"from": time_from, "to": "now"},
        "fiscalYearStartMonth": 0, "liveNow": False, "preload": False, "weekStart": "",
        "timepicker": {"refresh_intervals": ["15s", "30s", "1m", "2m", "5m", "15m"]},
        "templating": {"list": variables}, "annotations": {"list": annotations}, "links": links,
        "panels": layout(sections, ids)}, filters)
