package holdfasttest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"holdfast"
	"holdfast/holdfasttest"
	"holdfast/messages"
)

// series are the names that a registry has, of the node's own.
func series(t *testing.T, r *prometheus.Registry) int {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "holdfast_") {
			n++
		}
	}
	return n
}

// A program has process metrics of its own: the node's are added beside them, and go with
// the node.
func TestMetricsOfANodeAmongThoseOfAProgram(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	b := holdfasttest.NewBrowser()
	defer b.Close()
	dir := holdfast.WithStateDir(t.TempDir())
	for range 2 { // a second node takes the place of the first
		first := holdfast.WithRegisterer(prometheus.WrapRegistererWith(prometheus.Labels{"node": "a"}, r))
		node, err := holdfast.Start(t.Context(), dir, b.Option(), first)
		if err != nil {
			t.Fatal(err)
		}
		if n := series(t, r); n < 10 {
			t.Errorf("%d series", n)
		}
		if _, err := holdfast.Start(t.Context(), dir, b.Option(), first); err == nil || !strings.Contains(err.Error(), "metrics") {
			t.Errorf("two nodes without labels of their own: %v", err)
		}
		beside, err := holdfast.Start(t.Context(), dir, b.Option(), holdfast.WithRegisterer(prometheus.WrapRegistererWith(prometheus.Labels{"node": "b"}, r)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(beside.Stop(context.Background()), node.Stop(context.Background())); err != nil {
			t.Fatal(err)
		}
		if n := series(t, r); n != 0 {
			t.Errorf("%d series are left", n)
		}
	}
}

func TestEventsHonourTheirContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node, _ := holdfasttest.Start(t)
		task, err := node.Task(t.Context(), "watched")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		var last error
		events := 0
		for e, err := range task.Events(ctx) {
			if last = err; err == nil {
				if events++; events == 1 && (e.Type != messages.EventReset || e.Snapshot == nil) {
					t.Errorf("it begins with %+v", e)
				}
			}
		}
		if took := time.Since(began); !errors.Is(last, context.DeadlineExceeded) || took != time.Minute || events == 0 {
			t.Errorf("%d events, then %v after %v", events, last, took)
		}
		for range task.Events(t.Context()) {
			break // and the stream is closed: the bubble ends
		}
		go func() { _ = task.Stop(context.Background()) }()
		last = nil
		for _, err := range task.Events(t.Context()) {
			last = err
		}
		if last != nil {
			t.Errorf("the task has ended: %v", last)
		}
		if _, err := node.Lookup("nothing"); holdfast.CodeOf(err) != messages.CodeTaskNotFound {
			t.Error(err)
		}
	})
}

func TestABadConfigStartsNoNode(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]holdfast.Option{
		"transport": func(c *holdfast.Config) { c.BrowserTransport = "wire" },
		"isolation": func(c *holdfast.Config) { c.BrowserIsolation = "maybe" },
		"sandbox":   func(c *holdfast.Config) { c.BrowserSandbox = "maybe" },
		"proxy":     func(c *holdfast.Config) { c.Egress.Proxy = "none" },
		"host":      func(c *holdfast.Config) { c.Egress.Allow = []string{"http://x/"} },
		"limit":     holdfast.WithLimits(messages.Limits{MaxTasks: -1}),
	} {
		if _, err := holdfast.Start(t.Context(), holdfast.WithConfig(holdfast.Config{StateDir: t.TempDir()}), change); err == nil || !strings.HasPrefix(err.Error(), "holdfast: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
