package chaos

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// Conn is one client's WebSocket. Its methods are safe for concurrent use.
//
// Two goroutines serve it: the handler's, which reads and executes, and a
// writer. What is to be sent waits in out, in the order it happened.
type Conn struct {
	b      *Browser
	number int
	host   string // that the handshake asked for
	ws     *websocket.Conn
	cancel context.CancelFunc

	wake chan struct{} // cap 1: out, stalled or gone may have changed

	// Guarded by b.mu.
	sessions   []*session // the root session first
	out        [][]byte
	isStalled  bool
	resumed    chan struct{} // closed by Resume
	mustLinger bool          // the client's end is heard of once it is resumed
	isGone     bool
	commands   []Command
	faults     faults
}

// Command is what a client sent.
type Command struct {
	ID      int32
	Session messages.SessionID
	Method  string
	Params  json.RawMessage
}

// serve runs a connection to the process guid until either side ends it.
func (b *Browser) serve(ws *websocket.Conn, number int, guid, host string) {
	ws.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &Conn{b: b, number: number, host: host, ws: ws, cancel: cancel, wake: make(chan struct{}, 1)}

	opened := false
	b.do(func() {
		if b.isDead || b.guid != guid {
			return
		}
		opened = true
		b.dials++
		c.sessions = []*session{{conn: c}}
		i := len(b.conns)
		for i > 0 && b.conns[i-1].number > number {
			i--
		}
		b.conns = slices.Insert(b.conns, i, c)
	})
	if opened {
		var writer sync.WaitGroup
		writer.Go(func() { c.write(ctx) })
		c.read(ctx)
		b.do(c.end)
		cancel()
		writer.Wait()
	}
	// The other side may be gone already.
	_ = ws.CloseNow()
}

func (c *Conn) read(ctx context.Context) {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			if c.isLingering() {
				c.passStall(ctx)
			}
			return
		}
		if !c.passStall(ctx) {
			return
		}
		c.b.do(func() { c.receive(data) })
	}
}

// passStall waits while the connection is stalled.
func (c *Conn) passStall(ctx context.Context) bool {
	for {
		c.b.mu.Lock()
		stalled, resumed := c.isStalled, c.resumed
		c.b.mu.Unlock()
		if !stalled {
			return ctx.Err() == nil
		}
		select {
		case <-resumed:
		case <-ctx.Done():
			return false
		}
	}
}

func (c *Conn) write(ctx context.Context) {
	for {
		c.b.mu.Lock()
		var next []byte
		if len(c.out) > 0 && !c.isStalled {
			next, c.out = c.out[0], c.out[1:]
			if len(c.out) == 0 {
				c.out = nil
			}
		}
		c.b.mu.Unlock()
		if next == nil {
			select {
			case <-c.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		if c.ws.Write(ctx, websocket.MessageText, next) != nil {
			if !c.isLingering() { // else the reader ends it, later
				c.cancel()
			}
			return
		}
	}
}

func (c *Conn) receive(data []byte) {
	if c.isGone {
		return
	}
	r, refusal := parse(data)
	if refusal != nil {
		c.push(marshal(refusal))
		return
	}
	c.remember(r)
	s := c.session(r.session)
	if s == nil {
		c.push(marshal(wireReply{ID: &r.id, Error: &wireError{Code: codeNoSession, Message: textNoSession}}))
		return
	}
	c.b.dispatch(&call{b: c.b, s: s, request: r})
}

func (c *Conn) remember(r request) {
	if len(c.commands) >= c.b.options.KeepCommands {
		c.commands = append(c.commands[:0:0], c.commands[len(c.commands)/2:]...)
	}
	c.commands = append(c.commands, Command{ID: r.id, Session: r.session, Method: r.method, Params: r.params})
}

// session returns the session of that id, the root session for "", or nil.
func (c *Conn) session(id messages.SessionID) *session {
	for _, s := range c.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}

// push queues a message.
func (c *Conn) push(message []byte) {
	if c.isGone {
		return
	}
	c.out = append(c.out, message)
	c.stir()
}

// pushLater pushes a message after d; pushed, which may be nil, is told of that.
func (c *Conn) pushLater(message []byte, d time.Duration, pushed func()) {
	c.faults.held++
	time.AfterFunc(d, func() {
		c.b.do(func() {
			c.faults.held--
			c.push(message)
			if pushed != nil && !c.isGone {
				pushed()
			}
		})
	})
}

func (c *Conn) stir() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end takes the connection out of the world: all its sessions are detached,
// without a word to it.
func (c *Conn) end() {
	if c.isGone && len(c.sessions) == 0 {
		return
	}
	c.isGone = true
	for i, other := range c.b.conns {
		if other == c {
			c.b.conns = append(c.b.conns[:i:i], c.b.conns[i+1:]...)
			break
		}
	}
	ended := c.sessions
	c.sessions = nil
	for _, s := range ended {
		if s.target != nil && !s.isGone {
			c.b.forget(s)
		}
		s.isGone = true
	}
	c.out = nil
}
