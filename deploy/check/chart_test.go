package check_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// objects are what a cluster would be given.
type objects struct {
	set      *apps.StatefulSet
	services []*core.Service
	maps     []*core.ConfigMap
	secrets  []*core.Secret
	accounts []*core.ServiceAccount
	budgets  []*policy.PodDisruptionBudget
	policies []*networking.NetworkPolicy
	scalers  []*autoscaling.HorizontalPodAutoscaler
	monitors []*monitoring.ServiceMonitor
	rules    []*monitoring.PrometheusRule
	count    int
}

// decode reads documents strictly: a field that its kind does not have is an
// error.
func decode(t *testing.T, text string) *objects {
	t.Helper()
	o := &objects{}
	for _, doc := range strings.Split("\n"+text, "\n---") {
		j, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		var head struct{ APIVersion, Kind string }
		if err := json.Unmarshal(j, &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind == "" {
			if strings.TrimSpace(stripComments(doc)) != "" {
				t.Fatalf("no object:\n%s", doc)
			}
			continue
		}
		o.count++
		switch head.APIVersion + " " + head.Kind {
		case "apps/v1 StatefulSet":
			o.set = strict[apps.StatefulSet](t, doc)
		case "v1 Service":
			o.services = append(o.services, strict[core.Service](t, doc))
		case "v1 ConfigMap":
			o.maps = append(o.maps, strict[core.ConfigMap](t, doc))
		case "v1 Secret":
			o.secrets = append(o.secrets, strict[core.Secret](t, doc))
		case "v1 ServiceAccount":
			o.accounts = append(o.accounts, strict[core.ServiceAccount](t, doc))
		case "policy/v1 PodDisruptionBudget":
			o.budgets = append(o.budgets, strict[policy.PodDisruptionBudget](t, doc))
		case "networking.k8s.io/v1 NetworkPolicy":
			o.policies = append(o.policies, strict[networking.NetworkPolicy](t, doc))
		case "autoscaling/v2 HorizontalPodAutoscaler":
			o.scalers = append(o.scalers, strict[autoscaling.HorizontalPodAutoscaler](t, doc))
		case "monitoring.coreos.com/v1 ServiceMonitor":
			o.monitors = append(o.monitors, strict[monitoring.ServiceMonitor](t, doc))
		case "monitoring.coreos.com/v1 PrometheusRule":
			o.rules = append(o.rules, strict[monitoring.PrometheusRule](t, doc))
		default:
			t.Fatalf("an object nobody expects: %+v", head)
		}
	}
	return o
}

func strict[T any](t *testing.T, doc string) *T {
	t.Helper()
	var v T
	if err := yaml.UnmarshalStrict([]byte(doc), &v); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return &v
}

func stripComments(doc string) string {
	var lines []string
	for _, l := range strings.Split(doc, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(l), "#") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(repo("deploy", "helm", "holdfast"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// renderIn is what the chart makes of values on top of its own, by template.
func renderIn(t *testing.T, namespace, values string) (map[string]string, error) {
	t.Helper()
	c := loadChart(t)
	given := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	merged, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "holdfast", Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, merged)
	if err != nil {
		return nil, err
	}
	templates := map[string]string{}
	for name, text := range files {
		if strings.TrimSpace(stripComments(text)) != "" {
			templates[filepath.Base(name)] = strings.Trim(text, "\n-") + "\n"
		}
	}
	return templates, nil
}

const notes = "NOTES.txt"

// objectsOf is what helm template prints of the templates, without the notes.
func objectsOf(templates map[string]string) string {
	var b strings.Builder
	for _, name := range sortedKeys(templates) {
		if name != notes {
			fmt.Fprintf(&b, "---\n%s", templates[name])
		}
	}
	return b.String()
}

func mustRender(t *testing.T, values string) *objects {
	t.Helper()
	templates, err := renderIn(t, "agents", values)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, objectsOf(templates))
}

// everything switches on what is off.
const everything = `
replicas: 3
image: {repository: images.example/agents/holdfast, tag: 1.2.3, pullSecrets: [{name: pull}]}
config: {limits: {max_tasks: 50, idle_timeout: 15m}, drain: {timeout: 30s}, logging: {level: warn}}
token: {existingSecret: mine, key: admin}
chromium: {sandbox: true, args: [--lang=de]}
service: {type: LoadBalancer, annotations: {a: b}}
allowHosts: [holdfast.example]
terminationGracePeriodSeconds: 60
autoscaling: {enabled: true}
networkPolicy: {clientNamespaces: {team: agents}, extraEgress: [{to: [{podSelector: {matchLabels: {app: chrome}}}]}]}
metrics:
  serviceMonitor: {enabled: true, labels: {release: prometheus}}
  prometheusRule: {enabled: true, labels: {release: prometheus}, runbookBase: "https://git.example/holdfast/"}
  dashboard: {enabled: true}
serviceAccount: {annotations: {a: b}}
podAnnotations: {a: b}
podLabels: {team: agents}
nodeSelector: {kind: browsers}
tolerations: [{key: browsers, operator: Exists}]
affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
priorityClassName: high
`

func TestChart(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]string{
		"as it is": "", "everything": everything,
		"a cluster": "{replicas: 5, cluster: {enabled: true}}",
		"least":     "{networkPolicy: {enabled: false}, podDisruptionBudget: {enabled: false}, token: {existingSecret: x}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustRender(t, values)
			checkPod(t, o)
			checkSettings(t, o, "agents")
			checkSelectors(t, o)
		})
	}
	t.Run("what is off is not there, and what is on is", func(t *testing.T) {
		t.Parallel()
		for values, want := range map[string]int{
			"": 8, "{replicas: 5, cluster: {enabled: true}}": 8, everything: 11, // one less for the token, four more
			"{networkPolicy: {enabled: false}, podDisruptionBudget: {enabled: false}, token: {existingSecret: x}}": 5,
		} {
			if got := mustRender(t, values).count; got != want {
				t.Errorf("%d objects, want %d, for %s", got, want, values)
			}
		}
	})
	t.Run("a token is made that the node takes", func(t *testing.T) {
		t.Parallel()
		o := mustRender(t, "")
		if len(o.secrets) != 1 || len(o.secrets[0].Data["token"]) != 64 || o.secrets[0].Annotations["helm.sh/resource-policy"] != "keep" {
			t.Error(o.secrets)
		}
	})
	t.Run("without its sandbox Chromium is told so, and the operator", func(t *testing.T) {
		t.Parallel()
		off, err := renderIn(t, "agents", "")
		if err != nil || !strings.Contains(off[notes], "without its own sandbox") {
			t.Error(err, off[notes])
		}
		if conf := mustRender(t, "").maps[0].Data["config.yaml"]; !strings.Contains(conf, "--no-sandbox") {
			t.Error(conf)
		}
		on, err := renderIn(t, "agents", "{chromium: {sandbox: true}}")
		if err != nil || strings.Contains(on[notes], "without its own sandbox") {
			t.Error(err, on[notes])
		}
		o := mustRender(t, "{chromium: {sandbox: true}}")
		if conf := o.maps[0].Data["config.yaml"]; strings.Contains(conf, "--no-sandbox") {
			t.Error(conf)
		}
		if p := o.set.Spec.Template.Spec.SecurityContext.SeccompProfile; p.Type != core.SeccompProfileTypeLocalhost || *p.LocalhostProfile != "profiles/holdfast.json" {
			t.Error(p)
		}
	})
	t.Run("the operator's alerts are the repository's", func(t *testing.T) {
		t.Parallel()
		o := mustRender(t, everything)
		var got []string
		for _, g := range o.rules[0].Spec.Groups {
			for _, r := range g.Rules {
				got = append(got, r.Alert)
				if !strings.HasPrefix(r.Annotations["runbook_url"], "https://git.example/holdfast/docs/runbook.md#") {
					t.Error(r.Annotations)
				}
			}
		}
		if want := alerts(t); len(got) != len(want) || got[0] != want[0].Alert {
			t.Errorf("%d of %d alerts", len(got), len(want))
		}
		if board := o.maps[1].Data["holdfast.json"]; strings.TrimSpace(board) != strings.TrimSpace(read(t, "deploy", "grafana", "holdfast.json")) {
			t.Error("the dashboard is another one")
		}
		if r := o.monitors[0].Spec.Endpoints[0].RelabelConfigs; len(r) != 1 || *r[0].Replacement != "holdfast" || r[0].TargetLabel != "job" {
			t.Error("the alerts go by the job holdfast", r)
		}
	})
	t.Run("the first pods of a cluster keep its store", func(t *testing.T) {
		t.Parallel()
		o := mustRender(t, "{replicas: 5, cluster: {enabled: true, voters: 3, port: 7300, volume: {size: 20Gi, storageClassName: fast}}}")
		env := map[string]string{}
		for _, e := range o.set.Spec.Template.Spec.Containers[0].Env {
			env[e.Name] = e.Value
		}
		var voters []string
		for i := range 3 {
			voters = append(voters, fmt.Sprintf("holdfast-%d=holdfast-%[1]d.holdfast-headless.agents.svc.cluster.local:7300", i))
		}
		if got := env["HOLDFAST_CLUSTER_VOTERS"]; got != strings.Join(voters, ",") {
			t.Error(got)
		}
		// A voter's address is the same in the list and as it names itself.
		if got := strings.ReplaceAll(env["HOLDFAST_CLUSTER_ADVERTISE"], "$(POD_NAME)", "holdfast-1"); "holdfast-1="+got != voters[1] {
			t.Error(got)
		}
		claim := o.set.Spec.VolumeClaimTemplates[0].Spec
		if *o.set.Spec.Replicas != 5 || *claim.StorageClassName != "fast" || claim.Resources.Requests.Storage().String() != "20Gi" || o.set.Spec.PodManagementPolicy != apps.ParallelPodManagement {
			t.Errorf("%+v", o.set.Spec)
		}
		// Nodes reach each other, and no other pod reaches their ports.
		in, out := o.policies[0].Spec.Ingress[2], o.policies[0].Spec.Egress[0]
		for _, ports := range [][]networking.NetworkPolicyPort{in.Ports, out.Ports} {
			if len(ports) != 1 || ports[0].Port.IntValue() != 7300 || *ports[0].EndPort != 7303 {
				t.Errorf("%+v", ports)
			}
		}
		for _, peers := range [][]networking.NetworkPolicyPeer{in.From, out.To} {
			if len(peers) != 1 || peers[0].PodSelector.MatchLabels["app.kubernetes.io/name"] != "holdfast" {
				t.Errorf("%+v", peers)
			}
		}
	})
	t.Run("values that make no sense are refused", func(t *testing.T) {
		t.Parallel()
		for _, values := range []string{
			"{replicas: many}", "{replica: 1}", "{image: {repository: ''}}", "{chromium: {args: [no-sandbox]}}", "{chromium: {sandbox: 'no'}}",
			"{metrics: {port: 80}}", "{state: {sizeLimit: big}}", "{networkPolicy: {denied: [everything]}}", "{networkPolicy: {clientLabels: {holdfast-client: null}}}",
			"{cluster: {enabled: true}}", "{replicas: 3, cluster: {enabled: true, voters: 2}}", "{cluster: {port: 65535}}", "{cluster: {volume: {size: big}}}",
			"{allowHosts: ['a b']}", "{token: {key: 'a/b'}}",
		} {
			if _, err := renderIn(t, "agents", values); err == nil {
				t.Errorf("%s was taken", values)
			}
		}
	})
}

