"""Panels as HTML and SVG, roughly as Grafana draws them."""

import html
import math
import time

import model

WIDTH = 1800
UNIT = 36  # pixels per row of the grid
COLOURS = {"green": "#73bf69", "red": "#f2495c", "dark-red": "#c4162a", "orange": "#ff9830",
           "yellow": "#fade2a", "blue": "#5794f2", "purple": "#b877d9", "text": "#ccccdc"}
PALETTE = ("#7eb26d", "#eab839", "#6ed0e0", "#ef843c", "#e24d42", "#1f78c1", "#ba43a9", "#705da0",
           "#508642", "#cca300", "#447ebc", "#c15c17", "#890f02", "#0a437c", "#6d1f62", "#584477")
SUFFIXES = {"bps": "b/s", "bytes": "B", "pps": "p/s", "cps": "c/s", "reqps": "req/s", "short": ""}
STYLE = f"""body{{background:#111217;color:#ccccdc;font:13px sans-serif;margin:0;width:{WIDTH}px;
position:relative}} .p{{position:absolute;background:#181b1f;border:1px solid #2c2f36;
box-sizing:border-box;overflow:hidden;padding:4px}} .p h3{{font-size:13px;margin:0 0 4px;
font-weight:500}} table{{border-collapse:collapse;width:100%}} td,th{{text-align:left;
padding:2px 6px;border-bottom:1px solid #2c2f36;white-space:nowrap;overflow:hidden}}
th{{color:#6e9fff;font-weight:500}} .big{{font-size:40px;text-align:center;height:90px;
line-height:90px}} .none{{color:#888;text-align:center;padding-top:30px}}
.l{{font-size:11px;white-space:nowrap;overflow:hidden}}"""


def number(value, unit, decimals=None):
    """The value with its unit, scaled as Grafana scales it."""
    if value != value:
        return "NaN"
    if unit == "percentunit":
        return f"{value * 100:.{1 if decimals is None else decimals}f}%"
    if unit == "dateTimeFromNow":
        seconds = value / 1000 - time.time()
        text = f"{abs(seconds):.0f} s" if abs(seconds) < 120 else f"{abs(seconds) / 60:.0f} min"
        return f"in {text}" if seconds > 0 else f"{text} ago"
    if unit == "s":
        for limit, factor, name in ((1e-3, 1e6, "µs"), (1, 1e3, "ms"), (120, 1, "s")):
            if abs(value) < limit:
                return f"{value * factor:.3g} {name}"
        return f"{value / 60:.3g} min"
    base = 1024 if unit == "bytes" else 1000
    for prefix in ("", "k", "M", "G", "T", "P"):
        if abs(value) < base or prefix == "P":
            text = f"{value:.{decimals}f}" if decimals is not None else f"{value:.4g}"
            return f"{text} {prefix}{SUFFIXES.get(unit, unit)}".strip()
        value /= base
    return ""


def colour_of(value, thresholds):
    found = thresholds["steps"][0]["color"]
    for step in thresholds["steps"][1:]:
        if value >= step["value"]:
            found = step["color"]
    return COLOURS[found]


def mapped(value, mappings):
    """(text, colour) of a value that has one."""
    key = value if isinstance(value, str) else "%g" % value
    for mapping in mappings:
        if key in mapping["options"]:
            found = mapping["options"][key]
            return found["text"], COLOURS[found["color"]]
    return None


def properties(panel, field):
    result = dict(panel["fieldConfig"]["defaults"])
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"] == field:
            result.update({item["id"]: item["value"] for item in override["properties"]})
    return result


def merged(answers):
    """Rows of a table: results joined as Grafana's transformation merge does it."""
    rows = []
    for target, result in answers:
        column = f"Value #{target['refId']}" if len(answers) > 1 else "Value"
        for labels, points in result:
            new = {**labels, column: points[-1][1]}
            for row in rows:
                if all(row[key] == value for key, value in new.items() if key in row):
                    row.update(new)
                    break
            else:
                rows.append(new)
    return rows


