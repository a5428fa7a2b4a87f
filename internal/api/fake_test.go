package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/internal/shed"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type countFailures struct {
	mu    sync.Mutex
	by    map[string]int
	notes []string
}

func (c *countFailures) Request(class string, status int, cut bool, _ time.Duration) {
	c.note(fmt.Sprintf("request %s %d %v", class, status, cut))
}

func (c *countFailures) StreamOpened() { c.note("stream opened") }

func (c *countFailures) StreamClosed() { c.note("stream closed") }

func (c *countFailures) Cut(b shed.Bound) { c.note("cut " + b.String()) }

func (c *countFailures) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, what)
}

func (c *countFailures) read() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

func (c *countFailures) AuthFailed(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = make(map[string]int)
	}
	c.by[class]++
}

// bench is one handler with its fake node and all it logged.
type bench struct {
	*testing.T
	node     *apitest.Node
	admin    token.Admin
	log      *syncBuffer
	failures *countFailures
	handler  *api.Handler
}

func setup(t *testing.T, node *apitest.Node, adjust ...func(*api.Config)) *bench {
	t.Helper()
	return setupGate(t, node, func(*gate.Config) {}, adjust...)
}

// setupGate is setup with other rules at the gate.
func setupGate(t *testing.T, node *apitest.Node, adjustGate func(*gate.Config), adjust ...func(*api.Config)) *bench {
	t.Helper()
	b := &bench{T: t, node: node, admin: token.Generate(), log: &syncBuffer{}, failures: &countFailures{}}
	logger := slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	rules := gate.Config{Token: b.admin, Observer: b.failures, Logger: logger}
	adjustGate(&rules)
	g, err := gate.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	cfg := api.Config{Node: node, Gateway: apitest.Gateway{}, Scripts: apitest.Scripts{}, MCP: apitest.MCP{}, Gate: g, Observer: b.failures, Logger: logger}
	for _, f := range adjust {
		f(&cfg)
	}
	h, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.handler = h
	return b
}

// request is an authorised one from a well-behaved client.
func (b *bench) request(method, target, body string) *http.Request {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, in)
	r.Host = "127.0.0.1:7070"
	r.Header.Set("Authorization", "Bearer "+b.admin.Reveal())
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (b *bench) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func (b *bench) call(method, target, body string) *httptest.ResponseRecorder {
	return b.do(b.request(method, target, body))
}

// errorOf checks that the answer has the one form of an error.
func errorOf(t testing.TB, w *httptest.ResponseRecorder) messages.Error {
	t.Helper()
	var body struct {
		Error *messages.Error `json:"error"`
	}
	var tool messages.ToolResult // the body of a tool that failed, which has error too
	dec := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	dec.DisallowUnknownFields()
	var err error
	if bytes.HasPrefix(w.Body.Bytes(), []byte(`{"ok":false,`)) {
		err = dec.Decode(&tool)
		body.Error = tool.Error
	} else {
		err = dec.Decode(&body)
	}
	if err != nil || body.Error == nil || body.Error.Code == "" || body.Error.Message == "" {
		t.Fatalf("status %d, not an error of the contract: %q", w.Code, w.Body)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Fatalf("an error as %q", ct)
	}
	return *body.Error
}

func (b *bench) wantError(w *httptest.ResponseRecorder, status int, code messages.Code) messages.Error {
	b.Helper()
	e := errorOf(b, w)
	if w.Code != status || e.Code != code {
		b.Fatalf("got %d %s (%s), want %d %s", w.Code, e.Code, e.Message, status, code)
	}
	return e
}

func (b *bench) wantJSON(w *httptest.ResponseRecorder, status int, body string) {
	b.Helper()
	if w.Code != status || strings.TrimSpace(w.Body.String()) != body {
		b.Fatalf("got %d %s, want %d %s", w.Code, w.Body, status, body)
	}
}
