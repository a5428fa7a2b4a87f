package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/run/sandbox"
	"holdfast/messages"
)

// guest is one script that runs. What it is told comes by its inbox; what it tells is
// handled on the goroutine that runs it.
type guest struct {
	script Script
	dial   Dial
	conn   *websocket.Conn // nil until the script needs its page
	ctx    context.Context // of the run; set before the script begins
	inbox  chan []any
	ended  chan struct{} // closed with the script's end
	helper sync.WaitGroup

	timers map[int]*time.Timer
	calls  int
	out    messages.RunOutput
	text   int // bytes displayed
	image  int // bytes of all images, in base64
	images int
	log    int // bytes of its console
	isDone bool
	err    error

	mu     sync.Mutex // protects closed
	closed error
}

func newGuest(s Script, dial Dial) *guest {
	return &guest{
		script: s, dial: dial, inbox: make(chan []any, maxInbox), ended: make(chan struct{}), timers: map[int]*time.Timer{},
		out: messages.RunOutput{Output: []messages.RunItem{}, Console: []string{}},
	}
}

// end stops what works for the script, and waits for it.
func (g *guest) end() {
	close(g.ended)
	for _, t := range g.timers {
		t.Stop()
	}
	if g.conn != nil {
		_ = g.conn.CloseNow()
	}
	g.helper.Wait()
}

// run runs the script until it is done.
func (g *guest) run(ctx context.Context, box *sandbox.Sandbox) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.ctx = ctx
	begin := map[string]any{"code": g.script.Code, "target": g.script.Target, "names": g.script.Tools}
	if err := g.tell(ctx, box, []any{"run", begin}); err != nil {
		return err
	}
	for !g.isDone {
		select {
		case event := <-g.inbox:
			if event[0] == "tool" {
				g.calls--
			}
			if err := g.tell(ctx, box, event); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return g.err
}

// connect connects to the gateway, which takes longer than a short script.
func (g *guest) connect() {
	if g.conn != nil {
		return
	}
	conn, err := g.dial(g.ctx, g.script.Task)
	if err != nil {
		g.isDone, g.err = true, err
		return
	}
	g.conn = conn
	g.helper.Go(g.read)
}

// read brings the messages of the connection. A script that takes none has the gateway
// wait, and close the connection in the end.
func (g *guest) read() {
	for {
		_, m, err := g.conn.Read(g.ctx)
		if err != nil {
			g.mu.Lock()
			g.closed = err
			g.mu.Unlock()
			_ = g.bring([]any{"closed"}) // of a script that has ended already
			return
		}
		if g.bring([]any{"message", string(m)}) != nil {
			return
		}
	}
}

// lost is why the connection has ended, or nil.
func (g *guest) lost() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

var errEnded = errors.New("the script has ended")

// bring puts an event into the inbox. The error is errEnded.
func (g *guest) bring(event []any) error {
	select {
	case g.inbox <- event:
		return nil
	case <-g.ended:
		return errEnded
	case <-g.ctx.Done():
		return errEnded
	}
}

// tell calls the function that the bundle has for the host.
func (g *guest) tell(ctx context.Context, box *sandbox.Sandbox, event []any) error {
	args, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return box.Eval(ctx, "guest(..."+string(args)+")", "host")
}

// told is what the script tells: a list whose first value says what. A script cannot tell
// anything that the bundle does not, and is not trusted all the same.
func (g *guest) told(text string) {
	var values []json.RawMessage
	if json.Unmarshal([]byte(text), &values) != nil || len(values) == 0 || g.isDone {
		return
	}
	switch word(values, 0) {
	case "connect":
		g.connect()
	case "send":
		if g.conn == nil {
			return
		}
		if err := g.conn.Write(g.ctx, websocket.MessageText, []byte(word(values, 1))); err != nil {
			return // the reader tells of it
		}
	case "timer":
		g.arm(number(values, 1), number(values, 2))
	case "tool":
		g.call(number(values, 1), word(values, 2), value(values, 3))
	case "console":
		g.console(word(values, 1) + ": " + word(values, 2))
	case "text":
		g.display(messages.RunItem{Type: messages.RunText, Text: word(values, 1)})
	case "image":
		g.display(messages.RunItem{Type: messages.RunImage, MIMEType: word(values, 1), Base64: word(values, 2)})
	case "done":
		g.done(value(values, 1), string(value(values, 2)) == "true")
	case "failed":
		g.isDone = true
		g.err = &sandbox.ScriptError{Text: clip(word(values, 1), maxError)}
	}
}

// maxError bounds the text of an exception, in bytes.
const maxError = 4000

// arm sets a timer of the script, again if it stands.
func (g *guest) arm(id, ms int) {
	if t := g.timers[id]; t != nil {
		t.Stop()
	} else if len(g.timers) >= 2*maxTimers {
		g.timers = map[int]*time.Timer{} // those that have fired: the script has no more than maxTimers
	}
	g.timers[id] = time.AfterFunc(time.Duration(max(ms, 0))*time.Millisecond, func() { _ = g.bring([]any{"timer", id}) })
}

// call runs a tool for the script.
func (g *guest) call(id int, name string, input json.RawMessage) {
	g.calls++
	known := slices.ContainsFunc(g.script.Tools, func(t [2]string) bool { return t[1] == name })
	if !known || g.calls > maxCalls {
		g.helper.Go(func() {
			_ = g.bring([]any{"tool", id, messages.ToolResult{Code: messages.CodeLimitReached, Text: "too many tools run at once, or there is no such tool"}})
		})
		return
	}
	g.helper.Go(func() { _ = g.bring([]any{"tool", id, g.script.Tool(g.ctx, name, input)}) })
}

func (g *guest) console(line string) {
	if g.log += len(line); g.log > maxConsole {
		g.out.IsTruncated = true
		return
	}
	g.out.Console = append(g.out.Console, line)
}

// display adds what the script shows, within its bounds.
func (g *guest) display(item messages.RunItem) {
	switch item.Type {
	case messages.RunText:
		if left := maxText - g.text; len(item.Text) > left {
			item.Text, g.out.IsTruncated = clip(item.Text, left), true
		}
		if g.text += len(item.Text); item.Text == "" && g.out.IsTruncated {
			return
		}
	case messages.RunImage:
		g.images++
		if g.image += len(item.Base64); g.images > maxImages || g.image > maxImage {
			g.out.IsTruncated = true
			return
		}
	}
	g.out.Output = append(g.out.Output, item)
}

func (g *guest) done(v json.RawMessage, hasValue bool) {
	g.isDone = true
	if !hasValue {
		return
	}
	if len(v) > maxValue {
		g.err = &sandbox.ScriptError{Text: "the value that the script returned is too long; display it in parts"}
		return
	}
	var decoded any
	if err := json.Unmarshal(v, &decoded); err != nil {
		g.err = errors.Join(errors.New("the script's value cannot be read"), err)
		return
	}
	g.out.Value = decoded
}

func value(values []json.RawMessage, i int) json.RawMessage {
	if i >= len(values) {
		return nil
	}
	return values[i]
}

func word(values []json.RawMessage, i int) (s string) {
	_ = json.Unmarshal(value(values, i), &s) // "" where it is none
	return s
}

func number(values []json.RawMessage, i int) int {
	var f float64
	_ = json.Unmarshal(value(values, i), &f)
	return int(max(min(f, 1<<31-1), 0))
}

// clip shortens a text to n bytes, at the end of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "")
}
