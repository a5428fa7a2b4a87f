package check_test

import (
	"flag"
	"os"
	"regexp"
	"testing"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "render deploy/kubernetes anew from the chart")

// The plain manifests are the chart's, rendered: one of the two would be
// forgotten otherwise.
func TestPlainManifests(t *testing.T) {
	t.Parallel()
	const header = "# Made from deploy/helm/holdfast: cd deploy/check && go test -run TestPlainManifests -update\n"
	helms := regexp.MustCompile(`(?m)^ *(helm\.sh/chart|app\.kubernetes\.io/managed-by): .*\n`)
	made, err := renderIn(t, "holdfast",
		"{token: {existingSecret: holdfast-token}, metrics: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}, dashboard: {enabled: true}}}")
	if err != nil {
		t.Fatal(err)
	}
	monitoring := map[string]string{"monitoring.yaml": made["monitoring.yaml"]}
	delete(made, "monitoring.yaml")
	for name, text := range map[string]string{"holdfast.yaml": objectsOf(made), "monitoring.yaml": objectsOf(monitoring)} {
		text = header + helms.ReplaceAllString(text, "")
		if *update {
			if err := os.WriteFile(repo("deploy", "kubernetes", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, "deploy", "kubernetes", name); got != text {
			t.Errorf("deploy/kubernetes/%s is not what the chart makes: go test -run TestPlainManifests -update", name)
		}
	}
	o := decode(t, read(t, "deploy", "kubernetes", "holdfast.yaml"))
	checkPod(t, o)
	checkSettings(t, o, "holdfast")
	checkSelectors(t, o)
	if m := decode(t, read(t, "deploy", "kubernetes", "monitoring.yaml")); len(m.monitors) != 1 || len(m.rules) != 1 || len(m.maps) != 1 {
		t.Errorf("%+v", m)
	}
	strict[core.Namespace](t, read(t, "deploy", "kubernetes", "namespace.yaml"))
	var k struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, "deploy", "kubernetes", "kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	if k.Namespace != "holdfast" {
		t.Errorf("the names that nodes serve are those of the namespace holdfast, not %s", k.Namespace)
	}
	for _, r := range k.Resources {
		read(t, "deploy", "kubernetes", r)
	}
}
