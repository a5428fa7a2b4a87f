package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"holdfast/transport/quirks"

	"github.com/coder/websocket"
)

// sharedClient is one client's part of a [Shared]: the stream of its link. Its browser
// session stands for what would be the root of a socket, and is never seen above.
type sharedClient struct {
	shared  *Shared
	session string
	gone    chan struct{} // closed with the client's end
	wake    chan struct{} // holds one: the queue is not empty, or the client has ended

	dry      func() // set before the link is read
	reading  sharedMessage
	reserved bool   // takes has got the turn to write; the writer's alone
	frame    []byte // what is being written; the writer's alone

	mu    sync.Mutex // protects what follows
	heard func()     // nil until the client has a link
	queue sharedQueue
	end   *LinkError
}

const (
	// maxSharedQueue bounds what waits to be read by one client, in bytes: one message
	// of the largest size while another is read. A client that is slower has its link
	// ended, and no other client notices.
	maxSharedQueue = 128 << 20
	// maxPooledFrame is how large a buffer for writing may be to be kept.
	maxPooledFrame = 64 << 10
)

func newSharedClient(p *Shared, session string) *sharedClient {
	return &sharedClient{shared: p, session: session, gone: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// watch implements brink.
func (c *sharedClient) watch(dry, heard func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dry, c.heard = dry, heard
}

// strips returns what of the end of a message is the client's browser session, which
// is cut off.
func (c *sharedClient) strips(session []byte) []byte {
	if string(session) == c.session {
		return session
	}
	return nil
}

// deliver queues a message for the client. Where id is not nil it is the client's own,
// and rest what stands behind the browser's. Session, where it is not nil, is cut off
// the end. It runs on the connection's reader.
func (c *sharedClient) deliver(id, rest, tail, session []byte) {
	parts := [...][]byte{nil, id, rest, tail, nil}
	if id != nil {
		parts[0] = []byte(idHead)
	}
	if session != nil {
		last := &parts[2]
		if tail != nil {
			last = &parts[3]
		}
		*last = withoutSession(*last, session)
		parts[4] = []byte{'}'}
	}
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return
	}
	if !c.queue.push(c.shared.room, parts[:]...) {
		c.mu.Unlock()
		c.finish(&LinkError{Cause: CauseFlood, Err: fmt.Errorf("more than %d bytes waited to be read", c.shared.room)})
		return
	}
	c.mu.Unlock()
	c.signal()
}

func (c *sharedClient) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Reader implements Socket.
func (c *sharedClient) Reader(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	for waited := false; ; waited = true {
		c.mu.Lock()
		c.queue.release(c.reading)
		c.reading = sharedMessage{}
		if c.end != nil {
			defer c.mu.Unlock()
			return 0, nil, c.end
		}
		if m, ok := c.queue.pop(); ok {
			c.reading = m
			c.mu.Unlock()
			if c.heard != nil {
				c.heard()
			}
			return websocket.MessageText, &c.reading, nil
		}
		c.mu.Unlock()
		if c.dry != nil && !waited {
			c.dry()
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// takes implements taker.
func (c *sharedClient) takes() bool {
	c.reserved = c.shared.over.reserve()
	return c.reserved
}

// Write implements Socket.
func (c *sharedClient) Write(_ context.Context, _ websocket.MessageType, msg []byte) error {
	reserved := c.reserved
	c.reserved = false
	frame, err := c.translate(msg)
	if err != nil || frame == nil {
		if reserved {
			c.shared.over.release()
		}
		return err
	}
	if reserved {
		err = c.shared.over.writeReserved(frame, c.gone)
	} else {
		err = c.shared.over.write(frame, c.gone)
	}
	if cap(c.frame) > maxPooledFrame {
		c.frame = nil
	}
	if err != nil && !errors.Is(err, errClientGone) {
		end := c.shared.over.broken(err)
		c.shared.fail(end)
		return end
	}
	return err
}

var errNoCommand = errors.New("what was to be written is no CDP command")

// translate makes of a client's command what goes over the connection: with an id that
// no other client has, and with the browser session where it names none. It is nil
// where the command was answered here.
func (c *sharedClient) translate(msg []byte) ([]byte, error) {
	_, digits := leadingID(msg)
	if digits == 0 || msg[len(msg)-1] != '}' || bytes.IndexByte(msg, 0) >= 0 {
		return nil, errNoCommand
	}
	own, rest := msg[len(idHead):len(idHead)+digits], msg[len(idHead)+digits:]
	named, isNamed := commandSession(rest)
	p := c.shared
	p.mu.Lock()
	if p.end != nil {
		defer p.mu.Unlock()
		return nil, p.end
	}
	if p.sessions[c.session] == nil {
		p.mu.Unlock()
		return nil, errClientGone
	}
	if s := p.sessions[string(named)]; isNamed && (s == nil || s.client != c) {
		p.mu.Unlock()
		c.refuse(own, named)
		return nil, nil
	}
	id, err := p.newCallLocked(sharedCall{client: c, id: bytes.Clone(own)})
	p.mu.Unlock()
	if err != nil {
		return nil, &LinkError{Cause: CauseOverload, Err: err}
	}
	b := strconv.AppendInt(append(c.frame[:0], idHead...), int64(id), 10)
	if !isNamed {
		b = append(append(b, rest[:len(rest)-1]...), sessionHead...)
		b = append(append(b, c.session...), `"}`...)
	} else {
		b = append(b, rest...)
	}
	c.frame = append(b, 0)
	return c.frame, nil
}

// refuse answers as Chrome does where a command names no session of the client's.
func (c *sharedClient) refuse(id, session []byte) {
	rest := appendString([]byte(`,"error":`+quirks.SessionGoneReply+`,"sessionId":`), string(session))
	c.deliver(bytes.Clone(id), append(rest, '}'), nil, nil)
}

// commandSession reads the session of a command as [command] encodes it. What params
// are does not matter: where there is no session, a command ends with its params'
// brace before its own, or with its method.
func commandSession(msg []byte) (session []byte, named bool) {
	rest, ok := bytes.CutSuffix(msg, []byte(`"}`))
	if !ok {
		return nil, false
	}
	i := bytes.LastIndex(rest, []byte(sessionHead))
	if i < 0 {
		return nil, false
	}
	return rest[i+len(sessionHead):], true
}

// Ping implements Socket. Over a pipe the browser process is asked something small.
func (c *sharedClient) Ping(ctx context.Context) error {
	if over, ok := c.shared.over.(*sharedSocket); ok {
		if err := over.ping(ctx, c.gone); !errors.Is(err, errClientGone) {
			return err
		}
		return c.cause()
	}
	answered := make(chan struct{})
	if err := c.shared.command("Browser.getVersion", nil, func(Envelope) { close(answered) }); err != nil {
		return err
	}
	select {
	case <-answered:
		return nil
	case <-c.gone:
		return c.cause()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *sharedClient) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// finish ends the client, once, and says whether it had not ended.
func (c *sharedClient) finish(end *LinkError) bool {
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return false
	}
	c.end = end
	c.queue.drop()
	c.mu.Unlock()
	close(c.gone)
	c.signal()
	c.shared.dismiss()
	return true
}

// detached ends the client whose browser session the browser has ended.
func (c *sharedClient) detached() {
	c.shared.leave(c)
	c.finish(&LinkError{Cause: CauseReset, Err: errors.New("the browser has ended the link's session")})
	c.shared.over.interrupt()
}

// CloseNow implements Socket: the client leaves its browser session, and with it every
// session that it has attached to. It does not wait for the browser.
func (c *sharedClient) CloseNow() error {
	c.finish(&LinkError{Cause: CauseLocal})
	if c.shared.leave(c) {
		c.shared.over.interrupt() // its own write, where the browser does not read
		params := appendString([]byte(`{"sessionId":`), c.session)
		_ = c.shared.command("Target.detachFromTarget", append(params, '}'), func(Envelope) {})
	}
	return nil
}
