"""What schemas do not know: each function takes one rendering's documents and yields problems."""

import re

LABEL = re.compile(r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$")
NAME = re.compile(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
USER = 65532


def of_kind(documents, kind):
    return [document for document in documents if document["kind"] == kind]


def daemonset(documents):
    (found,) = of_kind(documents, "DaemonSet")
    return found


def pod_of(documents):
    return daemonset(documents)["spec"]["template"]


def container_of(documents):
    (container,) = pod_of(documents)["spec"]["containers"]
    return container


def selectors(documents, _values):
    labels = pod_of(documents)["metadata"]["labels"]
    choosers = [("DaemonSet", daemonset(documents)["spec"]["selector"])]
    choosers += [("PodMonitor", d["spec"]["selector"]) for d in of_kind(documents, "PodMonitor")]
    choosers += [
        ("NetworkPolicy", d["spec"].get("podSelector", {}))
        for d in of_kind(documents, "NetworkPolicy")
    ]
    for kind, selector in choosers:
        wanted = selector.get("matchLabels", {})
        if not wanted:
            yield "%s selects every pod" % kind
        if not wanted.items() <= labels.items():
            yield "%s selects %s, the pods have %s" % (kind, wanted, labels)
    if "app.kubernetes.io/version" in daemonset(documents)["spec"]["selector"]["matchLabels"]:
        yield "an upgrade would change the DaemonSet's selector"


def metadata(documents, _values):
    seen = set()
    for document in documents:
        meta = document["metadata"]
        key = (document["kind"], meta["name"])
        if key in seen:
            yield "%s twice" % (key,)
        seen.add(key)
        if not NAME.match(meta["name"]):
            yield "%s is no name" % meta["name"]
        if document["kind"] != "Namespace" and meta.get("namespace") != "rdma":
            yield "%s is in namespace %s" % (key, meta.get("namespace"))
        for name, value in meta.get("labels", {}).items():
            if not isinstance(value, str) or not LABEL.match(value):
                yield "%s: label %s=%s" % (key, name, value)


def ports(documents, values):
    container = container_of(documents)
    (port,) = container["ports"]
    number = values.get("port", 9879)
    host_network = pod_of(documents)["spec"].get("hostNetwork", False)
    (listen,) = [a for a in container["args"] if a.startswith("--listen=")]
    places = {
        "containerPort": port["containerPort"],
        "hostPort": port.get("hostPort", None if host_network else number),
        "--listen": int(listen.rsplit(":", 1)[1]),
    }
    for policy in of_kind(documents, "NetworkPolicy"):
        (rule,) = policy["spec"]["ingress"]
        places["NetworkPolicy"] = rule["ports"][0]["port"]
    for place, found in places.items():
        if found != number:
            yield "%s has port %s, not %d" % (place, found, number)
    names = {port["name"]}
    for probe in ("livenessProbe", "readinessProbe"):
        get = container[probe].get("httpGet")
        if get and (get["port"] not in names or get["path"] != "/healthz"):
            yield "%s asks %s" % (probe, get)
    for monitor in of_kind(documents, "PodMonitor"):
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            if endpoint["port"] not in names:
                yield "PodMonitor scrapes port %s" % endpoint["port"]


def volumes(documents, _values):
    spec = pod_of(documents)["spec"]
    have = {volume["name"] for volume in spec["volumes"]}
    used = set()
    for container in spec["containers"] + spec["initContainers"]:
        paths = [mount["mountPath"] for mount in container["volumeMounts"]]
        if len(set(paths)) != len(paths):
            yield "%s mounts twice at one place: %s" % (container["name"], paths)
        used |= {mount["name"] for mount in container["volumeMounts"]}
    for name in sorted(have ^ used):
        yield "volume %s is not both mounted and there" % name
    mounts = [mount["mountPath"] for mount in container_of(documents)["volumeMounts"]]
    for argument in container_of(documents)["args"]:
        path = argument.partition("=")[2]
        if argument.startswith(("--state-dir=", "--admin-", "--web-", "--sysfs-")) and path:
            if not any(path == mount or path.startswith(mount + "/") for mount in mounts):
                yield "%s is in no mount" % argument
    for mount in container_of(documents)["volumeMounts"]:
        if "subPath" in mount:
            yield "%s would never change in a running pod" % mount["mountPath"]


def references(documents, values):
    """ConfigMaps and accounts are rendered, Secrets are the ones that the values name."""
    spec = pod_of(documents)["spec"]
    maps = {document["metadata"]["name"] for document in of_kind(documents, "ConfigMap")}
    given = {
        values.get("web", {}).get("tlsSecret"),
        values.get("web", {}).get("configSecret"),
        values.get("admin", {}).get("tokenSecret"),
    } - {None}
    secrets = set()
    for volume in spec["volumes"]:
        if "configMap" in volume and volume["configMap"]["name"] not in maps:
            yield "nobody makes ConfigMap %s" % volume["configMap"]["name"]
        source = volume.get("secret") or volume.get("configMap") or {}
        if "secret" in volume:
            secrets.add(source["secretName"])
        if source and source["defaultMode"] != 0o440:
            yield "%s has mode %o" % (volume["name"], source["defaultMode"])
    if secrets != given:
        yield "Secrets %s are mounted, %s are given" % (secrets, given)
    account = values.get("serviceAccount", {})
    made = [document["metadata"]["name"] for document in of_kind(documents, "ServiceAccount")]
    wanted = [spec["serviceAccountName"]] if account.get("create", True) else []
    if made != wanted:
        yield "ServiceAccount %s is used, %s is made" % (spec["serviceAccountName"], made)


def manners(documents, values):
    """What a node and a reviewer are owed."""
    whole, spec = daemonset(documents)["spec"], pod_of(documents)["spec"]
    container = container_of(documents)
    if spec["automountServiceAccountToken"] or spec["enableServiceLinks"]:
        yield "a token or service links"
    rolling = whole["updateStrategy"]["rollingUpdate"]
    if rolling["maxSurge"] != 0 or rolling["maxUnavailable"] != values.get("maxUnavailable", "10%"):
        yield "rollout as %s" % rolling
    limits = container["resources"]["limits"]
    if "memory" not in limits or ("cpu" in limits) != ("resources" in values):
        yield "limits %s" % limits
    for each in spec["containers"] + spec["initContainers"]:
        for kind, quantities in each["resources"].items():
            if any(not isinstance(quantity, str) for quantity in quantities.values()):
                yield "%s of %s are no text: %s" % (kind, each["name"], quantities)
    if "/readyz" in str(documents):
        yield "/readyz is asked by something"
    if spec["hostNetwork"] if "hostNetwork" in spec else False:
        if of_kind(documents, "NetworkPolicy"):
            yield "a NetworkPolicy without effect"
    for probe in ("livenessProbe", "readinessProbe"):
        by_exec = values.get("web", {}).get("clientCertificates", False)
        if ("exec" in container[probe]) != by_exec:
            yield "%s is %s" % (probe, container[probe])
        scheme = "HTTPS" if "tlsSecret" in values.get("web", {}) else "HTTP"
        if not by_exec and container[probe]["httpGet"]["scheme"] != scheme:
            yield "%s by %s" % (probe, container[probe]["httpGet"]["scheme"])


def privileges(documents, values):
    spec, container = pod_of(documents)["spec"], container_of(documents)
    security = container["securityContext"]
    privileged = values.get("deviceAccess", {}).get("mode", "privileged") == "privileged"
    if security["privileged"] != privileged:
        yield "privileged %s" % security["privileged"]
    if not privileged:
        if security["allowPrivilegeEscalation"] or security["capabilities"] != {"drop": ["ALL"]}:
            yield "more than a device plugin asks for: %s" % security
        resources = container["resources"]["limits"]
        wanted = {name: str(count) for name, count in values["deviceAccess"]["resources"].items()}
        if not wanted.items() <= resources.items():
            yield "limits without the devices: %s" % resources
    identity = [security[key] for key in ("runAsUser", "runAsGroup", "runAsNonRoot")]
    if identity != [USER, USER, True]:
        yield "runs as %s" % security
    if spec["securityContext"]["fsGroup"] != security["runAsGroup"]:
        yield "Secrets are for group %s" % spec["securityContext"]["fsGroup"]
    (init,) = spec["initContainers"]
    if init["securityContext"]["capabilities"] != {"drop": ["ALL"], "add": ["CHOWN"]}:
        yield "init has %s" % init["securityContext"]["capabilities"]
    if init["securityContext"].get("privileged"):
        yield "a privileged init container"
    for each in (container, init):
        if not each["securityContext"]["readOnlyRootFilesystem"]:
            yield "%s can write its root" % each["name"]
        if each["image"] != container["image"]:
            yield "two images"
    devices = any(mount["mountPath"] == "/dev" for mount in container["volumeMounts"])
    if devices != privileged:
        yield "/dev is mounted: %s" % devices


def scrape_labels(documents, _values):
    for monitor in of_kind(documents, "PodMonitor"):
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            rules = endpoint["relabelings"]
            by_node = {
                rule["targetLabel"]
                for rule in rules
                if rule.get("sourceLabels") == ["__meta_kubernetes_pod_node_name"]
            }
            dropped = [rule["regex"] for rule in rules if rule["action"] == "labeldrop"]
            if by_node != {"instance", "node"} or dropped != ["pod|container|endpoint"]:
                yield "relabelled as %s" % rules


ALL = (
    selectors,
    metadata,
    ports,
    volumes,
    references,
    manners,
    privileges,
    scrape_labels,
)
