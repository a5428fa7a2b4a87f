package stage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"holdfast/transport"
)

// front is one client's connection. What has to be fast it answers itself, and
// it notes when dialogs go by; everything else is the fake browser's.
//
//	Runtime.evaluate of 1+1   the answer a real page gives, from a template
//	Bench.prepare             makes a burst of events for the session
//	Bench.burst               sends it, then answers
type front struct {
	world   *world
	conn    net.Conn
	in      *bufio.Reader
	inner   *websocket.Conn
	session []byte // of a page's own endpoint: what the client does not know of

	writing sync.Mutex
	out     []byte // scratch of write

	bursts map[string][]byte // by session; of the reader alone
	tab    tab

	settings settings
}

// serve runs until either side ends.
func (w *world) serve(rw http.ResponseWriter, r *http.Request, target string) {
	w.serveInside()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	inner, _, err := websocket.Dial(ctx, w.browser.URL("fake"), &websocket.DialOptions{
		HTTPClient: w.inside.HTTPClient(), CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		http.Error(rw, "the browser is gone", http.StatusBadGateway)
		return
	}
	defer func() { _ = inner.CloseNow() }()
	inner.SetReadLimit(-1)
	f := &front{world: w, inner: inner, bursts: map[string][]byte{}}
	if target != "" {
		if f.session, err = attach(ctx, inner, target); err != nil {
			http.Error(rw, err.Error(), http.StatusNotFound)
			return
		}
	}
	if f.conn, f.in, err = upgrade(rw, r); err != nil {
		return // the client has been told
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.down(ctx)
		_ = f.conn.Close()
	}()
	f.up(ctx)
	cancel()
	_ = f.conn.Close()
	<-done
}

// attach gives a page's own endpoint its session.
func attach(ctx context.Context, inner *websocket.Conn, target string) ([]byte, error) {
	command := fmt.Sprintf(`{"id":0,"method":"Target.attachToTarget","params":{"targetId":%q,"flatten":true}}`, target)
	if err := inner.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
		return nil, err
	}
	for {
		_, message, err := inner.Read(ctx)
		if err != nil {
			return nil, err
		}
		e, err := transport.Scan(message)
		if err != nil || !e.HasID {
			continue
		}
		var result struct{ SessionID string }
		if err := json.Unmarshal(e.Result, &result); err != nil || result.SessionID == "" {
			return nil, fmt.Errorf("stage: attach to %s: %s", target, message)
		}
		return []byte(result.SessionID), nil
	}
}

// up carries the client's commands.
func (f *front) up(ctx context.Context) {
	var buf, message []byte
	for {
		op, final, payload, err := readFrame(f.in, buf)
		if err != nil {
			return
		}
		buf = payload
		switch op {
		case opText, opContinuation:
			message = append(message, payload...)
			if !final {
				continue
			}
			if f.command(ctx, message) != nil {
				return
			}
			message = message[:0]
		case opPing:
			if f.write(opPong, payload) != nil {
				return
			}
		case opClose:
			_ = f.write(opClose, payload) // it goes anyway
			return
		}
	}
}

var (
	evaluate  = []byte("Runtime.evaluate")
	onePlus   = []byte(`"1+1"`)
	prepare   = []byte("Bench.prepare")
	burst     = []byte("Bench.burst")
	answering = []byte("Page.handleJavaScriptDialog")
	opening   = []byte(`{"method":"Page.javascriptDialogOpening"`)
)

func (f *front) command(ctx context.Context, message []byte) error {
	e, err := transport.Scan(message)
	if err != nil {
		return err
	}
	switch {
	case bytes.Equal(e.Method, evaluate) && bytes.Contains(e.Params, onePlus):
		return f.reply(e, `{"result":{"type":"number","value":2,"description":"2"}}`)
	case bytes.Equal(e.Method, prepare):
		var b Burst
		if err := json.Unmarshal(e.Params, &b); err != nil {
			return err
		}
		session := string(e.SessionID)
		f.bursts[session] = b.frames(session)
		return f.reply(e, `{}`)
	case bytes.Equal(e.Method, burst):
		f.writing.Lock()
		_, err := f.conn.Write(f.bursts[string(e.SessionID)])
		f.writing.Unlock()
		if err != nil {
			return err
		}
		return f.reply(e, `{}`)
	case bytes.Equal(e.Method, answering):
		f.world.stamps.answered(Now())
	}
	if taken, err := f.tab.take(ctx, f, e); taken {
		return err
	}
	f.settings.note(e)
	if f.session != nil {
		message = append(append(append([]byte(`{"sessionId":"`), f.session...), `",`...), message[1:]...)
	}
	return f.inner.Write(ctx, websocket.MessageText, message)
}

func (f *front) reply(e transport.Envelope, result string) error {
	message := fmt.Appendf(nil, `{"id":%d,"result":%s`, e.ID, result)
	if e.SessionID != nil {
		message = append(append(append(message, `,"sessionId":"`...), e.SessionID...), '"')
	}
	return f.write(opText, append(message, '}'))
}

// down carries what the browser says.
func (f *front) down(ctx context.Context) {
	for {
		_, message, err := f.inner.Read(ctx)
		if err != nil {
			return
		}
		if f.session != nil {
			// The client's page is all it knows of, and its session comes last.
			message = bytes.Replace(message, append(append([]byte(`,"sessionId":"`), f.session...), `"}`...), []byte("}"), 1)
		}
		message = f.tab.put(f.settings.pardon(message))
		if bytes.HasPrefix(message, opening) {
			f.world.stamps.opened(Now())
		}
		if f.write(opText, message) != nil {
			return
		}
	}
}

var unknownMethod = []byte(`"error":{"code":-32601,`)

// settings are commands that change what a session hears or how a page looks.
// Where the fake browser does not know one, its client is told that all is well:
// peers ask for much that a supervisor never touches.
type settings struct {
	mu    sync.Mutex
	asked map[int64]bool
}

func (s *settings) note(e transport.Envelope) {
	_, verb, _ := bytes.Cut(e.Method, []byte("."))
	if !bytes.HasPrefix(verb, []byte("enable")) && !bytes.HasPrefix(verb, []byte("set")) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[int64]bool{}
	}
	s.asked[e.ID] = true
}

// pardon makes a success of an unknown setting.
func (s *settings) pardon(message []byte) []byte {
	if !bytes.Contains(message[:min(len(message), 64)], unknownMethod) {
		return message
	}
	e, err := transport.Scan(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !e.HasID || !s.asked[e.ID] {
		return message
	}
	pardoned := fmt.Appendf(nil, `{"id":%d,"result":{}`, e.ID)
	if e.SessionID != nil {
		pardoned = fmt.Appendf(pardoned, `,"sessionId":"%s"`, e.SessionID)
	}
	return append(pardoned, '}')
}

func (f *front) write(op byte, payload []byte) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.out = appendFrame(f.out[:0], op, payload)
	_, err := f.conn.Write(f.out)
	return err
}
