package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"holdfast/internal/bench/stage"
)

// floor is the least a program can do with coder/websocket: one connection, a
// command written, replies read until the one with its id. It knows nothing
// else, and looks at no more of a message than its first bytes. Its calls have
// no deadline: watching one costs coder/websocket allocations a message.
type floor struct {
	// canReuse reads with Reader into one buffer, the cheapest way for messages that are not
	// kept; else Read, which allocates each message.
	canReuse bool
	mu       sync.Mutex
	conns    []*websocket.Conn
	held     *bareHold
	arming
}

type floorPage struct {
	canReuse bool
	conn     *websocket.Conn
	session  string
	id       int
	buf      []byte
}

// Open implements Client.
func (f *floor) Open(ctx context.Context, p stage.Place) (Page, error) {
	conn, _, err := websocket.Dial(ctx, p.Browser, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	f.mu.Lock()
	f.conns = append(f.conns, conn)
	f.mu.Unlock()
	page := &floorPage{conn: conn, canReuse: f.canReuse}
	reply, err := page.call("Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, p.Target))
	if err != nil {
		return nil, err
	}
	var attached struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal(reply, &attached); err != nil || attached.Result.SessionID == "" {
		return nil, fmt.Errorf("attach: %s", reply)
	}
	page.session = attached.Result.SessionID
	return page, nil
}

// Close implements Client.
func (f *floor) Close() {
	for _, c := range f.conns {
		_ = c.CloseNow()
	}
}

func (p *floorPage) send(method, params string) ([]byte, error) {
	p.id++
	command := fmt.Appendf(nil, `{"id":%d,"method":%q,"params":%s`, p.id, method, params)
	if p.session != "" {
		command = fmt.Appendf(command, `,"sessionId":%q`, p.session)
	}
	return fmt.Appendf(nil, `{"id":%d,`, p.id), p.conn.Write(context.Background(), websocket.MessageText, append(command, '}'))
}

func (p *floorPage) call(method, params string) ([]byte, error) {
	prefix, err := p.send(method, params)
	if err != nil {
		return nil, err
	}
	for {
		m, err := p.read()
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(m, prefix) {
			return m, nil
		}
	}
}

func (p *floorPage) read() ([]byte, error) {
	if !p.canReuse {
		_, m, err := p.conn.Read(context.Background())
		return m, err
	}
	if p.buf == nil {
		p.buf = make([]byte, 64<<10)
	}
	_, r, err := p.conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	for n := 0; ; {
		if n == len(p.buf) {
			p.buf = append(p.buf, make([]byte, len(p.buf))...)
		}
		k, err := r.Read(p.buf[n:])
		n += k
		if errors.Is(err, io.EOF) {
			return p.buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

var two = []byte(`"value":2`)

// Evaluate implements Page.
func (p *floorPage) Evaluate(context.Context) error {
	reply, err := p.call("Runtime.evaluate", `{"expression":"1+1","returnByValue":true}`)
	if err != nil {
		return err
	}
	if !bytes.Contains(reply, two) {
		return fmt.Errorf("1+1 is %s", reply)
	}
	return nil
}

// Call implements Page.
func (p *floorPage) Call(_ context.Context, method string, params map[string]any) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	_, err = p.call(method, string(b))
	return err
}

// Arm implements Dialogs.
func (p *floorPage) Arm(context.Context) (func() (int64, error), func() error, error) {
	if _, err := p.call("Page.enable", `{}`); err != nil {
		return nil, nil, err
	}
	seen := func() (int64, error) {
		for {
			m, err := p.read()
			if err != nil {
				return 0, err
			}
			if strings.HasPrefix(string(m[:min(len(m), 64)]), `{"method":"Page.javascriptDialogOpening"`) {
				return stage.Now(), nil
			}
		}
	}
	answer := func() error {
		_, err := p.call("Page.handleJavaScriptDialog", `{"accept":true}`)
		return err
	}
	return seen, answer, nil
}
