package check_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestProcfile: each node is one of the voters that all of them name, no two want one port, and
// Prometheus scrapes them all.
func TestProcfile(t *testing.T) {
	t.Parallel()
	var addresses []string
	for _, line := range strings.Split(read(t, "deploy", "local", "Procfile"), "\n") {
		name, command, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(strings.ReplaceAll(command, "$PWD", t.TempDir()))
		if words[0] != "holdfast" {
			if i := slices.Index(words, "--config.file=deploy/local/prometheus.yml"); name != "prometheus" || i < 0 {
				t.Errorf("%s is not expected", line)
			}
			continue
		}
		e := effective(t, words[1:], "", nil)
		if e.text("node_name") != name || !strings.Contains(command, " --cluster-voters=a=127.0.0.1:7171,b=127.0.0.1:7181,c=127.0.0.1:7191 ") {
			t.Errorf("%s: %q of %q", name, e.text("node_name"), e["cluster.voters"])
		}
		for _, file := range []string{"cert", "key"} {
			if got := filepath.Base(e.text("cluster." + file)); !strings.HasPrefix(got, name+".") {
				t.Errorf("%s has %s", name, got)
			}
		}
		addresses = append(addresses, e.text("listen"))
	}
	var scrape struct {
		Jobs []struct {
			Targets []struct {
				Targets []string `json:"targets"`
			} `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy", "local", "prometheus.yml")), &scrape); err != nil {
		t.Fatal(err)
	}
	if got := scrape.Jobs[0].Targets[0].Targets; len(slices.Compact(slices.Sorted(slices.Values(got)))) != 3 || fmt.Sprint(got) != fmt.Sprint(addresses) {
		t.Errorf("Prometheus asks %v, and the nodes listen on %v", got, addresses)
	}
	cmd := exec.Command("promtool", "check", "config", "prometheus.yml")
	cmd.Dir = repo("deploy", "local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
