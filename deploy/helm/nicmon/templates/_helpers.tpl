{{- define "nicmon.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Cannot change once it is installed. */}}
{{- define "nicmon.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "nicmon.labels" -}}
{{ include "nicmon.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "nicmon.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "nicmon.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "nicmon.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The chart writes a web config of its own where TLS is all that is wanted. */}}
{{- define "nicmon.ownWebConfig" -}}
{{- if and .Values.web.tlsSecret (not .Values.web.configSecret) -}}true{{- end -}}
{{- end -}}

{{/* An argument with a value of the user's: kubelet must not take $(…) or $$ in it for a variable. */}}
{{- define "nicmon.arg" -}}
- {{ . | replace "$" "$$" | quote }}
{{- end -}}

{{- define "nicmon.args" -}}
{{- $config := .Values.config -}}
{{- if .Values.hostNetwork -}}
- "--listen=[$(HOST_IP)]:{{ int .Values.port }}"
{{- else -}}
- "--listen=:{{ int .Values.port }}"
- --sysfs-root=/host/sys
{{- end }}
- --state-dir=/var/lib/nicmon
- --admin-socket=/run/nicmon/admin.sock
- --metrics-profile={{ $config.metricsProfile }}
- --log-level={{ $config.logLevel }}
- --log-format={{ $config.logFormat }}
{{- if ne (toString $config.expectPorts) "0" }}
- --expect-ports={{ $config.expectPorts }}
{{- end }}
{{- range $config.expectSpeed }}
{{ include "nicmon.arg" (printf "--expect-speed=%s" (toString .)) }}
{{- end }}
{{- with $config.deviceInclude }}
{{ include "nicmon.arg" (printf "--device-include=%s" .) }}
{{- end }}
{{- with $config.deviceExclude }}
{{ include "nicmon.arg" (printf "--device-exclude=%s" .) }}
{{- end }}
{{- if or .Values.web.tlsSecret .Values.web.configSecret }}
- --web-config-file=/etc/nicmon/web/web-config.yml
{{- end }}
{{- if .Values.admin.tokenSecret }}
- --admin-token-file=/etc/nicmon/admin/tokens
{{- end }}
{{- if .Values.admin.allowPlaintext }}
- --admin-allow-plaintext
{{- end }}
{{- range .Values.extraArgs }}
{{ include "nicmon.arg" . }}
{{- end }}
{{- end -}}

{{/* Quantities as text: server-side apply of older API servers takes no numbers. */}}
{{- define "nicmon.resources" -}}
{{- range $kind, $quantities := . }}
{{ $kind }}:
  {{- range $name, $quantity := $quantities }}
  {{ $name }}: {{ $quantity | toString | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* What both probes ask. Never /readyz: a broken NIC is no reason to restart or to hide its monitor. */}}
{{- define "nicmon.probe" -}}
{{- if .Values.web.clientCertificates -}}
exec:
  command: [nicmon, ctl, health]
{{- else -}}
httpGet:
  path: /healthz
  port: metrics
  scheme: {{ ternary "HTTPS" "HTTP" (ne .Values.web.tlsSecret "") }}
{{- end }}
periodSeconds: 10
timeoutSeconds: 5
{{- end -}}
