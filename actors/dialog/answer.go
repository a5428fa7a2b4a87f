package dialog

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"holdfast/messages"
)

// answer is the one that won.
type answer struct {
	by     messages.ClosedBy
	action string
	text   *string
	reply  messages.ReplyTo // nil for policy and watchdog
}

// policy says whether a dialog of this type is answered without asking.
func (m *Machine) policy(typ string) (answer, bool) {
	if typ == "beforeunload" {
		switch m.spec.BeforeUnload {
		case messages.BeforeUnloadAccept:
			return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionAccept}, true
		case messages.BeforeUnloadDismiss:
			return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}, true
		case messages.BeforeUnloadAsk:
			return answer{}, false
		}
	}
	switch m.spec.DialogPolicy {
	case messages.PolicyAutoAccept:
		return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionAccept}, true
	case messages.PolicyAutoDismiss:
		return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}, true
	}
	return answer{}, false
}

// dismissOnLeave is what a page gets whose task ends while it asks: with
// nobody left to answer it would wait for ever (C17).
var dismissOnLeave = answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}

// decide settles who answers e. The first to come here wins.
func (m *Machine) decide(e *entry, a answer) bool {
	if e.answer != nil {
		return false
	}
	e.answer = &a
	order := messages.HandleDialog{Dialog: e.Dialog.ID, Page: e.Dialog.TargetID, Accept: a.action == messages.ActionAccept}
	if e.Dialog.Type == "prompt" && order.Accept {
		// Chrome would return "" for an accepted prompt without a text (C3);
		// a person who presses OK gets the default.
		order.Text = a.text
		if order.Text == nil {
			order.Text = &e.RawDefault
		}
	}
	m.do(ToSession{e.Dialog.SessionID, order})
	return true
}

func (m *Machine) answered(_ time.Time, o messages.AnswerDialog) {
	e, err := m.find(o.Answer.DialogID)
	if err != nil {
		m.do(Answer{To: o.Reply, Err: err})
		return
	}
	a := answer{by: messages.ClosedByAgent, action: o.Answer.Action, text: o.Answer.PromptText, reply: o.Reply}
	if !m.decide(e, a) {
		m.do(Answer{To: o.Reply, Err: alreadyAnswered(e.Dialog.ID, e.answer.by)})
	}
}

// find returns the dialog an answer means, or the error that says what the
// caller could have meant (D10, D11, D12).
func (m *Machine) find(id messages.DialogID) (*entry, error) {
	if id == "" {
		var open []*entry
		for _, e := range m.open {
			if !e.shut() {
				open = append(open, e)
			}
		}
		switch len(open) {
		case 0:
			return nil, messages.Errorf(messages.CodeNoDialog, "no dialog is open")
		case 1:
			return open[0], nil
		}
		return nil, messages.Errorf(messages.CodeDialogAmbiguous, "%d dialogs are open; name one by dialog_id", len(open)).
			With("candidates", m.pending())
	}
	for _, e := range m.open {
		if e.Dialog.ID == id {
			return e, nil
		}
	}
	for _, c := range m.recent {
		if c.ID != id {
			continue
		}
		if c.ClosedBy == messages.ClosedByLost {
			return nil, messages.Errorf(messages.CodeDialogLost, "dialog %s can no longer be answered by anyone", id)
		}
		return nil, alreadyAnswered(id, c.ClosedBy)
	}
	if m.wasIssued(id) {
		return nil, alreadyAnswered(id, "")
	}
	known := make([]messages.DialogID, 0, len(m.open))
	for _, e := range m.open {
		known = append(known, e.Dialog.ID)
	}
	return nil, messages.Errorf(messages.CodeDialogNotFound, "there is no dialog %s", id).With("known", known)
}

// wasIssued says whether id was given out once, even if history forgot it.
func (m *Machine) wasIssued(id messages.DialogID) bool {
	digits, ok := strings.CutPrefix(string(id), "d-")
	n, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil && n >= 1 && n <= m.seq && messages.NewDialogID(n) == id
}

func alreadyAnswered(id messages.DialogID, by messages.ClosedBy) *messages.Error {
	err := messages.Errorf(messages.CodeDialogAlreadyAnswered, "dialog %s was answered already", id)
	if by != "" {
		err = err.With("closed_by", by)
	}
	return err
}

// handled is the outcome of our answer on the wire.
func (m *Machine) handled(now time.Time, h messages.DialogHandled) {
	e := m.byID(h.Dialog)
	if e == nil {
		return // the closing event was faster
	}
	switch {
	case h.Err == nil:
		if e.answer != nil {
			m.end(now, e, e.answer.by)
		}
	case noDialogShowing(h.Err), e.shut() && notSent(h.Err):
		// Somebody else was first (C6).
		m.end(now, e, messages.ClosedByRemote)
	case e.shut():
		// Sent, closed, and the confirmation lost: most likely ours.
		m.end(now, e, e.answer.by)
	default:
		// Not written, or no reply: the dialog may still be there, and whoever
		// comes next may try again.
		if e.answer != nil && e.answer.reply != nil {
			m.do(Answer{To: e.answer.reply, Err: h.Err})
		}
		e.answer = nil
		m.changed(nil, nil)
	}
}

// noDialogShowing recognises Chrome's "-32602 No dialog is showing" (C4).
func noDialogShowing(err error) bool {
	return messages.CodeOf(err) == messages.CodeCDPError && strings.Contains(err.Error(), "No dialog is showing")
}

// notSent says that an order never reached the browser.
func notSent(err error) bool {
	var e *messages.Error
	return errors.As(err, &e) && e.Details["sent"] == false
}
