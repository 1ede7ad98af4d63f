#!/usr/bin/env python3
"""The history of a nicmon that is killed: history.py NICMON.

What /api/v1/events and /api/v1/audit have shown once is there after kill -9 and a new start, and the
numbers of the records go on.
"""

import json
import os
import sys
import tempfile

# stream has put tests/testing on the path.
from stream import flap
import live

ROUNDS = 5


class Nicmon(live.Nicmon):
    """One life; its state outlives it."""

    def __init__(self, program, directory):
        super().__init__(program, directory, "--simulate=devices=1", f"--state-dir={directory}")
        live.wait_until(lambda: self.ask("GET", "/api/v1/node")["ports_up"] == 1,
                        "a port that is up")

    def all(self, name):
        return self.ask("GET", "/api/v1/%s?limit=1000" % name)[name]


def main():
    with tempfile.TemporaryDirectory() as directory:
        events, audit = [], []
        for number in range(ROUNDS):
            nicmon = Nicmon(sys.argv[1], directory)
            try:
                assert nicmon.all("events")[-len(events):] == events or not events
                assert nicmon.all("audit")[-len(audit):] == audit or not audit
                nicmon.ask("POST", "/api/v1/simulator",
                           json.dumps(flap("down", "polling", "PORT_ERR")))
                live.wait_until(lambda: nicmon.all("events")[0]["after"] == "down",
                                "the record of a loss")
                nicmon.ask("POST", "/api/v1/ports/mlx5_0/1/pause?replace=true&by=ann&reason=r%d"
                           % number)
                live.wait_until(lambda: nicmon.all("audit")[0]["reason"] == "r%d" % number,
                                "its audit")
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
