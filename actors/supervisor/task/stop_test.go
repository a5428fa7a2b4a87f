package task_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/actors/dialog"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// leaves says that a link is told to leave.
func leaves[E step.Effect](effects []step.Effect) bool {
	return slices.ContainsFunc(effects, func(e step.Effect) bool {
		switch e := e.(type) {
		case step.ToAnchor:
			_, same := any(e).(E)
			return same && e.Msg == any(mail.Leave{})
		case step.ToBrowser:
			_, same := any(e).(E)
			return same && e.Msg == any(mail.Leave{})
		}
		return false
	})
}

// anchored is attached to a browser that it did not launch, with an anchor beside it.
func anchored(t *testing.T) *bench { return anchoredIn(t, "") }

func anchoredIn(t *testing.T, scope messages.Scope) *bench {
	u, err := messages.ParseCDPURL("ws://h/devtools/browser/b")
	if err != nil {
		t.Fatal(err)
	}
	b := attachedAs(t, messages.TaskSpec{CDPURL: u, Scope: scope})
	b.step(step.AnchorStarting{Gen: 1})
	b.step(step.AnchorLinked{Gen: 1})
	b.step(mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"P"}})
	b.step(mail.AnchorSettled{Gen: 1})
	return b
}

// An anchor that leaves alone has to close what is the task's, and a supervisor
// that has ended takes its links along.
func TestAnEndWaitsForTheAnchor(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	for name, c := range map[string]struct {
		before, during []any
		state          messages.TaskState
	}{
		"when a dial fails meanwhile": {
			[]any{step.BrowserExited{Err: errGone}, step.BrowserStarting{Gen: 2}, mail.StopTask{ID: "t"}},
			[]any{step.BrowserExited{Err: errGone}, step.BrowserWaiting{}},
			messages.StateStopped,
		},
		"when the dial that fails is the last": {
			[]any{step.BrowserExited{Err: errGone}, step.BrowserStarting{Gen: 2}, mail.StopTask{ID: "t"}},
			[]any{step.BrowserExited{Err: errGone}, step.GaveUp{Err: errGone}},
			messages.StateStopped,
		},
		"when the primary falls meanwhile": {
			[]any{mail.StopTask{ID: "t"}},
			[]any{step.BrowserExited{Err: errGone}, step.BrowserStarting{Gen: 2}, step.BrowserExited{Err: errGone}, step.BrowserWaiting{}},
			messages.StateStopped,
		},
		"when the task is lost": {
			[]any{step.BrowserExited{Err: errGone}, step.GaveUp{Err: errGone}},
			[]any{mail.StopTask{ID: "t"}},
			messages.StateLost,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := anchored(t)
			var told []step.Effect
			for _, in := range c.before {
				told = append(told, b.step(in)...)
			}
			if !leaves[step.ToAnchor](told) {
				t.Fatal("the anchor is not told to leave")
			}
			for _, in := range c.during {
				if effects := b.step(in); has[step.Finish](effects) || leaves[step.ToBrowser](effects) {
					t.Fatalf("%T: it does not wait: %+v", in, effects)
				}
			}
			if !has[step.Finish](b.step(step.AnchorExited{})) {
				t.Fatal("it goes on after the anchor has left")
			}
			if s := b.m.Snapshot(); s.State != c.state {
				t.Errorf("state %s, want %s", s.State, c.state)
			}
		})
	}
}

func TestAnAnchorThatFailsInAnEndDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := anchored(t)
	b.step(mail.StopTask{ID: "t"})
	effects := b.step(step.AnchorExited{Err: errReset})
	if !has[step.StopAnchor](effects) || !leaves[step.ToBrowser](effects) {
		t.Errorf("effects %+v", effects)
	}
}

func TestAnEndWaitsForItsDialogs(t *testing.T) {
	t.Parallel()
	b := anchored(t)
	open := mail.OpenDialog{Dialog: messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "F"}}
	b.step(mail.DialogsChanged{Pending: []messages.Dialog{open.Dialog}, Memory: mail.DialogMemory{Open: []mail.OpenDialog{open}}})
	b.step(mail.StopTask{ID: "t"})
	for _, in := range []any{step.AnchorExited{Err: errReset}, step.AnchorStarting{Gen: 2}} {
		if effects := b.step(in); leaves[step.ToBrowser](effects) || leaves[step.ToAnchor](effects) {
			t.Fatalf("%T: effects %+v", in, effects)
		}
	}
	if !leaves[step.ToAnchor](b.step(dialog.Left{})) {
		t.Fatal("the anchor stays")
	}
	if !leaves[step.ToBrowser](b.step(step.AnchorExited{})) {
		t.Error("the browser's session stays")
	}
}

