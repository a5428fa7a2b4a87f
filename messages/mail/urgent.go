package mail

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
