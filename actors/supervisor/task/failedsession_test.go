package task_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAFailedSessionIsGivenUp: with every session of its page, which is attached to anew.
func TestAFailedSessionIsGivenUp(t *testing.T) {
	t.Parallel()
	iframe := mail.TargetAttached{Gen: 1, Session: "SF", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}}
	for name, failed := range map[string]messages.SessionID{"the page's": "S", "a frame's": "SF"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(iframe)
			b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung})
			effects := b.step(step.SessionFailed{Session: failed})
			for _, want := range []step.Effect{
				step.StopSession{Session: "S"},
				step.StopSession{Session: "SF"},
				step.ToFrame{Msg: mail.TargetDetached{Gen: 1, Session: "S"}},
				step.ToDialog{Msg: mail.SessionFailed{Page: "P", Session: "S"}},
				step.ToBrowser{Msg: mail.ReattachPage{Page: "P", Failed: "S"}},
			} {
				if !slices.Contains(effects, want) {
					t.Errorf("no %T %+v", want, want)
				}
			}
			if effects := b.step(mail.TargetDetached{Gen: 1, Session: "S"}); len(effects) != 0 {
				t.Errorf("the browser's own word of it: %+v", effects)
			}
			b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
			b.step(mail.SessionReady{Gen: 1, Session: "S2", Target: "P"})
			if s := b.m.Snapshot(); s.State != messages.StateActive || s.PageState != messages.PageOK || s.Pages[0].SessionID != "S2" {
				t.Errorf("state %s, page %+v", s.State, s.Pages[0])
			}
		})
	}
}

// TestADialogLostWithItsSessionIsNamed: the event says that the fault was the node's own, and
// only for the pages that have failed.
func TestADialogLostWithItsSessionIsNamed(t *testing.T) {
	t.Parallel()
	reason := func(before ...any) string {
		b := attached(t)
		d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P", SessionID: "S"}
		b.step(mail.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d})
		for _, in := range before {
			b.step(in)
		}
		for _, e := range b.step(mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P", ClosedBy: messages.ClosedByLost}}) {
			if p, ok := e.(step.Publish); ok {
				return p.Events[0].Reason
			}
		}
		t.Fatal("nothing is published")
		return ""
	}
	again := []any{
		step.SessionFailed{Session: "S"},
		mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
	}
	if got := reason(again...); got != messages.ReasonSessionFailed {
		t.Errorf("after a failure: %q", got)
	}
	if got := reason(append(again, mail.SessionReady{Gen: 1, Session: "S2", Target: "P"})...); got != "" {
		t.Errorf("once the next session is ready: %q", got)
	}
	if got := reason(); got != "" {
		t.Errorf("without a failure: %q", got)
	}
}

// TestTooManyFailedSessionsEndTheTask: more than 20 in a minute, as it is for actors that are
// started again.
func TestTooManyFailedSessionsEndTheTask(t *testing.T) {
	t.Parallel()
	ends := func(times int, apart time.Duration) bool {
		b := attached(t)
		for range times {
			b.step(step.SessionFailed{Session: "S"})
			b.step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
			b.now = b.now.Add(apart)
		}
		return b.m.IsStopping()
	}
	if ends(20, time.Second) {
		t.Error("20 failures end it")
	}
	if !ends(21, time.Second) {
		t.Error("21 failures do not end it")
	}
	if ends(60, 4*time.Second) {
		t.Error("one each four seconds ends it")
	}
}

// TestAFailedSessionOfATaskThatEnds is left to the end of the link.
func TestAFailedSessionOfATaskThatEnds(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(mail.StopTask{ID: "t"})
	if effects := b.step(step.SessionFailed{Session: "S"}); has[step.ToBrowser](effects) || !has[step.StopSession](effects) {
		t.Errorf("%+v", effects)
	}
}
