// Package calltest has a table of calls for tests of machines.
package calltest

import (
	"fmt"
	"sync"

	"holdfast/messages/mail"
)

// Calls gives every answer to its call, where the node's table gives the first one alone:
// a machine that answers a call twice is found. The zero value is empty; its methods may
// be called on any goroutine.
type Calls struct {
	mu   sync.Mutex // protects what follows
	give []func(value any, err error)
}

// Open enters a call.
func (c *Calls) Open(give func(value any, err error)) mail.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.give = append(c.give, give)
	return mail.Call(len(c.give))
}

// Answer answers a call, again if it has to. Zero is no call; an id that was never given
// out panics.
func (c *Calls) Answer(to mail.Call, value any, err error) {
	if to == 0 {
		return
	}
	c.mu.Lock()
	if int(to) > len(c.give) {
		c.mu.Unlock()
		panic(fmt.Sprintf("calltest: there is no call %d", to))
	}
	give := c.give[to-1]
	c.mu.Unlock()
	give(value, err)
}
