package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/messages"
	"holdfast/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a fake browser behind a pipe.
type world struct {
	t        *testing.T
	b        *chaos.Browser
	listener *transport.PipeListener
}

// bubble is a subtest with a clock of its own.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}

// open must be called inside a bubble.
func open(t *testing.T, o chaos.Options) *world {
	t.Helper()
	w := &world{t: t, b: chaos.New(o), listener: transport.NewPipeListener()}
	server := &http.Server{Handler: w.b}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(w.listener) })
	t.Cleanup(func() {
		w.b.Close()
		_ = server.Close()
		_ = w.listener.Close()
		served.Wait()
	})
	return w
}

// client is a CDP client that remembers everything.
type client struct {
	t    *testing.T
	ws   *websocket.Conn
	next int
	done chan struct{}

	mu       sync.Mutex
	received []message
}

type message struct {
	ID        int             `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct{ Code int }
	SessionID string `json:"sessionId"`
	raw       string
}

func (w *world) dial() *client {
	w.t.Helper()
	ws, resp, err := websocket.Dial(context.Background(), w.b.URL("browser.test"), &websocket.DialOptions{HTTPClient: w.listener.HTTPClient()})
	if err != nil {
		w.t.Fatalf("dial: %v", err)
	}
	_ = resp
	ws.SetReadLimit(-1)
	c := &client{t: w.t, ws: ws, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for {
			_, data, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			m := message{raw: string(data)}
			if err := json.Unmarshal(data, &m); err != nil {
				m.Method = "garbage"
			}
			c.mu.Lock()
			c.received = append(c.received, m)
			c.mu.Unlock()
		}
	}()
	w.t.Cleanup(func() { _ = ws.CloseNow(); <-c.done })
	return c
}

// send writes a command and returns its id.
func (c *client) send(session, method, params string) int {
	c.t.Helper()
	c.next++
	text := fmt.Sprintf(`{"id":%d,"method":%q`, c.next, method)
	if params != "" {
		text += `,"params":` + params
	}
	if session != "" {
		text += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	c.write(text + "}")
	return c.next
}

func (c *client) write(text string) {
	c.t.Helper()
	if err := c.ws.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *client) all() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]message(nil), c.received...)
}

// replies returns how often the command was answered.
func (c *client) replies(id int) (n int) {
	for _, m := range c.all() {
		if m.Method == "" && m.ID == id {
			n++
		}
	}
	return n
}

func (c *client) reply(id int) message {
	for _, m := range c.all() {
		if m.Method == "" && m.ID == id {
			return m
		}
	}
	return message{}
}

func (c *client) events(session, method string) (out []message) {
	for _, m := range c.all() {
		if m.Method == method && m.SessionID == session {
			out = append(out, m)
		}
	}
	return out
}

func str(raw json.RawMessage, field string) string {
	var fields map[string]any
	_ = json.Unmarshal(raw, &fields)
	s, _ := fields[field].(string)
	return s
}

const attachAll = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}`

const attachChildren = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`

// attach sends the recipe's root commands.
func (c *client) attach() {
	c.send("", "Target.setDiscoverTargets", `{"discover":true}`)
	c.send("", "Target.setAutoAttach", attachAll)
}

// batch sends the recipe's commands for one session and returns their ids.
func (c *client) batch(session string) (ids []int) {
	for _, command := range [][2]string{
		{"Inspector.enable", ""},
		{"Page.enable", ""},
		{"Runtime.enable", ""},
		{"Target.setAutoAttach", attachChildren},
		{"Page.getFrameTree", ""},
		{"Runtime.runIfWaitingForDebugger", ""},
	} {
		ids = append(ids, c.send(session, command[0], command[1]))
	}
	return ids
}

// sessionOn returns the client's newest session on a target.
func (w *world) sessionOn(id messages.TargetID, conn int) string {
	w.t.Helper()
	found := ""
	for _, s := range w.b.Sessions(id) {
		if s.Conn == conn {
			found = string(s.ID)
		}
	}
	if found == "" {
		w.t.Fatalf("connection %d has no session on %s", conn, id)
	}
	return found
}
