package transport

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"holdfast/messages"
)

// Pipe is one browser that is driven over its --remote-debugging-pipe. It carries
// many links: each has a browser session of its own (Target.attachToBrowserTarget,
// C57) and sees what it would see over a socket of its own. A link that ends leaves
// its browser session; the others stay. The end of the pipe is the end of the browser.
//
// The methods are safe for concurrent use. A Pipe has one goroutine, which ends with
// the pipe.
type Pipe struct {
	mark  string
	limit int // of one message, in bytes; see pipeReader
	room  int // of a client's queue, in bytes

	from io.ReadCloser
	out  *pipeWriter
	done chan struct{} // closed when the reader has ended

	mu       sync.Mutex // protects what follows
	end      *LinkError // set once
	lastID   int32
	calls    map[int32]pipeCall
	sessions map[string]*pipeSession
}

// pipeCall is a command whose reply has not come.
type pipeCall struct {
	client *pipeClient // nil: the pipe's own, told to reply
	id     []byte      // the client's own
	reply  func(Envelope)
}

// pipeSession is a session of the browser and the client that has it.
type pipeSession struct {
	client   *pipeClient
	parent   *pipeSession // nil for a client's browser session
	children map[string]*pipeSession
}

// Bounds of one pipe.
const (
	maxPipeCalls    = 65536 // without a reply, of all clients
	maxPipeSessions = 65536
	// pipePong is how long the browser process may be silent. A pipe has no half that
	// could be open, and a new link would come to the same process.
	pipePong = 20 * time.Second
)

// PipeEnd is the end of a pipe that the browser reads from.
type PipeEnd interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// NewPipe starts to read from. Both ends are the Pipe's own from now on.
func NewPipe(from io.ReadCloser, to PipeEnd) *Pipe {
	return newPipe(from, to, messages.MaxCDPMessage, maxPipeQueue)
}

func newPipe(from io.ReadCloser, to PipeEnd, limit, room int) *Pipe {
	var mark [8]byte
	_, _ = rand.Read(mark[:]) // never fails
	p := &Pipe{
		mark: hex.EncodeToString(mark[:]), limit: limit, room: room, from: from, out: newPipeWriter(to),
		done: make(chan struct{}), calls: make(map[int32]pipeCall), sessions: make(map[string]*pipeSession),
	}
	go p.read()
	return p
}

// Close ends the pipe and every link over it, and waits for the reader. The browser
// ends by itself when its pipe does.
func (p *Pipe) Close() {
	p.fail(&LinkError{Cause: CauseLocal})
	<-p.done
}

// Done is closed when the pipe has ended.
func (p *Pipe) Done() <-chan struct{} { return p.done }

// fail ends the pipe, once.
func (p *Pipe) fail(end *LinkError) {
	p.mu.Lock()
	if p.end != nil {
		p.mu.Unlock()
		return
	}
	p.end = end
	calls, sessions := p.calls, p.sessions
	p.calls, p.sessions = nil, nil
	p.mu.Unlock()
	_ = p.out.to.Close()
	_ = p.from.Close()
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

func (p *Pipe) read() {
	defer close(p.done)
	r := newPipeReader(p.from, p.limit)
	r.alive = p.hear
	p.fail(r.run(p.route))
}

// hear tells every link that the browser is alive: a long message of one client keeps
// those of the others behind it.
func (p *Pipe) hear() {
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
func (p *Pipe) Open(ctx context.Context, o DialOptions) (*Mux, error) {
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, DefaultDialTimeout)
		defer cancel()
		ctx = bounded
	}
	c, err := p.attach(ctx)
	if err != nil {
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser's pipe: %v", err)
	}
	o = o.withDefaults()
	o.MaxMessage = min(o.MaxMessage, int64(p.limit))
	m := newMux(connection{Socket: c, taker: c, brink: c, pong: pipePong}, o)
	m.browser = p.mark
	return m, nil
}

var errPipeClosed = errors.New("the browser has closed it")

// attach asks for a browser session. One that comes too late is left at once.
func (p *Pipe) attach(ctx context.Context) (*pipeClient, error) {
	type outcome struct {
		client *pipeClient
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
			if o := <-told; o.client != nil { // at the latest the pipe's end tells
				_ = o.client.CloseNow()
			}
		}()
		return nil, errors.New("the browser did not let us attach in time")
	}
}

// admit makes a client of the reply to an attach.
func (p *Pipe) admit(e Envelope) (*pipeClient, error) {
	switch {
	case e.Error != nil:
		return nil, newRPCError(e.Error)
	case e.Result == nil:
		return nil, errPipeClosed
	}
	var result struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(e.Result, &result); err != nil || !isPlain(result.SessionID) {
		return nil, errors.New("the browser named no session")
	}
	c := newPipeClient(p, result.SessionID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return nil, errPipeClosed
	}
	p.sessions[c.session] = &pipeSession{client: c}
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

// command sends a command of the pipe's own. Reply is called once, on the reader's
// goroutine, with an empty Envelope where the pipe ended first.
func (p *Pipe) command(method string, params []byte, reply func(Envelope)) error {
	p.mu.Lock()
	if p.end != nil {
		p.mu.Unlock()
		return errPipeClosed
	}
	id, err := p.newCallLocked(pipeCall{reply: reply})
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
	if p.out.reserve() {
		if err := p.out.writeReserved(frame, nil); err != nil {
			go p.fail(pipeBroken(err))
		}
		return nil
	}
	go func() { // a browser that does not read keeps nothing waiting here
		if err := p.out.write(frame, nil); err != nil {
			p.fail(pipeBroken(err))
		}
	}()
	return nil
}

// newCallLocked takes an id that no command has whose reply has not come.
func (p *Pipe) newCallLocked(c pipeCall) (int32, error) {
	if len(p.calls) >= maxPipeCalls {
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
func (p *Pipe) leave(c *pipeClient) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[c.session]
	if p.end != nil || s == nil {
		return false
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
func (p *Pipe) forgetLocked(id string, s *pipeSession) {
	delete(p.sessions, id)
	if s.parent != nil {
		delete(s.parent.children, id)
	}
	for child, cs := range s.children {
		cs.parent = nil
		p.forgetLocked(child, cs)
	}
}

func pipeBroken(err error) *LinkError {
	if end, ok := errors.AsType[*LinkError](err); ok {
		return end
	}
	return &LinkError{Cause: CauseReset, Err: errors.New("the browser has closed its pipe")}
}
