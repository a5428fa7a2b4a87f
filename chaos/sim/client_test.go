package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// cdpClient is a CDP client of a task's gateway. It knows no more than the protocol, and holds
// the gateway to what a browser would do: one reply for each command, and no message that is
// another client's.
type cdpClient struct {
	w    *world
	t    *task
	name string
	// isAuto has it attach as Playwright does: the browser holds each new page until the client
	// has resumed it. Else it discovers pages and attaches to each.
	isAuto  bool
	dialogs string
	isPing  bool // it asks for pings
	isSole  bool // it asks for the task exclusively
	lives   int  // the task's, when it connected

	line *line
	out  chan []byte
	done chan struct{} // closed when it reads no more

	isEnded bool // the driver has seen its end

	mu       sync.Mutex // protects what follows
	seq      int
	pending  map[int]*order
	sessions map[messages.SessionID]*clientSession
	met      map[messages.TargetID]bool
	contexts map[string]bool // that it has made; true for those that end with it
	heard    map[string]int  // of each session, by what was said
	gone     string          // why it is to end; "" for one that is to live
	isOver   bool            // its connection has ended
	code     websocket.StatusCode
}

// clientSession is a session of such a client.
type clientSession struct {
	target messages.TargetID
	parent messages.SessionID
	hears  bool     // the console of its page: Runtime.enable has its reply
	asks   []string // dialogs that it was told of, and not of their end
}

// order is a command that has no outcome yet.
type order struct {
	method    string
	session   messages.SessionID
	target    messages.TargetID
	isExcused bool // its reply may be lost in the browser
	then      func(clientMessage)
}

// clientMessage is what such a client is told.
type clientMessage struct {
	ID        *int               `json:"id"`
	Method    string             `json:"method"`
	SessionID messages.SessionID `json:"sessionId"`
	Result    json.RawMessage    `json:"result"`
	Error     *clientError       `json:"error"`
	Params    json.RawMessage    `json:"params"`
}

type clientError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code messages.Code `json:"code"`
		Sent *bool         `json:"sent"`
	} `json:"data"`
}

// connect has a client come to a task. It is one of the world's once it is connected.
func (w *world) connect(t *task, pick uint32) {
	c := &cdpClient{
		w: w, t: t, name: fmt.Sprint("c", len(w.clients)+1), lives: t.lives,
		isAuto: pick%2 == 0, dialogs: []string{"holdfast", "client", "client", "observe"}[pick/2%4],
		isPing: pick/8%2 == 0, isSole: pick/16%8 == 0,
		out: make(chan []byte, 1<<12), done: make(chan struct{}),
		pending: map[int]*order{}, sessions: map[messages.SessionID]*clientSession{},
		met: map[messages.TargetID]bool{}, contexts: map[string]bool{}, heard: map[string]int{},
	}
	w.clients = append(w.clients, c)
	q := url.Values{"client": {c.name}, "dialogs": {c.dialogs}}
	if c.isPing {
		q.Set("ping", "1")
	}
	if c.isSole {
		q.Set("mode", "exclusive")
	}
	c.gone = "it is not connected yet"
	what := fmt.Sprintf("%s: client %s connects, attaches by itself %v, dialogs %s, exclusive %v", t.id, c.name, c.isAuto, c.dialogs, c.isSole)
	w.begin(t, what, connectBudget, func(ctx context.Context) (any, error) { return nil, c.dial(ctx, q) }, func(_ any, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.isOver, c.isEnded = true, true
			close(c.done)
			return
		}
		w.count(&w.tally.connected)
		c.gone = ""
		c.begin()
	})
}

// connectBudget is what a connect may take: ten seconds for the link, and as many for the attach.
const connectBudget = startBudget

// dial connects.
func (c *cdpClient) dial(ctx context.Context, q url.Values) error {
	u := url.URL{Scheme: "ws", Host: "127.0.0.1:7070", Path: "/cdp/" + string(c.t.id), RawQuery: q.Encode()}
	conn, res, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		CompressionMode: websocket.CompressionDisabled,
		HTTPHeader:      http.Header{"Authorization": {"Bearer " + c.w.token}},
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := c.w.door(ctx, network, address)
			if err == nil {
				c.line = newLine(conn)
				conn = c.line
			}
			return conn, err
		}}},
	})
	if err == nil {
		conn.SetReadLimit(-1)
		c.w.reading.Go(func() { c.read(conn) })
		c.w.reading.Go(func() { c.write(conn) })
		return nil
	}
	if res == nil || res.Body == nil {
		return err
	}
	defer res.Body.Close()
	var body struct {
		Error *messages.Error `json:"error"`
	}
	raw, _ := io.ReadAll(res.Body)
	if json.Unmarshal(raw, &body) != nil || body.Error == nil {
		return fmt.Errorf("%w: %s", err, raw)
	}
	return body.Error
}

