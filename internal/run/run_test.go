package run

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/internal/run/bundle"
	"holdfast/internal/run/sandbox"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is that of all tests: it takes a second to make.
var engine = sync.OnceValues(func() (*sandbox.Engine, error) {
	return sandbox.NewEngine(context.Background(), bundle.QuickJS(), bundle.Scripts())
})

// onServer returns a runner whose connections lead to a server of the test's.
func onServer(t testing.TB, serve func(ctx context.Context, conn *websocket.Conn)) *Runner {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		conn, err := websocket.Accept(w, q, nil)
		if err != nil {
			t.Error(err)
			return
		}
		serve(q.Context(), conn)
		_ = conn.CloseNow()
	}))
	t.Cleanup(s.Close)
	r := New(func(ctx context.Context, _ messages.TaskID) (*websocket.Conn, error) {
		conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.URL, "http"), nil) //nolint:bodyclose // the library closes it
		return conn, err
	})
	r.engine = engine
	return r
}

func silent(ctx context.Context, conn *websocket.Conn) {
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return
		}
	}
}

func TestAScriptsTimeIsBounded(t *testing.T) {
	t.Parallel()
	r := onServer(t, silent)
	_, err := r.Run(t.Context(), Script{Task: "one", Code: "return page", Timeout: 300 * time.Millisecond})
	if messages.CodeOf(err) != messages.CodeDeadline {
		t.Errorf("got %v", err)
	}
}

func TestTheEndOfTheConnectionIsSaidSo(t *testing.T) {
	t.Parallel()
	r := onServer(t, func(ctx context.Context, conn *websocket.Conn) {
		_, _, _ = conn.Read(ctx)
		_ = conn.Close(4002, "the task has ended")
	})
	_, err := r.Run(t.Context(), Script{Task: "one", Code: "return page", Timeout: time.Minute})
	if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "the task has ended") {
		t.Errorf("got %v", err)
	}
}

// A script that needs no page costs no connection, and no spelling of a page goes unseen.
func TestAScriptConnectsWhereItNamesItsPage(t *testing.T) {
	t.Parallel()
	for code, needsPage := range map[string]bool{
		"return 1":                           false,
		"await wait(1); return tab":          false,
		"return pages":                       false,
		"return page":                        true,
		"return browser.version()":           true,
		"return p\\u0061ge":                  true,
		"return eval('pa' + 'ge')":           true,
		"return arguments[0]":                true,
		"return (() => { return [page] })()": true,
	} {
		dialled := errors.New("dialled")
		r := New(func(context.Context, messages.TaskID) (*websocket.Conn, error) { return nil, dialled })
		r.engine = engine
		_, err := r.Run(t.Context(), Script{Task: "one", Code: code, Timeout: time.Minute})
		if errors.Is(err, dialled) != needsPage {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestScriptsAreBoundedInNumber(t *testing.T) {
	t.Parallel()
	r := onServer(t, silent)
	for range MaxScripts {
		r.slots <- struct{}{}
	}
	_, err := r.Run(t.Context(), Script{Task: "one", Code: "return 1", Timeout: time.Second})
	if messages.CodeOf(err) != messages.CodeLimitReached {
		t.Errorf("got %v", err)
	}
}

func TestAClosedRunnerRunsNothing(t *testing.T) {
	t.Parallel()
	r := New(nil)
	r.Close()
	if _, err := r.Run(t.Context(), Script{Task: "one", Code: "return 1", Timeout: time.Second}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsScripts(t *testing.T) {
	t.Parallel()
	r := New(nil)
	r.engine = engine
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := r.Run(t.Context(), Script{
			Task: "one", Code: "tab.begin(); for (;;) await wait(1)", Timeout: time.Minute, Tools: [][2]string{{"begin", "begin"}},
			Tool: func(context.Context, string, json.RawMessage) *messages.ToolResult {
				close(begun)
				return &messages.ToolResult{OK: true}
			},
		})
		ended <- err
	}()
	<-begun
	go r.Close()
	if err := <-ended; messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
		t.Errorf("got %v", err)
	}
}

// FuzzTold: what a script tells is not trusted, even where the bundle alone can tell it.
func FuzzTold(f *testing.F) {
	for _, seed := range []string{
		`["connect"]`, `["send","{}"]`, `["text","a"]`, `["image","image/png","AAAA"]`, `["done",null,false]`, `["done",{"a":1},true]`, `["failed","Error: no"]`,
		`["timer",1,5]`, `["timer",-1,1e99]`, `["tool",1,"browser_snapshot",{}]`, `["console","log","x"]`, `[]`, `{}`, `["text"]`, `[1,2]`,
	} {
		f.Add(seed)
	}
	r := onServer(f, silent)
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithCancel(t.Context())
		g := newGuest(Script{
			Tools: [][2]string{{"snapshot", "browser_snapshot"}},
			Tool:  func(context.Context, string, json.RawMessage) *messages.ToolResult { return &messages.ToolResult{} },
		}, r.dial)
		g.ctx = ctx
		for range 3 {
			g.told(text)
		}
		cancel()
		g.end()
		if _, err := json.Marshal(g.out); err != nil {
			t.Error(err)
		}
		if len(g.out.Output) > 3 || g.text > maxText {
			t.Errorf("kept %+v", g.out)
		}
	})
}