def cell(panel, field, value):
    if value is None:
        return "<td></td>"
    config = properties(panel, field)
    style = ""
    if found := mapped(value, config.get("mappings", ())):
        text, colour = found
    elif isinstance(value, str):
        text, colour = value, COLOURS["text"]
    else:
        text = number(value, config.get("unit", "short"), config.get("decimals"))
        colour = colour_of(value, config["thresholds"])
    kind = config.get("custom.cellOptions", {}).get("type")
    if kind == "color-background" and colour != COLOURS["text"]:
        style = f"background:{colour};color:#111"
    elif kind == "color-text":
        style = f"color:{colour}"
    if "links" in config:
        style += ";text-decoration:underline"
    return f'<td style="{style}">{html.escape(text)}</td>'


def table(panel, answers):
    rows = merged(answers)
    _, hidden = model.columns(panel)
    present = {key for row in rows for key in row}
    fields = [override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]]
    fields = [field for field in fields if field in present]
    fields += sorted(present - set(fields) - hidden)
    titles = {field: properties(panel, field).get("displayName", field) for field in fields}
    for sort in panel["options"]["sortBy"]:
        key = next((field for field in fields if titles[field] == sort["displayName"]), None)
        rows.sort(key=lambda row: (row.get(key) is not None, row.get(key) or 0) if key and not any(
            isinstance(row.get(key), str) for row in rows) else str(row.get(key)),
            reverse=sort["desc"])
    head = "".join(f"<th>{html.escape(titles[field])}</th>" for field in fields)
    body = "".join(
        "<tr>" + "".join(cell(panel, field, row.get(field)) for field in fields) + "</tr>"
        for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def names(answers):
    """[(name, points)] with the targets' legends filled in."""
    for target, result in answers:
        for labels, points in result:
            name = target["legendFormat"] or str(labels)
            for label, value in labels.items():
                name = name.replace("{{%s}}" % label, value)
            yield name, points


def stat(panel, answers):
    value = answers[0][1][0][1][-1][1]
    config = panel["fieldConfig"]["defaults"]
    text, colour = mapped(value, config["mappings"]) or (
        number(value, config["unit"], config.get("decimals")),
        colour_of(value, config["thresholds"]))
    filled = panel["options"]["colorMode"] == "background"
    style = f"background:{colour};color:#111" if filled else f"color:{colour}"
    return f'<div class="big" style="{style}">{html.escape(text)}</div>'


def grid_line(width, y, text):
    return (f'<line x1="70" x2="{width}" y1="{y:.0f}" y2="{y:.0f}" stroke="#2c2f36"/>'
            f'<text x="64" y="{y + 4:.0f}" fill="#999" font-size="11" text-anchor="end">{text}</text>')


def graph(panel, answers, width, height, start, end):
    """Lines or stacked bars, an axis with the unit, a legend."""
    config = panel["fieldConfig"]["defaults"]
    series = list(names(answers))
    bars = config["custom"]["drawStyle"] == "bars"
    height -= 70
    sums = {}
    for _, points in series:
        for second, value in points:
            sums[second] = sums.get(second, 0) + value if bars else max(
                sums.get(second, 0), value if value == value else 0)
    top = max([*sums.values(), 1e-9]) * 1.1

    def x(second):
        return 70 + (second - start) / (end - start) * (width - 80)

    logarithmic = "scaleDistribution" in config["custom"]

    def share(value):
        return math.asinh(5 * value) / math.asinh(5 * top) if logarithmic else value / top

    def y(value):
        return height - share(value) * (height - 10)

    parts = (0, .001, .01, .1, 1) if logarithmic else (0, .25, .5, .75)
    marks = [grid_line(width, y(top * part), number(top * part, config["unit"])) for part in parts]
    stacked, legend = {}, []
    for place, (name, points) in enumerate(series):
        fixed = properties(panel, name)["color"].get("fixedColor")
        colour = COLOURS[fixed] if fixed else PALETTE[place % len(PALETTE)]
        legend.append(f'<span style="color:{colour}">■</span> {html.escape(name)} &nbsp;')
        if bars:
            for second, value in points:
                base = stacked.get(second, 0)
                stacked[second] = base + value
                marks.append(f'<rect x="{x(second) - 2:.1f}" width="4" y="{y(base + value):.1f}" '
                             f'height="{max(1, y(base) - y(base + value)):.1f}" fill="{colour}"/>')
        else:
            path = " ".join(f"{x(second):.1f},{y(value):.1f}" for second, value in points
                            if value == value)
            marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
    return (f'<svg width="{width}" height="{height + 5}">{"".join(marks)}</svg>'
            f'<div class="l" style="white-space:normal">{"".join(legend)}</div>')


def timeline(panel, answers, width, height, start, end):
    series = list(names(answers))
    tall = (height - 40) / max(1, len(series))
    step = max(1, int((end - start) / 200))
    marks = []
    for place, (name, points) in enumerate(series):
        top, shown = place * tall, None
        marks.append(f'<text x="0" y="{top + tall * .65:.0f}" fill="#ccc" font-size="11">'
                     f'{html.escape(name)}</text>')
        for second, value in points:
            found = mapped(value, panel["fieldConfig"]["defaults"]["mappings"])
            text, colour = found or (f"? {value:g}", "#fff")
            left = 80 + (second - start) / (end - start) * (width - 90)
            wide = step / (end - start) * (width - 90) + .5
            marks.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                         f'height="{tall * .85:.1f}" fill="{colour}"/>')
            if text != shown:
                marks.append(f'<text x="{left + 2:.1f}" y="{top + tall * .6:.0f}" font-size="11" '
                             f'fill="#111">{text}</text>')
            shown = text
    # Texts last, so that the next span does not hide them.
    marks.sort(key=lambda mark: mark.startswith("<text"))
    return f'<svg width="{width}" height="{height}">{"".join(marks)}</svg>'


