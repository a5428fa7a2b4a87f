package session

import (
	"context"
	"sync/atomic"
	"time"

	"holdfast/internal/guard"
	"holdfast/transport"
)

// Connect dials the browser. It waits, honours ctx, and calls onClose once
// when the link it returned has ended.
type Connect func(ctx context.Context, onClose func(error)) (*transport.Mux, error)

// connection is what the actors that own a link have in common. When it is lost the
// actor exits abnormally, and that is the whole reconnect logic.
type connection struct {
	connect Connect
	mux     atomic.Pointer[transport.Mux] // set by the dialling goroutine
}

// closeGrace is how long the end of the actor waits for the link's.
const closeGrace = 500 * time.Millisecond

type (
	dialled  struct{ err error }
	linkDown struct{ err error }
)

// dial begins with Init; handle hears how it went. The link is kept until the actor
// ends, and closed then: that does not hang on the actor's own last word, which may
// fail.
func (l *connection) dial(c *guard.Context) {
	self, sys := c.Self(), c.System()
	c.Go("link", func(ctx context.Context) any {
		mux, err := l.connect(ctx, func(err error) { sys.Send(self, linkDown{err}) })
		if err != nil {
			return dialled{err}
		}
		l.mux.Store(mux)
		return guard.Kept{Msg: dialled{}, Release: func() { letGoOf(mux) }}
	})
}

// letGoOf closes a link and waits for its end: what ends next may be the browser
// itself, and it is to find its client gone already (A6). A stalled peer cannot
// hold this up for long.
func letGoOf(mux *transport.Mux) {
	mux.Close()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-mux.Closed():
	case <-grace.C:
	}
}

// handle takes what concerns the link alone and calls up when it stands.
func (l *connection) handle(c *guard.Context, msg any, up func(*guard.Context)) bool {
	switch msg := msg.(type) {
	case dialled:
		if msg.err != nil {
			c.Exit(guard.Fail(msg.err))
		} else {
			up(c)
		}
	case linkDown:
		c.Exit(guard.Fail(msg.err))
	default:
		return false
	}
	return true
}
