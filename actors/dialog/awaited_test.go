package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// awaiting is a machine whose primary has told of a confirm and fallen, while the
// anchor's Page.enable had no reply yet.
type awaiting struct {
	*testing.T
	m      *dialog.Machine
	orders []dialog.ToSession
	timers map[string]time.Duration
	memory mail.DialogMemory
	closed []messages.ClosedDialog
	needed int
	asked  error // what an answer has come to
	got    bool
}

func awaitingIn(t *testing.T, spec messages.TaskSpec) *awaiting {
	t.Parallel()
	a := &awaiting{T: t, timers: map[string]time.Duration{}}
	a.m = dialog.NewMachine(spec.WithDefaults(), mail.DialogMemory{})
	a.step(dialog.Start{})
	a.step(mail.PageWatched{Gen: 1, Page: "T", Session: "P"})
	a.step(mail.PageCovered{Gen: 1, Page: "T", Session: "P"})
	a.step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	a.step(mail.DialogOpened{Gen: 1, Session: "P", Page: "T", Frame: "T", Type: "confirm", Message: "sure?"})
	return a
}

func (a *awaiting) step(in any) {
	for _, e := range slices.Clone(a.m.Step(time.Unix(1000, 0), in)) {
		switch e := e.(type) {
		case dialog.ToSession:
			a.orders = append(a.orders, e)
		case dialog.Arm:
			a.timers[e.Name] = e.After
		case dialog.Disarm:
			delete(a.timers, e.Name)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		case dialog.ToSupervisor:
			switch c := e.Msg.(type) {
			case mail.DialogsChanged:
				a.memory = c.Memory
				if c.Closed != nil {
					a.closed = append(a.closed, *c.Closed)
				}
			case mail.BridgeNeeded:
				a.needed++
			case mail.PageUnreachable:
				a.Errorf("the page is said to be unreachable after %T", in)
			}
		}
	}
}

func (a *awaiting) falls(r messages.Role) { a.step(mail.LinkLost{Role: r, Gen: 1}) }

func (a *awaiting) answers() {
	a.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(_ any, err error) {
		a.asked, a.got = err, true
	})})
}

func (a *awaiting) tells(text string) {
	a.step(mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T", Type: "confirm", Message: text})
}

func (a *awaiting) tellsTheEnd() {
	a.step(mail.DialogClosed{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T", IsAccepted: true})
}

func (a *awaiting) handled(err error) {
	a.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: err})
}

// waits checks that d-1 is open, has its grace, and that so many answers were sent.
func (a *awaiting) waits(orders int) {
	a.Helper()
	if len(a.memory.Open) != 1 || a.timers["wayless:d-1"] != dialog.WaylessNativeGrace || len(a.orders) != orders {
		a.Fatalf("open %+v, timers %v, orders %v", a.memory.Open, a.timers, a.orders)
	}
}

// ended checks that d-1 is over and has left nothing behind.
func (a *awaiting) ended(by messages.ClosedBy) {
	a.Helper()
	if len(a.closed) != 1 || a.closed[0].ID != "d-1" || a.closed[0].ClosedBy != by {
		a.Fatalf("closed %+v, want by %s", a.closed, by)
	}
	for _, name := range []string{"wayless:d-1", "watchdog:d-1"} {
		if _, runs := a.timers[name]; runs {
			a.Errorf("%s runs", name)
		}
	}
}

// said checks what the answer has come to.
func (a *awaiting) said(code messages.Code) {
	a.Helper()
	if !a.got || messages.CodeOf(a.asked) != code {
		a.Errorf("the answer came to %v (%t), want %q", a.asked, a.got, code)
	}
}

var mustRespond = messages.TaskSpec{DialogPolicy: messages.PolicyMustRespond}

func TestANativeDialogOutlivesItsTellerWhileAnotherMayTellOfIt(t *testing.T) {
	t.Parallel()
	t.Run("an answer waits until the anchor has told", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.waits(0)
		a.answers()
		a.waits(0)
		a.tells("sure?")
		if len(a.orders) != 1 || a.orders[0].Role != messages.RoleAnchor || a.orders[0].Msg.Session != "A" || !a.orders[0].Msg.MustAccept {
			t.Fatalf("orders %+v", a.orders)
		}
		if _, runs := a.timers["wayless:d-1"]; runs {
			t.Error("its grace runs on")
		}
		a.step(mail.DialogHandled{Dialog: "d-1", Session: "A"})
		a.ended(messages.ClosedByAgent)
		a.said("")
	})
	t.Run("it is lost once the grace is over", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.answers()
		a.waits(0)
		a.step(dialog.TimerFired{Name: "wayless:d-1"})
		a.ended(messages.ClosedByLost)
		a.said(messages.CodeDialogLost)
	})
	t.Run("or with the anchor", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.waits(0)
		a.falls(messages.RoleAnchor)
		a.ended(messages.ClosedByLost)
	})
	t.Run("the grace is not lengthened", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.timers["wayless:d-1"] = 0
		a.step(mail.PageWatched{Gen: 2, Page: "other", Session: "P2"})
		if a.timers["wayless:d-1"] != 0 {
			t.Error("the timer was set anew")
		}
	})
	t.Run("a late firing of a timer that was dropped does nothing", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.tells("sure?")
		a.step(dialog.TimerFired{Name: "wayless:d-1"})
		if len(a.closed) > 0 {
			t.Errorf("closed %+v", a.closed)
		}
	})
	t.Run("a session that came under the dialog cannot tell", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "B"})
		a.falls(messages.RolePrimary)
		a.ended(messages.ClosedByLost)
	})
	t.Run("the policy's answer is given once more", func(t *testing.T) {
		for name, lost := range map[string]func(a *awaiting){
			"its failure is heard of first": func(a *awaiting) {
				a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentYes))
				a.falls(messages.RolePrimary)
			},
			"the end of the link is": func(a *awaiting) {
				a.falls(messages.RolePrimary)
				a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentYes))
			},
		} {
			t.Run(name, func(t *testing.T) {
				a := awaitingIn(t, messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept})
				lost(a)
				a.waits(1)
				a.tells("sure?")
				if len(a.orders) != 2 || a.orders[1].Msg.Session != "A" {
					t.Fatalf("orders %+v", a.orders)
				}
				a.tellsTheEnd()
				a.ended(messages.ClosedByAutoPolicy)
			})
		}
	})
	t.Run("and stays the policy's if it had arrived", func(t *testing.T) {
		a := awaitingIn(t, messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept})
		a.falls(messages.RolePrimary)
		a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentYes))
		a.tellsTheEnd()
		a.ended(messages.ClosedByAutoPolicy)
	})
	t.Run("who leaves dismisses it once it is told of", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.step(dialog.Leave{})
		a.waits(0)
		a.tells("sure?")
		if len(a.orders) != 1 || a.orders[0].Msg.MustAccept {
			t.Errorf("orders %+v", a.orders)
		}
	})
}

