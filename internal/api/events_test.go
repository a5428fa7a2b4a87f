package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

// pipeListener is a network inside a synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newPipeListener() *pipeListener {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.done) })
	return l
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.close(); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

// serve runs the bench's handler on a pipe until the test's bubble ends.
func (b *bench) serve() (*pipeListener, *http.Server) {
	l := newPipeListener()
	s := api.NewServer(b.handler, nil)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close(); <-done })
	return l, s
}

// open sends one request line by line and returns the connection, its answer
// not read yet.
func (b *bench) open(l *pipeListener, method, path string, header ...string) net.Conn {
	b.Helper()
	c := l.dial()
	b.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path, b.admin.Reveal(), strings.Join(header, ""))
	return c
}

// readStream reads what an event stream says until it ends.
func readStream(t *testing.T, c net.Conn) string {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(res.StatusCode, res.Header)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(body)
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	t.Run("ids close versions, text with line ends stays one event", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
			return &apitest.Stream{Batches: [][]messages.Event{
				{{Type: messages.EventReset, TaskID: "one", Version: 4, At: 1650000000.25}},
				{
					{Type: messages.EventDialogOpened, TaskID: "one", Version: 5, At: 1650000000.25, Reason: "a\nb\rc\n\n"},
					{Type: messages.EventPageChanged, TaskID: "one", Version: 5, At: 1650000000.25},
					{Type: messages.EventDialogClosed, TaskID: "one", Version: 6, At: 1650000000.25},
				},
			}}, nil
		}})
		want := `: connected

id: 4
event: reset
data: {"type":"reset","task_id":"one","version":4,"at":1650000000.25}

event: dialog_opened
data: {"type":"dialog_opened","task_id":"one","version":5,"at":1650000000.25,"reason":"a\nb\rc\n\n"}

id: 5
event: page_changed
data: {"type":"page_changed","task_id":"one","version":5,"at":1650000000.25}

id: 6
event: dialog_closed
data: {"type":"dialog_closed","task_id":"one","version":6,"at":1650000000.25}

`
		if w := b.call("GET", "/v1/tasks/one/events", ""); w.Body.String() != want {
			t.Fatalf("got %s", w.Body)
		}
	})
	t.Run("Last-Event-ID resumes", func(t *testing.T) {
		t.Parallel()
		for given, want := range map[string]string{"": "0 false", "0": "0 true", "41": "41 true", "18446744073709551615": "18446744073709551615 true"} {
			var got string
			b := setup(t, &apitest.Node{WatchFunc: func(_ context.Context, after uint64, resume bool) (messages.EventStream, error) {
				got = fmt.Sprint(after, resume)
				return &apitest.Stream{}, nil
			}})
			r := b.request("GET", "/v1/tasks/one/events", "")
			r.Header.Set("Last-Event-ID", given)
			if w := b.do(r); w.Code != 200 || got != want {
				t.Errorf("%q: %d, %s", given, w.Code, got)
			}
		}
	})
	t.Run("a bad Last-Event-ID is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{})
		for _, given := range []string{"x", "-1", "1.5", "18446744073709551616", " 1", "0x1"} {
			r := b.request("GET", "/v1/tasks/one/events", "")
			r.Header.Set("Last-Event-ID", given)
			b.wantError(b.do(r), http.StatusBadRequest, messages.CodeInvalidArgument)
		}
	})
	t.Run("an unknown task is an error, not a stream", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "none")
		}})
		b.wantError(b.call("GET", "/v1/tasks/one/events", ""), http.StatusNotFound, messages.CodeTaskNotFound)
	})
}

func TestSilentStreamsHeartbeatsAndLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apitest.Stream{IsBlocking: true, Closed: make(chan struct{})}
		b := setup(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) { return s, nil }})
		l, _ := b.serve()
		c := b.open(l, "GET", "/v1/tasks/one/events")
		got := make(chan string)
		go func() { got <- readStream(t, c) }()
		time.Sleep(46 * time.Second) // the bubble's time: three heartbeats
		b.handler.CloseStreams()
		if body := <-got; body != ": connected\n\n"+strings.Repeat(": still here\n\n", 3) {
			t.Errorf("got %q", body)
		}
		<-s.Closed
		if n := len(b.node.Renewals()); n < 4 {
			t.Errorf("a watched task's lease was renewed %d times", n)
		}
	})
}

func TestAStalledReaderIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apitest.Stream{IsBlocking: true, Closed: make(chan struct{})}
		for v := range uint64(100) {
			s.Batches = append(s.Batches, []messages.Event{{Type: messages.EventReset, Version: v, Reason: strings.Repeat("x", 10_000)}})
		}
		b := setup(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) { return s, nil }})
		l, _ := b.serve()
		start := time.Now()
		b.open(l, "GET", "/v1/tasks/one/events") // and never reads
		<-s.Closed
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("dropped after %v", d)
		}
		if len(s.Batches) < 99 {
			t.Errorf("%d batches were taken for nobody", 100-len(s.Batches))
		}
	})
}

func TestAStreamEndsWithItsReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apitest.Stream{IsBlocking: true, Closed: make(chan struct{})}
		b := setup(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) { return s, nil }})
		l, _ := b.serve()
		c := b.open(l, "GET", "/v1/tasks/one/events")
		start := time.Now()
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		c.Close()
		<-s.Closed
		if d := time.Since(start); d != 0 {
			t.Errorf("noticed after %v", d)
		}
	})
}

func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setupGate(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
			return &apitest.Stream{IsBlocking: true}, nil
		}}, func(c *gate.Config) { c.MaxStreams = 1 })
		l, _ := b.serve()
		c := b.open(l, "GET", "/v1/tasks/one/events")
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w := b.call("GET", "/v1/tasks/one/events", "")
		b.wantError(w, http.StatusTooManyRequests, messages.CodeLimitReached)
		if w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		c.Close()
		synctest.Wait()
		b.handler.CloseStreams()
		if w := b.call("GET", "/v1/tasks/one/events", ""); w.Code != 200 {
			t.Error("the place of the one that went was not given back:", w.Code)
		}
	})
}
