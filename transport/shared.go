package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"holdfast/messages"
)

// Shared is one connection to a browser that carries many links: the pipe of a browser
// that the node has launched, or a WebSocket. Each link has a browser session of its own
// (Target.attachToBrowserTarget, C57) and sees what it would see over a connection of its
// own. A link that ends leaves its browser session; the others stay. The end of the
// connection is the end of every link.
//
// The methods are safe for concurrent use. A Shared has one goroutine that reads, which
// ends with the connection.
type Shared struct {
	mark  string // tells the browser process from others
	limit int    // of one message, in bytes
	room  int    // of a client's queue, in bytes
	over  carrier
	pong  time.Duration // how long the peer may take to answer a Ping
	done  chan struct{} // closed when the reader has ended
	// isCounted ends the connection with its last link.
	isCounted bool

	mu       sync.Mutex // protects what follows
	end      *LinkError // set once
	users    int        // links, and opens under way
	lastID   int32
	calls    map[int32]sharedCall
	sessions map[string]*sharedSession
	pages    *sharedPages // nil where each link attaches to pages for itself
	outbox   sharedOutbox
}

// carrier moves the messages of a [Shared]. One goroutine reads; the other methods are safe
// for concurrent use. A message that is written ends with a NUL.
type carrier interface {
	// name says what it is, for errors.
	name() string
	// read hands out messages until the carrier ends. Of a message that is longer than
	// limit it hands out one byte more than the limit, and the end. It calls alive while
	// a long message comes.
	read(limit int, route func(msg, tail []byte), alive func()) *LinkError
	// reserve takes the turn to write if a short message would not have to wait;
	// writeReserved, or release, has to follow.
	reserve() bool
	release()
	// write writes a message. Gone, where it is not nil, ends the wait; interrupt has to be
	// called behind it. No message is ever torn.
	//
	// Last, where it is not nil, is asked once the message has its turn, and an error of it
	// is returned in a [*withheldError].
	write(frame []byte, gone <-chan struct{}, last func() error) error
	writeReserved(frame []byte, gone <-chan struct{}) error
	interrupt()
	// broken is the reason of the end that an error of write is.
	broken(err error) *LinkError
	// close ends the carrier, and with it a read and a write that wait.
	close(end *LinkError)
}

// sharedCall is a command whose reply has not come.
type sharedCall struct {
	client *sharedClient // nil: the connection's own, told to reply
	id     []byte        // the client's own
	shown  string        // the session's id for the client, where it is not the browser's
	reply  func(Envelope)
}

// sharedSession is a session of the browser and the client that has it.
type sharedSession struct {
	client   *sharedClient
	parent   *sharedSession // nil for a client's browser session
	children map[string]*sharedSession
	offer    *pageOffer // nil where the client knows the session by its own id
}

// Bounds of one shared connection.
const (
	maxSharedCalls    = 65536 // without a reply, of all clients
	maxSharedSessions = 65536
)

func newShared(over carrier, mark string, pong time.Duration, limit, room int) *Shared {
	return &Shared{
		mark: mark, limit: limit, room: room, over: over, pong: pong,
		done: make(chan struct{}), calls: make(map[int32]sharedCall), sessions: make(map[string]*sharedSession),
	}
}

// Close ends the connection and every link over it, and waits for the reader.
func (p *Shared) Close() {
	p.fail(&LinkError{Cause: CauseLocal})
	<-p.done
}

// Done is closed when the connection has ended.
func (p *Shared) Done() <-chan struct{} { return p.done }

// fail ends the connection, once.
func (p *Shared) fail(end *LinkError) {
	p.mu.Lock()
	if p.end != nil {
		p.mu.Unlock()
		return
	}
	p.end = end
	calls, sessions := p.calls, p.sessions
	p.calls, p.sessions = nil, nil
	p.outbox.stopLocked()
	p.mu.Unlock()
	p.over.close(end)
	for _, c := range calls {
		if c.client == nil {
			c.reply(Envelope{})
		}
	}
	for _, s := range sessions {
		if s.parent == nil {
			s.client.finish(end)
		}
	}
}

func (p *Shared) read() {
	defer close(p.done)
	p.fail(p.over.read(p.limit, p.route, p.hear))
}

// hear tells every link that the browser is alive: a long message of one client keeps
// those of the others behind it.
func (p *Shared) hear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		if s.parent == nil {
			s.client.mu.Lock()
			if s.client.heard != nil {
				s.client.heard()
			}
			s.client.mu.Unlock()
		}
	}
}

// Open attaches to the browser anew and returns a link to it. Ctx bounds the attaching
// alone; without a deadline it gets [DefaultDialTimeout]. Errors are
// [*messages.Error] with the code upstream_unavailable.
func (p *Shared) Open(ctx context.Context, o DialOptions) (*Mux, error) {
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, DefaultDialTimeout)
		defer cancel()
		ctx = bounded
	}
	c, err := p.attach(ctx)
	if err != nil {
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "%s: %v", p.over.name(), err)
	}
	o = o.withDefaults()
	o.MaxMessage = min(o.MaxMessage, int64(p.limit))
	m := newMux(p.connection(c), o)
	m.browser = p.mark
	return m, nil
}

// connection is what a link has of a client's part.
func (p *Shared) connection(c *sharedClient) connection {
	conn := connection{Socket: c, taker: c, brink: c, pong: p.pong, last: func(mayDecide func() error) { c.last = mayDecide }}
	if over, ok := p.over.(*sharedSocket); ok {
		conn.isLively, conn.isPoliced = over.isLively, true
		conn.silent = p.fail // a socket that is dead is so for every link
	}
	return conn
}

