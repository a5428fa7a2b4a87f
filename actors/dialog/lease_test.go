package dialog_test

import (
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// leased is a machine with one watched page, and what each step asks for.
type leased struct {
	*testing.T
	m       *dialog.Machine
	now     time.Time
	memory  mail.DialogMemory
	pending []messages.Dialog
	closed  []messages.ClosedDialog
}

func newLeased(t *testing.T, policy messages.DialogPolicy, memory mail.DialogMemory) *leased {
	l := &leased{T: t, m: dialog.NewMachine(messages.TaskSpec{DialogPolicy: policy, DialogTimeoutS: 60}, memory), now: time.Unix(1000, 0)}
	l.step(dialog.Start{})
	l.step(mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	l.step(mail.PageCovered{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	return l
}

// step returns the answers that were sent and the timers that were armed, by name.
func (l *leased) step(in any) (sent int, armed map[string]time.Duration) {
	armed = map[string]time.Duration{}
	for _, e := range l.m.Step(l.now, in) {
		switch e := e.(type) {
		case dialog.ToSession:
			sent++
		case dialog.Arm:
			armed[e.Name] = e.After
		case dialog.Disarm:
			delete(armed, e.Name)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		case dialog.ToSupervisor:
			if c, ok := e.Msg.(mail.DialogsChanged); ok {
				l.memory, l.pending = c.Memory, c.Pending
				if c.Closed != nil {
					l.closed = append(l.closed, *c.Closed)
				}
			}
		}
	}
	return sent, armed
}

func (l *leased) after(d time.Duration) { l.now = l.now.Add(d) }

func TestWithoutALeaseNoDialogIsAnswered(t *testing.T) {
	t.Parallel()
	t.Run("by the policy", func(t *testing.T) {
		t.Parallel()
		l := newLeased(t, messages.PolicyAutoDismiss, mail.DialogMemory{})
		l.step(mail.Lease{})
		if sent, armed := l.step(openedAtPrimary); sent != 0 || len(armed) != 0 {
			t.Errorf("%d answers, timers %v", sent, armed)
		}
		if len(l.pending) != 1 {
			t.Errorf("it is not told of: %+v", l.pending)
		}
		l.after(time.Hour)
		if sent, _ := l.step(mail.Lease{IsHeld: true}); sent != 1 {
			t.Errorf("with the lease %d answers are sent", sent)
		}
	})
	t.Run("by a caller", func(t *testing.T) {
		t.Parallel()
		l := newLeased(t, messages.PolicyMustRespond, mail.DialogMemory{})
		l.step(openedAtPrimary)
		l.step(mail.Lease{})
		for range 2 {
			var got error
			sent, _ := l.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(_ any, err error) { got = err })})
			if sent != 0 || messages.CodeOf(got) != messages.CodeLeaseLapsed {
				t.Errorf("%d sent, %v", sent, got)
			}
		}
		l.step(mail.Lease{IsHeld: true})
		if sent, _ := l.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}}); sent != 1 {
			t.Error("with the lease the answer is not sent")
		}
	})
	t.Run("by a watchdog, which has as much time left after it", func(t *testing.T) {
		t.Parallel()
		l := newLeased(t, messages.PolicyMustRespond, mail.DialogMemory{})
		l.step(openedAtPrimary)
		l.after(20 * time.Second)
		l.step(mail.Lease{})
		l.after(time.Hour)
		if sent, _ := l.step(dialog.TimerFired{Name: "watchdog:d-1"}); sent != 0 {
			t.Error("a late timer answers")
		}
		_, armed := l.step(mail.Lease{IsHeld: true})
		if got := armed["watchdog:d-1"]; got != 40*time.Second {
			t.Errorf("the watchdog has %v left: %v", got, armed)
		}
		if at := l.pending[0].ExpiresAt; at != messages.SecondsOf(l.now.Add(40*time.Second)) {
			t.Errorf("it expires at %v", at)
		}
	})
	t.Run("by an actor that begins anew", func(t *testing.T) {
		t.Parallel()
		l := newLeased(t, messages.PolicyAutoDismiss, mail.DialogMemory{})
		l.step(mail.Lease{})
		l.step(openedAtPrimary)
		next := &leased{T: t, m: dialog.NewMachine(messages.TaskSpec{DialogPolicy: messages.PolicyAutoDismiss}, l.memory), now: l.now}
		if sent, _ := next.step(dialog.Start{}); sent != 0 {
			t.Error("the next one answers")
		}
		if sent, _ := next.step(mail.Lease{IsHeld: true}); sent != 1 {
			t.Error("with the lease it does not")
		}
	})
}

// A link knows of a lapse before the machine does.
func TestAnAnswerThatALinkWithholds(t *testing.T) {
	t.Parallel()
	l := newLeased(t, messages.PolicyAutoDismiss, mail.DialogMemory{})
	l.step(openedAtPrimary)
	sent, armed := l.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: mail.Lapsed()})
	if sent != 0 || armed["lease:d-1"] == 0 {
		t.Fatalf("%d sent, timers %v", sent, armed)
	}
	if sent, _ := l.step(dialog.TimerFired{Name: "lease:d-1"}); sent != 1 {
		t.Error("it is not decided anew")
	}
	l.step(mail.Lease{})
	l.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: mail.Lapsed()})
	if sent, _ := l.step(mail.Lease{IsHeld: true}); sent != 1 {
		t.Error("with the lease it is not decided anew")
	}
	if len(l.closed) != 0 {
		t.Errorf("closed %+v", l.closed)
	}
}
