"""What becomes of a rendered pod: arguments as nicmon gets them, the init script run by root."""

import os
import re
import shutil

from checks import container_of, pod_of
from tools import run

ADDRESSES = {"v4": "10.20.30.40", "v6": "fd00::40"}
USER = 65532
# As an operator may have it: its password is "secret".
OWN_WEB_CONFIG = """\
basic_auth_users:
  prometheus: $2b$10$q3fqDN7MIDQlMs9.5NC/R.DU0iEwtIaeCT7ObOVEj9snUpUNJU9/.
"""


def expand(text, environment):
    """$(NAME) and $$ as kubelet replaces them."""

    def one(match):
        if match.group() == "$$":
            return "$"
        return environment.get(match.group(1), match.group())

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


def expected_settings(values):
    """key of --check-config -> value, as the chart's values say."""
    config = values.get("config", {})
    speeds = ", ".join(str(speed) for speed in config.get("expectSpeed", []))
    return {
        "device-include": config.get("deviceInclude", ""),
        "device-exclude": config.get("deviceExclude", ""),
        "expect-ports": str(config.get("expectPorts", "auto")),
        "expect-speed": speeds,
        "metrics-profile": config.get("metricsProfile", "standard"),
        "log-level": config.get("logLevel", "info"),
        "log-format": config.get("logFormat", "text"),
        "admin-allow-plaintext": str(values.get("admin", {}).get("allowPlaintext", False)).lower(),
    }


def local_paths(arguments, documents, work):
    """The arguments with files and directories of this machine in place of the pod's mounts."""
    place = work / "pod"
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("etc/nicmon/web", "etc/nicmon/admin", "var/lib", "run/nicmon", "host/sys"):
        (place / folder).mkdir(parents=True)
    (place / "etc/nicmon/admin/tokens").write_text("ann:%s\n" % ("0123456789abcdef" * 2))
    web = place / "etc/nicmon/web/web-config.yml"
    web.write_text(OWN_WEB_CONFIG)
    for document in documents:
        if document["kind"] == "ConfigMap" and "web-config.yml" in document["data"]:
            make_certificates(place / "etc/nicmon/tls")
            text = document["data"]["web-config.yml"]
            web.write_text(text.replace("/etc/nicmon", str(place / "etc/nicmon")))
    paths = ("state-dir", "admin-socket", "web-config-file", "admin-token-file", "sysfs-root")
    changed = []
    for argument in arguments:
        flag, _, value = argument.partition("=")
        changed.append("%s=%s%s" % (flag, place, value) if flag[2:] in paths else argument)
    return changed


def make_certificates(folder):
    folder.mkdir(parents=True)
    subject = ("-subj", "/CN=nicmon", "-days", "2")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    out = ("-keyout", folder / "tls.key", "-out", folder / "tls.crt")
    made = run("openssl", "req", "-x509", *key, *subject, *out)
    assert made.returncode == 0, made.stderr
    shutil.copy(folder / "tls.crt", folder / "ca.crt")


def settings_of(text):
    """key -> value of what --check-config prints."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            key, _, value = line.rpartition("  # from ")[0].partition(" = ")
            # A value that the file's syntax needs quotes for has them.
            found[key] = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    return found


def arguments(nicmon, documents, values, work):
    """nicmon takes the arguments, and they mean what the values say."""
    container = container_of(documents)
    names = {entry["name"] for entry in container["env"]}
    used = set()
    for argument in container["args"]:
        used |= set(re.findall(r"\$\(([^)]*)\)", argument.replace("$$", "")))
    if not used <= names:
        yield "variables %s are used, %s are set" % (used, names)
    for family, address in ADDRESSES.items():
        environment = {"NODE_NAME": "gpu-0042", "HOST_IP": address}
        expanded = [expand(argument, environment) for argument in container["args"]]
        local = local_paths(expanded, documents, work)
        environment = {k: v for k, v in environment.items() if k in names}
        done = run(nicmon, "--check-config", *local, env=environment)
        if done.returncode != 0:
            yield "%s: %s" % (family, done.stderr.strip())
            continue
        found = settings_of(done.stdout)
        for key, value in expected_settings(values).items():
            if found.get(key, "") != value:
                yield "%s is %r, not %r" % (key, found.get(key, ""), value)
        if found["node-name"] != "gpu-0042":
            yield "node-name is %s" % found["node-name"]
        host_network = pod_of(documents)["spec"].get("hostNetwork", False)
        listens_on_host = address in found["listen"]
        if listens_on_host != host_network:
            yield "listen is %s with hostNetwork %s" % (found["listen"], host_network)


def check_init(documents, work, report):
    """The init script with the capability it is given and no other, on directories as they come."""
    (init,) = pod_of(documents)["spec"]["initContainers"]
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("not run: the init script needs root and setpriv")
        return
    owners = {"as kubelet makes them": (0, 0o755), "of another user": (997, 0o700),
              "handed over before": (USER, 0o750)}
    for name, (owner, mode) in owners.items():
        place = work / ("init-%d" % owner)
        folders = [place / "var/lib/nicmon", place / "run/nicmon"]
        for folder in folders:
            folder.mkdir(parents=True)
            (folder / "holds.json").write_text("{}")
            os.chown(folder / "holds.json", owner, owner)
            os.chown(folder, owner, owner)
            folder.chmod(mode)
        (folders[0] / "link").symlink_to(work)
        script = init["command"][-1]
        for path in ("/var/lib/nicmon", "/run/nicmon"):
            script = script.replace(path, str(place) + path)
        added = ["+" + cap.lower() for cap in init["securityContext"]["capabilities"]["add"]]
        bound = "--bounding-set=" + ",".join(["-all", *added])
        done = run("setpriv", bound, "--no-new-privs", *init["command"][:-1], script)
        problems = [done.stderr] if done.returncode else []
        for folder in folders:
            for path in (folder, folder / "holds.json"):
                if (path.stat().st_uid, path.stat().st_gid) != (USER, USER):
                    problems.append("%s is of %d" % (path, path.stat().st_uid))
        if work.stat().st_uid == USER:
            problems.append("what a link points at was handed over")
        modes = [folder.stat().st_mode & 0o777 for folder in folders]
        if modes != [0o750, 0o755]:
            problems.append("modes %s" % [oct(mode) for mode in modes])
        report.check("init on directories " + name, problems)
