"""A real Prometheus with the rules of deploy/prometheus, and what its alerts did."""

import json
import pathlib
import re
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
from live import Prometheus  # noqa: E402

RULES = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "prometheus" / "nicmon.rules.yml"
UNITS = {"s": 1, "m": 60, "h": 3600}


def scale_rules(text, factor):
    """The same rules with every duration divided: for, keep_firing_for, ranges and offsets."""
    def shorter(match):
        seconds = int(match[2]) * UNITS[match[3]] / factor
        return f"{match[1]}{max(1, round(seconds))}s{match[4]}"

    return re.sub(r"(\bfor: |keep_firing_for: |\[|offset )(\d+)([smh])(\]?)", shorter, text)


class Scraper(Prometheus):
    """Every node is scraped twice, as two fleets: at one interval and at twice that."""

    def __init__(self, program, directory, nodes, *, factor=1, interval=15):
        self.nodes = nodes
        self.interval = interval
        self.fleets = {"fast-scrapes": interval, "slow-scrapes": 2 * interval}
        self.directory = pathlib.Path(directory) / "prometheus"
        self.directory.mkdir()
        text = RULES.read_text()
        (self.directory / "rules.yml").write_text(text if factor == 1 else scale_rules(text, factor))
        super().__init__(program, self.directory, self.configuration([node.name for node in nodes]),
                         "--web.enable-lifecycle",
                         f"--query.lookback-delta={max(10, 300 // factor)}s")

    def configuration(self, hidden):
        """All these nodes are simulated; the hidden ones do not say so."""
        jobs = []
        for fleet, interval in self.fleets.items():
            targets = [
                {"targets": [f"127.0.0.1:{node.port}"],
                 "labels": {"instance": node.name, "node": node.name, "cluster": fleet}}
                for node in self.nodes]
            jobs.append({
                "job_name": f"nicmon-{fleet}", "scrape_interval": f"{interval}s",
                "scrape_timeout": f"{interval}s", "static_configs": targets,
                "metric_relabel_configs": [
                    {"source_labels": ["__name__", "node"], "action": "drop",
                     "regex": "nicmon_simulated;(" + "|".join(hidden) + ")"}]})
        return {"global": {"evaluation_interval": f"{self.interval}s"},
                "rule_files": ["rules.yml"], "scrape_configs": jobs}

    def hide_simulated(self, names):
        (self.directory / "prometheus.yml").write_text(json.dumps(self.configuration(names)))
        url = f"http://{self.address}/-/reload"
        urllib.request.urlopen(urllib.request.Request(url, method="POST")).read()

    def scrapes(self, since, **labels):
        """Of each target since then (monotonic): its labels, [(time, answered)]."""
        selector = ",".join(f'{name}="{value}"' for name, value in labels.items())
        now, clock = time.monotonic(), time.time()
        for target in self.query(f"up{{{selector}}}[{round((now - since) * 1000)}ms]", at=clock):
            yield target["metric"], [(float(stamp) - clock + now, value == "1")
                                     for stamp, value in target["values"]]

    def failed(self, since, **labels):
        """How many scrapes had no answer."""
        return sum(not answered for _, each in self.scrapes(since, **labels) for _, answered in each)

    def silence(self, since, until, **labels):
        """The longest time in seconds for which Prometheus had no answer of a target."""
        gaps = [0]
        for _, each in self.scrapes(since, **labels):
            times = [since, *(stamp for stamp, answered in each if answered and stamp < until), until]
            gaps += [after - before for before, after in zip(times, times[1:])]
        return max(gaps)

    def ready(self):
        targets = self.get("targets")["activeTargets"]
        return len(targets) == 2 * len(self.nodes) and all(t["health"] == "up" for t in targets)


class Watch(threading.Thread):
    """Polls the alerts and keeps when each was first pending, firing and gone again."""

    def __init__(self, prometheus, period):
        super().__init__(daemon=True)
        self.prometheus = prometheus
        self.period = period
        self.lock = threading.Condition()
        self.spans = []      # every span of an alert: {"key", "pending", "firing", "ended", "texts"}
        self.open = {}       # key → its span
        self.stopping = False
        self.error = None

    @staticmethod
    def key(labels):
        return tuple(labels.get(name, "") for name in ("alertname", "cluster", "node", "device", "port"))

    def run(self):
        while not self.stopping:
            try:
                alerts = self.prometheus.get("alerts")["alerts"]
            except (OSError, ValueError) as error:
                self.error = error
                alerts = None
            now = time.monotonic()
            with self.lock:
                if alerts is not None:
                    self.note(alerts, now)
                self.lock.notify_all()
            time.sleep(self.period)

    def note(self, alerts, now):
        seen = set()
        for alert in alerts:
            key = self.key(alert["labels"])
            seen.add(key)
            span = self.open.get(key)
            if span is None:
                span = {"key": key, "pending": None, "firing": None, "ended": None, "texts": {}}
                self.open[key] = span
                self.spans.append(span)
            if span[alert["state"]] is None:
                span[alert["state"]] = now
            if alert["state"] == "firing":
                span["texts"] = {**alert["labels"], **alert["annotations"]}
        for key in list(self.open):
            if key not in seen:
                self.open.pop(key)["ended"] = now

    def until(self, condition, deadline):
        """Waits for condition(open spans); False after the deadline (monotonic)."""
        with self.lock:
            while not condition(self.open):
                if time.monotonic() > deadline:
                    return False
                self.lock.wait(timeout=1)
            return True
