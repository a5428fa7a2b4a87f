package task_test

import (
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A task of another node continues as after a lost link: with its pages, its history and numbers
// that were never used.
func TestATaskOfAnotherNodeGoesOn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	resume := func(t *testing.T, isWithheld bool) *bench {
		b := &bench{T: t, m: machineOf(messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()), now: now}
		b.m.Resume(now, mail.Resumed{IsWithheld: isWithheld, Memory: mail.TaskMemory{
			Version: 7, Browser: "mark", Context: "C", Current: "P", Pages: []messages.Page{{TargetID: "P", URL: "http://p"}, {TargetID: "Q"}},
			Open:   []messages.Dialog{{ID: "d-9", Type: "alert", TargetID: "P", FrameID: "P"}},
			Recent: []messages.ClosedDialog{{ID: "d-8", ClosedBy: messages.ClosedByAgent}},
		}})
		b.step(step.BrowserStarting{Gen: 1})
		b.step(step.Linked{Gen: 1, Browser: "mark"})
		return b
	}
	attach := func(b *bench, pages ...messages.TargetID) {
		for _, p := range pages {
			b.step(mail.TargetAttached{Gen: 1, Session: messages.SessionID("S" + p), Page: p, Info: mail.TargetInfo{ID: p, Type: "page"}})
		}
		b.step(mail.RootAttached{Gen: 1, Pages: pages})
		for _, p := range pages {
			b.step(mail.SessionReady{Gen: 1, Session: messages.SessionID("S" + p), Target: p})
		}
	}
	t.Run("with the pages that are there still", func(t *testing.T) {
		t.Parallel()
		b := resume(t, false)
		if s := b.m.Snapshot(); s.State != messages.StateRecovering || s.Version <= 7 || len(s.Pages) != 2 || s.PageTargetID != "P" || len(b.m.Owned()) != 2 || b.m.Context != "C" {
			t.Errorf("%+v", s)
		}
		attach(b, "P")
		if s := b.m.Snapshot(); s.State != messages.StateActive || len(s.Pages) != 1 || s.Connection.BrowserRestarts != 0 || s.Connection.Reconnects != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("in a browser that was started anew", func(t *testing.T) {
		t.Parallel()
		b := resume(t, false)
		b.step(step.Linked{Gen: 1, Browser: "another"})
		attach(b, "R")
		if s := b.m.Snapshot(); s.Connection.BrowserRestarts != 1 || len(s.Pages) != 1 || s.Pages[0].TargetID != "R" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("and takes no order before it may", func(t *testing.T) {
		t.Parallel()
		b := resume(t, true)
		attach(b, "P", "Q")
		order := func() error {
			for _, e := range b.step(mail.Navigate{Request: messages.NavigateRequest{URL: "http://x"}}) {
				if a, ok := e.(step.Answer); ok {
					return a.Err
				}
			}
			return nil
		}
		if err := order(); messages.CodeOf(err) != messages.CodeLeaseLapsed {
			t.Errorf("%v", err)
		}
		b.step(mail.Lease{IsHeld: true})
		if err := order(); err != nil {
			t.Errorf("with the lease: %v", err)
		}
	})
	t.Run("with dialogs of new numbers, and those of before in its memory", func(t *testing.T) {
		t.Parallel()
		b := resume(t, true)
		m := b.m.Memory
		if m.Seq < 9+1000 || len(m.Recent) != 1 || len(m.Open) != 1 || len(m.Open[0].Ways) != 0 || m.LapsedAt.IsZero() {
			t.Errorf("%+v", m)
		}
	})
}
