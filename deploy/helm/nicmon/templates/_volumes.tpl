{{- define "nicmon.volumeMounts" -}}
- name: state
  mountPath: /var/lib/nicmon
- name: socket
  mountPath: /run/nicmon
# Tells this node's devices without a GUID from those of another.
- name: machine-id
  mountPath: /etc/machine-id
  readOnly: true
{{- if eq .Values.deviceAccess.mode "privileged" }}
# The whole of it: a container's own /dev has what there was at its start, and /dev/infiniband
# itself goes and comes back with the driver.
- name: dev
  mountPath: /dev
{{- end }}
{{- if not .Values.hostNetwork }}
# The host's view: in a container's own the counters are missing.
- name: sys
  mountPath: /host/sys
  readOnly: true
{{- end }}
{{- if or .Values.web.tlsSecret .Values.web.configSecret }}
# A directory, not a file of it: so a change reaches the running pod.
- name: web
  mountPath: /etc/nicmon/web
  readOnly: true
{{- end }}
{{- if .Values.web.tlsSecret }}
- name: tls
  mountPath: /etc/nicmon/tls
  readOnly: true
{{- end }}
{{- if .Values.admin.tokenSecret }}
- name: admin
  mountPath: /etc/nicmon/admin
  readOnly: true
{{- end }}
{{- end -}}

{{- define "nicmon.volumes" -}}
- name: state
  hostPath:
    path: {{ .Values.hostPaths.state }}
    type: DirectoryOrCreate
- name: socket
  hostPath:
    path: {{ .Values.hostPaths.socket }}
    type: DirectoryOrCreate
- name: machine-id
  hostPath:
    path: /etc/machine-id
    type: File
{{- if eq .Values.deviceAccess.mode "privileged" }}
- name: dev
  hostPath:
    path: /dev
    type: Directory
{{- end }}
{{- if not .Values.hostNetwork }}
- name: sys
  hostPath:
    path: /sys
    type: Directory
{{- end }}
{{- if .Values.web.configSecret }}
- name: web
  secret:
    secretName: {{ .Values.web.configSecret }}
    defaultMode: 0440
{{- else if .Values.web.tlsSecret }}
- name: web
  configMap:
    name: {{ include "nicmon.fullname" . }}-web
    defaultMode: 0440
{{- end }}
{{- with .Values.web.tlsSecret }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.admin.tokenSecret }}
- name: admin
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end -}}
