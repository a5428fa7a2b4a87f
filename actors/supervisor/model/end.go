package model

import (
	"cmp"
	"errors"
	"slices"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Parting is how far an orderly end has come. Each step waits for the one before,
// and what fails meanwhile ends none of them early: as long as one link lives, it
// takes along what is the task's.
type Parting uint8

// IsStopping reports whether the end of the task has begun.
func (m *Task) IsStopping() bool { return m.Parting != Staying }

// HasFinished reports whether the last state has been published.
func (m *Task) HasFinished() bool {
	return m.State == messages.StateLost || m.State == messages.StateStopped
}

// IsToBeDismissed says that a dialog may not be left as it is. A page that outlives the task
// would stay frozen; but where the end was not requested, other clients may see the page
// and answer, and no answer is invented. One that is closed while a frame of another
// process asks ends the browser, if any other client is attached to it: closing it removes
// the frame first (C15, measured).
func (m *Task) IsToBeDismissed(d mail.OpenDialog) bool {
	if m.Spec.Scope != messages.ScopeOwn {
		return m.Verdict == nil
	}
	return string(d.Dialog.FrameID) != string(d.Dialog.TargetID)
}

// HeldAtTheEnd are the task's own pages that may not be closed before they are
// freed.
func (m *Task) HeldAtTheEnd() []messages.TargetID {
	if m.Spec.Scope != messages.ScopeOwn {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Order), func(t messages.TargetID) bool { return !m.NeedsFreeing(t) })
}

// OutcomeOf is what an end in state s counts as; "" is none.
func (m *Task) OutcomeOf(s messages.TaskState) messages.TaskOutcome {
	switch {
	case s.IsActive():
		return ""
	case s == messages.StateLost && m.HasBeenUp:
		return messages.OutcomeLost
	case s == messages.StateLost:
		return messages.OutcomeFailed
	}
	return cmp.Or(m.Outcome, messages.OutcomeStopped)
}

// Owned are the pages of the task, for the next link to find again.
func (m *Task) Owned() []messages.TargetID { return slices.Clone(m.Order) }

// Ended is what an order gets that comes to a task after its end.
func Ended() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").WithSent(messages.SentYes)
}

// ReasonOf is the text of err without its code.
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*messages.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// The steps of an orderly end.
const (
	Staying        Parting = iota // the task has not begun to end
	Dismissing                    // dialogs that may not be left open are being dismissed
	AnchorLeaving                 // the second link leaves the pages
	BrowserLeaving                // the primary link leaves the browser
)
