#!/usr/bin/env python3
"""Checks which folder includes which: layering.py [ROOT]. Prints each offending line, exits 1 if any.

The directions (see docs/architecture.md): main and app may use everything; http and metrics read what is
published and never reach a device; monitor drives devices; device and sim stand on the verbs table;
base stands on nothing.
"""

import pathlib
import re
import sys

# Folder -> what it may include from others: a whole folder, or single headers where the rest of that
# folder is none of its business.
ALLOWED = {
    "base": [],
    "verbs": ["base"],
    "sysfs": ["base"],
    "sim": ["base", "verbs", "sysfs"],
    "device": ["base", "verbs"],
    # verbs_api.h is the seam that main fills in; events, drain and speeds are plain tables and loops.
    "monitor": ["base", "device", "sysfs", "verbs"],
    "history": ["base", "monitor/transition.h"],
    # Commands reach the monitor through functions given by main, never through its classes. Of
    # sysfs metrics see tables and values only.
    "metrics": ["base", "config/config.h", "http/http_stats.h", "monitor/snapshot.h",
                "monitor/stats.h", "monitor/view.h", "device/pause_reasons.h",
                "device/port_values.h", "sysfs/counter_table.h", "sysfs/stats.h"],
    # verbs/events.h for the simulator's commands: a table of names.
    "http": ["base", "verbs/events.h", "config/duration.h", "monitor/holds.h", "monitor/pending.h",
             "monitor/probe.h", "monitor/snapshot.h", "monitor/transition.h", "monitor/view.h",
             "sim/simulated_rnic.h", "device/pause_reasons.h", "device/port_values.h",
             "device/probe_result.h"],
    # A client of what http/ serves: it knows the wire, nothing of the monitor.
    "ctl": ["base"],
    "config": ["base", "device/probe_result.h", "monitor/view.h", "sim/simulated_rnic.h"],
    # With main, the composition root: it knows everybody and nobody knows it.
    "app": ["base", "verbs", "sysfs", "sim", "device", "monitor", "history", "metrics", "http",
            "config"],
}

# Headers whose own includes are bounded more tightly than their folder's: they are what readers share.
VALUES = {
    "monitor/snapshot.h": ["base", "device/pause_reasons.h", "device/port_values.h",
                           "device/probe_result.h", "sysfs/identity.h", "sysfs/link_attributes.h", "sysfs/stats.h"],
    "monitor/view.h": ["base", "monitor/holds.h", "monitor/snapshot.h"],
    "monitor/holds.h": ["base", "monitor/snapshot.h"],
    "monitor/transition.h": ["base"],
    "sysfs/stats.h": ["base", "sysfs/counter_table.h"],
    "sysfs/counter_table.h": ["base"],
    "sysfs/link_attributes.h": ["base"],
    "device/pause_reasons.h": ["base"],
    "device/port_values.h": ["base"],
    "device/probe_result.h": ["base", "device/port_values.h"],
    "monitor/probe.h": ["device/probe_result.h"],
}

# The C header is seen in these folders only; monitor names the table's type through verbs_api.h.
VERBS_H = "infiniband/verbs.h"
VERBS_FOLDERS = {"verbs", "sim", "device"}

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^">]+)[">]')


def permitted(header, rules):
    return any(header == rule or header.startswith(rule + "/") for rule in rules)


def problem(name, folder, header):
    """Why the file (its path below src/ or include/nicmon/) may not include header, or None."""
    if header == VERBS_H:
        return None if folder in VERBS_FOLDERS else "only verbs/, sim/ and device/ see the C header"
    if not header.startswith("nicmon/"):
        return None
    header = header[len("nicmon/"):]
    if folder not in ALLOWED:
        return "folder %s/ is not in the table" % folder
    if name in VALUES:
        return None if permitted(header, VALUES[name]) else "%s is a value for all readers" % name
    if permitted(header, ALLOWED[folder] + [folder]):
        return None
    return "%s/ may not use it" % folder


def check(root):
    count = 0
    bad = []
    for top in (root / "include" / "nicmon", root / "src"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            relative = path.relative_to(top)
            if len(relative.parts) == 1:
                continue  # main.cc, the composition root
            count += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                why = match and problem(relative.as_posix(), relative.parts[0], match.group(1))
                if why:
                    bad.append("%s:%d: %s: %s" % (path.relative_to(root), number, match.group(1), why))
    return count, bad


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    count, bad = check(root)
    print("\n".join(bad))
    print("%d files, %d includes against the directions" % (count, len(bad)))
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
