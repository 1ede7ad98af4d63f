"""The attacks of hostile.py. Each is a function of the target that returns what was answered, for a
column of a table; it fails by an answer with "never" in it.
"""

import base64
import os
import re
import ssl
import subprocess
import threading
import time

from target import Target, receive, request


def attempt(client, data):
    """What the connection answers to these bytes, even if it does not take them all."""
    try:
        client.sendall(data)
    except (ConnectionError, ssl.SSLError, TimeoutError):
        pass
    answer = receive(client)
    client.close()
    return answer


def tally(answers):
    """["200", "404", "200"] -> "2 × 200, 404"."""
    counts = {}
    for answer in answers:
        counts[answer] = counts.get(answer, 0) + 1
    return ", ".join(f"{count} × {answer}" if count > 1 else answer
                     for answer, count in counts.items())


def each(count, data, connect=Target.connect):
    """An attack: so many connections, one after the other, each with these bytes."""
    def run(target):
        return tally(attempt(connect(target), data) for _ in range(count))
    return run


def kept(count, data_of, connect=Target.connect):
    """An attack: so many requests, over connections that are kept as long as they may be."""
    def run(target):
        answers, client = [], connect(target)
        for i in range(count):
            if i % 900 == 899:  # a connection ends after 1,000 requests
                client.close()
                client = connect(target)
            client.sendall(data_of(i))
            answers.append(receive(client))
        client.close()
        return tally(answers)
    return run


def parallel(count, one):
    """An attack: so many threads, each of which does one(target, its number)."""
    def run(target):
        answers = [None] * count

        def work(i):
            answers[i] = one(target, i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tally(answers)
    return run


def drip(data, seconds=12):
    """One byte now and then, until the other end has had enough."""
    def one(target, _):
        client = target.raw()
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
    """An attack: these bytes, and as many more of one letter."""
    def run(target):
        client = target.connect()
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


def idle(count, data=b"", connect=Target.raw):
    """So many connections that say this much and then nothing, while one asks for something."""
    def run(target):
        clients = []
        for _ in range(count):
            client = connect(target)
            client.sendall(data)
            clients.append(client)
        answers = [attempt(target.connect(), request("GET /healthz")) for _ in range(10)]
        for client in clients:
            client.close()
        return "others: " + tally(answers)
    return run


def guess(target, i):
    """A password that nobody has tried."""
    credentials = base64.b64encode(f"user:guess{i}-{os.getpid()}".encode()).decode()
    return attempt(target.connect(), request("GET /metrics", f"Authorization: Basic {credentials}"))


def s_client(commands, *flags):
    """OpenSSL's own client, which has commands for what others do not do."""
    def run(target):
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", target.address, "-servername", "localhost", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
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
        if status:
            return status[1].decode()
        return "refused" if b"no renegotiation" in output else "closed"
    return run


def hello(length):
    """A ClientHello that announces so many bytes and has them, all zero."""
    body = b"\x01" + length.to_bytes(3, "big") + bytes(length)
    records = [body[at:at + 16384] for at in range(0, len(body), 16384)]
    return b"".join(b"\x16\x03\x01" + len(record).to_bytes(2, "big") + record for record in records)


GET = request("GET /metrics")
LOGIN = "Authorization: Basic " + base64.b64encode(b"user:secret").decode()
TOKEN = f"Authorization: Bearer {Target.token}"

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
                                 body=b"[" * 30_000 + b"]" * 30_000), Target.unix)),
    ("1,000 × a compressed body (bomb)",
     each(1000, request("POST /api/v1/release", "Content-Encoding: gzip", body=b"\x1f\x8b" * 500),
          Target.unix)),
    ("a body of 64 MB",
     endless(request("POST /api/v1/release", f"Content-Length: {64 << 20}"), 64 << 20)),
    ("64 clients that ask for 200 pages and read none",
     idle(64, request("GET /metrics", LOGIN) * 200)),
    ("1,000 wrong tokens",
     kept(1000, lambda i: request("GET /metrics", f"Authorization: Bearer {i}"))),
    ("200 wrong passwords at once", parallel(200, guess)),
    ("2,000 requeries in a loop, with a token",
     kept(2000, lambda i: request("POST /api/v1/ports/mlx5_0/1/requery", TOKEN))),
    ("3,000 resumes in a loop, admin socket",
     kept(3000, lambda i: request("POST /api/v1/ports/mlx5_0/1/resume"), Target.unix)),
]
TLS = [
    ("a handshake that drips, 64 times at once", parallel(64, drip(hello(512)))),
    ("200 handshakes that never begin", idle(200)),
    ("200 handshakes that stop after a byte", idle(200, b"\x16")),
    ("500 × plain HTTP", each(500, GET, Target.raw)),
    ("100 × a ClientHello of 128 KiB", each(100, hello(130_000), Target.raw)),
    ("100 × a ClientHello of 16 MB", each(100, hello(0xFFFFFF)[:1 << 20], Target.raw)),
    ("500 handshakes, one after the other", each(500, request("GET /healthz"))),
    ("200 handshakes at once",
     parallel(200, lambda target, _: attempt(target.connect(), request("GET /healthz")))),
    ("renegotiation (TLS 1.2)", s_client([b"R\n"] * 20, "-tls1_2")),
    ("1,000 key updates (TLS 1.3)", s_client([b"K\n"] * 1000, "-tls1_3")),
]
