package gateway

import (
	"context"
	"time"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/transport"
)

// dialogBudget bounds how long an answer waits for a dialog that the client has been told of
// and the task's state does not show yet.
const dialogBudget = 5 * time.Second

// noteDialog notes that the page of a session asks, or asks no more, as the client is about
// to be told. It is called on the link's reader.
func (c *client) noteDialog(id messages.SessionID, isAsking bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil && s.isAsking != isAsking {
		s.isAsking = isAsking
		close(c.asked)
		c.asked = make(chan struct{})
	}
}

// isAsking says whether the client has been told of a dialog on a page, and not of its end.
// Changed is closed when that may be otherwise.
func (c *client) isAsking(page messages.TargetID) (isAsking bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		isAsking = isAsking || s.isAsking && s.target == page
	}
	return isAsking, c.asked
}

// answer gives a client's answer to the dialog actor, where the first one counts. The client
// may have been told of the dialog before the task's state shows it: its events come straight
// from the link.
func (c *client) answer(e view.AnswerDialog) {
	c.order(e.Tag, func(ctx context.Context) (messages.TargetID, error) {
		ctx, cancel := context.WithTimeout(ctx, dialogBudget)
		defer cancel()
		a := messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: e.Text}
		if e.IsAccepted {
			a.Action = messages.ActionAccept
		}
		late := map[messages.DialogID]bool{} // answered by others
		for {
			isAsking, asked := c.isAsking(e.Target)
			v := c.hub.board.View()
			changed := c.hub.board.Changed(v.Snapshot.Version)
			if a.DialogID = pendingOn(v.Snapshot, e.Target, late); a.DialogID != "" {
				_, err := c.hub.g.cfg.Node.Respond(ctx, c.hub.id, a)
				if !isNoDialog(err) {
					return "", err
				}
				late[a.DialogID] = true
				continue
			}
			if !isAsking {
				return "", errNoDialog
			}
			select {
			case <-changed:
			case <-asked:
			case <-ctx.Done():
				return "", errNoDialog
			}
		}
	})
}

// errNoDialog is what Chrome answers where no dialog is open.
var errNoDialog = &transport.RPCError{Code: view.CodeParams, Message: "No dialog is showing"}

// isNoDialog says whether an answer came too late for its dialog.
func isNoDialog(err error) bool {
	switch messages.CodeOf(err) {
	case messages.CodeDialogAlreadyAnswered, messages.CodeDialogLost, messages.CodeDialogNotFound, messages.CodeNoDialog:
		return true
	}
	return false
}

// pendingOn is the open dialog of a page that is none of late, "" where there is none.
func pendingOn(s *messages.Snapshot, page messages.TargetID, late map[messages.DialogID]bool) messages.DialogID {
	for i := range s.PendingDialogs {
		if d := &s.PendingDialogs[i]; d.TargetID == page && !late[d.ID] {
			return d.ID
		}
	}
	return ""
}