// A script whose dialog was dismissed may ask again at once. What it asks after its page has been
// left stands there for good (M1).
func TestAnEndWaitsForTheScriptOfADismissedDialog(t *testing.T) {
	t.Parallel()
	b := anchoredIn(t, messages.ScopeBrowser)
	opens := func(id messages.DialogID) {
		open := mail.OpenDialog{Dialog: messages.Dialog{ID: id, TargetID: "P", FrameID: "P"}}
		b.step(mail.DialogsChanged{Opened: &open.Dialog, Pending: []messages.Dialog{open.Dialog}, Memory: mail.DialogMemory{Open: []mail.OpenDialog{open}}})
	}
	closes := func(id messages.DialogID) []step.Effect {
		b.step(mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: id, TargetID: "P", FrameID: "P", ClosedBy: messages.ClosedByAutoPolicy}})
		return b.step(dialog.Left{})
	}
	opens("d-1")
	b.step(mail.StopTask{ID: "t"})
	for _, id := range []messages.DialogID{"d-1", "d-2"} {
		effects := closes(id)
		if leaves[step.ToAnchor](effects) || !slices.Contains(effects, step.Effect(step.ToSession{Session: "S", Msg: mail.ProbeSession{MustReport: true}})) {
			t.Fatalf("after %s: the page's renderer is not asked: %+v", id, effects)
		}
		if id == "d-1" {
			opens("d-2")
			if leaves[step.ToAnchor](b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung})) {
				t.Fatal("the anchor leaves before the renderer has answered")
			}
		}
	}
	if !leaves[step.ToAnchor](b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK})) {
		t.Error("the anchor stays")
	}
}

// A page that is still to be moved on may not be left (C58), though its renderer answers.
func TestAnEndWaitsForADoomedPageBehindItsDialog(t *testing.T) {
	t.Parallel()
	b := anchoredIn(t, messages.ScopeBrowser)
	open := mail.OpenDialog{Dialog: messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P"}}
	b.step(mail.DialogsChanged{Opened: &open.Dialog, Pending: []messages.Dialog{open.Dialog}, Memory: mail.DialogMemory{Open: []mail.OpenDialog{open}}})
	b.step(mail.StopTask{ID: "t"})
	b.step(mail.DialogsChanged{
		Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P", FrameID: "P", ClosedBy: messages.ClosedByAutoPolicy},
		Memory: mail.DialogMemory{Doomed: []messages.TargetID{"P"}},
	})
	if leaves[step.ToAnchor](b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK})) {
		t.Fatal("the anchor leaves a doomed page")
	}
	b.step(mail.DialogsChanged{})
	if !leaves[step.ToAnchor](b.step(dialog.Left{})) {
		t.Error("the anchor stays")
	}
}

// The anchor may find itself alone with a page that holds a dialog that cannot be answered,
// and it is told beforehand what may not be closed as it is (C15).
func TestTheAnchorIsToldWhatIsToBeFreedFirst(t *testing.T) {
	t.Parallel()
	u, err := messages.ParseCDPURL("ws://h/devtools/browser/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scope messages.Scope
		stuck bool
		want  []any
	}{
		{messages.ScopeOwn, true, []any{mail.FreeFirst{Page: "P"}, mail.Leave{}}},
		{messages.ScopeOwn, false, []any{mail.Leave{}}},
		{messages.ScopeBrowser, true, []any{mail.Leave{}}},
	} {
		b := attachedAs(t, messages.TaskSpec{CDPURL: u, Scope: c.scope})
		b.step(step.AnchorStarting{Gen: 1})
		b.step(step.AnchorLinked{Gen: 1})
		b.step(mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"P"}})
		b.step(mail.AnchorSettled{Gen: 1})
		if c.stuck {
			b.step(mail.PageUnreachable{Page: "P"})
		}
		var told []any
		for _, e := range b.step(mail.StopTask{ID: "t"}) {
			if to, ok := e.(step.ToAnchor); ok {
				told = append(told, to.Msg)
			}
		}
		if !slices.Equal(told, c.want) {
			t.Errorf("scope %s, stuck %t: told %v, want %v", c.scope, c.stuck, told, c.want)
		}
	}
}
