{{/*
What the schema cannot say, or not in words that help. Included once, by the DaemonSet.
*/}}
{{- define "nicmon.validate" -}}
{{- if not .Values.image.repository -}}
{{- fail "\n\nimage.repository is empty: give the place of the image in your registry, as\n  --set image.repository=registry.example.com/tools/nicmon\n" -}}
{{- end -}}
{{- include "nicmon.validateNodeSelector" . -}}
{{- include "nicmon.validateDeviceAccess" . -}}
{{- include "nicmon.validateArgs" . -}}
{{- include "nicmon.validateAccess" . -}}
{{- range $key, $_ := .Values.podLabels -}}
{{- if hasPrefix "app.kubernetes.io/" $key -}}
{{- fail (printf "\n\npodLabels has %s, which the chart sets itself.\n" $key) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled .Values.hostNetwork -}}
{{- fail "\n\nnetworkPolicy.enabled has no effect with hostNetwork: no policy applies to pods of the host's network.\nRestrict the port with the node's firewall, or ask for credentials (web.tlsSecret, web.configSecret).\n" -}}
{{- end -}}
{{- end -}}

{{- define "nicmon.validateNodeSelector" -}}
{{- if not .Values.nodeSelector -}}
{{- fail "\n\nnodeSelector is empty: nicmon would run on every node. Label your RDMA nodes from your inventory,\n  kubectl label node NODE nicmon.io/pool=rdma\nand leave nodeSelector at {nicmon.io/pool: rdma}, or name a label of your own.\n" -}}
{{- end -}}
{{- range $key, $value := .Values.nodeSelector -}}
{{- $domain := ternary (first (splitList "/" $key)) "" (contains "/" $key) -}}
{{- if regexMatch "(^|\\.)(node\\.kubernetes\\.io|nvidia\\.com|mellanox\\.com|amd\\.com|intel\\.com|broadcom\\.com|habana\\.ai)$" $domain -}}
{{- if ne $key "node.kubernetes.io/instance-type" -}}
{{- fail (printf "\n\nnodeSelector has %s, which a probe of the hardware or an operator sets: it goes when the NIC dies, and\nnicmon with it, just when it is needed. Use a label of your inventory,\n  kubectl label node NODE nicmon.io/pool=rdma\nand nodeSelector {nicmon.io/pool: rdma}.\n" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nicmon.validateDeviceAccess" -}}
{{- if and (eq .Values.deviceAccess.mode "devicePlugin") (not .Values.deviceAccess.resources) -}}
{{- fail "\n\ndeviceAccess.mode is devicePlugin and deviceAccess.resources is empty: name what your device plugin offers, as\n  {rdma/hca_shared_devices_a: 1}\n" -}}
{{- end -}}
{{- if and (eq .Values.deviceAccess.mode "privileged") .Values.deviceAccess.resources -}}
{{- fail "\n\ndeviceAccess.resources is for deviceAccess.mode devicePlugin: set that, or leave the resources out.\n" -}}
{{- end -}}
{{- end -}}

{{- define "nicmon.validateArgs" -}}
{{- $own := dict "listen" "port" "admin-socket" "hostPaths.socket" "state-dir" "hostPaths.state" "sysfs-root" "hostNetwork" "node-name" "nothing, the node's name is passed" "admin-token-file" "admin.tokenSecret" "admin-allow-plaintext" "admin.allowPlaintext" "web-config-file" "web.tlsSecret or web.configSecret" "device-include" "config.deviceInclude" "device-exclude" "config.deviceExclude" "expect-ports" "config.expectPorts" "expect-speed" "config.expectSpeed" "metrics-profile" "config.metricsProfile" "log-level" "config.logLevel" "log-format" "config.logFormat" -}}
{{- range .Values.extraArgs -}}
{{- $flag := trimPrefix "--" (first (splitList "=" .)) -}}
{{- if hasKey $own $flag -}}
{{- fail (printf "\n\nextraArgs has %s, which the chart sets itself: use %s.\n" . (get $own $flag)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nicmon.validateAccess" -}}
{{- if and .Values.web.clientCertificates (not .Values.web.tlsSecret) -}}
{{- fail "\n\nweb.clientCertificates needs web.tlsSecret, a Secret with tls.crt, tls.key and ca.crt.\n" -}}
{{- end -}}
{{- if and .Values.admin.tokenSecret (not .Values.web.tlsSecret) (not .Values.admin.allowPlaintext) -}}
{{- fail "\n\nadmin.tokenSecret without TLS: nicmon would refuse every operator route over TCP (403). Set web.tlsSecret,\nor admin.allowPlaintext=true where the network between is trusted.\n" -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.web.tlsSecret (not .Values.podMonitor.tlsConfig) -}}
{{- fail "\n\npodMonitor.tlsConfig is empty and web.tlsSecret is set: Prometheus asks nodes by address and would trust no\ncertificate. Give ca and serverName, or insecureSkipVerify: true.\n" -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.web.clientCertificates (not (and .Values.podMonitor.tlsConfig.cert .Values.podMonitor.tlsConfig.keySecret)) -}}
{{- fail "\n\nweb.clientCertificates needs podMonitor.tlsConfig.cert and .keySecret: Prometheus has to show a certificate.\n" -}}
{{- end -}}
{{- end -}}
