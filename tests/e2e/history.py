#!/usr/bin/env python3
"""The history of a nicmon that is killed: history.py NICMON.

What /api/v1/events and /api/v1/audit have shown once is there after kill -9 and a new start, and the
numbers of the records go on.
"""

import json
import os
import subprocess
import sys
import tempfile

# stream has put tests/testing on the path.
from stream import flap
from live import ask, wait_until

ROUNDS = 5


class Nicmon:
    def __init__(self, program, directory):
        self.socket = os.path.join(directory, "admin.sock")
        self.process = subprocess.Popen(
            [program, "--listen=127.0.0.1:0", "--admin-socket", self.socket, "--simulate=devices=1",
             "--simulate-force", "--state-dir", directory],
            stdout=subprocess.DEVNULL)
        wait_until(self.serves, "a port that is up")

    def serves(self):
        try:
            return ask(self.socket, "GET", "/api/v1/node")["ports_up"] == 1
        except OSError:
            return False

    def all(self, name):
        return ask(self.socket, "GET", "/api/v1/%s?limit=1000" % name)[name]

    def kill(self):
        self.process.kill()
        self.process.wait()


def main():
    with tempfile.TemporaryDirectory() as directory:
        events, audit = [], []
        for number in range(ROUNDS):
            nicmon = Nicmon(sys.argv[1], directory)
            try:
                assert nicmon.all("events")[-len(events):] == events or not events
                assert nicmon.all("audit")[-len(audit):] == audit or not audit
                ask(nicmon.socket, "POST", "/api/v1/simulator", json.dumps(
                    flap("down", "polling", "PORT_ERR")))
                wait_until(lambda: nicmon.all("events")[0]["after"] == "down", "the record of a loss")
                ask(nicmon.socket, "POST", "/api/v1/ports/mlx5_0/1/pause?replace=true&by=ann&reason=r%d"
                    % number)
                wait_until(lambda: nicmon.all("audit")[0]["reason"] == "r%d" % number, "its audit")
                events, audit = nicmon.all("events"), nicmon.all("audit")
            finally:
                nicmon.kill()
        seqs = [event["seq"] for event in events + audit]
        assert len(set(seqs)) == len(seqs), "a number was given twice"
        assert [event["reason"] for event in audit if event["action"] == "pause"] == [
            "r%d" % number for number in reversed(range(ROUNDS))]
        assert {event["who"] for event in audit} == {"uid=%d" % os.getuid()}
        print("%d records of %d lives" % (len(seqs), ROUNDS))


if __name__ == "__main__":
    main()