// begin is what a client does first. The lock is held.
func (c *cdpClient) begin() {
	if c.isAuto {
		c.send("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	} else {
		c.send("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	}
}

// send gives a command. The lock is held; then hears of the outcome with the lock held.
func (c *cdpClient) send(session messages.SessionID, method, params string, then func(clientMessage)) *order {
	o := &order{method: method, session: session, then: then}
	if c.isOver || c.gone != "" {
		return o
	}
	if s := c.sessions[session]; s != nil {
		o.target = s.target
	}
	c.seq++
	c.pending[c.seq] = o
	frame := fmt.Sprintf(`{"id":%d,"method":%q,"params":%s`, c.seq, method, params)
	if session != "" {
		frame += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	select {
	case c.out <- []byte(frame + "}"):
	default:
		c.w.violate("client %s: the gateway takes no commands", c.name)
	}
	return o
}

func (c *cdpClient) write(conn *websocket.Conn) {
	for {
		select {
		case frame := <-c.out:
			if conn.Write(context.Background(), websocket.MessageText, frame) != nil {
				return // the reader hears of it
			}
		case <-c.done:
			return
		}
	}
}

func (c *cdpClient) read(conn *websocket.Conn) {
	defer close(c.done)
	for {
		_, raw, err := conn.Read(context.Background())
		if err != nil {
			_ = conn.CloseNow()
			c.mu.Lock()
			c.isOver, c.code = true, websocket.CloseStatus(err)
			c.pending, c.sessions = map[int]*order{}, map[messages.SessionID]*clientSession{}
			c.mu.Unlock()
			c.w.trace.say("%s: client %s has ended: %v", c.t.id, c.name, err)
			return
		}
		var m clientMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			c.w.violate("client %s is told %.200q: %v", c.name, raw, err)
			continue
		}
		c.mu.Lock()
		if m.ID != nil {
			c.reply(m)
		} else {
			c.event(m)
		}
		c.mu.Unlock()
	}
}

// reply takes the outcome of a command: its first, and on its session.
func (c *cdpClient) reply(m clientMessage) {
	o := c.pending[*m.ID]
	if o == nil {
		c.w.violate("client %s: a reply to %d, which waits for none: %s", c.name, *m.ID, m.Result)
		return
	}
	delete(c.pending, *m.ID)
	isGone := m.Error != nil && m.Error.Code == -32001 // which names none
	if m.SessionID != o.session && !(isGone && m.SessionID == "") {
		c.w.violate("client %s: %s on %s is replied to on %s", c.name, o.method, o.session, m.SessionID)
	}
	if (m.Error == nil) == (m.Result == nil) || m.Error != nil && (m.Error.Code >= 0 || m.Error.Data.Code == messages.CodeInternal) {
		c.w.violate("client %s: %s is replied to with %s and %+v", c.name, o.method, m.Result, m.Error)
	}
	if o.then != nil {
		o.then(m)
	}
}

// event takes what happens on a session of the client.
func (c *cdpClient) event(m clientMessage) {
	s := c.sessions[m.SessionID]
	if m.SessionID != "" && s == nil {
		c.w.violate("client %s: %s on a session that it has not: %s", c.name, m.Method, m.Params)
		return
	}
	var p struct {
		SessionID messages.SessionID `json:"sessionId"`
		TargetID  messages.TargetID  `json:"targetId"`
		Info      struct {
			ID   messages.TargetID `json:"targetId"`
			Type string            `json:"type"`
		} `json:"targetInfo"`
		Message string                   `json:"message"`
		Args    []struct{ Value string } `json:"args"`
	}
	if m.Method == "" || json.Unmarshal(m.Params, &p) != nil && m.Method != "Runtime.consoleAPICalled" {
		c.w.violate("client %s is told %s %s", c.name, m.Method, m.Params)
		return
	}
	for _, id := range []messages.TargetID{p.Info.ID, p.TargetID} {
		if id != "" {
			c.met[id] = true
		}
	}
	switch m.Method {
	case "Target.targetCreated":
		if !c.isAuto && p.Info.Type == "page" {
			c.send("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, p.Info.ID), nil)
		}
	case "Target.attachedToTarget":
		if c.sessions[p.SessionID] != nil {
			c.w.violate("client %s: a second session %s", c.name, p.SessionID)
		}
		c.sessions[p.SessionID] = &clientSession{target: p.Info.ID, parent: m.SessionID}
		c.setUp(p.SessionID)
	case "Target.detachedFromTarget":
		if c.sessions[p.SessionID] == nil {
			c.w.violate("client %s: the end of a session that it has not: %s", c.name, m.Params)
		}
		c.forget(p.SessionID)
	case "Page.javascriptDialogOpening":
		if c.dialogs == "holdfast" {
			c.w.violate("client %s: is told of the dialog %q", c.name, p.Message)
		}
		s.asks = append(s.asks, p.Message)
	case "Page.javascriptDialogClosed":
		s.asks = nil
	case "Runtime.consoleAPICalled":
		for _, a := range p.Args {
			c.hear(m.SessionID, s, a.Value)
		}
	}
}

// setUp has a new session tell the client what it wants to know, and lets its page run.
func (c *cdpClient) setUp(id messages.SessionID) {
	c.send(id, "Page.enable", `{}`, nil)
	c.send(id, "Runtime.enable", `{}`, func(m clientMessage) {
		if s := c.sessions[id]; s != nil && m.Error == nil {
			s.hears = true
		}
	})
	if c.isAuto {
		c.send(id, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
		c.send(id, "Runtime.runIfWaitingForDebugger", `{}`, nil)
	}
}

// forget ends a session, and with it those below, as Chrome does.
func (c *cdpClient) forget(id messages.SessionID) {
	delete(c.sessions, id)
	for below, s := range c.sessions {
		if s.parent == id {
			c.forget(below)
		}
	}
}

// hear takes what a page says: once, and on a session of that page.
func (c *cdpClient) hear(id messages.SessionID, s *clientSession, text string) {
	var said int
	var target messages.TargetID
	if _, err := fmt.Sscanf(text, sayForm, &said, &target); err != nil {
		return
	}
	if s.target != target {
		c.w.violate("client %s hears %q on a session of %s", c.name, text, s.target)
	}
	c.w.count(&c.w.tally.heard)
	key := string(id) + " " + text
	if c.heard[key]++; c.heard[key] > 1 {
		c.w.violate("client %s hears %q %d times on %s", c.name, text, c.heard[key], id)
	}
}

// sayForm is what a page says that its clients are to hear.
const sayForm = "said-%d by %s"

// sessionOn is a session of the client's on a target, "" where it has none.
func (c *cdpClient) sessionOn(target messages.TargetID) messages.SessionID {
	var ids []messages.SessionID
	for id, s := range c.sessions {
		if s.target == target {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return slices.Min(ids)
}

// line is the client's end of its connection.
type line struct {
	net.Conn
	stalled chan struct{} // closed once nothing of it moves any more
	ended   chan struct{}
	once    sync.Once
}

func newLine(conn net.Conn) *line {
	return &line{Conn: conn, stalled: make(chan struct{}), ended: make(chan struct{})}
}

// Read implements net.Conn.
func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.isStalled() {
		<-l.ended
		return 0, errEnded
	}
	return n, err
}

// Write implements net.Conn.
func (l *line) Write(p []byte) (int, error) {
	if l.isStalled() {
		<-l.ended
		return 0, errEnded
	}
	return l.Conn.Write(p)
}

// Close implements net.Conn.
func (l *line) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Conn.Close()
}

var errEnded = errors.New("the connection has ended")

func (l *line) isStalled() bool {
	select {
	case <-l.stalled:
		return true
	default:
		return false
	}
}

// stall has nothing of the connection move any more; it is called once. What is written to it is taken, as by a relay
// before a client that is gone; or it is not, where no such thing stands there.
func (l *line) stall(isTaken bool) {
	close(l.stalled)
	if isTaken {
		go func() { _, _ = io.Copy(io.Discard, l.Conn) }() // ends with the connection
	}
}
