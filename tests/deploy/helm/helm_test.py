#!/usr/bin/env python3
"""The chart: rendered with many values and checked, refused with wrong ones, in step with the rest.

helm_test.py NICMON TOOLS            checks; TOOLS is a directory for what is fetched
helm_test.py --write NICMON TOOLS    makes deploy/kubernetes/nicmon.yaml and the table of docs/ anew
"""

import json
import pathlib
import sys
import tempfile

import cases
import checks
import derived
import pod
from tools import Tools, run

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "deploy/helm/nicmon"


class Report:
    def __init__(self):
        self.passed = 0
        self.problems = []

    def check(self, name, problems):
        problems = list(problems)
        self.passed += not problems
        self.problems += ["%s: %s" % (name, problem) for problem in problems]


def with_image(values):
    return dict({"image": cases.IMAGE}, **values)


def write_values(work, name, values):
    path = work / (name.replace(" ", "-") + ".values.json")
    path.write_text(json.dumps(values))
    return path


def render_all(tools, work, report):
    """name -> manifest file, of what can be rendered."""
    files = {}
    for name, values in cases.RENDERED.items():
        done = tools.template(CHART, write_values(work, name, with_image(values)))
        report.check("template " + name, [done.stderr] if done.returncode else [])
        files[name] = work / (name + ".yaml")
        files[name].write_text(done.stdout)
    return files


def refuse_all(tools, work, report):
    for name, (values, message) in cases.REFUSED.items():
        done = tools.template(CHART, write_values(work, name, with_image(values)))
        if done.returncode == 0:
            report.check("refused: " + name, ["was rendered"])
        elif message not in done.stderr:
            report.check("refused: " + name, ["says %r, not %r" % (done.stderr, message)])
        else:
            report.check("refused: " + name, [])


def lint(tools, work, report):
    for name in ("default", "monitoring-labels", "network-policy", "tls-own-config"):
        values = write_values(work, name, with_image(cases.RENDERED[name]))
        done = run(tools.helm, "lint", "--strict", CHART, "--values", values)
        report.check("lint " + name, [done.stdout] if done.returncode else [])


def read_documents(tools, work, files, report):
    """file name -> documents, each checked against its schema and its type."""
    done = run("node", tools.place / "documents.mjs", work, *files, cwd=tools.place)
    report.check("schemas", (done.stdout + done.stderr).splitlines())
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext")
    # Types are looked up from where the file is.
    typed = tools.place / "documents.ts"
    typed.write_text((work / "documents.ts").read_text())
    done = run(tools.tsc, *options, "--target", "es2022", typed, cwd=tools.place)
    report.check("types", (done.stdout + done.stderr).splitlines())
    return json.loads((work / "documents.json").read_text())


def check_packaged(tools, work, report):
    """A packaged chart has the rules and dashboards that the tree links to, and nothing else."""
    done = run(tools.helm, "package", CHART, "--destination", work)
    if done.returncode:
        report.check("package", [done.stderr])
        return
    (archive,) = work.glob("nicmon-*.tgz")
    values = write_values(work, "packaged", with_image(cases.RENDERED["monitoring-labels"]))
    there, here = tools.template(archive, values), tools.template(CHART, values)
    report.check("package", [there.stderr] if there.stdout != here.stdout else [])
    names = run("tar", "-tzf", archive).stdout.splitlines()
    surplus = [n for n in names if "/files/" in n and not n.endswith((".rules.yml", ".json"))]
    report.check("package holds", surplus)
    size = archive.stat().st_size
    # Helm keeps a release in a Secret, which holds 1 MiB.
    report.check("package size", ["%d bytes" % size] if size > 400_000 else [])


def main():
    write = "--write" in sys.argv
    nicmon, place = [a for a in sys.argv[1:] if a != "--write"]
    tools = Tools(place)
    report = Report()
    with tempfile.TemporaryDirectory(prefix="nicmon-helm-") as folder:
        work = pathlib.Path(folder)
        if write:
            derived.write(tools, work)
            return 0
        lint(tools, work, report)
        refuse_all(tools, work, report)
        files = render_all(tools, work, report)
        documents = read_documents(tools, work, [*files.values(), derived.MANIFEST], report)
        for name, values in cases.RENDERED.items():
            rendered = documents[str(files[name])]
            for check in checks.ALL:
                report.check("%s, %s" % (name, check.__name__), check(rendered, values))
            report.check("%s, arguments" % name, pod.arguments(nicmon, rendered, values, work))
        derived.check(tools, work, documents, files, report)
        check_packaged(tools, work, report)
        pod.check_init(documents[str(files["default"])], work, report)
    for problem in report.problems:
        print(problem)
    print("%d passed, %d failed" % (report.passed, len(report.problems)))
    return 1 if report.problems or report.passed < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
