package cli_test

import (
	"context"
	"regexp"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

func TestChaos(t *testing.T) {
	t.Parallel()
	// The task's connections are at version 7 when the kill is asked for.
	connection := func(version uint64, primary, anchor messages.LinkState, reconnects uint64) messages.Event {
		return messages.Event{Type: messages.EventConnection, Version: version, Connection: &messages.Connection{
			Primary: primary, Anchor: anchor, Reconnects: reconnects,
		}}
	}
	setup := func(t *testing.T, events ...messages.Event) *machine {
		m := newMachine(t)
		killed := false
		m.node.KillFunc = func(which messages.Links) (messages.KillResult, error) {
			killed = true
			return messages.KillResult{Killed: []messages.Links{which}}, nil
		}
		m.node.SnapshotFunc = func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
			s := apitest.Active(id)
			s.RecentDialogs = []messages.ClosedDialog{{ID: "d-1", ClosedBy: messages.ClosedByLost}}
			if killed {
				s.RecentDialogs = append(s.RecentDialogs, messages.ClosedDialog{ID: "d-2", Type: "alert", Message: "\x1b[1mhi", ClosedBy: messages.ClosedByLost})
			}
			return s, nil
		}
		m.node.WatchFunc = func(_ context.Context, after uint64, resume bool) (messages.EventStream, error) {
			if after != 7 || !resume {
				t.Errorf("watches from %d, resume %t: what happened since the kill could be missed", after, resume)
			}
			return &apitest.Stream{Batches: [][]messages.Event{events}}, nil
		}
		m.serve()
		return m
	}
	const up, down = messages.LinkUp, messages.LinkDown
	t.Run("it waits until what was killed is back, and says what was lost", func(t *testing.T) {
		t.Parallel()
		for which, events := range map[string][]messages.Event{
			"primary": {connection(8, down, up, 0), connection(9, up, up, 1)},
			"anchor":  {connection(8, up, down, 0), connection(9, up, up, 0)},
		} {
			out, _ := setup(t, events...).want(0, "chaos", "--task", "one", "--kill", which)
			if !regexp.MustCompile("^killed " + which + " of one\nback after \\d+ ms: active, 0 pages, 0 open dialogs\nlost: d-2 alert \uFFFD\\[1mhi\n$").MatchString(out) {
				t.Errorf("%s: %q", which, out)
			}
		}
	})
	t.Run("what never fell is not back", func(t *testing.T) {
		t.Parallel()
		for which, events := range map[string][]messages.Event{
			"primary": {connection(8, down, up, 0), connection(9, down, down, 0)},
			"anchor":  {connection(8, up, up, 0)},
		} {
			setup(t, events...).want(1, "chaos", "--task", "one", "--kill", which)
		}
	})
	t.Run("it does not wait for ever", func(t *testing.T) {
		t.Parallel()
		m := setup(t)
		m.node.WatchFunc = func(context.Context, uint64, bool) (messages.EventStream, error) {
			return &apitest.Stream{IsBlocking: true}, nil
		}
		if _, errs := m.want(1, "chaos", "--task", "one", "--kill", "primary", "--wait", "10ms"); errs[:9] != "deadline:" {
			t.Errorf("%q", errs)
		}
	})
}