// checkPod holds what a pod of browsers has to be, whatever the values.
func checkPod(t *testing.T, o *objects) {
	t.Helper()
	pod := o.set.Spec.Template.Spec
	c := pod.Containers[0]
	sc, psc := c.SecurityContext, pod.SecurityContext
	if !*psc.RunAsNonRoot || *psc.RunAsUser != 10001 || *psc.FSGroup != 10001 || psc.SeccompProfile == nil || psc.SeccompProfile.Type == core.SeccompProfileTypeUnconfined {
		t.Errorf("%+v", psc)
	}
	if *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || len(sc.Capabilities.Drop) != 1 || sc.Capabilities.Drop[0] != "ALL" || sc.Capabilities.Add != nil || sc.Privileged != nil {
		t.Errorf("%+v", sc)
	}
	if *pod.AutomountServiceAccountToken || *pod.EnableServiceLinks || pod.HostNetwork || pod.HostPID {
		t.Error("the pod has more of the cluster than it needs")
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
		t.Errorf("%+v", c.Resources)
	}
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if ports["http"] == 0 || ports["metrics"] == 0 {
		t.Error(ports)
	}
	for path, probe := range map[string][]*core.Probe{"/livez": {c.StartupProbe, c.LivenessProbe}, "/readyz": {c.ReadinessProbe}} {
		for _, p := range probe {
			g := p.HTTPGet
			if g.Path != path || ports[g.Port.String()] == 0 || len(g.HTTPHeaders) != 1 || g.HTTPHeaders[0].Name != "Host" || g.HTTPHeaders[0].Value != "localhost" {
				t.Errorf("%+v", g)
			}
		}
	}
	mounts := map[string]string{}
	for _, m := range c.VolumeMounts {
		mounts[m.MountPath] = m.Name
	}
	volumes := map[string]core.Volume{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
	}
	for _, path := range []string{"/var/lib/holdfast", "/tmp", "/dev/shm"} {
		v := volumes[mounts[path]]
		if claims := o.set.Spec.VolumeClaimTemplates; len(claims) == 1 && claims[0].Name == mounts[path] {
			continue // it outlives the pod
		}
		if v.EmptyDir == nil || v.EmptyDir.SizeLimit.IsZero() {
			t.Errorf("%s: %+v", path, v)
		}
	}
	if volumes[mounts["/dev/shm"]].EmptyDir.Medium != core.StorageMediumMemory {
		t.Error("/dev/shm is a disk")
	}
	if s := volumes[mounts["/run/secrets/holdfast"]].Secret; s == nil || *s.DefaultMode != 0o440 {
		t.Errorf("the token: %+v", s)
	}
	for name, v := range volumes {
		if v.ConfigMap != nil && len(o.maps) > 0 && v.ConfigMap.Name != o.maps[0].Name {
			t.Errorf("%s is of %s, which is not there", name, v.ConfigMap.Name)
		}
	}
}

