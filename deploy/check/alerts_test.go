package check_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T) []rule {
	t.Helper()
	var r rules
	if err := yaml.UnmarshalStrict([]byte(read(t, "deploy", "prometheus", "alerts.yaml")), &r); err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no alerts")
	}
	return all
}

func TestAlertsAskForWhatThereIs(t *testing.T) {
	t.Parallel()
	known := contract(t)
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		checkExpr(t, known, a.Alert, a.Expr)
		if seen[a.Alert] {
			t.Errorf("%s is there twice", a.Alert)
		}
		seen[a.Alert] = true
		if !slices.Contains([]string{"page", "ticket"}, a.Labels["severity"]) {
			t.Errorf("%s: the severity is %q", a.Alert, a.Labels["severity"])
		}
		for _, want := range []string{"summary", "description"} {
			if !strings.HasSuffix(a.Annotations[want], ".") {
				t.Errorf("%s: its %s is no sentence: %q", a.Alert, want, a.Annotations[want])
			}
		}
		if got, want := a.Annotations["runbook_url"], "docs/runbook.md#"+strings.ToLower(a.Alert); got != want {
			t.Errorf("%s: runbook_url %q, want %q", a.Alert, got, want)
		}
	}
}

// Every alert has a case that fires and one that does not.
func TestAlertsAreTested(t *testing.T) {
	t.Parallel()
	var file struct {
		Tests []struct {
			Name string `json:"name"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy", "prometheus", "alerts_test.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, test := range file.Tests {
		names = append(names, test.Name)
	}
	for _, a := range alerts(t) {
		for _, want := range []string{a.Alert + " fires", a.Alert + " does not fire"} {
			if !slices.Contains(names, want) {
				t.Errorf("there is no test %q", want)
			}
		}
	}
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "rules", "alerts.yaml"}, {"check", "config", "prometheus.yml"}, {"test", "rules", "alerts_test.yaml"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("promtool", args...)
			cmd.Dir = repo("deploy", "prometheus")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v (Debian: apt-get install prometheus)\n%s", err, out)
			}
		})
	}
	t.Run("the compose file's Prometheus", func(t *testing.T) {
		t.Parallel()
		cmd := exec.Command("promtool", "check", "config", "--syntax-only", "prometheus.yml")
		cmd.Dir = repo("deploy", "compose")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// What an alert's section has to tell, in this order.
var sections = []string{"Meaning", "Look", "Helps", "Escalate"}

func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()
	book := read(t, "docs", "runbook.md")
	parts := regexp.MustCompile(`(?m)^### `).Split(book, -1)[1:]
	var names []string
	for _, part := range parts {
		name, body, _ := strings.Cut(part, "\n")
		names = append(names, name)
		at := 0
		for _, s := range sections {
			i := strings.Index(body, "**"+s+".**")
			if i < at {
				t.Errorf("%s: %q is missing, or not where it belongs", name, s)
			}
			at = i
		}
	}
	var want []string
	for _, a := range alerts(t) {
		want = append(want, a.Alert)
	}
	if !slices.Equal(names, want) {
		t.Errorf("the runbook's sections are not the alerts, in their order:\n%v\n%v", names, want)
	}
	known := contract(t)
	for _, block := range regexp.MustCompile("(?s)```promql\n(.*?)```").FindAllStringSubmatch(book, -1) {
		for _, expr := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			checkExpr(t, known, "runbook", expr)
		}
	}
}
