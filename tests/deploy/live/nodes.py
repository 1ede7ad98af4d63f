"""Simulated nodes: one nicmon each, at a port that survives its restarts."""

import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
from live import ask, free_port, wait_until  # noqa: E402


class Node:
    def __init__(self, program, directory, name, spec, *flags, ports):
        self.program = program
        self.name = name
        self.ports = ports
        self.home = pathlib.Path(directory) / name
        self.home.mkdir()
        self.state = self.home / "state"
        self.socket = str(self.home / "admin.sock")
        self.port = free_port()
        self.web_config = self.home / "web.yml"
        self.tokens = self.home / "tokens"
        self.tokens.write_text("on-call:a-token-of-the-live-test\n")
        self.usual = [f"--simulate={spec}", "--simulate-force", "--expect-ports=auto",
                      "--counters-interval=1s", "--admin-token-file", str(self.tokens), *flags]
        self.process = None
        self.log = open(self.home / "log", "ab")

    def start(self, *flags, state=True):
        """Later flags win; returns once the ports are known."""
        directory = str(self.state) if state else "none"
        self.process = subprocess.Popen(
            [self.program, f"--listen=127.0.0.1:{self.port}", "--admin-socket", self.socket,
             "--state-dir", directory, *self.usual, *flags],
            stdout=self.log, stderr=self.log, env={**os.environ, "NODE_NAME": self.name})
        wait_until(self.discovered, f"{self.name} has its ports")

    def discovered(self):
        try:
            return ask(self.socket, "GET", "/api/v1/node")["ports"] >= self.ports
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self, *flags, state=True):
        self.stop()
        self.start(*flags, state=state)

    def ctl(self, *arguments):
        """What an operator types."""
        done = subprocess.run([self.program, "ctl", *arguments, "--socket", self.socket],
                              capture_output=True, text=True)
        assert done.returncode == 0, (self.name, arguments, done.stdout, done.stderr)

    def refuse_scrapes(self, refuse):
        """A password that Prometheus does not have, or none again. For a node with its web configuration."""
        user = "basic_auth_users:\n  somebody: $2b$10$q3fqDN7MIDQlMs9.5NC/R.DU0iEwtIaeCT7ObOVEj9snUpUNJU9/.\n"
        fresh = self.web_config.with_suffix(".new")
        fresh.write_text("http_server_config:\n  http2: false\n" + (user if refuse else ""))
        fresh.rename(self.web_config)
        if self.process:
            self.process.send_signal(signal.SIGHUP)

    def post(self, path):
        return ask(self.socket, "POST", path)

    def simulate(self, *commands):
        ask(self.socket, "POST", "/api/v1/simulator", json.dumps(list(commands)))

    def state_of(self, device, port=1):
        return ask(self.socket, "GET", f"/api/v1/ports/{device}/{port}")

    def await_port(self, device, port=1, **wanted):
        """Until the port's JSON has these values."""
        wait_until(lambda: all(self.state_of(device, port)[key] == value
                             for key, value in wanted.items()),
                 f"{self.name} {device}/{port} {wanted}")

    def set_port(self, device, port, state, physical=None, event="auto"):
        """The port changes its state and the driver tells of it, unless event is None."""
        physical = physical or ("link_up" if state in ("active", "init") else "polling")
        command = {"device": device, "port": port,
                   "set": {"state": state, "physical_state": physical}}
        if event == "auto":
            event = "PORT_ACTIVE" if state == "active" else "PORT_ERR"
        if event:
            command["event"] = event
        self.simulate(command)

    def counters(self, device, port, **values):
        self.simulate({"device": device, "port": port, "set": {"counters": values}})

    def flap(self, device, port=1):
        """A loss that is over before anybody asks; returns when it has been counted."""
        flaps = self.state_of(device, port)["flaps"]
        self.simulate({"device": device, "port": port, "event": "PORT_ERR"})
        self.await_port(device, port, flaps=flaps + 1)
