package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"holdfast/internal/api"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNode is a node of which each test says only what it needs. What is not
// said answers with a plain success.
type fakeNode struct {
	getOrStart func(context.Context, messages.TaskID, messages.TaskSpec) (*messages.Snapshot, bool, error)
	tasks      []*messages.Snapshot
	snapshot   func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error)
	respond    func(messages.DialogAnswer) (messages.ClosedDialog, error)
	navigate   func(messages.NavigateRequest) (messages.NavigateResult, error)
	cdp        func(messages.CDPRequest) (messages.CDPResult, error)
	watch      func(ctx context.Context, after uint64, resume bool) (messages.EventStream, error)
	stop       func(messages.TaskID) error
	renew      func(messages.TaskID) error
	ready      error

	mu      sync.Mutex
	renewed []messages.TaskID
}

func snapOf(id messages.TaskID) *messages.Snapshot {
	return &messages.Snapshot{TaskID: id, State: messages.StateActive, Version: 7, Active: true}
}

func (n *fakeNode) GetOrStart(ctx context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
	if n.getOrStart != nil {
		return n.getOrStart(ctx, id, s)
	}
	return snapOf(id), true, nil
}

func (n *fakeNode) Tasks() []*messages.Snapshot { return n.tasks }

func (n *fakeNode) Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
	if n.snapshot != nil {
		return n.snapshot(id, o)
	}
	return snapOf(id), nil
}

func (n *fakeNode) Respond(_ context.Context, _ messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	if n.respond != nil {
		return n.respond(a)
	}
	return messages.ClosedDialog{ID: "d-1", ClosedBy: messages.ClosedByAgent}, nil
}

func (n *fakeNode) Navigate(_ context.Context, _ messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error) {
	if n.navigate != nil {
		return n.navigate(r)
	}
	return messages.NavigateResult{URL: r.URL}, nil
}

func (n *fakeNode) CDP(_ context.Context, _ messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	if n.cdp != nil {
		return n.cdp(r)
	}
	return messages.CDPResult{Result: json.RawMessage(`{"a":"<b>"}`)}, nil
}

func (n *fakeNode) Watch(ctx context.Context, _ messages.TaskID, after uint64, resume bool) (messages.EventStream, error) {
	if n.watch != nil {
		return n.watch(ctx, after, resume)
	}
	return &fakeStream{}, nil
}

func (n *fakeNode) Renew(id messages.TaskID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.renewed = append(n.renewed, id)
	if n.renew != nil {
		return n.renew(id)
	}
	return nil
}

func (n *fakeNode) StopTask(_ context.Context, id messages.TaskID) error {
	if n.stop != nil {
		return n.stop(id)
	}
	return nil
}

func (n *fakeNode) Ready() error { return n.ready }

func (n *fakeNode) renewals() []messages.TaskID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]messages.TaskID(nil), n.renewed...)
}

// fakeStream gives its batches one by one, then waits (block) or ends.
type fakeStream struct {
	batches [][]messages.Event
	block   bool
	closed  chan struct{}
}

func (s *fakeStream) Next(ctx context.Context) ([]messages.Event, error) {
	if len(s.batches) > 0 {
		b := s.batches[0]
		s.batches = s.batches[1:]
		return b, nil
	}
	if s.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

func (s *fakeStream) Close() {
	if s.closed != nil {
		close(s.closed)
	}
}

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
	mu sync.Mutex
	by map[string]int
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
	node     *fakeNode
	admin    token.Admin
	log      *syncBuffer
	failures *countFailures
	handler  *api.Handler
}

func setup(t *testing.T, node *fakeNode, adjust ...func(*api.Config)) *bench {
	t.Helper()
	b := &bench{T: t, node: node, admin: token.Generate(), log: &syncBuffer{}, failures: &countFailures{}}
	cfg := api.Config{
		Node: node, Token: b.admin, Observer: b.failures,
		Logger: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
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
	dec := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || body.Error == nil || body.Error.Code == "" || body.Error.Message == "" {
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