// checkSelectors: who is meant to select the pods does, and only they.
func checkSelectors(t *testing.T, o *objects) {
	t.Helper()
	matches := func(selector, labels map[string]string) bool {
		for k, v := range selector {
			if labels[k] != v {
				return false
			}
		}
		return len(selector) > 0
	}
	pod := o.set.Spec.Template.Labels
	selectors := []map[string]string{o.set.Spec.Selector.MatchLabels}
	headless := false
	for _, s := range o.services {
		selectors = append(selectors, s.Spec.Selector)
		headless = headless || s.Spec.ClusterIP == core.ClusterIPNone && s.Name == o.set.Spec.ServiceName
	}
	if !headless {
		t.Errorf("no headless service %s", o.set.Spec.ServiceName)
	}
	for _, b := range o.budgets {
		selectors = append(selectors, b.Spec.Selector.MatchLabels)
	}
	for _, p := range o.policies {
		selectors = append(selectors, p.Spec.PodSelector.MatchLabels)
	}
	for _, s := range selectors {
		if !matches(s, pod) {
			t.Errorf("%v selects no pod of %v", s, pod)
		}
	}
	for _, m := range o.monitors {
		n := 0
		for _, s := range o.services {
			if matches(m.Spec.Selector.MatchLabels, s.Labels) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the monitor selects %d services: every pod would be scraped as often", n)
		}
	}
}
