package task_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestWhatAFailedActorWasToldIsFoundOut: the end of a dialog was in the mailbox
// of an actor that failed. Its frame answers again, so it is over.
func TestWhatAFailedActorWasToldIsFoundOut(t *testing.T) {
	t.Parallel()
	over := func(effects []step.Effect) bool {
		return slices.Contains(effects, step.Effect(step.ToDialog{Msg: mail.DialogOver{Dialog: "d-1"}}))
	}
	asked := func(effects []step.Effect) bool {
		return slices.Contains(effects, step.Effect(step.ToSession{Session: "S", Msg: mail.ProbeSession{MustReport: true}}))
	}
	open := func(t *testing.T) *bench {
		b := attached(t)
		d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P", SessionID: "S"}
		b.step(mail.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d})
		return b
	}
	healthy := mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK}

	t.Run("the dialog actor", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		if over(b.step(healthy)) {
			t.Fatal("a dialog that nobody doubts is over")
		}
		if !asked(b.step(step.DialogsRestarted{})) {
			t.Error("the frame is not asked")
		}
		if !over(b.step(healthy)) {
			t.Error("the frame has answered, and its dialog stands open")
		}
	})
	t.Run("the forest of a new link doubts nothing", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		b.step(step.BrowserExited{Err: errors.New("gone")})
		b.step(step.BrowserStarting{Gen: 2})
		b.step(step.FramesRestarted{})
		b.step(mail.TargetAttached{Gen: 2, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		again := healthy
		again.Gen, again.Session = 2, "S2"
		if over(b.step(again)) {
			t.Error("a dialog that nobody doubts is over")
		}
	})
	t.Run("the page's session", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		b.step(step.SessionFailed{Session: "S"})
		b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		if !slices.Contains(b.step(mail.SessionReady{Gen: 1, Session: "S2", Target: "P", IsBlocked: true}), step.Effect(step.ToSession{Session: "S2", Msg: mail.ProbeSession{MustReport: true}})) {
			t.Error("the frame is not asked")
		}
		again := healthy
		again.Session = "S2"
		if !over(b.step(again)) {
			t.Error("the frame has answered, and its dialog stands open")
		}
	})
	t.Run("a dialog that opened since is another matter", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		b.step(step.DialogsRestarted{})
		d := messages.Dialog{ID: "d-2", TargetID: "P", FrameID: "P", SessionID: "S"}
		b.step(mail.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d, Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P"}})
		for _, e := range b.step(healthy) {
			if e, ok := e.(step.ToDialog); ok {
				t.Errorf("%+v", e.Msg)
			}
		}
	})
}

// TestADoubtedDialogWhoseFrameIsGoneIsSettled: no session can be asked about it, so its
// page's document says what became of it.
func TestADoubtedDialogWhoseFrameIsGoneIsSettled(t *testing.T) {
	t.Parallel()
	d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "F", SessionID: "S"}
	whole := &messages.FrameTree{
		Top:      messages.FrameTop{FrameID: "P"},
		Children: []messages.FrameNode{{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "O"}},
	}
	bare := &messages.FrameTree{Top: messages.FrameTop{FrameID: "P"}}
	healthy := mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK}
	over := mail.DialogOver{Dialog: "d-1"}
	removed := mail.FramesRemoved{Gen: 1, Page: "P", Frames: []messages.FrameID{"F"}}

	for name, c := range map[string]struct {
		since []any // the dialog opened
		want  any
	}{
		"its document is gone, then the actor fails": {
			[]any{mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, mail.PageNavigated{Gen: 1, Page: "P", URL: "http://a.test/"}, step.DialogsRestarted{}, healthy},
			over,
		},
		"the actor fails, then the document goes": {
			[]any{step.DialogsRestarted{}, healthy, mail.PageNavigated{Gen: 1, Page: "P", URL: "http://a.test/"}, mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}},
			over,
		},
		"its frame alone is gone": {
			[]any{mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, step.DialogsRestarted{}, healthy},
			removed,
		},
		"the page has not answered yet": {
			[]any{mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, step.DialogsRestarted{}},
			nil,
		},
		"nobody doubts it": {
			[]any{mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, healthy},
			nil,
		},
		"the forest fails, and the next one lacks its frame": {
			[]any{step.FramesRestarted{}, mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, mail.SessionReady{Gen: 1, Session: "S", Target: "P"}, healthy},
			removed,
		},
		"the next one has not heard all": {
			[]any{step.FramesRestarted{}, mail.FramesChanged{Gen: 1, Page: "P", Tree: bare}, healthy},
			nil,
		},
		"its frame is there": {
			[]any{mail.PageNavigated{Gen: 1, Page: "P", URL: "http://a.test/"}, step.DialogsRestarted{}, healthy},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: whole})
			b.step(mail.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d})
			var got []any
			for _, in := range c.since {
				for _, e := range b.step(in) {
					if e, ok := e.(step.ToDialog); ok {
						switch e.Msg.(type) {
						case mail.DialogOver, mail.FramesRemoved:
							got = append(got, e.Msg)
						}
					}
				}
			}
			var want []any
			if c.want != nil {
				want = []any{c.want}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the dialog actor is told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestANewDialogActorHearsOfPagesThatAreGone: also of those on which no dialog is
// open, but which it remembers to be looked at.
func TestANewDialogActorHearsOfPagesThatAreGone(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(mail.DialogsChanged{Memory: mail.DialogMemory{Watches: []mail.PageWatch{
		{Gen: 1, Page: "P", Session: "S", IsCovered: true}, {Gen: 1, Page: "GONE", Session: "G", IsCovered: true},
	}}})
	effects := b.step(step.DialogsRestarted{})
	for page, want := range map[messages.TargetID]bool{"P": false, "GONE": true} {
		if got := slices.Contains(effects, step.Effect(step.ToDialog{Msg: mail.PageGone{Page: page}})); got != want {
			t.Errorf("%s is gone: %v, want %v", page, got, want)
		}
	}
}
