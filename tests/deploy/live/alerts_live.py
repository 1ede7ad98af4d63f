#!/usr/bin/env python3
"""The alerts on a real Prometheus and simulated nodes: alerts_live.py NICMON [--fast] [--healthy SECONDS].

Starts thirteen nodes of different shapes, scrapes each twice (two fleets: every 15 s and every 30 s), first
watches a healthy fleet, then injects the faults of phases.py, many at a time. Each fault must go pending,
firing, resolved, at both intervals, and nothing else may fire at any time. Takes about 45 minutes.

--fast divides every duration of the rules by 20 and scrapes every 1 s and 2 s: about two minutes. Prints a
table with the time from each fault to its alert. Exits 77 when prometheus is missing (1 with CI=true).
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

import phases as fault
from nodes import Node
from prom import RULES, Scraper, Watch
from verdict import Verdict

# Of tests/testing, which those have put on the path.
import mlx5_tree
from live import skip, wait_until


class Run:
    def __init__(self, program, prometheus, directory, fast, healthy):
        self.fast = fast
        self.factor = 20 if fast else 1
        self.healthy = healthy if healthy is not None else (15 if fast else 600)
        self.deadline = 90 if fast else 1500  # for what one phase waits for
        self.begun = time.monotonic()
        self.rows = []
        self.allowed = []   # (key, from): may fire from then on
        self.done = {}      # phase name → set when it is over
        self.lock = threading.Lock()
        self.programs = program, prometheus
        self.directory = pathlib.Path(directory)
        self.prometheus = self.watch = self.verdict = None
        self.make_nodes(program, self.directory)

    def start(self):
        for node in self.nodes:
            node.start()
        for node in (self.roce, self.infiniband, self.many):  # a life before this run
            node.counters("mlx5_1", 1, link_downed=7, port_rcv_errors=50000,
                          local_link_integrity_errors=2)
        self.roce.counters("mlx5_3", 1, port_rcv_errors=50000)
        self.roce.counters("mlx5_4", 1, link_downed=7)
        self.prometheus = Scraper(self.programs[1], self.directory, self.nodes, factor=self.factor,
                                  interval=1 if self.fast else 15)
        self.watch = Watch(self.prometheus, 0.2 if self.fast else 1)
        self.verdict = Verdict(self.prometheus, self.watch, self.factor)
        wait_until(self.prometheus.ready, "all targets are up", 120)
        self.watch.start()

    def make_nodes(self, program, directory):
        def node(name, spec, *flags, ports):
            return Node(program, directory, name, spec, *flags, ports=ports)

        self.tree = directory / "sysfs"
        for number in range(2):
            mlx5_tree.make_device(self.tree, number)
        self.roce = node("roce", "devices=8,speed=400", "--expect-speed=400", ports=8)
        self.infiniband = node("infiniband", "devices=4,ports=2,link=ib,speed=200", ports=8)
        self.odd = node("odd", "names=ibp1s0+rocep3s0f0+ibp5s0,speed=100,link=ib",
                        "--metrics-profile=minimal", ports=3)
        self.many = node("many", "devices=2,ports=8,speed=800", "--metrics-profile=full", ports=16)
        self.access = node("access", "devices=3,speed=50", "--settle=2s", ports=3)
        self.state = node("state", "devices=2", ports=2)
        self.bare = node("bare", "devices=2,link=ib", "--sysfs-root", str(self.tree), ports=2)
        self.victim = node("victim", "devices=2", ports=2)
        self.refused = node("refused", "devices=2", ports=2)
        self.refused.refuse_scrapes(False)
        self.refused.usual += ["--web-config-file", str(self.refused.web_config)]
        self.leaves = [node(f"leaf-{i}", "devices=16,speed=400,link=ib", ports=16) for i in (1, 2, 3, 4)]
        self.nodes = [self.roce, self.infiniband, self.odd, self.many, self.access, self.state,
                      self.bare, self.victim, self.refused, *self.leaves]

    def phases(self):
        return [*fault.roce_phases(self.roce), *fault.infiniband_phases(self.infiniband),
                *fault.odd_phases(self.odd), *fault.many_port_phases(self.many, self.prometheus),
                *fault.access_phases(self.access), *fault.state_phases(self.state),
                fault.bare_phase(self.bare, self.tree), fault.victim_phase(self.victim),
                fault.refused_phase(self.refused, self.prometheus.fleets["slow-scrapes"]),
                fault.leaf_phase(self.leaves)]

    # What a phase expects, as keys of the watch: each in both fleets.
    def keys(self, phase, alerts):
        for alert, device, port, *node in alerts:
            name = node[0] if node else phase.node.name
            for fleet in self.prometheus.fleets:
                yield (alert, fleet, name, device, port)

    def fail(self, phase, what):
        with self.lock:
            self.verdict.wrong.append(f"{phase.name}: {what}")
        self.say(f"WRONG {phase.name}: {what}")

    def say(self, text):
        print(f"{time.monotonic() - self.begun:7.1f} s  {text}\n", end="", flush=True)

    def run_phase(self, phase):
        try:
            if phase.after:
                self.done[phase.after].wait()
            fires = list(self.keys(phase, phase.fires))
            also = list(self.keys(phase, phase.also))
            started = time.monotonic()
            with self.lock:
                self.allowed += [(key, started) for key in fires + also]
            self.say(f"inject: {phase.name}")
            phase.inject()
            injected = time.monotonic()
            if fires:
                self.raise_and_mend(phase, fires, injected)
            else:
                self.keep_on(phase, injected + phase.silence / self.factor)
                phase.mend()
                self.rows.append((phase.name, "nothing", "", "", ""))
                self.say(f"over: {phase.name}")
        except Exception as error:  # a phase must not take the others along
            self.fail(phase, repr(error))
        finally:
            self.done[phase.name].set()

    def keep_on(self, phase, end, until=lambda spans: False):
        """Keeps the fault up until the time, or until the alerts are as they should be."""
        while time.monotonic() < end:
            if phase.keep:
                phase.keep()
            if self.watch.until(until, min(end, time.monotonic() + 1)):
                return True
        return False

    def raise_and_mend(self, phase, fires, injected):
        def firing(spans):
            return all(key in spans and spans[key]["firing"] for key in fires)

        if not self.keep_on(phase, injected + self.deadline, firing):
            missing = [key for key in fires if not self.watch.open.get(key, {}).get("firing")]
            self.fail(phase, f"never fired: {missing[:6]}")
        spans = {key: self.watch.open[key] for key in fires if key in self.watch.open}
        self.say(f"firing: {phase.name}")
        for what in self.verdict.whole(fires, injected):
            self.fail(phase, what)
        if phase.unbroken:
            phase.unbroken()
            self.keep_on(phase, time.monotonic() + phase.silence / self.factor)
            for key, span in spans.items():
                if span["ended"]:
                    self.fail(phase, f"{key} ended meanwhile")
        if phase.refused:
            for fleet in self.prometheus.fleets:
                if not self.prometheus.failed(injected, cluster=fleet, node=phase.node.name):
                    self.fail(phase, f"no scrape of {fleet} failed")
        phase.mend()
        mended = time.monotonic()
        if not self.watch.until(lambda now: not any(key in now for key in fires),
                                mended + self.deadline):
            self.fail(phase, f"not resolved: {[k for k in fires if k in self.watch.open][:6]}")
        self.report(phase, spans, injected, mended)
        self.say(f"resolved: {phase.name}")

    def report(self, phase, spans, injected, mended):
        """One row per alert, the worst of its ports and nodes, for each of the two intervals."""
        for alert in dict.fromkeys(key[0] for key in spans):
            times = []
            for fleet in self.prometheus.fleets:
                own = [span for key, span in spans.items() if key[:2] == (alert, fleet)]
                if not own or not all(span["firing"] for span in own):
                    times += ["never", ""]
                    continue
                fired = max(span["firing"] - injected for span in own)
                gone = max((span["ended"] or mended) - mended for span in own)
                times += [f"{fired:.1f}", f"{max(gone, 0):.1f}"]
            count = len(spans) and sum(key[0] == alert for key in spans) // 2
            self.rows.append((phase.name, alert + (f" ×{count}" if count > 1 else ""), *times))

    def go(self):
        self.start()
        self.say(f"{len(self.nodes)} nodes, {sum(n.ports for n in self.nodes)} ports: healthy")
        time.sleep(self.healthy)  # this is the test: so long nothing may fire
        if any(span["firing"] for span in self.watch.spans):
            self.verdict.wrong.append("a healthy fleet fires")
        self.say("healthy phase over")
        phases = self.phases()
        last = fault.rollout_phase(self.nodes, self.roce)
        self.done = {phase.name: threading.Event() for phase in [*phases, last]}
        threads = [threading.Thread(target=self.run_phase, args=(phase,)) for phase in phases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.run_phase(last)
        self.verdict.give(self.allowed)
        self.verdict.tell(len(phases) + 2, self.rows)

    def stop(self):
        if self.watch:
            self.watch.stopping = True
        if self.prometheus:
            self.prometheus.stop()
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                node.kill()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("nicmon")
    arguments.add_argument("--fast", action="store_true")
    arguments.add_argument("--healthy", type=float, help="seconds that nothing may fire")
    given = arguments.parse_args()
    prometheus = shutil.which("prometheus")
    if not prometheus:
        skip("prometheus is missing (Debian package prometheus)")
    with tempfile.TemporaryDirectory() as directory:
        run = Run(os.path.abspath(given.nicmon), prometheus, directory, given.fast, given.healthy)
        try:
            run.go()
        finally:
            run.stop()
    wrong = run.verdict.wrong
    for line in wrong:
        print("WRONG", line)
    print(f"{RULES.name}: {'FAILED' if wrong else 'all as it should be'}, "
          f"{time.monotonic() - run.begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