// TestNoAnswerIsSaidToAnotherDialog: what was sent by a link that is gone may have
// arrived. CDP gives dialogs no id, so it is not said again.
func TestNoAnswerIsSaidToAnotherDialog(t *testing.T) {
	t.Parallel()
	t.Run("one that was sent fails", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.answers()
		a.falls(messages.RolePrimary)
		a.waits(1)
		a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentYes))
		a.said(messages.CodeUpstreamUnavailable)
		a.tells("sure?")
		if len(a.orders) != 1 {
			t.Errorf("orders %+v", a.orders)
		}
	})
	t.Run("one that was not waits", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.answers()
		a.falls(messages.RolePrimary)
		a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentNo))
		a.waits(1)
		a.tells("sure?")
		if len(a.orders) != 2 || a.got {
			t.Errorf("orders %+v, %v", a.orders, a.asked)
		}
	})
	t.Run("the page's next dialog ends it", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.answers()
		a.tells("and this?")
		a.ended(messages.ClosedByRemote)
		a.said(messages.CodeDialogAlreadyAnswered)
		if len(a.orders) != 0 || len(a.memory.Open) != 1 || a.memory.Open[0].Dialog.ID != "d-2" {
			t.Errorf("orders %+v, open %+v", a.orders, a.memory.Open)
		}
	})
	t.Run("one that waits is not claimed when somebody else has answered", func(t *testing.T) {
		a := awaitingIn(t, mustRespond)
		a.falls(messages.RolePrimary)
		a.answers()
		a.tellsTheEnd()
		a.ended(messages.ClosedByRemote)
		a.said(messages.CodeDialogAlreadyAnswered)
	})
	t.Run("an end that nobody saw begin turns no bridge on", func(t *testing.T) {
		a := awaitingIn(t, messages.TaskSpec{DialogPolicy: messages.PolicyAutoDismiss})
		a.handled(messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentYes))
		a.falls(messages.RolePrimary)
		a.step(mail.DialogClosed{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T"})
		a.ended(messages.ClosedByRemote)
		if a.needed > 0 {
			t.Error("the task's own answer counts as somebody else's dismissal")
		}
	})
}

// TestAnActorThatFailsKeepsTheGrace: the one after it does not take for lost what may
// be told of yet.
func TestAnActorThatFailsKeepsTheGrace(t *testing.T) {
	a := awaitingIn(t, mustRespond)
	a.falls(messages.RolePrimary)
	clear(a.timers)
	a.m = dialog.NewMachine(mustRespond.WithDefaults(), a.memory)
	a.step(dialog.Start{})
	a.falls(messages.RolePrimary)
	a.waits(0)
	a.step(dialog.TimerFired{Name: "wayless:d-1"})
	a.ended(messages.ClosedByLost)
}
