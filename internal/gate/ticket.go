package gate

import (
	"time"

	"holdfast/messages"
)

const (
	// ticketLife is how long a ticket is good for.
	ticketLife = 30 * time.Second
	// maxTickets bounds the tickets that wait to be used, and maxTicketsEach those of one
	// token's scope; the oldest goes first.
	maxTickets     = 1024
	maxTicketsEach = 64
)

// Ticket returns a credential that lets one request in, to one task, within 30 seconds: for
// addresses that a client is given and others may log. The caller has to be allowed the task,
// else the error's code is forbidden. A ticket ends no later than the token it was made for.
func (c Caller) Ticket(id messages.TaskID) (ticket string, end time.Time, err error) {
	if !c.Allows(id) {
		return "", time.Time{}, messages.Errorf(messages.CodeForbidden, "the token is not good for this task")
	}
	ticket, end = c.gate.tickets.add(c.scope, id, time.Now())
	return ticket, end, nil
}

// useTicket makes the caller who the ticket was given to, on its task alone.
func (c *Caller) useTicket(ticket string) error {
	now := time.Now()
	t, ok := c.gate.tickets.take(ticket, now)
	if !ok {
		return messages.Errorf(messages.CodeUnauthorized, "the ticket is not good: each is good once and for %d seconds; ask for the address again", ticketLife/time.Second)
	}
	if end := t.scope.Ends(); !end.IsZero() && !now.Before(end) {
		return errExpired
	}
	c.scope, c.only = t.scope, t.task
	return nil
}