def bargauge(panel, answers):
    rows = sorted(names(answers), key=lambda item: -item[1][-1][1])
    top = max(points[-1][1] for _, points in rows)
    config = panel["fieldConfig"]["defaults"]
    return "".join(
        f'<div class="l">{html.escape(name)} <span style="display:inline-block;height:14px;'
        f'width:{points[-1][1] / top * 60:.0f}%;background:'
        f'{colour_of(points[-1][1], config["thresholds"])}"></span> '
        f'{number(points[-1][1], config["unit"])}</div>' for name, points in rows)


def _box(place, shift, inside):
    column = WIDTH / 24
    return (f'<div class="p" style="left:{place["x"] * column:.0f}px;'
            f'top:{(place["y"] + shift) * UNIT}px;width:{place["w"] * column - 6:.0f}px;'
            f'height:{place["h"] * UNIT - 6}px">{inside}</div>',
            (place["y"] + shift + place["h"]) * UNIT)


def row(panel, shift):
    return _box(panel["gridPos"], shift, f"▾ {html.escape(panel['title'])}")


def panel(panel, answers, shift, start, end):
    """(HTML, its lower edge) of one panel with the answers of its targets."""
    place = panel["gridPos"]
    width, height = int(place["w"] * WIDTH / 24) - 20, place["h"] * UNIT - 36
    if not any(result for _, result in answers):
        inside = f'<div class="none">{panel["fieldConfig"]["defaults"]["noValue"]}</div>'
    elif panel["type"] == "stat":
        inside = stat(panel, answers)
    elif panel["type"] == "table":
        inside = table(panel, answers)
    elif panel["type"] == "bargauge":
        inside = bargauge(panel, answers)
    elif panel["type"] == "state-timeline":
        inside = timeline(panel, answers, width, height, start, end)
    else:
        inside = graph(panel, answers, width, height, start, end)
    return _box(place, shift, f"<h3>{html.escape(panel['title'])}</h3>{inside}")


def document(title, cells):
    height = max(bottom for _, bottom in cells) + 20
    return (f'<!doctype html><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
            + "".join(text for text, _ in cells), height)
