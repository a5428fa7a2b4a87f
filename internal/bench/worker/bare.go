package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/bench/stage"
	"holdfast/transport"
)

// special implements special: the sequences of commands that a supervisor has to
// send, sent by a loop that decides nothing.
func (f *floor) special(ctx context.Context, o Order) (Answer, bool, error) {
	switch o.Do {
	case "attach":
		a, err := f.attach(o)
		return a, true, err
	case "hold":
		err := f.hold(o)
		return Answer{}, true, err
	case "reconnected":
		a, err := f.reconnected(ctx)
		return a, true, err
	}
	return Answer{}, false, nil
}

// attach dials, attaches to the page and so many iframes below it, and leaves.
func (f *floor) attach(o Order) (a Answer, err error) {
	if len(o.Places) == 0 {
		return a, errors.New("attach to what?")
	}
	for range o.N {
		begun := time.Now()
		conn, err := attachBare(o.Places[0], o.Window)
		if err != nil {
			return a, err
		}
		a.NS = append(a.NS, time.Since(begun).Nanoseconds())
		_ = conn.CloseNow()
	}
	return a, nil
}

var (
	discover   = []byte(`{"id":1,"method":"Target.setDiscoverTargets","params":{"discover":true}}`)
	autoAttach = []byte(`{"id":2,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}}`)
	attachedTo = []byte("Target.attachedToTarget")
	treeID     = int64(7)
)

// batch is what a session is sent at once: what the product sends.
var batch = []struct{ method, params string }{
	{"Inspector.enable", `{}`},
	{"Page.enable", `{}`},
	{"Runtime.enable", `{}`},
	{"Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"iframe"}]}`},
	{"Page.getFrameTree", `{}`},
	{"Page.setLifecycleEventsEnabled", `{"enabled":true}`},
	{"Emulation.setFocusEmulationEnabled", `{"enabled":true}`},
	{"Runtime.runIfWaitingForDebugger", `{}`},
}

// attachBare returns when the page and so many iframes have told their frames.
func attachBare(p stage.Place, iframes int) (*websocket.Conn, error) {
	ctx := context.Background()
	conn, _, err := websocket.Dial(ctx, p.Browser, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	for _, m := range [][]byte{discover, autoAttach} {
		if err := conn.Write(ctx, websocket.MessageText, m); err != nil {
			return nil, err
		}
	}
	trees := 0
	for trees < iframes+1 {
		_, m, err := conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		e, err := transport.Scan(m)
		if err != nil {
			return nil, err
		}
		if e.HasID && e.ID == treeID && e.SessionID != nil {
			trees++
		}
		if !bytes.Equal(e.Method, attachedTo) {
			continue
		}
		var to struct {
			SessionID  string
			TargetInfo struct{ TargetID, Type string }
		}
		if err := json.Unmarshal(e.Params, &to); err != nil {
			return nil, err
		}
		isPage := to.TargetInfo.Type == "page"
		for i, c := range batch {
			if isPage && to.TargetInfo.TargetID != p.Target && i < len(batch)-1 {
				continue // another client's: it is resumed
			}
			if !isPage && (i == 5 || i == 6) {
				continue // for pages alone
			}
			id := int64(i + 3)
			if err := conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":%q,"params":%s,"sessionId":%q}`, id, c.method, c.params, to.SessionID)); err != nil {
				return nil, err
			}
		}
	}
	return conn, nil
}

// bareHold are connections that come back by themselves: read, and when that
// fails dial and attach again, at once.
type bareHold struct {
	mu   sync.Mutex
	back []int64
	more chan struct{} // cap 1
	want int
}

func (f *floor) hold(o Order) error {
	f.held = &bareHold{more: make(chan struct{}, 1), want: len(o.Places)}
	conns := make([]*websocket.Conn, len(o.Places))
	errs := make([]error, len(o.Places))
	turn := make(chan struct{}, max(1, o.AtOnce))
	var all sync.WaitGroup
	for i, p := range o.Places {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			conns[i], errs[i] = attachBare(p, o.Window)
		})
	}
	all.Wait()
	if err := firstOf(errs); err != nil {
		return err
	}
	for i, p := range o.Places {
		go f.held.keep(conns[i], p, o.Window) // until the process ends
	}
	return nil
}

func (h *bareHold) keep(conn *websocket.Conn, p stage.Place, iframes int) {
	for {
		if _, _, err := conn.Read(context.Background()); err == nil {
			continue
		}
		for {
			next, err := attachBare(p, iframes)
			if err == nil {
				conn = next
				break
			}
		}
		h.mu.Lock()
		h.back = append(h.back, stage.Now())
		h.mu.Unlock()
		select {
		case h.more <- struct{}{}:
		default:
		}
	}
}

// reconnected waits until all that are held are back, and says when.
func (f *floor) reconnected(ctx context.Context) (Answer, error) {
	f.armed()
	for {
		f.held.mu.Lock()
		if len(f.held.back) >= f.held.want {
			a := Answer{NS: f.held.back}
			f.held.back = nil
			f.held.mu.Unlock()
			return a, nil
		}
		f.held.mu.Unlock()
		select {
		case <-f.held.more:
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
}
