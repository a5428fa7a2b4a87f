package acceptance_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// figure prints one figure of docs/performance.md; make figures shows them all.
func figure(t *testing.T, what string, took []time.Duration) (p99 time.Duration) {
	t.Helper()
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[min(len(took)-1, int(q*float64(len(took))))] }
	t.Logf("figure: %s: p50 %s, p99 %s, max %s (n=%d)", what,
		at(0.5).Round(100*time.Nanosecond), at(0.99).Round(100*time.Nanosecond), took[len(took)-1].Round(100*time.Nanosecond), len(took))
	return at(0.99)
}

// What a page does holds up nothing else: a task is asked for its state and
// answers the dialogs of one page while the renderer of another spins.
func TestFigure_LatencyWhileARendererIsWedged(t *testing.T) { // beside no other test: it measures
	const rounds = 150
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	for _, state := range []messages.PageState{messages.PageOK, messages.PageHung} {
		k := r.task(messages.TaskID("figure-" + state))
		k.goTo("http://a.test/busy")
		wedged := k.snapshot().PageTargetID
		other := k.openTab(k.site.URL("http://b.test/prompt"))
		if state == messages.PageHung {
			k.laterOn(wedged, "spin()")
			go func() { // ends with the test
				_, _ = evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: wedged}, "1")
			}()
			k.await("one that hangs", func(s *messages.Snapshot) bool {
				return slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.TargetID == wedged && p.PageState == messages.PageHung })
			})
		}
		w := k.watch()
		var snapshots, seen, answered []time.Duration
		for range rounds {
			begun := time.Now()
			k.laterOn(other, "ask()")
			d := w.next(messages.EventDialogOpened).Dialog
			seen = append(seen, time.Since(begun))
			for range 20 {
				begun = time.Now()
				k.snapshot()
				snapshots = append(snapshots, time.Since(begun))
			}
			begun = time.Now()
			if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", DialogID: d.ID}); err != nil {
				t.Fatal(err)
			}
			answered = append(answered, time.Since(begun))
		}
		beside := " beside a renderer that is " + strings.ReplaceAll(string(state), "_", " ")
		slowest := max(
			figure(t, "snapshot"+beside, snapshots),
			figure(t, "dialog, from the script to the watcher,"+beside, seen),
			figure(t, "dialog, answered and closed,"+beside, answered),
		)
		if slowest > time.Second {
			t.Errorf("p99 %s: something waits for the page", slowest)
		}
		if err := k.node.StopTask(k.ctx, k.id); err != nil {
			t.Fatal(err)
		}
	}
}

// How long a wedge takes to have its name, from the call that is the first to
// wait, or from the moment the link is back.
func TestFigure_TimeToName(t *testing.T) { // beside no other test: it measures
	const rounds = 5
	r := setupOn(t, chromiumtest.Launch(t))
	named := func(p *patient, state messages.PageState, begin func()) time.Duration {
		begun := time.Now()
		begin()
		p.is(state)
		return time.Since(begun)
	}
	var loops, orphans []time.Duration
	for range rounds {
		p := r.patient("loop", oneLink)
		p.goTo("http://a.test/busy")
		p.later("", "spin()")
		loops = append(loops, named(p, messages.PageHung, func() {
			go func() { _, _ = p.tryEval("", "1") }() // ends with the task
		}))
		if err := p.node.StopTask(p.ctx, p.id); err != nil {
			t.Fatal(err)
		}
		p = r.patient("orphan", oneLink)
		p.goTo("http://a.test/confirm")
		p.later("", "ask()")
		p.dialog()
		orphans = append(orphans, named(p, messages.PageDialogUnreachable, func() { p.links.KillAll() }))
		if err := p.node.StopTask(p.ctx, p.id); err != nil {
			t.Fatal(err)
		}
	}
	figure(t, "from a call that waits to hung", loops)
	figure(t, "from a lost link to dialog unreachable, the reconnect included", orphans)
}
