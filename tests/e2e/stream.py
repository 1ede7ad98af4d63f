#!/usr/bin/env python3
"""The event stream of a running nicmon: stream.py NICMON.

Twenty clients watch a thousand flaps of a simulated port. Each must see every record that the history
has, in its order, end with the state that /api/v1/ports shows, and be let go by a stop.
"""

import json
import pathlib
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "testing"))
from live import Nicmon, UnixConnection, wait_until  # noqa: E402

CLIENTS = 20
FLAPS = 1000
DEADLINE = 60


class Client(threading.Thread):
    """Reads the stream until it ends."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.connection = UnixConnection(path)
        self.connection.request("GET", "/api/v1/stream")
        self.reply = self.connection.getresponse()
        self.seqs = []
        self.port = None
        self.snapshots = 0
        self.ended = False

    def run(self):
        name = ""
        for line in self.reply:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[len("event: "):]
            elif line.startswith("data: "):
                self.take(name, json.loads(line[len("data: "):]))
        self.ended = True

    def take(self, name, data):
        if name == "snapshot":
            self.snapshots += 1
            self.first = data["seq"] + 1
            return
        if data["event"]:
            self.seqs.append(data["event"]["seq"])
        if data.get("port") and data["port"]["device"] == "mlx5_0":
            self.port = data["port"]


def history(nicmon):
    """All records, oldest first."""
    events, url = [], "/api/v1/events?limit=1000"
    while True:
        page = nicmon.ask("GET", url)
        events += page["events"]
        if page["next"] is None:
            return events[::-1]
        url = "/api/v1/events?limit=1000&before=%d" % page["next"]


def flap(state, physical, event):
    return {"device": "mlx5_0", "port": 1, "set": {"state": state, "physical_state": physical},
            "event": event}


def check(client, told, port):
    assert client.snapshots == 1, "records were lost"
    expected = [seq for seq in told if seq >= client.first]
    assert client.seqs == expected, (len(client.seqs), len(expected))
    assert client.port["flaps"] == port["flaps"] > FLAPS / 2, (client.port, port)
    assert client.port["serving"]
    return len(expected)


def watch(nicmon):
    """The clients, once each has seen everything."""
    wait_until(lambda: nicmon.ask("GET", "/api/v1/node")["ports_up"] == 2, "two ports up")
    clients = [Client(nicmon.socket) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    wait_until(lambda: all(client.snapshots == 1 for client in clients), "a snapshot for each")
    flaps = json.dumps([flap("down", "polling", "PORT_ERR"),
                        flap("active", "link_up", "PORT_ACTIVE")])
    for _ in range(FLAPS):
        nicmon.ask("POST", "/api/v1/simulator", flaps)
    port = nicmon.ask("POST", "/api/v1/ports/mlx5_0/1/requery")["after"]
    last = history(nicmon)[-1]["seq"]
    wait_until(lambda: all(client.seqs and client.seqs[-1] >= last for client in clients),
               "the last record at each client", DEADLINE)
    told = [event["seq"] for event in history(nicmon)]
    seen = [check(client, told, port) for client in clients]
    print("%d clients saw %d records of %d flaps" % (CLIENTS, seen[-1], port["flaps"]))
    return clients


def main():
    with tempfile.TemporaryDirectory() as directory:
        nicmon = Nicmon(sys.argv[1], directory, "--simulate=devices=2",
                        f"--state-dir={directory}/state", *sys.argv[2:])
        try:
            clients = watch(nicmon)
        finally:
            nicmon.stop()
        for client in clients:
            client.join(DEADLINE)
            assert client.ended, "not let go by the stop"


if __name__ == "__main__":
    main()
