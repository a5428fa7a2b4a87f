package registry

import (
	"slices"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// queue are the starts that wait for a place, in the order they came in.
type queue []*entry

// entry is a start that waits. Who asks for the same task meanwhile waits along.
type entry struct {
	id      messages.TaskID
	spec    messages.TaskSpec // with defaults
	since   time.Time
	callers []caller
}

// caller is one who waits for an entry.
type caller struct {
	order    mail.StartTask
	deadline time.Time
}

func (q queue) find(id messages.TaskID) *entry {
	for _, e := range q {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (q *queue) remove(e *entry) {
	*q = slices.DeleteFunc(*q, func(other *entry) bool { return other == e })
}

// leave takes those callers out that answer to gone, and the entries without a caller. They
// are returned in order, with the entry they waited for.
func (q *queue) leave(gone func(*entry, caller) bool) (left []departed) {
	*q = slices.DeleteFunc(*q, func(e *entry) bool {
		e.callers = slices.DeleteFunc(e.callers, func(c caller) bool {
			if !gone(e, c) {
				return false
			}
			left = append(left, departed{e, c})
			return true
		})
		return len(e.callers) == 0
	})
	return left
}

type departed struct {
	entry  *entry
	caller caller
}

// deadline is when the first of the callers has waited for long enough; zero without
// callers.
func (q queue) deadline() time.Time {
	var first time.Time
	for _, e := range q {
		for _, c := range e.callers {
			if first.IsZero() || c.deadline.Before(first) {
				first = c.deadline
			}
		}
	}
	return first
}
