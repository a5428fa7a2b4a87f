package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect serves the node over real HTTP and returns a client of it.
func connect(t *testing.T, node *apitest.Node, o client.Options) *client.Client {
	t.Helper()
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		t.Fatal(err)
	}
	h, err := api.New(api.Config{Node: node, Gate: entrance})
	if err != nil {
		t.Fatal(err)
	}
	if o.Token == "" {
		o.Token = admin.Reveal()
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { h.CloseStreams(); s.Close() })
	return to(t, s.URL, o)
}

func to(t *testing.T, url string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestEveryCallArrivesWhole(t *testing.T) {
	t.Parallel()
	cdpURL, err := messages.ParseCDPURL("wss://u:p@h/x?token=t")
	if err != nil {
		t.Fatal(err)
	}
	want := messages.TaskSpec{CDPURL: cdpURL, Scope: messages.ScopeOwn, DialogTimeoutS: 1.5, Labels: map[string]string{"a": "b"}}
	text, started := "<&>", true
	node := &apitest.Node{
		List: []*messages.Snapshot{apitest.Active("one"), apitest.Active("two")},
		GetOrStartFunc: func(_ context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
			if !reflect.DeepEqual(s, want) || s.CDPURL.Reveal() != cdpURL.Reveal() {
				t.Errorf("got spec %+v", s)
			}
			return apitest.Active(id), started, nil
		},
		SnapshotFunc: func(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
			if o != (messages.SnapshotOptions{TargetID: "T", Full: true}) {
				t.Errorf("got %+v", o)
			}
			return apitest.Active(id), nil
		},
		RespondFunc: func(a messages.DialogAnswer) (messages.ClosedDialog, error) {
			if !reflect.DeepEqual(a, messages.DialogAnswer{Action: "accept", PromptText: &text, DialogID: "d-1"}) {
				t.Errorf("got %+v", a)
			}
			return messages.ClosedDialog{ID: "d-1"}, nil
		},
		CDPFunc: func(r messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{Result: r.Params}, nil
		},
	}
	c := connect(t, node, client.Options{})
	ctx := t.Context()
	for _, started = range []bool{true, false} {
		if s, got, err := c.GetOrStart(ctx, "a.b:c", want); err != nil || got != started || s.TaskID != "a.b:c" {
			t.Error(s, got, err)
		}
	}
	if s, err := c.Start(ctx, want); err != nil || s.TaskID == "" {
		t.Error(s, err)
	}
	if l, err := c.Tasks(ctx, nil); err != nil || len(l) != 2 {
		t.Error(l, err)
	}
	if l, err := c.Tasks(ctx, map[string]string{"a": "b"}); err != nil || len(l) != 0 {
		t.Error(l, err)
	}
	if s, err := c.Snapshot(ctx, "one", messages.SnapshotOptions{TargetID: "T", Full: true}); err != nil || s.Version != 7 {
		t.Error(s, err)
	}
	if d, err := c.Respond(ctx, "one", messages.DialogAnswer{Action: "accept", PromptText: &text, DialogID: "d-1"}); err != nil || d.ID != "d-1" {
		t.Error(d, err)
	}
	if r, err := c.Navigate(ctx, "one", messages.NavigateRequest{URL: "http://x/?a&b"}); err != nil || r.URL != "http://x/?a&b" {
		t.Error(r, err)
	}
	if r, err := c.CDP(ctx, "one", messages.CDPRequest{Method: "A.b", Params: json.RawMessage(`{"x":"<"}`)}); err != nil || string(r.Result) != `{"x":"<"}` {
		t.Error(r, err)
	}
	if r, err := c.Recover(ctx, "one", messages.RecoverRequest{Action: messages.RecoverReload, TargetID: "T"}); err != nil || r.Page.TargetID != "T" || r.Page.PageState != messages.PageOK {
		t.Error(r, err)
	}
	if r, err := c.Kill(ctx, "one", messages.LinksBoth); err != nil || !reflect.DeepEqual(r.Killed, []messages.Links{messages.LinksBoth}) {
		t.Error(r, err)
	}
	if err := errors.Join(c.StopTask(ctx, "one"), c.Renew(ctx, "one"), c.Ready(ctx)); err != nil {
		t.Error(err)
	}
}

func TestTheNodesErrors(t *testing.T) {
	t.Parallel()
	for _, code := range messages.Codes() {
		c := connect(t, &apitest.Node{CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, messages.Errorf(code, "why").With("k", "v")
		}}, client.Options{})
		_, err := c.CDP(t.Context(), "one", messages.CDPRequest{Method: "A.b"})
		var own *messages.Error
		if !errors.As(err, &own) || own.Code != code || own.Message != "why" || own.Details["k"] != "v" {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	events := []messages.Event{{Type: messages.EventReset, TaskID: "one", Version: 4, Reason: "a\nb"}, {Type: messages.EventTaskState, TaskID: "one", Version: 5}}
	t.Run("it yields every event and ends with the task", func(t *testing.T) {
		t.Parallel()
		var got []messages.Event
		var bodies []string
		c := connect(t, &apitest.Node{WatchFunc: func(_ context.Context, after uint64, resume bool) (messages.EventStream, error) {
			if after != 3 || !resume {
				t.Error(after, resume)
			}
			return &apitest.Stream{Batches: [][]messages.Event{events[:1], events[1:]}}, nil
		}}, client.Options{OnBody: func(b []byte) { bodies = append(bodies, string(b)) }})
		for e, err := range c.Watch(t.Context(), "one", client.Position{Version: 3, Resume: true}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if !reflect.DeepEqual(got, events) || len(bodies) != 2 || !strings.HasPrefix(bodies[0], `{"type":"reset"`) {
			t.Error(got, bodies)
		}
	})
	t.Run("an error of the node is the only thing it yields", func(t *testing.T) {
		t.Parallel()
		c := connect(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "none")
		}}, client.Options{})
		n := 0
		for _, err := range c.Watch(t.Context(), "one", client.Position{}) {
			n++
			if messages.CodeOf(err) != messages.CodeTaskNotFound {
				t.Error(err)
			}
		}
		if n != 1 {
			t.Error(n)
		}
	})
	t.Run("the caller may break, and may cancel", func(t *testing.T) {
		t.Parallel()
		closed := make(chan struct{})
		c := connect(t, &apitest.Node{WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
			return &apitest.Stream{Batches: [][]messages.Event{events}, IsBlocking: true, Closed: closed}, nil
		}}, client.Options{})
		for range c.Watch(t.Context(), "one", client.Position{}) {
			break
		}
		<-closed
		closed = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range c.Watch(ctx, "one", client.Position{}) {
			last = err
			cancel()
		}
		<-closed
		if !errors.Is(last, context.Canceled) {
			t.Error(last)
		}
	})
	t.Run("a connection that breaks within an event is an error", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(": connected\n\nid: 4\nevent: reset\n"))
		}))
		defer s.Close()
		var last error
		for _, err := range to(t, s.URL, client.Options{}).Watch(t.Context(), "one", client.Position{}) {
			last = err
		}
		var gone *client.Unreachable
		if !errors.As(last, &gone) {
			t.Error(last)
		}
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	stranger := func(status int, head, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("the token was carried to where a redirect points")
			}
			w.Header().Set("Location", head)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, url := range map[string]string{
		"nobody listens":          "http://" + deaf(t),
		"a page":                  stranger(200, "", "<html>"),
		"a proxy's error":         stranger(502, "", "<html>bad gateway"),
		"JSON of somebody else":   stranger(404, "", `{"detail":"not found"}`),
		"a list":                  stranger(200, "", `[]`),
		"a redirect":              stranger(307, "/elsewhere", ""),
		"an error without a code": stranger(500, "", `{"error":{"message":"x"}}`),
	} {
		_, err := to(t, url, client.Options{Token: "planted-secret"}).Tasks(t.Context(), nil)
		var gone *client.Unreachable
		if !errors.As(err, &gone) || strings.Contains(err.Error(), "planted-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestURLsOfNodes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "127.0.0.1:7070", "ws://h", "http://", "http://u:planted@h", "http://h?x=planted", "http://h#planted", "http://h:x", "://"} {
		if _, err := client.New(bad, client.Options{}); messages.CodeOf(err) != messages.CodeInvalidArgument || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"http://127.0.0.1:7070", "https://h/", "http://[::1]:1", "https://h/behind/a/proxy/"} {
		if _, err := client.New(good, client.Options{}); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
