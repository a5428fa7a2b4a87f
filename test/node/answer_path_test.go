package node_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAnAnswerTakesFiveMessages: an agent's answer to a dialog is five messages between actors until
// its caller has the outcome. Beside them the page reports the dialog's end, and the task shows it.
func TestAnAnswerTakesFiveMessages(t *testing.T) {
	t.Parallel()
	way := []string{"dialog: mail.AnswerDialog", "session: mail.HandleDialog", "session: effect.Replied", "dialog: mail.DialogHandled", "supervisor: mail.Relay"}
	var (
		mu       sync.Mutex
		received []string
		isOver   bool
	)
	config := func(c *node.Config) {
		c.Intercept = func(m guard.Moment) {
			if m.Phase != guard.PhaseReceive {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if isOver {
				return
			}
			msg := m.Msg
			if f, ok := msg.(mail.FromDialog); ok {
				msg = f.Msg
			}
			switch msg.(type) {
			case mail.DialogClosed, mail.DialogsChanged, mail.DialogsOpen:
			default:
				received = append(received, fmt.Sprintf("%s: %T", m.Kind, msg))
			}
			_, isOver = msg.(mail.Relay)
		}
	}
	inWorldWith(t, "from the caller to the caller", chaos.Options{}, config, func(w *world) {
		page := w.start("t", everything, alone).Pages[0]
		w.b.OpenDialog(w.b.MainFrame(page.TargetID), chaos.Confirm, "well?", "")
		w.snapshot("t")
		synctest.Wait()
		mu.Lock()
		received, isOver = nil, false
		mu.Unlock()
		if _, err := w.node.Respond(context.Background(), "t", messages.DialogAnswer{Action: messages.ActionAccept}); err != nil {
			w.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(received, way) {
			w.Errorf("the answer takes %q, not %q", received, way)
		}
	})
}
