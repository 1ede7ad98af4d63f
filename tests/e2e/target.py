"""The nicmon that hostile.py attacks, with what it costs, and bytes to and from it."""

import os
import pathlib
import re
import socket
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "testing"))
import live  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
# "secret", at the cost that htpasswd -C 10 gives.
HASH = "$2b$10$oLmwteioVFZVc7yUjsE5xeWPBHC1CTgIDCMiQEMA9x3n5ud0qPxjy"
TLS = "tls_server_config:\n  cert_file: ../cert.pem\n  key_file: ../key.pem\n"


class Target(live.Nicmon):
    """Plain, or with TLS by the certificate beside its directory; two ports are up."""

    def __init__(self, program, directory, tls):
        certificate = directory.parent / "cert.pem"
        self.context = ssl.create_default_context(cafile=certificate) if tls else None
        directory.mkdir()
        config = directory / "web.yml"
        config.write_text((TLS if tls else "") + f"basic_auth_users:\n  user: {HASH}\n")
        super().__init__(program, directory, "--simulate=devices=2", "--web-config-file", config,
                         f"--state-dir={directory / 'state'}")
        live.wait_until(lambda: self.ask("GET", "/api/v1/node")["ports_up"] == 2, "two ports up")

    def cpu(self):
        """Seconds so far."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1])

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def raw(self):
        """A connection in plain TCP."""
        client = socket.create_connection(self.address.rsplit(":", 1), timeout=30)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def connect(self):
        """The same as clients should: with TLS where it has that."""
        plain = self.raw()
        if self.context is None:
            return plain
        return self.context.wrap_socket(plain, server_hostname="localhost")

    def unix(self):
        """A connection to the admin socket."""
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


def request(line, *headers, body=b""):
    if body:
        headers += (f"Content-Length: {len(body)}",)
    return "\r\n".join((line + " HTTP/1.1", "Host: localhost", *headers, "", "")).encode() + body
