package dialog_test

import (
	"errors"
	"testing"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// An answer whose link died after it was sent is settled by the other link (contract,
// "Calls during a reconnect").
func TestAnAnswerIsSettledByTheOtherLink(t *testing.T) {
	t.Parallel()
	none := messages.Errorf(messages.CodeCDPError, "No dialog is showing")
	lost := func(r messages.Role) mail.LinkLost { return mail.LinkLost{Role: r, Gen: 1} }
	died := mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied}
	atAnchor := func(err error) mail.DialogHandled {
		return mail.DialogHandled{Dialog: "d-1", Session: "A", Err: err}
	}
	grace := dialog.TimerFired{Name: "outcome:d-1"}
	accepted := closedAtAnchor
	accepted.IsAccepted = true
	for name, c := range map[string]struct {
		in     []any
		orders int
		by     messages.ClosedBy
		code   messages.Code
	}{
		"still open: it is said again":                 {[]any{died, lost(0), grace, accepted, atAnchor(nil)}, 1, messages.ClosedByAgent, ""},
		"the link's end comes first":                   {[]any{lost(0), died, grace, atAnchor(nil)}, 1, messages.ClosedByAgent, ""},
		"closed: it is not":                            {[]any{died, lost(0), accepted, grace}, 0, messages.ClosedByAgent, ""},
		"closed, but not so: another client was first": {[]any{died, lost(0), closedAtAnchor, grace}, 0, messages.ClosedByRemote, messages.CodeDialogAlreadyAnswered},
		"it had arrived after all":                     {[]any{died, lost(0), grace, accepted, atAnchor(none)}, 1, messages.ClosedByAgent, ""},
		"it had arrived, and the end is not told":      {[]any{died, lost(0), grace, atAnchor(none)}, 1, messages.ClosedByAgent, ""},
		"another had arrived after all":                {[]any{died, lost(0), grace, closedAtAnchor, atAnchor(none)}, 1, messages.ClosedByRemote, messages.CodeDialogAlreadyAnswered},
		"both links are gone":                          {[]any{died, lost(0), lost(1)}, 0, messages.ClosedByLost, messages.CodeUpstreamUnavailable},
		"the other goes with the second try":           {[]any{died, lost(0), grace, atAnchor(linkDied), lost(1)}, 1, messages.ClosedByLost, messages.CodeUpstreamUnavailable},
		"the other is gone before the second try":      {[]any{died, lost(0), grace, atAnchor(linkDied.WithSent(messages.SentNo)), lost(1)}, 1, messages.ClosedByLost, messages.CodeUpstreamUnavailable},
		"a second dialog says the first had ended":     {[]any{died, lost(0), grace, accepted, openedAtAnchor}, 1, messages.ClosedByAgent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := anchored(messages.PolicyMustRespond)
			step(openedAtPrimary)
			step(openedAtAnchor)
			var replies []error
			step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(_ any, err error) { replies = append(replies, err) })})
			var orders []dialog.ToSession
			var ended []messages.ClosedDialog
			for _, in := range c.in {
				o, e := step(in)
				orders, ended = append(orders, o...), append(ended, e...)
			}
			if len(orders) != c.orders {
				t.Errorf("said again %d times, want %d", len(orders), c.orders)
			}
			for _, o := range orders {
				if o.Role != messages.RoleAnchor || !o.Msg.MustAccept {
					t.Errorf("said again as %+v", o)
				}
			}
			if len(ended) != 1 || ended[0].ClosedBy != c.by {
				t.Errorf("ended %+v, want by %s", ended, c.by)
			}
			if len(replies) != 1 || messages.CodeOf(replies[0]) != c.code {
				t.Fatalf("replies %v, want %q", replies, c.code)
			}
			if e := (*messages.Error)(nil); c.code == messages.CodeUpstreamUnavailable && (!errors.As(replies[0], &e) || e.Sent != messages.SentYes) {
				t.Errorf("details of %v: %v", replies[0], e.Details)
			}
		})
	}
}
