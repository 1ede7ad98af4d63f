#!/usr/bin/env python3
"""No file of the tree names a place of the machine it was written on: paths.py [ROOT]."""

import pathlib
import re
import subprocess
import sys

# A home or scratch directory, or the place of this very checkout. /tmp alone is fair in the guest's
# scripts, which run as root in a machine of their own.
PLACES = re.compile(r"(?<![\w.])/(home/\w+|Users/\w+|work(space)?/\w+|tmp/w)\b")


def tracked(root):
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True)
    if done.returncode == 0 and done.stdout:
        return [root / name for name in done.stdout.split("\0") if name]
    return [path for path in root.rglob("*") if path.is_file() and "build" not in path.parts]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    root = root.resolve()
    here = str(root)
    files = tracked(root)
    bad = []
    for path in files:
        if not path.is_file() or path.resolve() == pathlib.Path(__file__).resolve():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if PLACES.search(line) or (len(here) > 4 and here + "/" in line):
                bad.append("%s:%d: %s" % (path.relative_to(root), number, line.strip()[:120]))
    print("\n".join(bad))
    print("%d files, %d lines that name a place" % (len(files), len(bad)))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
