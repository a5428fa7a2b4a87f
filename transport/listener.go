package transport

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// PipeListener is a net.Listener without a network: connections are net.Pipe
// ends, so an http.Server and a Mux run inside a testing/synctest bubble.
// It is safe for concurrent use. A pipe has no buffer: a write waits for the
// other side to read, as on a socket whose buffers are full.
type PipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipeListener returns an open listener.
func NewPipeListener() *PipeListener {
	return &PipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a DialContext.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and every later DialContext. Connections stay.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *PipeListener) Addr() net.Addr { return pipeAddr{} }

// DialContext connects, whatever the address. It waits for Accept, like a
// socket with an empty backlog.
func (l *PipeListener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr{}, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// HTTPClient returns a client whose every connection comes here. It keeps none
// of them: an idle one would hold a goroutine that a bubble waits for.
func (l *PipeListener) HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: readAheadDial(l.DialContext), DisableKeepAlives: true}}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
