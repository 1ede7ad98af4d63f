"""A simulated nicmon and a real Prometheus, and what a test needs to talk to them or to say that it
cannot."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPConnection

DEADLINE = 30  # seconds until a condition that never comes true fails the test


def skip(why):
    """Ends the test with 77, as tests/testing/skip.sh does."""
    print(f"SKIPPED: {why}")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def wait_until(condition, what, deadline=DEADLINE):
    """What condition() answers, once that is true."""
    end = time.monotonic() + deadline
    while not (answer := condition()):
        if time.monotonic() > end:
            raise RuntimeError(f"never came true: {what}")
        time.sleep(0.02)
    return answer


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class UnixConnection(HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=DEADLINE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE)
        self.sock.connect(self.path)


def ask(path, method, url, body=None):
    """The JSON that nicmon answers on its admin socket."""
    connection = UnixConnection(path)
    connection.request(method, url, body, {"Content-Type": "application/json"} if body else {})
    reply = connection.getresponse()
    text = reply.read()
    assert reply.status == 200, (url, reply.status, text)
    return json.loads(text)


def _started(process, condition, what):
    """As wait_until(); a process of which it never becomes true is not left behind."""
    try:
        return wait_until(condition, what)
    except BaseException:
        _stop(process)
        raise


def _stop(process):
    process.terminate()
    try:
        process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Nicmon:
    """A simulated nicmon on a port and a socket of its own; its files are in directory. Of a flag
    that is here, too, the one given wins."""

    token = "a-token-of-this-test-only"

    def __init__(self, program, directory, *flags):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.socket = str(self.directory / "admin.sock")
        self.token_file = self.directory / "tokens"
        self.token_file.write_text(f"test:{self.token}\n")
        self.log = self.directory / "log"
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                [program, "--listen=127.0.0.1:0", f"--admin-socket={self.socket}",
                 "--simulate-force", "--state-dir=none", f"--admin-token-file={self.token_file}",
                 *flags], stdout=out)

        def serving():
            if self.process.poll() is not None:
                raise RuntimeError(f"nicmon ended: {self.said()}")
            return re.search(r" serving listen=(\S+)", self.said())

        self.address = _started(self.process, serving, "nicmon serves")[1]
        self.url = f"http://{self.address}"

    def said(self):
        return self.log.read_text(errors="replace")

    def scrape(self):
        with urllib.request.urlopen(f"{self.url}/metrics") as reply:
            return reply.read().decode()

    def ask(self, method, url, body=None):
        """The JSON that it answers on its admin socket."""
        return ask(self.socket, method, url, body)

    def post(self, path, body):
        """The same over TCP, with the token."""
        request = urllib.request.Request(
            f"{self.url}{path}", json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()}") from error

    def simulate(self, *commands):
        self.post("/api/v1/simulator", list(commands))

    def stop(self):
        _stop(self.process)
        if self.process.returncode != 0:
            end = "\n".join(self.said().splitlines()[-200:])
            raise RuntimeError(f"nicmon ended with {self.process.returncode}: {end}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Prometheus:
    """Debian's Prometheus on a free port; config is its configuration as a Python value."""

    def __init__(self, program, directory, config, *flags):
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        # JSON is YAML, too.
        (directory / "prometheus.yml").write_text(json.dumps(config))
        self.address = "127.0.0.1:%d" % free_port()
        log = directory / "log"
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [program, f"--config.file={directory / 'prometheus.yml'}",
                 f"--storage.tsdb.path={directory / 'data'}",
                 f"--web.listen-address={self.address}", *flags], stdout=out, stderr=out,
                env={**os.environ, "GOMAXPROCS": "1"})

        def ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"prometheus ended: {log.read_text(errors='replace')}")
            try:
                with urllib.request.urlopen(f"http://{self.address}/-/ready"):
                    return True
            except OSError:
                return False

        _started(self.process, ready, "prometheus is ready")

    def get(self, path, **parameters):
        """The data of an answer; an error of Prometheus is a ValueError with its words."""
        body = urllib.parse.urlencode(parameters).encode()
        try:
            url = f"http://{self.address}/api/v1/{path}"
            with urllib.request.urlopen(url, body or None) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from error

    def query(self, expr, at=None):
        """The series of an instant query."""
        return self.get("query", query=expr, **({"time": at} if at else {}))["result"]

    def query_range(self, expr, start, end, step):
        return self.get("query_range", query=expr, start=start, end=end, step=step)["result"]

    def stop(self):
        _stop(self.process)
