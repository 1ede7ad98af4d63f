#!/usr/bin/env python3
"""Runs every curl of the documentation: doc_curls.py NICMON PAGE...

Each fenced block of a page runs against a simulated nicmon of its own, line by line, with the addresses
of the page replaced by those of the test. A line must succeed, or, where its comment begins with a status
("# 409 while it is up"), fail with that status. What is not a curl (or a variable for one) is left out.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "testing"))
import live  # noqa: E402

START = re.compile(r"^(curl |\$ADMIN|export |[A-Z]+=)")
PREAMBLE = """
set -o pipefail
curl() { command curl --fail-with-body -sS --max-time 20 "$@"; }
"""


def blocks(page):
    """(line number, lines) of each fenced block that has a curl in it."""
    lines = page.read_text().splitlines()
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            if start is None:
                start = number
                continue
            block = lines[start:number - 1]
            if any(re.search(r"\bcurl\b|\$ADMIN", each) for each in block):
                yield start, block
            start = None


def commands(block):
    """(offset, command, expected status or None); continued lines are put together."""
    command, begin = "", 0
    for offset, line in enumerate(block):
        if not command:
            begin = offset
        command += line
        if line.endswith("\\"):
            command = command[:-1]
            continue
        if START.match(command):
            status = re.search(r"\s# (4\d\d|5\d\d)\b", command)
            yield begin, command, status and int(status[1])
        command = ""


def run_block(program, page, first, block):
    wrong = 0
    ran = 0
    variables = []
    with tempfile.TemporaryDirectory() as directory:
        nicmon = live.Nicmon(program, directory, "--simulate=devices=3", "--expect-ports=2",
                             f"--state-dir={directory}/state")
        try:
            wait = f"until curl {nicmon.url}/readyz >/dev/null 2>&1; do :; done"
            subprocess.run(["bash", "-c", PREAMBLE + wait], check=True, timeout=30)
            for offset, command, status in commands(block):
                command = command.replace("http://localhost:9879", nicmon.url)
                command = command.replace("/run/nicmon/admin.sock", nicmon.socket)
                if re.match(r"^[A-Z]+=", command):
                    variables.append(command)
                    continue
                setup = [PREAMBLE, f"N={nicmon.url}", f"TOKEN={nicmon.token}",
                         f'ADMIN="curl --unix-socket {nicmon.socket}"', "A=http://localhost",
                         'S="--unix-socket ' + nicmon.socket + ' http://localhost"', *variables]
                result = subprocess.run(["bash", "-c", "\n".join(setup + [command])],
                                        capture_output=True, text=True, timeout=60,
                                        env={**os.environ, "USER": "docs"})
                ran += 1
                said = re.search(r"returned error: (\d+)", result.stderr)
                got = int(said[1]) if said else None
                if got != status or (status is None and result.returncode != 0):
                    wrong += 1
                    print(f"{page}:{first + offset + 1}: {command}\n"
                          f"  status {got}, expected {status or 'success'}; exit code "
                          f"{result.returncode}\n  {result.stdout.strip()[:300]}\n"
                          f"  {result.stderr.strip()[:300]}")
        finally:
            nicmon.stop()
    return ran, wrong


def main():
    program = sys.argv[1]
    ran = wrong = 0
    for name in sys.argv[2:]:
        for first, block in blocks(pathlib.Path(name)):
            done, bad = run_block(program, name, first, block)
            ran += done
            wrong += bad
    print(f"{ran} commands of the documentation ran, {wrong} of them wrongly")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