var errSharedClosed = errors.New("the browser has closed it")

// acquire keeps a counted connection open until dismiss, and says whether it stands.
func (p *Shared) acquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == nil {
		p.users++
	}
	return p.end == nil
}

// dismiss ends a use: one of acquire, or a link. A counted connection ends with its last.
func (p *Shared) dismiss() {
	p.mu.Lock()
	p.users--
	isLast := p.isCounted && p.users == 0
	p.mu.Unlock()
	if isLast {
		p.fail(&LinkError{Cause: CauseLocal})
	}
}

// attach asks for a browser session. One that comes too late is left at once.
func (p *Shared) attach(ctx context.Context) (*sharedClient, error) {
	type outcome struct {
		client *sharedClient
		err    error
	}
	told := make(chan outcome, 1)
	err := p.command("Target.attachToBrowserTarget", nil, func(e Envelope) {
		// On the reader's goroutine: the session is known before its first message.
		client, err := p.admit(e)
		if ctx.Err() != nil && client != nil {
			go func() { _ = client.CloseNow() }()
		}
		told <- outcome{client, err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case o := <-told:
		if o.err == nil && ctx.Err() != nil {
			return nil, ctx.Err() // it has been left above, or is below
		}
		return o.client, o.err
	case <-ctx.Done():
		go func() {
			if o := <-told; o.client != nil { // at the latest the connection's end tells
				_ = o.client.CloseNow()
			}
		}()
		return nil, errors.New("the browser did not let us attach in time")
	}
}

// admit makes a client of the reply to an attach.
func (p *Shared) admit(e Envelope) (*sharedClient, error) {
	switch {
	case e.Error != nil:
		return nil, newRPCError(e.Error)
	case e.Result == nil:
		return nil, errSharedClosed
	}
	var result struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(e.Result, &result); err != nil || !isPlain(result.SessionID) {
		return nil, errors.New("the browser named no session")
	}
	c := newSharedClient(p, result.SessionID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return nil, errSharedClosed
	}
	p.sessions[c.session] = &sharedSession{client: c}
	p.users++
	return c, nil
}

// isPlain says whether a session's id stands in JSON as it is.
func isPlain(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// command sends a command of the connection's own. Reply is called once, on the reader's
// goroutine, with an empty Envelope where the connection ended first.
func (p *Shared) command(method string, params []byte, reply func(Envelope)) error {
	p.mu.Lock()
	if p.end != nil {
		p.mu.Unlock()
		return errSharedClosed
	}
	id, err := p.newCallLocked(sharedCall{reply: reply})
	p.mu.Unlock()
	if err != nil {
		return err
	}
	b := strconv.AppendInt([]byte(`{"id":`), int64(id), 10)
	b = append(append(b, `,"method":"`...), method...)
	b = append(b, '"')
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	frame := append(b, '}', 0)
	if p.over.reserve() {
		if err := p.over.writeReserved(frame, nil); err != nil {
			go p.fail(p.over.broken(err))
		}
		return nil
	}
	go func() { // a browser that does not read keeps nothing waiting here
		if err := p.over.write(frame, nil, nil); err != nil {
			p.fail(p.over.broken(err))
		}
	}()
	return nil
}

// call makes a command of the connection's own, and waits for its result.
func (p *Shared) call(ctx context.Context, method string, params []byte) ([]byte, error) {
	replied := make(chan Reply, 1)
	err := p.command(method, params, func(e Envelope) {
		switch {
		case e.Error != nil:
			replied <- Reply{Err: newRPCError(e.Error)}
		case e.Result == nil:
			replied <- Reply{Err: errSharedClosed}
		default:
			replied <- Reply{Result: bytes.Clone(e.Result)}
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case r := <-replied:
		return r.Result, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isStanding says whether the connection has not ended.
func (p *Shared) isStanding() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end == nil
}

// forgetCall is for a command that is not written after all.
func (p *Shared) forgetCall(frame []byte) {
	_, digits := leadingID(frame)
	id, err := strconv.ParseInt(string(frame[len(idHead):len(idHead)+digits]), 10, 32)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.calls, int32(id))
	}
}

// newCallLocked takes an id that no command has whose reply has not come.
func (p *Shared) newCallLocked(c sharedCall) (int32, error) {
	if len(p.calls) >= maxSharedCalls {
		return 0, ErrOverloaded
	}
	for {
		if p.lastID++; p.lastID <= 0 {
			p.lastID = 1 // C56: Chrome takes an int32
		}
		if _, taken := p.calls[p.lastID]; !taken {
			p.calls[p.lastID] = c
			return p.lastID, nil
		}
	}
}

// leave forgets a client and everything that is its own, and says whether it was known.
func (p *Shared) leave(c *sharedClient) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[c.session]
	if p.end != nil || s == nil {
		return false
	}
	if p.pages != nil {
		p.pages.left(c)
	}
	p.forgetLocked(c.session, s)
	for id, call := range p.calls {
		if call.client == c {
			delete(p.calls, id)
		}
	}
	return true
}

// forgetLocked forgets a session and those that were attached by way of it.
func (p *Shared) forgetLocked(id string, s *sharedSession) {
	delete(p.sessions, id)
	if s.parent != nil {
		delete(s.parent.children, id)
	}
	for child, cs := range s.children {
		cs.parent = nil
		p.forgetLocked(child, cs)
	}
}
