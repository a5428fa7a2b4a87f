package mcp

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"holdfast/client"
)

// Inside is a listener of this process alone: a server of MCP and the node's HTTP interface talk
// over it. It is safe for concurrent use.
type Inside struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// NewInside returns a listener that takes connections until it is closed.
func NewInside() *Inside {
	i := &Inside{conns: make(chan net.Conn), closed: make(chan struct{})}
	i.close = sync.OnceFunc(func() { close(i.closed) })
	return i
}

// Accept implements net.Listener.
func (i *Inside) Accept() (net.Conn, error) {
	select {
	case c := <-i.conns:
		return c, nil
	case <-i.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (i *Inside) Close() error {
	i.close()
	return nil
}

// Addr implements net.Listener.
func (i *Inside) Addr() net.Addr { return insideAddr{} }

type insideAddr struct{}

func (insideAddr) Network() string { return "inside" }
func (insideAddr) String() string  { return insideHost }

// insideHost is what requests over the listener are addressed to. The gate takes loopback names.
const insideHost = "localhost"

// Dial makes a connection, whatever the address.
func (i *Inside) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case i.conns <- theirs:
		return ours, nil
	case <-i.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Client returns a client of what is served on the listener.
func (i *Inside) Client(token string) (*client.Client, error) {
	return client.New("http://"+insideHost, client.Options{Token: token, DialContext: i.Dial})
}

// Do returns a function that sends requests over the listener with a token. Their context bounds
// them.
func (i *Inside) Do(token string) func(*http.Request) (*http.Response, error) {
	c := &http.Client{Transport: &http.Transport{DialContext: i.Dial, MaxIdleConnsPerHost: 64, IdleConnTimeout: idleTime}}
	return func(r *http.Request) (*http.Response, error) {
		r.Header.Set("Authorization", "Bearer "+token)
		return c.Do(r)
	}
}

// idleTime is how long a connection of this process is kept between two requests.
const idleTime = 30 * time.Second

// fromHeader carries the address of the client of MCP that a request is made for.
const fromHeader = "X-Holdfast-Inside-From"

// For returns the node as the sender of a request may use it: with the sender's own token.
func For(base *client.Client, r *http.Request) *client.Client {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return base.As(client.Options{Token: token, Header: http.Header{fromHeader: {r.RemoteAddr}}})
}

// Handler has requests over the listener count as those of the client that they are made for, in
// the log and the audit. Serve it on the listener alone.
func (i *Inside) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get(fromHeader); from != "" {
			r.RemoteAddr = from
			r.Header.Del(fromHeader)
		}
		next.ServeHTTP(w, r)
	})
}
