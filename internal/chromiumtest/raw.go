package chromiumtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Raw is a CDP client without any opinion: it attaches, answers and resumes
// nothing by itself. Its methods are safe for concurrent use, but those that
// fail the test belong to the test's goroutine.
type Raw struct {
	t    testing.TB
	conn *websocket.Conn
	done chan struct{}

	mu      sync.Mutex
	lastID  int
	pending map[int]*Pending
	events  []Event
	taken   map[int]bool  // events that Next has returned, by index
	arrived chan struct{} // closed and renewed at each event
}

// Event is a CDP event, in the order of arrival.
type Event struct {
	Method  string          `json:"method"`
	Session string          `json:"sessionId"`
	Params  json.RawMessage `json:"params"`
	At      time.Time       `json:"-"`
}

// Param returns the named parameter as text; "" when there is none. Objects
// and numbers come as JSON.
func (e Event) Param(name string) string { return field(e.Params, name) }

// Decode reads the parameters into v.
func (e Event) Decode(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(e.Params, v); err != nil {
		t.Fatalf("decode %s: %v", e.Method, err)
	}
}

// CDPError is an error reply.
type CDPError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
}

func (e *CDPError) Error() string {
	return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)
}

// ErrNoReply says that no reply came in time; ErrGone that the connection ended.
var (
	ErrNoReply = errors.New("no reply")
	ErrGone    = errors.New("connection gone")
)

// Dial connects to a ws:// DevTools URL; the connection ends with the test.
func Dial(t testing.TB, url string) *Raw {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled}) //nolint:bodyclose // the library closes it
	if err != nil {
		t.Fatalf("dial DevTools: %v", err)
	}
	conn.SetReadLimit(-1)
	r := &Raw{
		t: t, conn: conn, done: make(chan struct{}),
		pending: map[int]*Pending{}, taken: map[int]bool{}, arrived: make(chan struct{}),
	}
	go r.read()
	t.Cleanup(r.Close)
	return r
}

func (r *Raw) read() {
	defer close(r.done)
	for {
		_, raw, err := r.conn.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *CDPError       `json:"error"`
			Event
		}
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		r.mu.Lock()
		if m.Method != "" {
			m.At = time.Now()
			r.events = append(r.events, m.Event)
			close(r.arrived)
			r.arrived = make(chan struct{})
		} else if p := r.pending[m.ID]; p != nil {
			delete(r.pending, m.ID)
			p.result, p.err = m.Result, nil
			if m.Error != nil {
				p.err = m.Error
			}
			close(p.answered)
		}
		r.mu.Unlock()
	}
}

// Close drops the connection without a closing handshake, as a crash would.
func (r *Raw) Close() {
	_ = r.conn.CloseNow()
	<-r.done
}

// Done is closed when the connection has ended.
func (r *Raw) Done() <-chan struct{} { return r.done }

// Pending is a command that was sent.
type Pending struct {
	Method   string
	raw      *Raw
	answered chan struct{}
	result   json.RawMessage
	err      error
}

// Send sends a command and does not wait. session "" is the browser itself.
func (r *Raw) Send(session, method string, params any) *Pending {
	p := &Pending{Method: method, raw: r, answered: make(chan struct{})}
	r.mu.Lock()
	r.lastID++
	id := r.lastID
	r.pending[id] = p
	if params == nil {
		params = struct{}{}
	}
	command, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Session string `json:"sessionId,omitempty"`
		Params  any    `json:"params"`
	}{id, method, session, params})
	if err == nil {
		// Under the lock, so that ids go out in order.
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		err = r.conn.Write(ctx, websocket.MessageText, command)
		cancel()
	}
	if err != nil {
		delete(r.pending, id)
		p.err = fmt.Errorf("%w: %v", ErrGone, err)
		close(p.answered)
	}
	r.mu.Unlock()
	return p
}

// Wait waits at most d for the reply.
func (p *Pending) Wait(d time.Duration) (json.RawMessage, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.answered:
		return p.result, p.err
	case <-timer.C:
		return nil, fmt.Errorf("%s: %w in %v", p.Method, ErrNoReply, d)
	case <-p.raw.done:
	}
	select {
	case <-p.answered:
		return p.result, p.err
	default:
		return nil, fmt.Errorf("%s: %w", p.Method, ErrGone)
	}
}

