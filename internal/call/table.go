// Package call matches answers to calls by id, so that mail between actors holds ids and no
// functions.
package call

import (
	"sync"

	"holdfast/messages/mail"
)

// Table holds the calls of a node that wait for their one answer. The zero value is empty.
// Its methods may be called on any goroutine.
type Table struct {
	mu      sync.Mutex // protects what follows
	last    mail.Call
	waiting map[mail.Call]func(value any, err error)
}

// Open enters a call. Give runs once, with its answer, on the goroutine that answers; it
// must not block. A call that is given up is taken out with [Table.Close].
func (t *Table) Open(give func(value any, err error)) mail.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = map[mail.Call]func(any, error){}
	}
	t.last++
	t.waiting[t.last] = give
	return t.last
}

// Answer answers a call. Only the first answer counts; an answer to zero, which is no
// call, or to a call that is closed has no effect.
func (t *Table) Answer(c mail.Call, value any, err error) {
	if give := t.take(c); give != nil {
		give(value, err)
	}
}

// Close takes a call out whose answer is not wanted any more.
func (t *Table) Close(c mail.Call) { t.take(c) }

func (t *Table) take(c mail.Call) func(any, error) {
	if c == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	give := t.waiting[c]
	delete(t.waiting, c)
	return give
}

// IsOpen says whether a call still waits.
func (t *Table) IsOpen(c mail.Call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.waiting[c]
	return ok
}

// Len is how many calls wait.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
