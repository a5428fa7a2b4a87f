package supervisor_test

import (
	"slices"
	"testing"

	"holdfast/actors/supervisor"
	"holdfast/messages"
)

// TestWhatAFailedActorWasToldIsFoundOut: the end of a dialog was in the mailbox
// of an actor that failed. Its frame answers again, so it is over.
func TestWhatAFailedActorWasToldIsFoundOut(t *testing.T) {
	t.Parallel()
	over := func(effects []supervisor.Effect) bool {
		return slices.Contains(effects, supervisor.Effect(supervisor.ToDialog{Msg: messages.DialogOver{Dialog: "d-1"}}))
	}
	asked := func(effects []supervisor.Effect) bool {
		return slices.Contains(effects, supervisor.Effect(supervisor.ToSession{Session: "S", Msg: messages.ProbeSession{Report: true}}))
	}
	open := func(t *testing.T) *bench {
		b := attached(t)
		d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P", SessionID: "S"}
		b.step(messages.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d})
		return b
	}
	healthy := messages.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK}

	t.Run("the dialog actor", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		if over(b.step(healthy)) {
			t.Fatal("a dialog that nobody doubts is over")
		}
		if !asked(b.step(supervisor.DialogsRestarted{})) {
			t.Error("the frame is not asked")
		}
		if !over(b.step(healthy)) {
			t.Error("the frame has answered, and its dialog stands open")
		}
	})
	t.Run("the page's session", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		b.step(supervisor.SessionRestarted{Session: "S"})
		if !asked(b.step(messages.SessionReady{Gen: 1, Session: "S", Target: "P", Blocked: true})) {
			t.Error("the frame is not asked")
		}
		if !over(b.step(healthy)) {
			t.Error("the frame has answered, and its dialog stands open")
		}
	})
	t.Run("a dialog that opened since is another matter", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		b.step(supervisor.DialogsRestarted{})
		d := messages.Dialog{ID: "d-2", TargetID: "P", FrameID: "P", SessionID: "S"}
		b.step(messages.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d, Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P"}})
		for _, e := range b.step(healthy) {
			if e, ok := e.(supervisor.ToDialog); ok {
				t.Errorf("%+v", e.Msg)
			}
		}
	})
}
