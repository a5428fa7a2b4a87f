package messages

// The bodies of answers that are no more than a frame around something else.

// ErrorReply is the body of every answer whose status is 400 or more.
type ErrorReply struct {
	// Error says what failed.
	Error *Error `json:"error"`
}

// TaskList is the tasks that a token covers, by id.
type TaskList struct {
	// Tasks are the snapshots of the tasks.
	Tasks []*Snapshot `json:"tasks"`
	// Missing are the nodes of the cluster that did not answer within 2 s: their tasks are not
	// in the list.
	Missing []string `json:"missing,omitempty"`
}

// DialogReply is the dialog that an answer has closed.
type DialogReply struct {
	// Dialog is the closed dialog; closed_by says what closed it.
	Dialog ClosedDialog `json:"dialog"`
}

// Health is the answer of a health check that passed.
type Health struct {
	// Status is always ok: a check that fails is answered as an error, with
	// the same list in details.checks.
	Status string `json:"status" jsonschema:"enum=ok"`
	// Checks are the parts that were looked at.
	Checks []Check `json:"checks"`
}

// Draining says that the node has begun to end.
type Draining struct {
	// Draining is always true.
	Draining bool `json:"draining"`
}
