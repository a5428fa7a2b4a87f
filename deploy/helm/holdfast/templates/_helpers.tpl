{{- define "holdfast.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "holdfast.secret" -}}
{{ .Values.token.existingSecret | default (printf "%s-token" (include "holdfast.name" .)) }}
{{- end }}

{{/* The configuration file: what the chart has to set, under what values say. */}}
{{- define "holdfast.config" -}}
{{- $args := .Values.chromium.args -}}
{{- if not .Values.chromium.sandbox }}{{ $args = prepend $args "--no-sandbox" }}{{ end -}}
{{- $own := dict
    "listen" "0.0.0.0:7070"
    "metrics_listen" (printf "0.0.0.0:%v" .Values.metrics.port)
    "token_file" (printf "/run/secrets/holdfast/%s" .Values.token.key)
    "logging" (dict "format" "json") -}}
{{- if $args }}{{ $_ := set $own "browser" (dict "args" $args) }}{{ end -}}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.config)) -}}
{{- end }}

{{/* The names that a node of this release is asked by, separated by blanks. */}}
{{- define "holdfast.hosts" -}}
{{- $name := include "holdfast.name" . -}}
{{- $hosts := list "$(POD_IP)" "$(POD_NAME)" -}}
{{- range $s := list $name (printf "$(POD_NAME).%s-headless" $name) -}}
{{- $hosts = concat $hosts (list $s (printf "%s.%s" $s $.Release.Namespace) (printf "%s.%s.svc" $s $.Release.Namespace) (printf "%s.%s.svc.%s" $s $.Release.Namespace $.Values.clusterDomain)) -}}
{{- end -}}
{{- join " " (concat $hosts .Values.allowHosts) -}}
{{- end }}

{{/* Where a pod answers other nodes: (list $ NAME). */}}
{{- define "holdfast.peer" -}}
{{- $ := index . 0 -}}
{{ index . 1 }}.{{ include "holdfast.name" $ }}-headless.{{ $.Release.Namespace }}.svc.{{ $.Values.clusterDomain }}:{{ $.Values.cluster.port }}
{{- end }}

{{/* The pods that keep the cluster's store: those with the lowest numbers. */}}
{{- define "holdfast.voters" -}}
{{- if lt (int .Values.replicas) (int .Values.cluster.voters) -}}
{{- fail (printf "replicas is %v, and cluster.voters %v: all voters have to run" .Values.replicas .Values.cluster.voters) -}}
{{- end -}}
{{- $voters := list -}}
{{- range $i := until (int .Values.cluster.voters) -}}
{{- $pod := printf "%s-%d" (include "holdfast.name" $) $i -}}
{{- $voters = append $voters (printf "%s=%s" $pod (include "holdfast.peer" (list $ $pod))) -}}
{{- end -}}
{{- join "," $voters -}}
{{- end }}
