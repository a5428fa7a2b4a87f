package transport

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"syscall"
)

// readAheadConn is the stream of bytes below TLS and the WebSocket. It is read only when
// nothing is left above it, so that it tells when the reader may have to wait; and
// it takes a socket's flood in larger pieces than the WebSocket asks for, without
// holding a buffer where nothing comes. Reading is for one goroutine at a time.
type readAheadConn struct {
	net.Conn
	// Set before the link is read: what to do before a read that may wait, and
	// after one that brought something.
	dry, heard func()

	raw       syscall.RawConn // nil where there is more than a socket to it, or no reading ahead
	try       func(fd uintptr) bool
	asked     []byte  // what is to be read into
	ahead     *buffer // nil where nothing has been read ahead: b[from:to]
	from      int
	to        int
	isFlooded bool // the last read left something in the socket
	n         int  // what try has read
	failed    error
}

// readAheadDial has what dial connects to read by way of a tap.
func readAheadDial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		t := &readAheadConn{Conn: c}
		if tcp, ok := c.(*net.TCPConn); ok {
			t.readAhead(tcp)
		}
		return t, nil
	}
}

// tapOf finds the tap below a connection; nil where there is none.
func tapOf(c net.Conn) *readAheadConn {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	t, _ := c.(*readAheadConn)
	return t
}

// watch implements brink.
func (t *readAheadConn) watch(dry, heard func()) { t.dry, t.heard = dry, heard }

// Read implements net.Conn.
func (t *readAheadConn) Read(p []byte) (int, error) {
	if t.ahead != nil {
		return t.serve(p), nil
	}
	if t.dry != nil {
		t.dry()
	}
	n, err := t.read(p)
	if n > 0 && t.heard != nil {
		t.heard()
	}
	return n, err
}

func (t *readAheadConn) read(p []byte) (int, error) {
	if t.raw == nil || len(p) == 0 {
		return t.Conn.Read(p)
	}
	t.asked = p
	err := t.raw.Read(t.try)
	t.asked = nil
	switch {
	case err != nil:
		return 0, err
	case t.failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: t.failed}
	case t.n == 0:
		return 0, io.EOF
	case t.ahead != nil:
		t.from, t.to = 0, t.n
		return t.serve(p), nil
	}
	return t.n, nil
}

// serve hands out what was read ahead.
func (t *readAheadConn) serve(p []byte) int {
	n := copy(p, t.ahead.b[t.from:t.to])
	if t.from += n; t.from == t.to {
		t.drop()
	}
	return n
}

func (t *readAheadConn) drop() {
	if t.ahead != nil {
		putBuffer(t.ahead)
		t.ahead = nil
	}
}
