package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// dialTime bounds the handshake of a client of this process.
const dialTime = 10 * time.Second

// Dial connects a client of this process to a task, over a pipe. Query is that of the
// contract's endpoint. The caller closes the connection. Errors are [*messages.Error]s.
func (g *Gateway) Dial(ctx context.Context, id messages.TaskID, query url.Values) (*websocket.Conn, error) {
	near, far := net.Pipe()
	refused := make(chan error, 1)
	line := &oneConn{conn: far, done: make(chan struct{})}
	server := &http.Server{
		ReadHeaderTimeout: dialTime, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := g.connect(w, r, id, "", forever); err != nil {
				refused <- err
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}),
	}
	go func() { _ = server.Serve(line) }() // ends with the listener; the connection is the client's
	defer line.Close()                     // and not the server, which would end a connection that is being taken over
	u := url.URL{Scheme: "ws", Host: "gateway", Path: "/", RawQuery: query.Encode()}
	conn, _, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		CompressionMode: websocket.CompressionDisabled,
		HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil },
		}},
	})
	if err == nil {
		conn.SetReadLimit(messages.MaxCDPMessage)
		return conn, nil
	}
	_ = near.Close()
	select {
	case err = <-refused:
		return nil, err
	default:
	}
	var own *messages.Error
	if errors.As(err, &own) {
		return nil, own
	}
	if ctx.Err() != nil {
		return nil, messages.Errorf(messages.CodeDeadline, "the gateway did not take the connection in time")
	}
	return nil, messages.Errorf(messages.CodeInternal, "the gateway did not take the connection: %v", err)
}

// forever ends with its caller alone.
func forever() (context.Context, func()) { return context.WithCancel(context.Background()) }

// oneConn is a listener with one connection.
type oneConn struct {
	mu   sync.Mutex // protects conn
	conn net.Conn
	done chan struct{}
	once sync.Once
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (net.Conn, error) {
	l.mu.Lock()
	conn := l.conn
	l.conn = nil
	l.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "gateway", Net: "pipe"} }
