package mail

import "holdfast/messages"

// Lease tells a task whether its node may decide for it. One that may not keeps its links,
// resumes new pages and tells what it sees; it answers no dialog, closes, frees and navigates
// no page, and carries out no order. The links refuse what would decide all the same.
type Lease struct {
	IsHeld bool
}

// Lapsed is the outcome of an order to a task whose node may not decide for it.
func Lapsed() *messages.Error {
	return messages.Errorf(messages.CodeLeaseLapsed, "the node has no lease, and decides nothing for the task").
		With("retry_after_s", 1).WithSent(messages.SentNo)
}
