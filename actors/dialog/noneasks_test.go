package dialog_test

import (
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The end of a dialog may have been told to an actor that broke on it. The session that told
// of the dialog says so to the next.
func TestAnActorThatStartsAnewIsToldThatNoneAsks(t *testing.T) {
	t.Parallel()
	for session, isOver := range map[messages.SessionID]bool{"A": true, "B": false} {
		spec := messages.TaskSpec{DialogPolicy: messages.PolicyMustRespond}.WithDefaults()
		var memory mail.DialogMemory
		var closed []messages.ClosedDialog
		now := time.Unix(1000, 0)
		step := func(m *dialog.Machine, in any) {
			for _, e := range m.Step(now, in) {
				if to, ok := e.(dialog.ToSupervisor); ok {
					if c, ok := to.Msg.(mail.DialogsChanged); ok {
						memory = c.Memory
						if c.Closed != nil {
							closed = append(closed, *c.Closed)
						}
					}
				}
			}
		}
		first := dialog.NewMachine(spec, memory)
		for _, in := range []any{
			dialog.Start{},
			mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"},
			mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"},
			mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "F", Type: messages.DialogConfirm},
		} {
			step(first, in)
		}
		next := dialog.NewMachine(spec, memory)
		step(next, dialog.Start{})
		step(next, mail.NoneAsks{Page: "T", Session: session})
		if got := len(closed) == 1 && closed[0].ClosedBy == messages.ClosedByRemote; got != isOver {
			t.Errorf("session %s: %+v", session, closed)
		}
	}
}
