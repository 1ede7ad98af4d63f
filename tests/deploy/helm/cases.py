"""Values the chart is rendered with, and values it has to refuse."""

IMAGE = {"repository": "registry.example.com/nicmon"}
TLS = {"tlsSecret": "nicmon-tls"}
CA = {"ca": {"secret": {"name": "nicmon-tls", "key": "ca.crt"}}, "serverName": "nicmon"}
CLIENT = dict(
    CA,
    cert={"secret": {"name": "scraper", "key": "tls.crt"}},
    keySecret={"name": "scraper", "key": "tls.key"},
)
BASIC = {
    "username": {"name": "scrape", "key": "username"},
    "password": {"name": "scrape", "key": "password"},
}
MONITORING = {
    "podMonitor": {"enabled": True},
    "prometheusRule": {"enabled": True},
    "dashboards": {"enabled": True},
}

# name -> values, image.repository added where it is missing.
RENDERED = {
    "default": {},
    "image": {
        "image": {"repository": "r:5000/a/b", "tag": "v1", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "pull"}],
    },
    "digest": {"image": {"repository": "r/a", "tag": "v1", "digest": "sha256:" + "0a" * 32}},
    "port": {"port": 19879, "podMonitor": {"enabled": True}},
    "pod-network": {"hostNetwork": False},
    "network-policy": {
        "hostNetwork": False,
        "port": 9100,
        "networkPolicy": {
            "enabled": True,
            "from": [
                {
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                    },
                    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
                }
            ],
        },
    },
    "network-policy-open": {"hostNetwork": False, "networkPolicy": {"enabled": True}},
    "device-plugin": {
        "deviceAccess": {"mode": "devicePlugin", "resources": {"rdma/hca_shared_devices_a": 1}}
    },
    "device-plugin-pod-network": {
        "hostNetwork": False,
        "deviceAccess": {
            "mode": "devicePlugin",
            "resources": {"rdma/hca_a": 1, "nvidia.com/mlnxnics": 2},
        },
        "resources": {"limits": {"memory": "128Mi", "cpu": 1}},
    },
    "own-label": {"nodeSelector": {"nicmon.io/pool": None, "example.com/fabric": "ib"}},
    "instance-type": {
        "nodeSelector": {"nicmon.io/pool": None, "node.kubernetes.io/instance-type": "p5"}
    },
    "paths": {"hostPaths": {"state": "/data/nicmon/state", "socket": "/var/run/nicmon"}},
    "config": {
        "config": {
            "expectPorts": 0,
            "expectSpeed": ["400", "link:ib=200", 100],
            "deviceInclude": "mlx5_([0-7]|bond_\\d)$",
            "deviceExclude": "$(HOST_IP)|a$$|b: 'c' \"d\"",
            "metricsProfile": "full",
            "logLevel": "debug",
            "logFormat": "json",
        },
        "extraArgs": ["--settle=30s", "--functions=all", "--tick=500ms"],
    },
    "expect-ports": {"config": {"expectPorts": 16, "metricsProfile": "minimal"}},
    "tls": {"web": TLS, "podMonitor": {"enabled": True, "tlsConfig": CA}},
    "tls-other-name": {"web": TLS, "fullnameOverride": "rdma-monitor"},
    "client-certificates": {
        "web": dict(TLS, clientCertificates=True),
        "podMonitor": {"enabled": True, "tlsConfig": CLIENT},
    },
    "basic-auth": {
        "web": {"configSecret": "nicmon-web"},
        "podMonitor": {"enabled": True, "basicAuth": BASIC},
    },
    "tls-own-config": {
        "web": dict(TLS, configSecret="nicmon-web"),
        "admin": {"tokenSecret": "nicmon-tokens"},
        "podMonitor": {"enabled": True, "tlsConfig": CA, "basicAuth": BASIC, "interval": "1m30s"},
    },
    "tokens-plaintext": {"admin": {"tokenSecret": "nicmon-tokens", "allowPlaintext": True}},
    "monitoring": MONITORING,
    "monitoring-labels": {
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "nodeExporterNames": True,
            "runbookBase": "https://runbooks.example.com/nicmon",
        },
        "dashboards": {
            "enabled": True,
            "labels": {"grafana_dashboard": "yes"},
            "annotations": {"grafana_folder": "RDMA"},
        },
    },
    "quota": {"priorityQuota": {"enabled": True, "pods": 2000000}},
    "own-account": {"serviceAccount": {"create": False, "name": "rdma"}},
    "default-account": {"serviceAccount": {"create": False}},
    "decorated": {
        "podLabels": {"team": "fabric"},
        "podAnnotations": {"prometheus.io/scrape": "true"},
        "serviceAccount": {"annotations": {"a.example.com/b": "c"}},
        "fullnameOverride": "rdma-monitor",
        "maxUnavailable": 3,
        "tolerations": [],
        "priorityClassName": "high",
    },
    "part-of-another": {"global": {"region": "x"}, "enabled": True},
}