// IsAnswered says whether the reply is here.
func (p *Pending) IsAnswered() bool {
	select {
	case <-p.answered:
		return true
	default:
		return false
	}
}

// Call sends a command and waits for its reply, at most Patience. The error
// is a *CDPError, or wraps ErrNoReply or ErrGone.
func (r *Raw) Call(session, method string, params any) (json.RawMessage, error) {
	return r.Send(session, method, params).Wait(Patience)
}

// Must is Call for commands that have to succeed.
func (r *Raw) Must(session, method string, params any) json.RawMessage {
	r.t.Helper()
	result, err := r.Call(session, method, params)
	if err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// DoesHang says whether the command gets no reply at all for d.
func (r *Raw) DoesHang(session, method string, params any, d time.Duration) bool {
	_, err := r.Send(session, method, params).Wait(d)
	return errors.Is(err, ErrNoReply)
}

// Eval evaluates an expression, awaiting promises, and returns its JSON value.
func (r *Raw) Eval(session, expression string) json.RawMessage {
	r.t.Helper()
	raw := r.Must(session, "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	})
	var result struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(raw, &result); err != nil || result.Exception != nil {
		r.t.Fatalf("evaluate %q: %v %s", expression, err, result.Exception)
	}
	return result.Result.Value
}

// Start evaluates an expression in a timer of the page, so that a dialog or a
// loop in it does not hold the reply.
func (r *Raw) Start(session, expression string) {
	r.t.Helper()
	r.Must(session, "Runtime.evaluate", map[string]any{"expression": "void setTimeout(() => { " + expression + " })"})
}

// Matcher selects events.
type Matcher func(Event) bool

// On selects the events of a session by their method; method "" is any.
func On(session, method string) Matcher {
	return func(e Event) bool { return e.Session == session && (method == "" || e.Method == method) }
}

// Next waits for the first event of the method that no earlier Next returned.
func (r *Raw) Next(method string) Event {
	r.t.Helper()
	return r.NextWhere(method, func(e Event) bool { return e.Method == method })
}

// NextWhere waits for the first event that match selects and that no earlier
// Next or NextWhere returned; what names it in the failure.
func (r *Raw) NextWhere(what string, match Matcher) Event {
	r.t.Helper()
	e, ok := r.await(match, Patience, true)
	if !ok {
		r.t.Fatalf("no event %q within %v; seen: %v", what, Patience, r.methods())
	}
	return e
}

// HasSeen waits at most d for an event that match selects, whether or not Next
// returned it before.
func (r *Raw) HasSeen(match Matcher, d time.Duration) bool {
	_, ok := r.await(match, d, false)
	return ok
}

func (r *Raw) await(match Matcher, d time.Duration, take bool) (Event, bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	from := 0
	for {
		r.mu.Lock()
		for ; from < len(r.events); from++ {
			if (!take || !r.taken[from]) && match(r.events[from]) {
				if take {
					r.taken[from] = true
				}
				e := r.events[from]
				r.mu.Unlock()
				return e, true
			}
		}
		arrived := r.arrived
		r.mu.Unlock()
		select {
		case <-arrived:
		case <-timer.C:
			return Event{}, false
		case <-r.done:
			return Event{}, false
		}
	}
}

// Events returns the events seen so far that match selects, in order; nil
// selects all.
func (r *Raw) Events(match Matcher) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if match == nil {
		return slices.Clone(r.events)
	}
	var selected []Event
	for _, e := range r.events {
		if match(e) {
			selected = append(selected, e)
		}
	}
	return selected
}

func (r *Raw) methods() []string {
	var methods []string
	for _, e := range r.Events(nil) {
		methods = append(methods, e.Method)
	}
	return methods[max(0, len(methods)-40):]
}

// field reads one field of a JSON object as text.
func field(raw json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(fields[name], &text) == nil {
		return text
	}
	return string(fields[name])
}
