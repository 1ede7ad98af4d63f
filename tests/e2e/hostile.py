#!/usr/bin/env python3
"""What hostile input costs: hostile.py NICMON [--sanitized] [WORD...].

Prints the table of docs/operations.md. Each row is one attack on a simulated nicmon of its own, over
plain HTTP or TLS: what it answered, how long that took, the processor time it spent, how far its
memory grew at most, and the slowest /healthz that somebody else asked for meanwhile on the admin
socket and over TCP. Fails when a row is over a bound, which is several times what a slow machine
needs, or nicmon does not end well. With --sanitized memory has no bound: sanitizers keep what was
freed. WORD: only the attacks that have it in their name.
"""

import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time

# target puts tests/testing on the path.
from target import Target, receive, request
from attacks import PLAIN, TLS
from live import skip

MAX_GROWTH_KIB = 24 * 1024
MAX_HEALTHZ_SECONDS = 5


class Others:
    """Somebody else who wants to know whether it is healthy, over both listeners."""

    def __init__(self, target):
        self.target = target
        self.slowest = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            for connect in (self.target.unix, self.target.connect):
                begin = time.monotonic()
                try:
                    client = connect()
                    client.sendall(request("GET /healthz", "Connection: close"))
                    receive(client)
                    client.close()
                except (OSError, ssl.SSLError):
                    continue  # put out for somebody newer; what counts is the time
                self.slowest = max(self.slowest, time.monotonic() - begin)
            if self.over.wait(0.05):
                return

    def stop(self):
        self.over.set()
        self.thread.join()
        return self.slowest


def run(target, name, attack, max_growth):
    before, cpu = target.status("VmRSS"), target.cpu()
    target.forget_peak()
    others = Others(target)
    begin = time.monotonic()
    try:
        answer = attack(target)
        seconds = time.monotonic() - begin
    finally:
        slowest = others.stop()
    grown = max(0, target.status("VmHWM") - before)
    print(f"| {name} | {answer} | {seconds:.1f} s | {(target.cpu() - cpu) * 1000:.0f} ms | "
          f"{grown / 1024:.1f} MB | {slowest * 1000:.0f} ms |", flush=True)
    bad = grown > max_growth or slowest > MAX_HEALTHZ_SECONDS or "never" in answer
    return 1 if bad else 0


def make_certificate(directory):
    """cert.pem and key.pem for localhost."""
    try:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days",
             "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            cwd=directory, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        skip(f"openssl cannot make a certificate: {error}")


def main():
    program, only = sys.argv[1], [word for word in sys.argv[2:] if word != "--sanitized"]
    max_growth = float("inf") if "--sanitized" in sys.argv else MAX_GROWTH_KIB
    chosen = [(tls, name, attack) for tls, attacks in ((False, PLAIN), (True, TLS))
              for name, attack in attacks if not only or any(word in name for word in only)]
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        make_certificate(directory)
        print("| what | answer | took | processor | memory at most | slowest /healthz of others |\n"
              "|---|---|---|---|---|---|")
        for number, (tls, name, attack) in enumerate(chosen):
            target = Target(program, pathlib.Path(directory, str(number)), tls)
            try:
                bad += run(target, name, attack, max_growth)
            finally:
                target.stop()
    print(f"{len(chosen)} attacks, {bad} over the bounds")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
