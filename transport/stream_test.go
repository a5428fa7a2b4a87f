package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/transport"
)

// memorySocket is a browser behind a Socket that is neither a WebSocket nor a pipe. It
// answers each command with its method.
type memorySocket struct {
	messages chan string
	ended    chan struct{}
	end      sync.Once
}

func newMemorySocket() *memorySocket {
	return &memorySocket{messages: make(chan string, 16), ended: make(chan struct{})}
}

func (s *memorySocket) Reader(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	select {
	case m := <-s.messages:
		return websocket.MessageText, strings.NewReader(m), nil
	case <-s.ended:
		return 0, nil, &transport.LinkError{Cause: transport.CauseClosed}
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

func (s *memorySocket) Write(_ context.Context, _ websocket.MessageType, msg []byte) error {
	var c command
	if err := json.Unmarshal(msg, &c); err != nil {
		return err
	}
	s.messages <- fmt.Sprintf(`{"id":%d,"result":{"method":%q}}`, c.ID, c.Method)
	return nil
}

func (s *memorySocket) Ping(context.Context) error { return nil }

func (s *memorySocket) CloseNow() error {
	s.end.Do(func() { close(s.ended) })
	return nil
}

func TestALinkRunsOverAnySocket(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	open := func() (*memorySocket, *transport.Mux) {
		s := newMemorySocket()
		return s, transport.NewMux(s, "B", transport.DialOptions{OnClose: func(err error) { ended <- err }})
	}
	ends := func(want transport.Cause) {
		t.Helper()
		select {
		case err := <-ended:
			if e, ok := errors.AsType[*transport.LinkError](err); !ok || e.Cause != want {
				t.Errorf("ended with %v, want %s", err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the link has not ended")
		}
	}
	s, m := open()
	if m.Browser() != "B" {
		t.Errorf("it leads to %q", m.Browser())
	}
	for range 3 {
		if got, err := m.Do(t.Context(), "", "Browser.getVersion", nil); err != nil || string(got) != `{"method":"Browser.getVersion"}` {
			t.Fatalf("%s, %v", got, err)
		}
	}
	_ = s.CloseNow()
	ends(transport.CauseClosed)

	s, m = open()
	m.Close()
	ends(transport.CauseLocal)
	<-m.Closed()
	select {
	case <-s.ended:
	default:
		t.Error("the link has ended and its Socket has not")
	}
}
