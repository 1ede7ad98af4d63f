"""What is made from the chart or goes into it: none of it is written twice by hand."""

import json
import pathlib
import re

import cases
from checks import of_kind
from tools import run

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "deploy/helm/nicmon"
MANIFEST = ROOT / "deploy/kubernetes/nicmon.yaml"
DOCS = ROOT / "docs/kubernetes.md"
BEGIN, END = "<!-- values: begin -->\n", "<!-- values: end -->\n"

HEADER = """\
# nicmon on every node labelled nicmon.io/pool=rdma, without Helm: docs/kubernetes.md.
#
#   sed 's,registry.example.com,YOUR.REGISTRY,' nicmon.yaml | kubectl apply -f -
#
# Rendered from the chart in deploy/helm/nicmon with its defaults; a test compares. Change it there.
apiVersion: v1
kind: Namespace
metadata:
  name: nicmon
  labels:
    # hostNetwork, hostPath and device access: no other level admits them.
    pod-security.kubernetes.io/enforce: privileged
"""


def manifest_text(tools, work):
    values = work / "manifest.values.json"
    values.write_text(json.dumps({"image": cases.IMAGE}))
    done = run(tools.helm, "template", "nicmon", CHART, "--namespace", "nicmon", "--values", values)
    assert done.returncode == 0, done.stderr
    return HEADER + re.sub(r"^# Source: .*\n", "", done.stdout, flags=re.M)


def values_table(tools):
    files = (CHART / "values.yaml", CHART / "values.schema.json")
    done = run("node", tools.place / "convert.mjs", "table", *files, cwd=tools.place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def docs_with(table):
    before, _, rest = DOCS.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + table + END + after


def write(tools, work):
    MANIFEST.parent.mkdir(exist_ok=True)
    MANIFEST.write_text(manifest_text(tools, work))
    DOCS.write_text(docs_with(values_table(tools)))


def check_rules(tools, documents, files, report):
    """PrometheusRules have the groups of deploy/prometheus, node_exporter's names if asked for."""
    sources = sorted((ROOT / "deploy/prometheus").glob("*.rules.yml"))
    done = run("node", tools.place / "convert.mjs", "json", *sources, cwd=tools.place)
    assert done.returncode == 0, done.stderr
    contents = json.loads(done.stdout).items()
    groups = {pathlib.Path(path).name: content["groups"] for path, content in contents}
    for name in ("monitoring", "monitoring-labels"):
        values = cases.RENDERED[name]["prometheusRule"]
        wanted = [
            group
            for file, content in groups.items()
            if values.get("nodeExporterNames") or file != "node-exporter-names.rules.yml"
            for group in content
        ]
        if "runbookBase" in values:
            text = json.dumps(wanted).replace(
                '"runbook_url": "docs/', '"runbook_url": "%s/docs/' % values["runbookBase"]
            )
            wanted = json.loads(text)
        (rule,) = of_kind(documents[str(files[name])], "PrometheusRule")
        found = rule["spec"]["groups"] or []
        problems = [] if found == wanted and wanted else ["groups differ from deploy/prometheus"]
        report.check("rules, " + name, problems)


def check_dashboards(documents, files, report):
    wanted = {path.name: path.read_text() for path in (ROOT / "dashboards").glob("*.json")}
    for name in ("monitoring", "monitoring-labels"):
        maps = of_kind(documents[str(files[name])], "ConfigMap")
        found = {file: text for each in maps for file, text in each["data"].items()}
        # kubectl apply keeps a copy in an annotation, which holds 256 KiB.
        big = [file for file, text in found.items() if len(text.encode()) > 250_000]
        report.check("dashboards' size, " + name, big)
        same = {k: json.loads(v) for k, v in found.items()} == {
            k: json.loads(v) for k, v in wanted.items()
        }
        label = dict(cases.RENDERED[name]["dashboards"].get("labels", {"grafana_dashboard": "1"}))
        labelled = all(label.items() <= each["metadata"]["labels"].items() for each in maps)
        fine = same and labelled and wanted
        problems = [] if fine else ["not the dashboards of the tree: %s" % [*found]]
        report.check("dashboards, " + name, problems)


def check_kinds(documents, files, report):
    """Each document that a value asks for is there, and no other."""
    for name, values in cases.RENDERED.items():
        wanted = {"DaemonSet"}
        for value, kind in (
            ("podMonitor", "PodMonitor"),
            ("prometheusRule", "PrometheusRule"),
            ("networkPolicy", "NetworkPolicy"),
            ("priorityQuota", "ResourceQuota"),
            ("dashboards", "ConfigMap"),
        ):
            if values.get(value, {}).get("enabled"):
                wanted.add(kind)
        if values.get("serviceAccount", {}).get("create", True):
            wanted.add("ServiceAccount")
        web = values.get("web", {})
        if "tlsSecret" in web and "configSecret" not in web:
            wanted.add("ConfigMap")
        found = {document["kind"] for document in documents[str(files[name])]}
        report.check(name + ", kinds", [] if found == wanted else ["%s, not %s" % (found, wanted)])


def check(tools, work, documents, files, report):
    anew = "is not in step, run tests/deploy/helm/helm_test.py --write NICMON TOOLS"
    same = MANIFEST.exists() and MANIFEST.read_text() == manifest_text(tools, work)
    report.check("manifest", [] if same else ["%s %s" % (MANIFEST.relative_to(ROOT), anew)])
    same = DOCS.exists() and DOCS.read_text() == docs_with(values_table(tools))
    report.check("values table", [] if same else ["%s %s" % (DOCS.relative_to(ROOT), anew)])
    project = re.search(r"project\(nicmon VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    text = (CHART / "Chart.yaml").read_text()
    chart = dict(re.findall(r"^(version|appVersion): (.*)$", text, re.M))
    fine = chart == {"version": project, "appVersion": project}
    report.check("version", [] if fine else ["Chart.yaml has %s, not %s" % (chart, project)])
    check_kinds(documents, files, report)
    check_rules(tools, documents, files, report)
    check_dashboards(documents, files, report)
