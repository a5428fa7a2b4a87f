package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// anchored is a machine whose one page both links watch.
func anchored(policy messages.DialogPolicy) func(in any) (orders []dialog.ToSession, closed []messages.ClosedDialog) {
	m := dialog.NewMachine(messages.TaskSpec{DialogPolicy: policy}, mail.DialogMemory{})
	now := time.Unix(1000, 0)
	step := func(in any) (orders []dialog.ToSession, closed []messages.ClosedDialog) {
		for _, e := range slices.Clone(m.Step(now, in)) {
			switch e := e.(type) {
			case dialog.ToSession:
				orders = append(orders, e)
			case dialog.Answer:
				calls.Answer(e.To, e.Value, e.Err)
			case dialog.ToSupervisor:
				if c, ok := e.Msg.(mail.DialogsChanged); ok && c.Closed != nil {
					closed = append(closed, *c.Closed)
				}
			}
		}
		return orders, closed
	}
	step(dialog.Start{})
	for role, session := range []messages.SessionID{"P", "A"} {
		step(mail.PageWatched{Role: messages.Role(role), Gen: 1, Page: "T", Session: session})
		step(mail.PageCovered{Role: messages.Role(role), Gen: 1, Page: "T", Session: session})
	}
	return step
}

var (
	openedAtPrimary = mail.DialogOpened{Role: messages.RolePrimary, Gen: 1, Session: "P", Page: "T", Frame: "T", Type: "confirm"}
	openedAtAnchor  = mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T", Type: "confirm"}
	closedAtAnchor  = mail.DialogClosed{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T"}
	linkDied        = messages.Errorf(messages.CodeUpstreamUnavailable, "the link died").WithSent(messages.SentYes)
)

// A session that is stopped is counted out before it has told how its order
// went, and may still tell.
func TestAnOutcomeToldTwiceSpoilsNoSecondTry(t *testing.T) {
	t.Parallel()
	step := anchored(messages.PolicyAutoDismiss)
	orders, _ := step(openedAtPrimary)
	if len(orders) != 1 || orders[0].Role != messages.RolePrimary {
		t.Fatalf("orders %+v", orders)
	}
	step(openedAtAnchor)
	outcome := mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied}
	orders, _ = step(outcome)
	if len(orders) != 1 || orders[0].Role != messages.RoleAnchor {
		t.Fatalf("after the loss: %+v", orders)
	}
	if orders, closed := step(outcome); len(orders)+len(closed) != 0 {
		t.Fatalf("told twice: %+v, %+v", orders, closed)
	}
	if _, closed := step(closedAtAnchor); len(closed) != 1 || closed[0].ClosedBy != messages.ClosedByAutoPolicy {
		t.Errorf("closed %+v", closed)
	}
}

// A policy's answer whose link died is said again at once, by the other link. Chrome may have
// taken it from the first, and says on the other that there is no dialog before it tells of
// the end there.
func TestAPolicysAnswerThatArrivedByALinkThatDiedIsThePolicys(t *testing.T) {
	t.Parallel()
	noDialog := messages.Errorf(messages.CodeCDPError, "No dialog is showing")
	for name, c := range map[string]struct {
		first error
		want  messages.ClosedBy
	}{
		"it may have arrived": {linkDied, messages.ClosedByAutoPolicy},
		"it was never said":   {linkDied.WithSent(messages.SentNo), messages.ClosedByRemote},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := anchored(messages.PolicyAutoAccept)
			step(openedAtPrimary)
			step(openedAtAnchor)
			if orders, _ := step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: c.first}); len(orders) != 1 || orders[0].Role != messages.RoleAnchor {
				t.Fatalf("orders %+v", orders)
			}
			if _, ended := step(mail.DialogHandled{Dialog: "d-1", Session: "A", Err: noDialog}); len(ended) != 1 || ended[0].ClosedBy != c.want {
				t.Errorf("ended %+v", ended)
			}
			if orders, ended := step(closedAtAnchor); len(orders)+len(ended) != 0 {
				t.Errorf("told of the end: %+v, %+v", orders, ended)
			}
		})
	}
}

