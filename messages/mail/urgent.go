package mail

import "holdfast/messages"

// What follows overtakes the facts that wait for its actor: a page waits for its answer, or a
// caller for the end of its task. None of these depends on a fact that it overtakes: the actor
// has handled what its sender knows.
//
// AnswerDialog is not among them. Its caller may have seen that a link is lost, and the answer
// then has to follow that loss into the dialog actor. Work of pages does not go there.

// IsUrgent reports that the answer to a dialog overtakes; an order about a call that has no
// dialog does not.
func (o HandleDialog) IsUrgent() bool { return o.Dialog != "" }

// IsUrgent reports that the end of a task overtakes.
func (StopTask) IsUrgent() bool { return true }

// FromDialog is what a dialog actor sends to the supervisor. Life tells the actor from those
// before it, and Seq counts its messages from 1: one that overtakes facts of pages waits for
// those of its own actor before it.
type FromDialog struct {
	Life, Seq uint64
	Msg       any
}

// IsUrgent reports that the last hop of an agent's answer overtakes: the end of its dialog, and
// the answer to the caller behind it. The end of any other dialog does not, since what follows
// from it depends on what its page has reported before.
func (f FromDialog) IsUrgent() bool {
	switch m := f.Msg.(type) {
	case DialogsChanged:
		return m.Closed != nil && m.Closed.ClosedBy == messages.ClosedByAgent
	case Relay:
		return true
	}
	return false
}
