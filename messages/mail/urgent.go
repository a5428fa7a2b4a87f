package mail

// What follows overtakes the facts that wait for its actor: a page waits for its answer, or a
// caller for the end of its task. None of these depends on a fact that it overtakes: the actor
// has handled what its sender knows.

// IsUrgent reports that an agent's answer overtakes.
func (AnswerDialog) IsUrgent() bool { return true }

// IsUrgent reports that the answer to a dialog overtakes; an order about a call that has no
// dialog does not.
func (o HandleDialog) IsUrgent() bool { return o.Dialog != "" }

// IsUrgent reports that the end of a task overtakes.
func (StopTask) IsUrgent() bool { return true }
