#!/usr/bin/env python3
"""Writes the dashboards from dashboards/source: generate.py [--check].

--check writes nothing and fails when a file is not what the source makes.
"""

import json
import pathlib
import sys

from source import fleet, node

HERE = pathlib.Path(__file__).parent
DASHBOARDS = {"rdma-fleet.json": fleet.fleet, "rdma-node.json": node.node}


def main():
    stale = []
    for name, make in DASHBOARDS.items():
        text = json.dumps(make(), indent=1, ensure_ascii=False) + "\n"
        file = HERE / name
        if file.exists() and file.read_text() == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            file.write_text(text)
    print("%s: %s" % ("not in step" if "--check" in sys.argv[1:] else "written", ", ".join(stale))
          if stale else "in step")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
