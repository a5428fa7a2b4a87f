package task_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestConsole(t *testing.T) {
	t.Parallel()
	report := func(b *bench, target messages.TargetID, ts messages.Seconds, text string) (taken bool) {
		before := len(b.m.Snapshot().ConsoleErrors)
		b.step(mail.ConsoleReported{Gen: 1, Page: "P", Target: target, Entry: messages.ConsoleError{TS: ts, Level: "error", Text: text}})
		b.step(step.Flush{})
		return len(b.m.Snapshot().ConsoleErrors) > before
	}
	for name, tc := range map[string]struct {
		target messages.TargetID
		ts     messages.Seconds
		text   string
		want   bool
	}{
		"said again":                              {"P", 5, "x", false},
		"older than what came, and never heard":   {"P", 4, "x", true}, // out of the back-forward cache, or after the clock was set
		"newer":                                   {"P", 6, "x", true},
		"at the same moment, but another":         {"P", 5, "y", true},
		"at the same moment, but another frame's": {"F", 5, "x", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			report(b, "P", 5, "x")
			if got := report(b, tc.target, tc.ts, tc.text); got != tc.want {
				t.Errorf("taken: %v", got)
			}
		})
	}
	t.Run("what is known is bounded, and then goes by time", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		for i := range 300 {
			report(b, "P", messages.Seconds(i), fmt.Sprint(i))
		}
		replays := 0
		before := b.m.Snapshot().Version
		for i := range 300 {
			report(b, "P", messages.Seconds(i), fmt.Sprint(i))
			replays++
		}
		if got := b.m.Snapshot().Version; got != before {
			t.Errorf("%d replays are %d events", replays, got-before)
		}
	})
	t.Run("what comes together is told like what comes one by one", func(t *testing.T) {
		t.Parallel()
		entry := func(i int) mail.ConsoleReported {
			r := mail.ConsoleReported{Gen: 1, Page: "P", Target: "P"}
			if i%10 == 9 {
				i-- // said again
			}
			r.Entry = messages.ConsoleError{TS: messages.Seconds(i + 1), Level: "error", Text: fmt.Sprint(i)}
			return r
		}
		told := func(effects []step.Effect) (events []messages.Event) {
			for _, e := range effects {
				if p, ok := e.(step.Publish); ok {
					for i, e := range p.Errors {
						events = append(events, messages.Event{Type: messages.EventConsoleError, TaskID: "t", Version: p.Before + uint64(i) + 1, Console: e})
					}
					events = append(events, p.Events...)
				}
			}
			return events
		}
		together, single := attached(t), attached(t)
		facts := mail.ConsoleReports{Gen: 1, Page: "P", Target: "P"}
		var one, all []messages.Event
		for i := range 80 {
			facts.Entries = append(facts.Entries, entry(i).Entry)
			one = append(one, told(single.step(entry(i)))...)
		}
		one = append(one, told(single.step(step.Flush{}))...)
		late := facts
		late.Gen = 2
		all = append(all, told(together.step(late))...)
		all = append(all, told(together.step(facts))...)
		if len(all) != 0 || !together.m.Snapshot().Active {
			t.Errorf("%d events before what else waits", len(all))
		}
		all = append(all, told(together.step(step.Flush{}))...)
		if len(one) != 72 {
			t.Errorf("%d events", len(one))
		}
		if d := cmp.Diff(one, all); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(single.m.Snapshot(), together.m.Snapshot()); d != "" {
			t.Error(d)
		}
	})
	t.Run("targets without end push out the oldest", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		report(b, "P", 1, "x")
		for i := range 300 {
			report(b, messages.TargetID(fmt.Sprint(i)), 1, "x")
			report(b, "P", messages.Seconds(2+i), "x") // it is heard of, so it stays
		}
		version := b.m.Snapshot().Version
		report(b, "P", 1, "x")
		if got := b.m.Snapshot().Version; got != version {
			t.Error("the page that reports most is forgotten")
		}
		report(b, "0", 1, "x")
		if got := b.m.Snapshot().Version; got == version {
			t.Error("three hundred targets are remembered")
		}
	})
	t.Run("a page that is closed is forgotten", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		report(b, "P", 5, "x")
		b.step(mail.PageClosed{Gen: 1, Page: "P"})
		b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		if !report(b, "P", 5, "x") {
			t.Error("it is known still")
		}
	})
}
