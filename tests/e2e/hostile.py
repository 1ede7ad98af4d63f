#!/usr/bin/env python3
"""What hostile input costs: hostile.py NICMON [--sanitized] [WORD...]. Prints a table for docs/operations.md.

Each row is one attack on a simulated nicmon of its own, over plain HTTP or TLS: what it answered, how
long that took, the processor time it spent, how far its memory grew at most, and the slowest /healthz
that somebody else asked for meanwhile on the admin socket and over TCP. Fails when a row is over a
bound, which is several times what a slow machine needs, or nicmon does not end well. With --sanitized memory
has no bound: sanitizers keep what was freed. WORD: only the attacks that have it in their name.
"""

import base64
import collections
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

MAX_GROWTH_KIB = 24 * 1024
MAX_HEALTHZ_SECONDS = 5
TICKS = os.sysconf("SC_CLK_TCK")
# "secret", at the cost that htpasswd -C 10 gives.
HASH = "$2b$10$oLmwteioVFZVc7yUjsE5xeWPBHC1CTgIDCMiQEMA9x3n5ud0qPxjy"


class Nicmon:
    def __init__(self, program, directory, tls):
        self.socket = directory + "/admin.sock"
        tokens = pathlib.Path(directory, "tokens")
        tokens.write_text("ops:s3cret\n")
        config = pathlib.Path(directory, "web.yml")
        config.write_text(("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n" if tls else "")
                          + f"basic_auth_users:\n  user: {HASH}\n")
        self.process = subprocess.Popen(
            [program, "--listen=127.0.0.1:0", "--admin-socket", self.socket, "--simulate=devices=2",
             "--simulate-force", "--admin-token-file", str(tokens), "--web-config-file", str(config)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.port = None
        for line in self.process.stdout:
            if match := re.search(r" serving listen=\S+:(\d+)", line):
                self.port = int(match[1])
                break
        if self.port is None:
            raise RuntimeError("nicmon did not start")
        self.said = collections.deque(maxlen=200)
        self.reader = threading.Thread(target=self.said.extend, args=(self.process.stdout,), daemon=True)
        self.reader.start()
        self.context = None
        if tls:
            self.context = ssl.create_default_context(cafile=directory + "/cert.pem")

    def stop(self):
        self.process.terminate()
        if self.process.wait() != 0:
            self.reader.join()
            sys.stderr.writelines(self.said)
            raise RuntimeError(f"nicmon ended with {self.process.returncode}")

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1])

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def raw(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def connect(self):
        plain = self.raw()
        return self.context.wrap_socket(plain, server_hostname="localhost") if self.context else plain

    def unix(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(30)
        client.connect(self.socket)
        return client


def receive(client):
    """The status of the next reply, or why there is none."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            piece = client.recv(65536)
            if not piece:
                return "closed"
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.I)
        while length and len(body) < int(length[1]):
            body += client.recv(65536)
        return head[9:12].decode()
    except (ConnectionError, ssl.SSLError):
        return "closed"


def attempt(client, data):
    try:
        client.sendall(data)
    except (ConnectionError, ssl.SSLError, TimeoutError):
        pass
    answer = receive(client)
    client.close()
    return answer


def tally(answers):
    counts = {}
    for answer in answers:
        counts[answer] = counts.get(answer, 0) + 1
    return ", ".join(f"{count} × {answer}" if count > 1 else answer for answer, count in counts.items())


def each(count, data, connect=None):
    """An attack: so many connections, one after the other, each with these bytes."""
    def run(nicmon):
        return tally(attempt((connect or Nicmon.connect)(nicmon), data) for _ in range(count))
    return run


def request(line, *headers, body=b""):
    if body:
        headers += (f"Content-Length: {len(body)}",)
    return "\r\n".join((line + " HTTP/1.1", "Host: localhost", *headers, "", "")).encode() + body


def kept(count, data_of, connect=Nicmon.connect):
    """An attack: so many requests, over connections that are kept as long as they may be."""
    def run(nicmon):
        answers, client = [], connect(nicmon)
        for i in range(count):
            if i % 900 == 899:  # a connection ends after 1,000 requests
                client.close()
                client = connect(nicmon)
            client.sendall(data_of(i))
            answers.append(receive(client))
        client.close()
        return tally(answers)
    return run


def parallel(count, one):
    def run(nicmon):
        answers = [None] * count
        def work(i):
            answers[i] = one(nicmon, i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tally(answers)
    return run


def drip(data, seconds=12):
    """One byte now and then, until the other end has had enough."""
    def one(nicmon, _):
        client = nicmon.raw()
        end = time.monotonic() + seconds + 10
        client.settimeout(0.5)
        for i in range(10_000):
            try:
                client.send(data[i % len(data):i % len(data) + 1])
                if client.recv(1) == b"":
                    return "closed"
            except TimeoutError:
                if time.monotonic() > end:
                    return "never ended"
            except ConnectionError:
                return "closed"
        return "never ended"
    return one


def endless(prefix, size):
    def run(nicmon):
        client = nicmon.connect()
        sent = 0
        try:
            client.sendall(prefix)
            while sent < size:
                client.sendall(b"a" * 65536)
                sent += 65536
        except (ConnectionError, ssl.SSLError, TimeoutError):
            pass
        client.close()
        return "cut off" if sent < size else "never cut off"
    return run


def idle(count, data=b"", connect=Nicmon.raw):
    """So many connections that say this much and then nothing, while one asks for something."""
    def run(nicmon):
        clients = []
        for _ in range(count):
            client = connect(nicmon)
            client.sendall(data)
            clients.append(client)
        answers = [attempt(nicmon.connect(), request("GET /healthz")) for _ in range(10)]
        for client in clients:
            client.close()
        return "others: " + tally(answers)
    return run


def guess(nicmon, i):
    credentials = base64.b64encode(f"user:guess{i}-{os.getpid()}".encode()).decode()
    return attempt(nicmon.connect(), request("GET /metrics", f"Authorization: Basic {credentials}"))


def s_client(commands, *flags):
    """OpenSSL's own client, which has commands for what others do not do."""
    def run(nicmon):
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{nicmon.port}", "-servername", "localhost",
             *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for command in commands:
            try:
                client.stdin.write(command)
                client.stdin.flush()
            except BrokenPipeError:
                break
            time.sleep(0.001)  # a command has to come in a read of its own
        timer = threading.Timer(30, client.kill)
        timer.start()
        output = b""
        try:
            client.stdin.write(request("GET /healthz"))
            client.stdin.flush()
            while b"HTTP/1.1 " not in output and (piece := client.stdout.read1()):
                output += piece
        except BrokenPipeError:
            output += client.stdout.read()
        timer.cancel()
        client.kill()
        client.wait()
        status = re.search(rb"HTTP/1.1 (\d+)", output)
        return status[1].decode() if status else "refused" if b"no renegotiation" in output else "closed"
    return run


def hello(length):
    """A ClientHello that announces so many bytes and has them, all zero."""
    body = b"\x01" + length.to_bytes(3, "big") + bytes(length)
    records = [body[at:at + 16384] for at in range(0, len(body), 16384)]
    return b"".join(b"\x16\x03\x01" + len(record).to_bytes(2, "big") + record for record in records)


GET = request("GET /metrics")
LOGIN = "Authorization: Basic " + base64.b64encode(b"user:secret").decode()
TOKEN = "Authorization: Bearer s3cret"

PLAIN = [
    ("slowloris: 64 connections, a byte each half second", parallel(64, drip(GET))),
    ("200 connections that say nothing", idle(200)),
    ("a header without end, up to 64 MB", endless(b"GET / HTTP/1.1\r\nX: ", 64 << 20)),
    ("100,000 headers", each(1, request("GET /", *["a: b"] * 100_000))),
    ("chunk sizes: 1,000 × -1, 0x, 2^64",
     each(1000, request("POST /api/v1/release", "Transfer-Encoding: chunked") + b"-1\r\n")),
    ("1,000 × Content-Length and Transfer-Encoding",
     each(1000, request("POST /api/v1/release", "Content-Length: 5", "Transfer-Encoding: chunked")
          + b"0\r\n\r\n" + GET)),
    ("100 × a Range of 1,500 pieces",
     kept(100, lambda i: request("GET /metrics", LOGIN, "Range: bytes=0-1" + ",0-1" * 1500))),
    ("1,000 × %0d%0a in the path",
     kept(1000, lambda i: request("GET /api/v1/ports/%0d%0aX:%20y/1", LOGIN))),
    ("1,000 × ../ in the path, plain and encoded",
     kept(1000, lambda i: request("GET /" + ("../" if i % 2 else "%2e%2e%2f") * 8 + "etc/passwd"))),
    ("100 × JSON 30,000 deep",
     kept(100, lambda i: request("POST /api/v1/release", "Content-Type: application/json",
                                 body=b"[" * 30_000 + b"]" * 30_000), Nicmon.unix)),
    ("1,000 × a compressed body (bomb)",
     each(1000, request("POST /api/v1/release", "Content-Encoding: gzip", body=b"\x1f\x8b" * 500),
          Nicmon.unix)),
    ("a body of 64 MB", endless(request("POST /api/v1/release", f"Content-Length: {64 << 20}"), 64 << 20)),
    ("64 clients that ask for 200 pages and read none", idle(64, request("GET /metrics", LOGIN) * 200)),
    ("1,000 wrong tokens", kept(1000, lambda i: request("GET /metrics", f"Authorization: Bearer {i}"))),
    ("200 wrong passwords at once", parallel(200, guess)),
    ("2,000 requeries in a loop, with a token",
     kept(2000, lambda i: request("POST /api/v1/ports/mlx5_0/1/requery", TOKEN))),
    ("3,000 resumes in a loop, admin socket",
     kept(3000, lambda i: request("POST /api/v1/ports/mlx5_0/1/resume"), Nicmon.unix)),
]
TLS = [
    ("a handshake that drips, 64 times at once", parallel(64, drip(hello(512)))),
    ("200 handshakes that never begin", idle(200)),
    ("200 handshakes that stop after a byte", idle(200, b"\x16")),
    ("500 × plain HTTP", each(500, GET, Nicmon.raw)),
    ("100 × a ClientHello of 128 KiB", each(100, hello(130_000), Nicmon.raw)),
    ("100 × a ClientHello of 16 MB", each(100, hello(0xFFFFFF)[:1 << 20], Nicmon.raw)),
    ("500 handshakes, one after the other", each(500, request("GET /healthz"))),
    ("200 handshakes at once",
     parallel(200, lambda nicmon, _: attempt(nicmon.connect(), request("GET /healthz")))),
    ("renegotiation (TLS 1.2)", s_client([b"R\n"] * 20, "-tls1_2")),
    ("1,000 key updates (TLS 1.3)", s_client([b"K\n"] * 1000, "-tls1_3")),
]


class Others:
    """Somebody else who wants to know whether nicmon is healthy, over both listeners."""

    def __init__(self, nicmon):
        self.nicmon = nicmon
        self.slowest = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            for connect in (self.nicmon.unix, self.nicmon.connect):
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


def run(nicmon, name, attack, max_growth):
    before, cpu = nicmon.status("VmRSS"), nicmon.cpu()
    nicmon.forget_peak()
    others = Others(nicmon)
    begin = time.monotonic()
    try:
        answer = attack(nicmon)
        seconds = time.monotonic() - begin
    finally:
        slowest = others.stop()
    grown = max(0, nicmon.status("VmHWM") - before)
    print(f"| {name} | {answer} | {seconds:.1f} s | {(nicmon.cpu() - cpu) * 1000:.0f} ms | "
          f"{grown / 1024:.1f} MB | {slowest * 1000:.0f} ms |", flush=True)
    bad = grown > max_growth or slowest > MAX_HEALTHZ_SECONDS or "never" in answer
    return 1 if bad else 0


def main():
    program, only = sys.argv[1], [word for word in sys.argv[2:] if word != "--sanitized"]
    max_growth = float("inf") if "--sanitized" in sys.argv else MAX_GROWTH_KIB
    bad = ran = 0
    with tempfile.TemporaryDirectory() as directory:
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost"], cwd=directory, capture_output=True)
        if made.returncode != 0:
            print("SKIPPED: openssl cannot make a certificate")
            return 1 if os.environ.get("CI") == "true" else 77
        print("| what | answer | took | processor | memory at most | slowest /healthz of others |\n"
              "|---|---|---|---|---|---|")
        for tls, attacks in ((False, PLAIN), (True, TLS)):
            for name, attack in attacks:
                if only and not any(word in name for word in only):
                    continue
                nicmon = Nicmon(program, directory, tls)
                try:
                    bad += run(nicmon, name, attack, max_growth)
                    ran += 1
                finally:
                    nicmon.stop()
    print(f"{ran} attacks, {bad} over the bounds")
    return 1 if bad or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
