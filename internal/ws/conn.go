package ws

import (
	"errors"
	"io"
	"syscall"
)

// Conn is the stream of bytes behind a handshake. One goroutine may read, one
// may write, and any may close it.
type Conn struct {
	rwc io.ReadWriteCloser
	// raw leads to the socket, nil where there is more than a socket to it: TLS,
	// or a pipe.
	raw syscall.RawConn
	// direct: what came with the answer to the handshake has been read, and what
	// follows is in the socket.
	direct bool

	in  attempt
	out attempt
}

// attempt is a read or write under way: a socket's functions are called by the
// poller, and would escape with every call if they were made for it.
type attempt struct {
	f    func(fd uintptr) bool
	b    []byte
	room func() []byte
	idle func()
	n    int
	err  error
}

func newConn(rwc io.ReadWriteCloser, raw syscall.RawConn) *Conn {
	c := &Conn{rwc: rwc, raw: raw}
	c.in.f, c.out.f = c.tryRead, c.tryWrite
	return c
}

// Read waits for bytes and reads them into what room returns, which has to be at
// least one byte. Before it waits it calls idle, if it can wait without a
// buffer; it asks for room anew when there is something to read. Neither is kept.
func (c *Conn) Read(room func() []byte, idle func()) (int, error) {
	if c.raw == nil || !c.direct {
		b := room()
		n, err := c.rwc.Read(b)
		c.direct = n < len(b) // else more of it may be left
		return n, err
	}
	c.in.room, c.in.idle = room, idle
	if err := c.raw.Read(c.in.f); err != nil {
		return 0, err
	}
	switch {
	case c.in.err != nil:
		return 0, c.in.err
	case c.in.n == 0:
		return 0, io.EOF
	}
	return c.in.n, nil
}

func (c *Conn) tryRead(fd uintptr) (done bool) {
	for {
		c.in.n, c.in.err = syscall.Read(int(fd), c.in.room())
		switch {
		case errors.Is(c.in.err, syscall.EINTR):
		case errors.Is(c.in.err, syscall.EAGAIN):
			c.in.idle()
			return false
		default:
			return true
		}
	}
}

// Write writes all of b, and waits until the peer takes it.
func (c *Conn) Write(b []byte) error {
	_, err := c.rwc.Write(b)
	return err
}

// Direct says whether the connection is a socket and nothing else, so that
// [Conn.TryWrite] writes and a [Conn.Read] waits without a buffer.
func (c *Conn) Direct() bool { return c.raw != nil }

// TryWrite writes as much of b as the socket takes at once, and says how much
// that was. It never waits; where it could not help waiting it writes nothing.
func (c *Conn) TryWrite(b []byte) (n int, err error) {
	if c.raw == nil {
		return 0, nil
	}
	c.out.b, c.out.n, c.out.err = b, 0, nil
	err = c.raw.Write(c.out.f)
	c.out.b = nil
	if err == nil {
		err = c.out.err
	}
	return c.out.n, err
}

func (c *Conn) tryWrite(fd uintptr) (done bool) {
	for c.out.n < len(c.out.b) {
		n, err := syscall.Write(int(fd), c.out.b[c.out.n:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return true
		case err != nil:
			c.out.err = err
			return true
		default:
			c.out.n += n
		}
	}
	return true
}

// Close closes the connection at once: without a close frame, and without
// waiting for the peer, save where TLS does.
func (c *Conn) Close() error { return c.rwc.Close() }
