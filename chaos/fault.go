package chaos

import (
	"slices"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// faults are what a connection is told to do wrong, by method.
type faults struct {
	swallow   []string
	duplicate []string
	delay     map[string]time.Duration
	held      int // replies that are delayed now
}

func (f *faults) take(list *[]string, method string) bool {
	i := slices.Index(*list, method)
	if i < 0 {
		return false
	}
	*list = slices.Delete(*list, i, i+1)
	return true
}

// Connections returns the open connections in the order they came.
func (b *Browser) Connections() []*Conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.conns)
}

// DropConnections drops every connection and returns how many there were.
func (b *Browser) DropConnections() int {
	n := 0
	b.do(func() {
		for _, c := range slices.Clone(b.conns) {
			c.drop()
			n++
		}
	})
	return n
}

// Number counts the browser's connections from 1, in the order in which their
// handshakes began.
func (c *Conn) Number() int { return c.number }

// Host is what the handshake's Host header said: clients that dial the same
// browser under different names can be told apart by it.
func (c *Conn) Host() string { return c.host }

// Drop breaks the connection without a close frame, as a killed socket does.
// What was queued is lost.
func (c *Conn) Drop() { c.b.do(c.drop) }

func (c *Conn) drop() {
	c.end()
	c.cancel()
}

// Close ends the connection with a close frame. It waits up to five seconds
// for the other side's, like the library it stands on.
func (c *Conn) Close(code websocket.StatusCode, reason string) {
	c.b.do(c.end)
	// The peer may be gone; then the close frame has no reader.
	_ = c.ws.Close(code, reason)
	c.cancel()
}

// Stall makes the connection half-open: nothing is read, executed or sent, and
// pings stay unanswered, until [Conn.Resume]. One command may still be read
// off the wire and wait.
func (c *Conn) Stall() {
	c.b.do(func() {
		if !c.isStalled {
			c.isStalled, c.resumed = true, make(chan struct{})
		}
	})
}

// Linger is Stall for a browser that does not hear of the client's end either, before
// Resume: behind a proxy or a NAT the old link's sessions outlive it (C61).
func (c *Conn) Linger() {
	c.Stall()
	c.b.do(func() { c.mustLinger = true })
}

func (c *Conn) isLingering() bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.mustLinger && c.isStalled
}

// IsStalled says whether the connection is half-open.
func (c *Conn) IsStalled() bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.isStalled
}

// Resume undoes [Conn.Stall]; what waited is sent in order.
func (c *Conn) Resume() {
	c.b.do(func() {
		if c.isStalled {
			c.isStalled = false
			close(c.resumed)
			c.stir()
		}
	})
}

// SendRaw queues message as it is, whatever it is.
func (c *Conn) SendRaw(message []byte) {
	c.b.do(func() { c.push(slices.Clone(message)) })
}

// SwallowNextReply loses the reply to the next command of that method; the
// command is executed.
func (c *Conn) SwallowNextReply(method string) {
	c.b.do(func() { c.faults.swallow = append(c.faults.swallow, method) })
}

// SwallowNothing takes back every [Conn.SwallowNextReply] and
// [Conn.DuplicateNextReply] that has not come to anything.
func (c *Conn) SwallowNothing() {
	c.b.do(func() { c.faults.swallow, c.faults.duplicate = nil, nil })
}

// DuplicateNextReply sends the reply to the next command of that method twice.
func (c *Conn) DuplicateNextReply(method string) {
	c.b.do(func() { c.faults.duplicate = append(c.faults.duplicate, method) })
}

// DelayReplies holds every reply to method back for d, without holding up what
// is sent meanwhile. Zero ends it.
func (c *Conn) DelayReplies(method string, d time.Duration) {
	c.b.do(func() {
		if c.faults.delay == nil {
			c.faults.delay = map[string]time.Duration{}
		}
		c.faults.delay[method] = d
	})
}

// DelaysReplies says whether a reply is held back, or the next one may be.
func (c *Conn) DelaysReplies() bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	if c.faults.held > 0 {
		return true
	}
	for _, d := range c.faults.delay {
		if d > 0 {
			return true
		}
	}
	return false
}

// Detach ends a session as the browser does by itself, and tells its owner.
// The target lives on. It says whether there was such a session.
func (b *Browser) Detach(id messages.SessionID) bool {
	found := false
	b.do(func() {
		b.sessions(func(s *session) {
			if s.id == id && s.target != nil {
				found = true
				b.detach(s, false)
			}
		})
	})
	return found
}

// Commands returns what the client sent, oldest first; of a talkative client
// only the last ones (see [Options.KeepCommands]).
func (c *Conn) Commands() []Command {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return slices.Clone(c.commands)
}

// BrowserSessions returns how many sessions of Target.attachToBrowserTarget the client has.
func (c *Conn) BrowserSessions() (n int) {
	c.b.do(func() {
		for _, s := range c.sessions {
			if s.target == nil && s.owner != nil {
				n++
			}
		}
	})
	return n
}

// Received returns the methods of [Conn.Commands], those of one session or of
// all when session is "*"; "" is the root session.
func (c *Conn) Received(session messages.SessionID) []string {
	var methods []string
	for _, command := range c.Commands() {
		if session == "*" || command.Session == session {
			methods = append(methods, command.Method)
		}
	}
	return methods
}