# name -> (values, what the message has to say)
REFUSED = {
    "no image": ({"image": {"repository": ""}}, "image.repository is empty"),
    "no selector": ({"nodeSelector": {"nicmon.io/pool": None}}, "nodeSelector is empty"),
    "nfd": (
        {"nodeSelector": {"feature.node.kubernetes.io/pci-15b3.present": "true"}},
        "goes when the NIC dies",
    ),
    "nfd of a vendor": (
        {"nodeSelector": {"intel.feature.node.kubernetes.io/gpu": "true"}},
        "Use a label of your inventory",
    ),
    "operator": ({"nodeSelector": {"network.nvidia.com/x": "true"}}, "goes when the NIC dies"),
    "typo": ({"nodeSelecter": {"a": "b"}}, "additional properties 'nodeSelecter' not allowed"),
    "typo below": ({"config": {"expectPort": 8}}, "additional properties 'expectPort' not allowed"),
    "port": ({"port": 65536}, "at '/port': maximum: got 65,536, want 65,535"),
    "port as text": ({"port": "9879"}, "at '/port': got string, want integer"),
    "mode": (
        {"deviceAccess": {"mode": "host"}},
        "at '/deviceAccess/mode': value must be one of 'privileged', 'devicePlugin'",
    ),
    "no resource": (
        {"deviceAccess": {"mode": "devicePlugin"}},
        "deviceAccess.resources is empty: name what your device plugin offers",
    ),
    "resource without plugin": (
        {"deviceAccess": {"resources": {"rdma/a": 1}}},
        "deviceAccess.resources is for deviceAccess.mode devicePlugin",
    ),
    "policy on host network": (
        {"networkPolicy": {"enabled": True}},
        "has no effect with hostNetwork",
    ),
    "relative path": ({"hostPaths": {"state": "nicmon"}}, "at '/hostPaths/state'"),
    "root as path": ({"hostPaths": {"state": "/"}}, "at '/hostPaths/state'"),
    "expect-ports": ({"config": {"expectPorts": -1}}, "at '/config/expectPorts'"),
    "profile": (
        {"config": {"metricsProfile": "all"}},
        "value must be one of 'minimal', 'standard', 'full'",
    ),
    "own flag": ({"extraArgs": ["--listen=:1"]}, "extraArgs has --listen=:1, which the chart sets"),
    "own flag in two": ({"extraArgs": ["--node-name=x"]}, "which the chart sets itself"),
    "no flag": ({"extraArgs": ["tick=1s"]}, "at '/extraArgs/0'"),
    "certificates without TLS": (
        {"web": {"clientCertificates": True}},
        "web.clientCertificates needs web.tlsSecret",
    ),
    "tokens in the clear": (
        {"admin": {"tokenSecret": "t"}},
        "Set web.tlsSecret,\nor admin.allowPlaintext=true",
    ),
    "scraper without CA": (
        {"web": TLS, "podMonitor": {"enabled": True}},
        "podMonitor.tlsConfig is empty and web.tlsSecret is set",
    ),
    "scraper without certificate": (
        {
            "web": dict(TLS, clientCertificates=True),
            "podMonitor": {"enabled": True, "tlsConfig": CA},
        },
        "needs podMonitor.tlsConfig.cert and .keySecret",
    ),
    "selector labels": (
        {"podLabels": {"app.kubernetes.io/name": "x"}},
        "podLabels has app.kubernetes.io/name, which the chart sets itself",
    ),
    "all at once": ({"maxUnavailable": "0%"}, "at '/maxUnavailable'"),
    "digest": ({"image": {"repository": "a", "digest": "sha256:1"}}, "at '/image/digest'"),
    "no priority": ({"priorityClassName": ""}, "at '/priorityClassName'"),
    "memory": ({"resources": {"limits": {"memory": "64 MB"}}}, "at '/resources/limits/memory'"),
}
