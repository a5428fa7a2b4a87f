package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerTime is how long calls may still run whose client has closed its side.
const answerTime = 10 * time.Second

// stdio is the transport of one client: one message a line. A client that closes its side after
// its last request still gets its answers, as the left side of a pipe in a shell does.
type stdio struct {
	io       sdk.IOTransport
	hasEnded atomic.Bool // the client has closed its side
}

// Connect implements sdk.Transport.
func (s *stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := s.io.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &wire{Connection: c, of: s, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}
	w.close = sync.OnceFunc(func() { close(w.closed) })
	return w, nil
}

// wire is the connection of a [stdio].
type wire struct {
	sdk.Connection
	of *stdio

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // calls without an answer
	answered chan struct{}       // room for one: an answer was written

	closed chan struct{}
	close  func()
}

// listenMethod is a call that has no answer while its client is there.
const listenMethod = "subscriptions/listen"

// Read implements sdk.Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := w.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != listenMethod {
		w.mu.Lock()
		w.open[r.ID] = true
		w.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		w.of.hasEnded.Store(true)
		w.awaitAnswers(ctx)
	}
	return m, err
}

// Write implements sdk.Connection.
func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	err := w.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		w.mu.Lock()
		delete(w.open, r.ID)
		w.mu.Unlock()
		select {
		case w.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close implements sdk.Connection.
func (w *wire) Close() error {
	w.close()
	return w.Connection.Close()
}

// awaitAnswers waits until every call has its answer, or the server is to end.
func (w *wire) awaitAnswers(ctx context.Context) {
	late := time.NewTimer(answerTime)
	defer late.Stop()
	for {
		w.mu.Lock()
		n := len(w.open)
		w.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-w.answered:
		case <-late.C:
			return
		case <-w.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
