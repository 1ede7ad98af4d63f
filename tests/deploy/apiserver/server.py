"""A kube-apiserver with its etcd, on loopback, for as long as a with block lasts."""

import json
import os
import pathlib
import ssl
import subprocess
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
from live import free_port, wait_until  # noqa: E402

TOKEN = "a-token-of-this-run-only"

# As some providers have it: pods of the critical classes only where a quota admits them.
ADMISSION = {
    "apiVersion": "apiserver.config.k8s.io/v1",
    "kind": "AdmissionConfiguration",
    "plugins": [
        {
            "name": "ResourceQuota",
            "configuration": {
                "apiVersion": "apiserver.config.k8s.io/v1",
                "kind": "ResourceQuotaConfiguration",
                "limitedResources": [
                    {
                        "resource": "pods",
                        "matchScopes": [
                            {
                                "scopeName": "PriorityClass",
                                "operator": "In",
                                "values": ["system-node-critical", "system-cluster-critical"],
                            }
                        ],
                    }
                ],
            },
        }
    ],
}


class Server:
    def __init__(self, programs, work):
        self.programs, self.work = pathlib.Path(programs), pathlib.Path(work)
        self.url = "https://127.0.0.1:%d" % free_port()
        self.kubeconfig = self.work / "kubeconfig"
        self._processes = []

    def _start(self, name, *command):
        log = open(self.work / (name + ".log"), "w")
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.work)
        self._processes.append(process)

    def __enter__(self):
        clients, peers = ("http://127.0.0.1:%d" % free_port() for _ in range(2))
        self._start(
            "etcd",
            self.programs / "etcd/usr/bin/etcd",
            "--data-dir=etcd",
            "--listen-client-urls=" + clients,
            "--advertise-client-urls=" + clients,
            "--listen-peer-urls=" + peers,
            "--unsafe-no-fsync",
        )
        key = self.work / "sa.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        (self.work / "tokens.csv").write_text('%s,admin,admin,"system:masters"\n' % TOKEN)
        (self.work / "admission.json").write_text(json.dumps(ADMISSION))
        self._start(
            "kube-apiserver",
            self.programs / "bin/kube-apiserver",
            "--etcd-servers=" + clients,
            "--secure-port=" + self.url.rsplit(":", 1)[1],
            "--bind-address=127.0.0.1",
            "--cert-dir=certificates",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://nicmon.example.com",
            "--service-account-key-file=sa.key",
            "--service-account-signing-key-file=sa.key",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--allow-privileged",
            "--admission-control-config-file=admission.json",
        )
        self.kubeconfig.write_text(json.dumps(self._config()))
        try:
            self._wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _config(self):
        cluster = {"server": self.url, "insecure-skip-tls-verify": True}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "admin"}}],
            "current-context": "it",
        }

    def _wait_until_ready(self):
        unchecked = ssl._create_unverified_context()
        headers = {"Authorization": "Bearer " + TOKEN}
        request = urllib.request.Request(self.url + "/readyz", headers=headers)

        def ready():
            if ended := [process.args[0] for process in self._processes if process.poll() is not None]:
                raise RuntimeError("ended: %s" % ended)
            try:
                with urllib.request.urlopen(request, timeout=5, context=unchecked):
                    return True
            except OSError:
                return False

        wait_until(ready, "kube-apiserver is ready", 120)

    def __exit__(self, *_):
        ended = [process.args[0] for process in self._processes if process.poll() is not None]
        if ended:
            print("ended by themselves: %s" % [str(program) for program in ended])
            for log in self.work.glob("*.log"):
                text = log.read_text()
                # A Go program's last words come before what all its goroutines did.
                print(log.name, text[text.find("fatal error") :][:4000])
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def environment(self):
        return dict(os.environ, KUBECONFIG=str(self.kubeconfig), HOME=str(self.work))
