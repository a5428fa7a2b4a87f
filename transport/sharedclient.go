package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

	dry        func() // set before the link is read
	reading    sharedMessage
	isReserved bool         // takes has got the turn to write; the writer's alone
	last       func() error // asked before the next message is written; the writer's alone
	frame      []byte       // what is being written; the writer's alone

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
// the end, and shown, where it is not empty, takes its place.
func (c *sharedClient) deliver(id, rest, tail, session []byte, shown string) {
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
		if shown != "" {
			parts[4] = append(append([]byte(sessionHead), shown...), `"}`...)
		}
	}
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return
	}
	if !c.queue.push(c.shared.room, parts[:]...) {
		c.concludeLocked(&LinkError{Cause: CauseFlood, Err: fmt.Errorf("more than %d bytes waited to be read", c.shared.room)})
		c.mu.Unlock()
		go c.shared.dismiss() // the caller may hold the connection's lock
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

// canWrite implements taker.
func (c *sharedClient) canWrite() bool {
	c.isReserved = !c.shared.isSending() && c.shared.over.reserve()
	return c.isReserved
}

// Write implements Socket.
func (c *sharedClient) Write(_ context.Context, _ websocket.MessageType, msg []byte) error {
	reserved, last := c.isReserved, c.last
	c.isReserved, c.last = false, nil
	if last != nil && !reserved {
		c.awaitOutbox() // there it could not be asked for permission
	}
	frame, sent, err := c.translate(msg)
	if err != nil || frame == nil {
		if reserved {
			c.shared.over.release()
		}
		if sent != nil && !reserved { // who has the turn is not to wait
			select {
			case <-sent:
			case <-c.gone:
			}
		}
		return err
	}
	if reserved {
		err = c.shared.over.writeReserved(frame, c.gone)
	} else {
		err = c.shared.over.write(frame, c.gone, last)
		if _, isWithheld := errors.AsType[*withheldError](err); isWithheld {
			c.shared.forgetCall(frame)
			return err
		}
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

// awaitOutbox waits until what others have decided is written.
func (c *sharedClient) awaitOutbox() {
	p := c.shared
	p.mu.Lock()
	sent := p.outbox.sent
	p.mu.Unlock()
	if sent == nil {
		return
	}
	select {
	case <-sent:
	case <-c.gone:
	}
}

var errNoCommand = errors.New("what was to be written is no CDP command")

// translate makes of a client's command what goes over the connection: with an id that
// no other client has, and with the browser session where it names none. It is nil
// where the command was answered here, or waits behind others in the outbox, until sent is
// closed.
func (c *sharedClient) translate(msg []byte) (frame []byte, sent <-chan struct{}, err error) {
	_, digits := leadingID(msg)
	if digits == 0 || msg[len(msg)-1] != '}' || bytes.IndexByte(msg, 0) >= 0 {
		return nil, nil, errNoCommand
	}
	own, rest := msg[len(idHead):len(idHead)+digits], msg[len(idHead)+digits:]
	named, isNamed := commandSession(rest)
	p := c.shared
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return nil, nil, p.end
	}
	if p.sessions[c.session] == nil {
		return nil, nil, errClientGone
	}
	call, session := sharedCall{client: c, id: own}, c.session
	if p.pages != nil {
		o := p.pages.offers[string(named)]
		switch {
		case !isNamed:
			if p.pages.takeCommand(c, string(commandMethod(msg)), own, msg) {
				return nil, nil, nil
			}
		case o != nil && o.client == c:
			call.shown = o.shown
			if session = p.pages.use(o, own, msg); session == "" {
				return nil, nil, nil
			}
		}
	}
	var b []byte
	if isNamed && call.shown == "" {
		if s := p.sessions[string(named)]; s == nil || s.client != c {
			c.refuse(own, named)
			return nil, nil, nil
		}
		if b, err = p.numberLocked(c.frame[:0], call); err == nil {
			b = append(append(b, rest...), 0)
		}
	} else {
		b, err = p.encodeLocked(c.frame[:0], call, rest, session)
	}
	if err != nil {
		return nil, nil, &LinkError{Cause: CauseOverload, Err: err}
	}
	c.frame = b
	if p.outbox.isSending {
		p.enqueueLocked(bytes.Clone(b))
		return nil, p.outbox.sent, nil
	}
	return b, nil, nil
}

// refuse answers as Chrome does where a command names no session of the client's.
func (c *sharedClient) refuse(id, session []byte) {
	rest := appendString([]byte(`,"error":`+quirks.SessionGoneReply+`,"sessionId":`), string(session))
	c.deliver(bytes.Clone(id), append(rest, '}'), nil, nil, "")
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
	c.concludeLocked(end)
	c.mu.Unlock()
	c.shared.dismiss()
	return true
}

func (c *sharedClient) concludeLocked(end *LinkError) {
	c.end = end
	c.queue.drop()
	close(c.gone)
	c.signal()
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