// With the link that carried the answer gone, how the dialog closed tells
// whether it was ours.
func TestAnAnswerNobodyConfirmedIsClaimedOnlyIfItFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accepted bool
		want     messages.ClosedBy
	}{"as answered": {true, messages.ClosedByAgent}, "otherwise": {false, messages.ClosedByRemote}} {
		for order, closing := range map[string]func(step func(any) ([]dialog.ToSession, []messages.ClosedDialog)) []messages.ClosedDialog{
			"before the loss is known": func(step func(any) ([]dialog.ToSession, []messages.ClosedDialog)) []messages.ClosedDialog {
				closed := closedAtAnchor
				closed.IsAccepted = c.accepted
				step(closed)
				_, ended := step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied})
				return ended
			},
			"after it": func(step func(any) ([]dialog.ToSession, []messages.ClosedDialog)) []messages.ClosedDialog {
				closed := closedAtAnchor
				closed.IsAccepted = c.accepted
				step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied})
				_, ended := step(closed)
				return ended
			},
			"with the link": func(step func(any) ([]dialog.ToSession, []messages.ClosedDialog)) []messages.ClosedDialog {
				closed := closedAtAnchor
				closed.IsAccepted = c.accepted
				step(closed)
				_, ended := step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
				return ended
			},
		} {
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				step := anchored(messages.PolicyMustRespond)
				step(openedAtPrimary)
				step(openedAtAnchor)
				step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(any, error) {})})
				if ended := closing(step); len(ended) != 1 || ended[0].ClosedBy != c.want {
					t.Errorf("ended %+v", ended)
				}
			})
		}
	}
}

// A watchdog that fires while an answer is under way leaves the dialog to that answer. If
// that fails it fires again at once: the dialog's time is up. Its own answer it gives time.
func TestAWatchdogThatLeftItToAnAnswerComesBackWhenThatFails(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
	now, bark := time.Unix(1000, 0), dialog.TimerFired{Name: "watchdog:d-1"}
	step := func(in any) (armed []time.Duration, orders int) {
		for _, e := range m.Step(now, in) {
			switch e := e.(type) {
			case dialog.Arm:
				if e.Name == bark.Name {
					armed = append(armed, e.After)
				}
			case dialog.ToSession:
				orders++
			}
		}
		return armed, orders
	}
	answer := mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(any, error) {})}
	died := mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied}
	step(dialog.Start{})
	step(mail.PageWatched{Gen: 1, Page: "T", Session: "P"})
	opened, _ := step(openedAtPrimary)
	step(answer)
	if armed, _ := step(died); len(opened) != 1 || len(armed) != 0 {
		t.Fatalf("armed for %v, and for %v when an answer failed in time", opened, armed)
	}
	step(answer)
	now = now.Add(opened[0])
	if armed, orders := step(bark); !slices.Equal(armed, []time.Duration{dialog.RetryWatchdog}) || orders != 0 {
		t.Fatalf("with an answer under way it barks: armed for %v, %d orders", armed, orders)
	}
	now = now.Add(time.Second)
	if armed, _ := step(died); len(armed) != 1 || armed[0] > 0 {
		t.Fatalf("armed for %v when the answer failed", armed)
	}
	if _, orders := step(bark); orders != 1 {
		t.Fatalf("%d orders by the watchdog", orders)
	}
	if armed, _ := step(died); len(armed) != 0 {
		t.Errorf("armed for %v when the watchdog's own answer failed", armed)
	}
}

// A task that ends does not wait until the silence of a link is noticed: the answer that it carries
// is said by the other one.
func TestATaskThatEndsSaysItsAnswerByTheOtherLink(t *testing.T) {
	t.Parallel()
	step := anchored(messages.PolicyMustRespond)
	step(openedAtPrimary)
	step(openedAtAnchor)
	if orders, _ := step(dialog.Leave{}); len(orders) != 1 || orders[0].Role != messages.RolePrimary {
		t.Fatalf("orders %+v", orders)
	}
	orders, _ := step(dialog.TimerFired{Name: "haste:d-1"})
	if len(orders) != 1 || orders[0].Role != messages.RoleAnchor {
		t.Fatalf("orders %+v", orders)
	}
	_, closed := step(mail.DialogHandled{Dialog: "d-1", Session: "A"})
	if len(closed) != 1 || closed[0].ClosedBy != messages.ClosedByAutoPolicy {
		t.Errorf("closed %+v", closed)
	}
}
