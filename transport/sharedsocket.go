package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// sharedSocket is the carrier of a [Shared] that runs over a WebSocket.
type sharedSocket struct {
	conn  connection
	born  time.Time
	heard atomic.Int64     // when something came last, since born
	fail  func(*LinkError) // ends the connection
	turn  chan struct{}    // holds one: its holder writes

	mu        sync.Mutex    // protects what follows
	isWriting bool          // a write that may take long is under way
	busyUntil time.Duration // with long commands the peer may be, since born
	pinging   *flight       // nil while no ping is out
}

// flight is a ping that has not been answered yet.
type flight struct {
	done chan struct{} // closed when err is known
	err  error
}

// shareSocket starts a connection that carries many links over a WebSocket. Its caller has
// the first use of it, and dismisses it.
func shareSocket(ws *websocket.Conn, below net.Conn, mark string, limit, room int) *Shared {
	c := &sharedSocket{conn: overWebSocket(ws, below), born: time.Now(), turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	if c.conn.brink != nil {
		c.conn.brink.watch(func() {}, c.hear)
	}
	p := newShared(c, mark, pongTimeout, limit, room)
	p.isCounted, p.users = true, 1
	p.pages = newSharedPages(pagesOf{p})
	c.fail = p.fail
	go p.read()
	return p
}

func (*sharedSocket) name() string { return "the shared connection" }

func (c *sharedSocket) now() time.Duration { return time.Since(c.born) }

func (c *sharedSocket) hear() { c.heard.Store(int64(c.now())) }

// read implements carrier.
func (c *sharedSocket) read(limit int, route func(msg, tail []byte), alive func()) *LinkError {
	buf := getBuffer(smallBuffer)
	defer func() { putBuffer(buf) }()
	for {
		kind, src, err := c.conn.Reader(context.Background())
		if err != nil {
			return classify(err)
		}
		c.hear()
		if kind != websocket.MessageText {
			return &LinkError{Cause: CauseProtocol, Err: errBinary}
		}
		n, since := 0, 0
		var tail, rest []byte
		for {
			if n == len(buf.b) && n <= limit {
				bigger := getBuffer(min(nextSize(n), limit+1))
				copy(bigger.b, buf.b)
				putBuffer(buf)
				buf = bigger
			}
			k := 0
			if n <= limit {
				k, err = src.Read(buf.b[n:min(len(buf.b), limit+1)])
				n += k
			} else { // the head is kept, of the rest only the end
				if tail == nil {
					tail, rest = lastBytes(nil, buf.b[:n]), make([]byte, midBuffer)
				}
				k, err = src.Read(rest)
				tail = lastBytes(tail, rest[:k])
			}
			if since += k; since >= readChunk {
				since = 0
				c.hear()
				alive()
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return classify(err)
			}
		}
		if n > limit && tail == nil {
			tail = lastBytes(nil, buf.b[:n])
		}
		if n > 0 {
			route(buf.b[:n], tail)
		}
		if len(buf.b) > midBuffer { // a long message has come: its room is not kept
			putBuffer(buf)
			buf = getBuffer(smallBuffer)
		}
	}
}

// reserve implements carrier.
func (c *sharedSocket) reserve() bool {
	select {
	case <-c.turn:
	default:
		return false
	}
	if c.conn.taker.canWrite() {
		return true
	}
	c.release()
	return false
}

func (c *sharedSocket) release() { c.turn <- struct{}{} }

// writeReserved implements carrier: the socket takes the message at once.
func (c *sharedSocket) writeReserved(frame []byte, _ <-chan struct{}) error {
	defer c.release()
	return c.put(frame)
}

// write implements carrier. A message whose link ends meanwhile is written all the same:
// half of one would be the end of every link.
func (c *sharedSocket) write(frame []byte, gone <-chan struct{}, last func() error) error {
	select {
	case <-c.turn:
	case <-gone:
		return errClientGone
	}
	if err := permitted(last); err != nil {
		c.release()
		return err
	}
	c.setWriting(true)
	size := len(frame)
	late := time.AfterFunc(writeTimeout(size), func() { c.fail(&LinkError{Cause: CauseOverload, Err: errWriteTimeout}) })
	written := make(chan error, 1)
	go func() {
		err := c.put(frame)
		late.Stop()
		c.setWriting(false)
		c.release()
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-gone:
		return errClientGone
	}
}

func (c *sharedSocket) setWriting(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isWriting = is
}

// put writes a message without its NUL.
func (c *sharedSocket) put(frame []byte) error {
	msg := frame[:len(frame)-1]
	c.mu.Lock()
	now := c.now()
	c.busyUntil = min(max(c.busyUntil, now)+digestion(len(msg)), now+digestion(maxQueuedBytes))
	c.mu.Unlock()
	// No deadline by context: see reader.next.
	return c.conn.Write(context.Background(), websocket.MessageText, msg)
}

// interrupt implements carrier: a write holds up no link that ends.
func (c *sharedSocket) interrupt() {}

func (c *sharedSocket) broken(err error) *LinkError { return classify(err) }

func (c *sharedSocket) close(end *LinkError) {
	if end.Cause == CauseHalfOpen || end.Cause == CauseReset {
		c.conn.dropUnsent()
	}
	go func() { _ = c.conn.CloseNow() }() // of a TLS connection it may wait for a stalled peer
}

// isLively says whether a peer that has not answered a ping yet may still do so: something
// of another link came a moment ago or is unread, or a long command is before the ping.
func (c *sharedSocket) isLively() bool {
	now := c.now()
	c.mu.Lock()
	busy := c.isWriting || c.busyUntil > now
	c.mu.Unlock()
	return busy || now-time.Duration(c.heard.Load()) < pongTimeout || c.conn.hasUnread()
}

// ping returns once the peer has answered, or ctx or gone has ended. Links that ask at the
// same time share one ping.
func (c *sharedSocket) ping(ctx context.Context, gone <-chan struct{}) error {
	c.mu.Lock()
	if c.isWriting { // a ping would queue behind it, and the write has a deadline of its own
		c.mu.Unlock()
		return nil
	}
	f := c.pinging
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.pinging = f
		go func() {
			f.err = c.conn.Ping(context.Background())
			if errors.Is(f.err, context.DeadlineExceeded) {
				f.err = nil // a long command got the turn before it
			}
			c.mu.Lock()
			c.pinging = nil
			c.mu.Unlock()
			close(f.done)
		}()
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-gone:
		return errClientGone
	case <-ctx.Done():
		return ctx.Err()
	}
}
