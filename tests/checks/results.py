#!/usr/bin/env python3
"""What ctest's JUnit file says, for scripts/test: results.py JUNIT. Prints lines of tab-separated fields:

  passed COUNT
  failed NAME
  output LINE        of the failed test before it: the last lines that say something
  skipped NAME WHY

A test whose program is missing is "skipped" to ctest, but failed to us.
"""

import re
import sys
import xml.etree.ElementTree

OUTPUT_LINES = 25
# What GoogleTest says of every test, whatever came of it.
FRAME = re.compile(r"^(\[[-=]{10}\]|\[ RUN |\[  (FAILED|PASSED) |Running main|Note: |\s*\d+ FAILED TEST|\s*$)")


def report(case):
    """Yields the lines for a test that did not pass."""
    name = case.get("name")
    output = case.findtext("system-out") or ""
    skip = case.find("skipped")
    missing = skip is not None and skip.get("message", "").startswith("Unable")
    if case.get("status") == "fail" or missing:
        yield ("failed", name)
        lines = [line for line in output.splitlines() if not FRAME.match(line)]
        yield from (("output", line.expandtabs()) for line in lines[-OUTPUT_LINES:])
        return
    said = re.findall(r"SKIPPED: (.*)", output)
    yield ("skipped", name, said[-1] if said else skip.get("message") if skip is not None else "disabled")


def main():
    cases = list(xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    print("passed", sum(case.get("status") == "run" for case in cases), sep="\t")
    for case in cases:
        if case.get("status") != "run":
            for fields in report(case):
                print(*fields, sep="\t")


if __name__ == "__main__":
    main()
