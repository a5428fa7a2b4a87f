package recordings

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A scenario plays on a stage: a real Chromium or the fake.
type stage struct {
	dial  func() *websocket.Conn
	url   func(string) string // makes a written address reachable
	quiet time.Duration       // without a message for that long nothing is under way
	due   *due                // what a recording says comes; nil where there is none
	noted func()              // waits until the browser has noted a connection's end

	mu    sync.Mutex
	lines []line         // of all clients
	sent  int            // commands
	got   map[string]int // messages that are compared, by client
}

// line is one message of a recording, not yet normalised.
type line struct {
	conn, dir string
	raw       []byte
}

// client is one connection. Commands are sent one after the other; what the
// browser says is recorded as it comes.
type client struct {
	t     testing.TB
	stage *stage
	name  string
	ws    *websocket.Conn
	done  chan struct{}
	heard chan struct{} // cap 1
	next  int
}

type envelope struct {
	ID        int             `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID string          `json:"sessionId"`
}

func (s *stage) connect(t testing.TB, name string) *client {
	t.Helper()
	c := &client{t: t, stage: s, name: name, ws: s.dial(), done: make(chan struct{}), heard: make(chan struct{}, 1)}
	c.ws.SetReadLimit(-1)
	go func() {
		defer close(c.done)
		for {
			_, data, err := c.ws.Read(context.Background())
			if err != nil {
				return
			}
			c.record("recv", data)
			select {
			case c.heard <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(c.drop)
	return c
}

// dialer returns a dial function for a browser's WebSocket.
func dialer(t testing.TB, url string, h *http.Client) func() *websocket.Conn {
	return func() *websocket.Conn {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: h}) //nolint:bodyclose // the library closes it
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		return ws
	}
}

// drop breaks the connection without a close frame.
func (c *client) drop() {
	// It may be broken already.
	_ = c.ws.CloseNow()
	<-c.done
	c.stage.noted()
}

func (c *client) record(dir string, raw []byte) {
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	c.stage.lines = append(c.stage.lines, line{c.name, dir, raw})
	switch {
	case dir == "send":
		c.stage.sent++
	case !skip(string(raw)):
		c.stage.got[c.name]++
	}
}

// raw sends a message as it is and waits until all is quiet.
func (c *client) raw(text string) {
	c.t.Helper()
	c.record("send", []byte(text))
	if err := c.ws.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("write: %v", err)
	}
	c.settle()
}

// send sends a command and waits until all is quiet. params is JSON, in which
// addresses are written as http://a.test/.
func (c *client) send(session, method, params string) {
	c.t.Helper()
	c.next++
	fields := struct {
		ID        int             `json:"id"`
		Method    string          `json:"method"`
		Params    json.RawMessage `json:"params,omitempty"`
		SessionID string          `json:"sessionId,omitempty"`
	}{c.next, method, json.RawMessage(c.stage.url(params)), session}
	text, err := json.Marshal(fields)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	c.raw(string(text))
}

// evaluate runs an expression of package chaos's dialect.
func (c *client) evaluate(session, expression string) {
	c.t.Helper()
	quoted, err := json.Marshal(expression)
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(session, "Runtime.evaluate", `{"expression":`+string(quoted)+`}`)
}

// settle waits until the client has heard nothing for a while: a scenario
// also has to notice what does not come.
func (c *client) settle() {
	quiet := c.stage.quiet
	if c.hasWhatIsDue() {
		quiet /= 3 // what comes besides is noticed whenever it comes
	}
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case <-c.heard:
			timer.Reset(c.stage.quiet)
		case <-timer.C:
			return
		}
	}
}

// linger waits for what takes Chromium seconds.
func (c *client) linger() {
	timer := time.NewTimer(10 * c.stage.quiet)
	defer timer.Stop()
	<-timer.C
	c.settle()
}

// last returns the newest event of that method that any session of the client
// has had.
func (c *client) last(method string) envelope {
	c.t.Helper()
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	for i := len(c.stage.lines) - 1; i >= 0; i-- {
		l := c.stage.lines[i]
		var e envelope
		if l.conn == c.name && l.dir == "recv" && json.Unmarshal(l.raw, &e) == nil && e.Method == method {
			return e
		}
	}
	c.t.Fatalf("%s never heard %s", c.name, method)
	return envelope{}
}

// attached returns session and target of the newest attachedToTarget.
func (c *client) attached() (session, target string) {
	c.t.Helper()
	var p struct {
		SessionID  string `json:"sessionId"`
		TargetInfo struct {
			TargetID string `json:"targetId"`
		} `json:"targetInfo"`
	}
	if err := json.Unmarshal(c.last("Target.attachedToTarget").Params, &p); err != nil {
		c.t.Fatal(err)
	}
	return p.SessionID, p.TargetInfo.TargetID
}
