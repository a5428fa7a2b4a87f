package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/actors/session/decode"
	"holdfast/chaos"
	"holdfast/internal/backend"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/transport"
)

// extension is a backend as one within a browser's extension would be: one link, no session of
// the browser's own, and pages that it gives the task.
type extension struct {
	b      *chaos.Browser
	mu     sync.Mutex
	pages  []messages.TargetID
	asked  []string // of the browser's own session, which there is not
	opened int
}

func (*extension) Identity() string { return "extension:" }

func (*extension) Caps() backend.Caps {
	return backend.Caps{
		SecondLink: backend.No, TargetDomain: backend.No, Discover: backend.No, Windows: backend.No, RootFetch: backend.No, Debugger: backend.No,
	}
}

func (x *extension) Open(ctx context.Context, role messages.Role, onClose func(error)) (*transport.Mux, error) {
	if role != messages.RolePrimary {
		return nil, fmt.Errorf("there is no %s", role)
	}
	listener := transport.NewPipeListener()
	server := &http.Server{Handler: x.b}
	s := &extensionSocket{x: x, up: make(chan []byte, 1000), gone: make(chan struct{})}
	s.running.Go(func() { _ = server.Serve(listener) })
	ws, _, err := websocket.Dial(ctx, "ws://127.0.0.1"+x.b.Path(), &websocket.DialOptions{HTTPClient: listener.HTTPClient()})
	if err != nil {
		_ = server.Close()
		return nil, err
	}
	s.ws = ws
	s.end = func() { _ = ws.CloseNow(); _ = server.Close(); _ = listener.Close() }
	s.running.Go(s.pump)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opened++
	for _, page := range x.pages {
		if err := ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":1000000,"method":"Target.attachToTarget","params":{"targetId":%q,"flatten":true}}`, page)); err != nil {
			return nil, err
		}
	}
	return transport.NewMux(s, "", transport.DialOptions{Events: decode.Events(), OnClose: onClose}), nil
}

// extensionSocket passes on what sessions of pages say and are told.
type extensionSocket struct {
	x       *extension
	ws      *websocket.Conn
	up      chan []byte
	gone    chan struct{}
	once    sync.Once
	end     func()
	running sync.WaitGroup
}

func (s *extensionSocket) pump() {
	for {
		_, msg, err := s.ws.Read(context.Background())
		if err != nil {
			_ = s.CloseNow()
			return
		}
		if !bytes.Contains(msg, []byte(`"id":1000000`)) {
			s.up <- msg
		}
	}
}

func (s *extensionSocket) Reader(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	select {
	case msg := <-s.up:
		return websocket.MessageText, bytes.NewReader(msg), nil
	case <-s.gone:
		return 0, nil, io.EOF
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

func (s *extensionSocket) Write(ctx context.Context, kind websocket.MessageType, msg []byte) error {
	var c struct {
		ID        int
		Method    string
		SessionID string
	}
	if err := json.Unmarshal(msg, &c); err != nil {
		return err
	}
	if c.SessionID != "" {
		return s.ws.Write(ctx, kind, msg)
	}
	s.x.mu.Lock()
	s.x.asked = append(s.x.asked, c.Method)
	s.x.mu.Unlock()
	s.up <- fmt.Appendf(nil, `{"id":%d,"error":{"code":-32601,"message":"'%s' wasn't found"}}`, c.ID, c.Method)
	return nil
}

func (s *extensionSocket) Ping(ctx context.Context) error { return s.ws.Ping(ctx) }

func (s *extensionSocket) CloseNow() error {
	s.once.Do(func() { s.end(); close(s.gone) })
	return nil
}

// TestABackendThatGivesItsPages has nothing of what a browser may lack, and is asked for
// nothing of it. Its task has pages, dialogs, frames and raw CDP all the same.
func TestABackendThatGivesItsPages(t *testing.T) {
	t.Parallel()
	var x *extension
	with := func(c *node.Config) {
		c.Backend = func(messages.TaskID, backend.Backend) backend.Backend { return x }
	}
	inWorldWith(t, "a task", chaos.Options{Pages: 2}, with, func(w *world) {
		first, second := w.b.Pages()[0].Target, w.b.Pages()[1].Target
		x = &extension{b: w.b, pages: []messages.TargetID{first, second}}
		w.start("t", everything, bridged)
		time.Sleep(time.Minute)
		s := w.snapshot("t")
		if s.State != messages.StateActive || len(s.Pages) != 2 || s.Connection.Endpoint != "extension:" || s.Connection.AnchorOff != messages.AnchorOffSingle {
			w.Fatalf("%s, pages %+v, connection %+v", s.State, s.Pages, s.Connection)
		}
		w.asks(first, messages.PathNative)
		w.asks(second, messages.PathNative)
		if r, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{TargetID: first, URL: "http://a.test/"}); err != nil {
			w.Errorf("%+v, %v", r, err)
		}
		frame := w.b.AddFrame(w.b.MainFrame(first), "http://b.test/")
		if s := w.snapshot("t"); len(s.FrameTree.Children) != 1 || s.FrameTree.Children[0].FrameID != frame {
			w.Errorf("frames %+v", s.FrameTree)
		}
		if got := w.cdp("t", w.b.MainFrame(first), "Runtime.evaluate", `{"expression":"1 + 1","returnByValue":true}`); got == "" {
			w.Error("no answer to raw CDP")
		}

		// What such a browser has not is refused, at once.
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Target.createTarget", Params: json.RawMessage(`{"url":"about:blank"}`)})
		w.want(messages.CodeCDPError, err)
		_, err = w.recover(messages.RecoverReattach)
		w.want(messages.CodePageWedged, err)

		// A lost link comes back with the same pages.
		since := w.snapshot("t").Version
		events, err := w.node.Watch(w.ctx, "t", since, false)
		if err != nil {
			w.Fatal(err)
		}
		closed := begin(w, func(ctx context.Context) (messages.EventType, error) {
			defer events.Close()
			for {
				list, err := events.Next(ctx)
				if err != nil {
					return "", err
				}
				for _, e := range list {
					if e.Type == messages.EventPageClosed || e.Type == messages.EventPageOpened {
						return e.Type, nil
					}
				}
			}
		})
		w.b.Connections()[0].Drop()
		time.Sleep(10 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateActive || len(s.Pages) != 2 || s.Connection.Reconnects != 1 {
			w.Errorf("%s, pages %+v, connection %+v", s.State, s.Pages, s.Connection)
		}
		w.asks(second, messages.PathNative)
		select {
		case o := <-closed:
			w.Errorf("a page was not kept over the loss of the link: %+v", o)
		default:
		}

		w.b.ClosePage(second)
		<-closed
		if s := w.snapshot("t"); len(s.Pages) != 1 || s.Pages[0].TargetID != first {
			w.Errorf("pages %+v", s.Pages)
		}
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Error(err)
		}
		synctest.Wait()
		x.mu.Lock()
		defer x.mu.Unlock()
		if len(w.b.Pages()) != 1 || len(w.b.Connections()) != 0 || x.opened != 2 {
			w.Errorf("%d pages, %d connections, %d links", len(w.b.Pages()), len(w.b.Connections()), x.opened)
		}
		if slices.Sort(x.asked); len(x.asked) > 0 {
			w.Errorf("asked for %v", slices.Compact(x.asked))
		}
	})
}
