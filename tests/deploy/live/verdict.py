"""What was wrong with a run of alerts_live.py, as Prometheus has it."""

import time


class Verdict:
    """Collects what is wrong. Where the machine was so busy that Prometheus had no answer of a node for longer
    than the rules bridge, they cannot be blamed for that node."""

    def __init__(self, prometheus, watch, factor):
        self.prometheus = prometheus
        self.watch = watch
        self.begun = time.monotonic()
        rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
        self.waits = {rule["name"]: rule["duration"] for rule in rules if rule.get("duration")}
        self.bridges = 120 / factor  # of scrapes that fail, but never longer than an alert waits
        self.wrong = []
        self.excused = {}            # what is not judged → how often it was so

    def whole(self, keys, since):
        """None of these alerts began its wait anew."""
        with self.watch.lock:
            spans = [span for span in self.watch.spans if span["key"] in keys and span["ended"]
                     and span["pending"] and span["pending"] >= since and not span["firing"]]
        for span in spans:
            alert, fleet, node, *_ = span["key"]
            silence = self.prometheus.silence(since, span["ended"], cluster=fleet, node=node)
            if silence < min(self.bridges, self.waits[alert]):
                yield f"{span['key']} was pending and ended without having fired"
            else:
                self.excuse(f"{span['key']} waited anew, after no scrape had been answered for long")

    def excuse(self, what):
        self.excused[what] = self.excused.get(what, 0) + 1

    def unexpected(self, allowed):
        """Whatever fired that may not: allowed has (key, since)."""
        for span in self.watch.spans:
            key, begun = span["key"], span["firing"]
            if not begun or any(key == each and since <= begun for each, since in allowed):
                continue
            if key[0] == "NicmonDown" and self.unanswered(key, begun):
                self.excuse(f"{key} fired, and rightly so: nothing was answered")
                continue
            ended = (span["ended"] or time.monotonic()) - self.begun
            self.wrong.append(f"fired without a cause: {key}, {begun - self.begun:.1f} to "
                              f"{ended:.1f} s: {span['texts'].get('summary')}")

    def unanswered(self, key, begun):
        """No scrape was answered in the time that the alert looks back and waits."""
        wait = self.bridges + self.waits[key[0]]
        return self.prometheus.silence(begun - 2 * wait, begun, cluster=key[1], node=key[2]) >= wait

    def texts(self):
        """Every annotation came out whole, and names what it is about."""
        for span in self.watch.spans:
            _, _, node, device, port = span["key"]
            texts = span["texts"]
            if not texts:
                continue
            for name in ("summary", "description"):
                text = texts.get(name, "")
                wanted = [word for word in (node, f"{device}/{port}" if port else device) if word]
                if "<error" in text or "no value" in text or any(w not in text for w in wanted):
                    self.wrong.append(f"{span['key'][0]}: {name} says: {text}")

    def pending(self):
        """What waits (`for:`) was pending before it fired; asked of Prometheus, which misses none."""
        run = round(time.monotonic() - self.begun + 60)
        was = {self.watch.key(series["metric"]) for series in self.prometheus.query(
            f'count_over_time(ALERTS{{alertstate="pending"}}[{run}s])')}
        for key in {span["key"] for span in self.watch.spans if span["firing"]}:
            if key[0] in self.waits and key not in was:
                self.wrong.append(f"{key} fired without having been pending")

    def give(self, allowed):
        if self.watch.error:
            self.wrong.append(f"Prometheus could not be asked: {self.watch.error!r}")
        self.unexpected(allowed)
        self.texts()
        self.pending()

    def tell(self, count, rows):
        print_table(rows, self.prometheus.fleets)
        fired = {span["key"][0] for span in self.watch.spans if span["firing"]}
        print(f"{count} phases, {len(fired)} alerts fired: {' '.join(sorted(fired))}")
        groups = self.prometheus.get("rules")["groups"]
        failed = [self.prometheus.failed(self.begun, cluster=fleet) for fleet in self.prometheus.fleets]
        print(f"rules: last evaluation of the slowest group {max(g['evaluationTime'] for g in groups):.3f} s; "
              f"failed scrapes: {failed[0]} and {failed[1]}")
        for what, times in self.excused.items():
            print(f"not judged: {what} (×{times})")


def print_table(rows, fleets):
    heads = [f"{kind} at {interval} s" for interval in fleets.values() for kind in ("fires", "ends")]
    print("\n| phase | alert | " + " | ".join(heads) + " |\n|---|---|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join([*row, "", "", ""][:2 + len(heads)]) + " |")
    print("(seconds after the fault, and after it was mended; the slowest where there are several)\n")
