package check_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// metric is what docs/metrics.md, which is made of the node's own table, says of
// one.
type metric struct {
	kind   string
	labels map[string][]string // values; nil: any
}

// contract reads the table of metrics.
func contract(t *testing.T) map[string]metric {
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `(holdfast_[a-z_]+)` \\| (\\w+) \\| ([^|]*) \\|")
	label := regexp.MustCompile("^`(\\w+)`(?:: (.*))?$")
	out := map[string]metric{}
	for _, m := range row.FindAllStringSubmatch(read(t, "docs", "metrics.md"), -1) {
		one := metric{kind: m[2], labels: map[string][]string{}}
		if m[3] != "–" {
			for _, l := range strings.Split(m[3], "; ") {
				lm := label.FindStringSubmatch(strings.TrimSpace(l))
				if lm == nil {
					t.Fatalf("%s: the label %q is not understood", m[1], l)
				}
				var values []string
				if lm[2] != "" {
					values = strings.Split(lm[2], ", ")
				}
				one.labels[lm[1]] = values
			}
		}
		if one.kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				part := metric{kind: "counter", labels: map[string][]string{}}
				for k, v := range one.labels {
					part.labels[k] = v
				}
				if suffix == "_bucket" {
					part.labels["le"] = nil
				}
				out[m[1]+suffix] = part
			}
		}
		out[m[1]] = one
	}
	if len(out) < 50 {
		t.Fatalf("only %d metrics in docs/metrics.md", len(out))
	}
	return out
}

// common are the metrics that are not the node's own, with their labels.
var common = map[string]metric{
	"up":                            {kind: "gauge"},
	"process_start_time_seconds":    {kind: "gauge"},
	"process_cpu_seconds_total":     {kind: "counter"},
	"process_resident_memory_bytes": {kind: "gauge"},
	"process_open_fds":              {kind: "gauge"},
	"process_max_fds":               {kind: "gauge"},
	"go_goroutines":                 {kind: "gauge"},
	"go_memstats_heap_inuse_bytes":  {kind: "gauge"},
	"go_gc_duration_seconds":        {kind: "summary", labels: map[string][]string{"quantile": nil}},
}

// scraped are the labels that Prometheus adds.
var scraped = []string{"job", "instance"}

// checkExpr holds a query to the contract.
func checkExpr(t *testing.T, known map[string]metric, where, expr string) {
	t.Helper()
	for from, to := range map[string]string{"$__rate_interval": "5m", "$__interval": "1m"} {
		expr = strings.ReplaceAll(expr, from, to)
	}
	tree, err := parser.ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	have := map[string]bool{}
	parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
		v, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		m, ok := known[v.Name]
		if !ok {
			if m, ok = common[v.Name]; !ok {
				t.Errorf("%s: there is no metric %q", where, v.Name)
				return nil
			}
		}
		for l := range m.labels {
			have[l] = true
		}
		for _, match := range v.LabelMatchers {
			checkMatcher(t, where, v.Name, m, match)
		}
		// A counter means nothing without its rate, and a rate of a gauge nothing
		// at all.
		rated := slices.ContainsFunc(path, func(n parser.Node) bool {
			c, ok := n.(*parser.Call)
			return ok && slices.Contains([]string{"rate", "increase"}, c.Func.Name)
		})
		if rated && m.kind != "counter" {
			t.Errorf("%s: a rate of %s, which is a %s", where, v.Name, m.kind)
		}
		return nil
	})
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		var used []string
		switch n := node.(type) {
		case *parser.AggregateExpr:
			used = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				used = n.VectorMatching.MatchingLabels
			}
		}
		for _, l := range used {
			if !have[l] && !slices.Contains(scraped, l) {
				t.Errorf("%s: no metric of %q has the label %s", where, expr, l)
			}
		}
		return nil
	})
}

func checkMatcher(t *testing.T, where, name string, m metric, match *labels.Matcher) {
	t.Helper()
	if match.Name == labels.MetricName || slices.Contains(scraped, match.Name) {
		return
	}
	values, ok := m.labels[match.Name]
	if !ok {
		t.Errorf("%s: %s has no label %s", where, name, match.Name)
		return
	}
	if values == nil {
		return
	}
	alternatives := []string{match.Value}
	if match.Type == labels.MatchRegexp || match.Type == labels.MatchNotRegexp {
		alternatives = strings.Split(match.Value, "|")
	}
	for _, a := range alternatives {
		re := regexp.MustCompile("^(?:" + a + ")$")
		if !slices.ContainsFunc(values, re.MatchString) {
			t.Errorf("%s: %s is never %q, but one of %v", where, name+"{"+match.Name+"}", a, values)
		}
	}
}
