package api_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

// checkingNode fails the test when something reaches it that validation had to
// stop.
type checkingNode struct {
	apitest.Node
	t *testing.T
}

func (n *checkingNode) GetOrStart(_ context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
	n.check(id, s.Validate())
	return apitest.Active(id), true, nil
}

func (n *checkingNode) Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
	n.check(id, messages.CheckOpaqueID("target_id", string(o.TargetID)))
	return apitest.Active(id), nil
}

func (n *checkingNode) Respond(_ context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	n.check(id, a.Validate())
	return messages.ClosedDialog{}, nil
}

func (n *checkingNode) Navigate(_ context.Context, id messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error) {
	n.check(id, r.Validate())
	return messages.NavigateResult{URL: r.URL}, nil
}

func (n *checkingNode) CDP(_ context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	n.check(id, r.Validate())
	return messages.CDPResult{Result: r.Params}, nil
}

func (n *checkingNode) Recover(_ context.Context, id messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error) {
	n.check(id, r.Validate())
	return messages.RecoverResult{}, nil
}

func (n *checkingNode) Kill(_ context.Context, id messages.TaskID, which messages.Links) (messages.KillResult, error) {
	n.check(id, which.Validate())
	return messages.KillResult{}, nil
}

func (n *checkingNode) check(id messages.TaskID, err error) {
	if _, bad := messages.ParseTaskID(string(id)); bad != nil || err != nil {
		n.t.Errorf("reached the node: id %q, %v", id, err)
	}
}

// fuzzed sends one request and checks what holds of every answer: no 5xx, and
// an error has the contract's form.
func fuzzed(t *testing.T, admin token.Admin, change func(*http.Request), method, path, body string) {
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		t.Fatal(err)
	}
	h, err := api.New(api.Config{Node: &checkingNode{t: t}, Gate: entrance})
	if err != nil {
		t.Fatal(err)
	}
	h.CloseStreams() // one that never ends by itself does
	r := &http.Request{
		Method: method, URL: &url.URL{Path: "/"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "localhost",
		Header: http.Header{"Authorization": {"Bearer " + admin.Reveal()}}, Body: http.NoBody, ContentLength: int64(len(body)),
	}
	r = r.WithContext(t.Context())
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return // net/http answers such a line itself
	}
	r.URL = u
	if body != "" {
		r.Body = readCloser{bytes.NewReader([]byte(body))}
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code >= 500 {
		t.Fatalf("%s %q: %d %s", method, path, w.Code, w.Body)
	}
	if w.Code >= 400 {
		if e := errorOf(t, w); strings.Contains(e.Message, admin.Reveal()) {
			t.Fatal("the token is in an error")
		}
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

func FuzzBodies(f *testing.F) {
	admin := token.Generate()
	all := api.RouteTable()
	for i := range all {
		for _, s := range []string{
			"", "{}", "null", "[]", `{"action":"accept","prompt_text":"x"}`, `{"url":"http://a.test/","timeout_s":1,"wait_s":0}`, `{"method":"A.b","on_dialog":"wait","wait_s":1e308}`,
			`{"method":"Runtime.evaluate","params":{"expression":"1"}}`, `{"cdp_url":"ws://h/x","labels":{"a":"b"}}`, `{"launch":{"headless":true}}`, "{\"url\":\"\xff\"}", `{"kill":"both"}`, `{"action":"release","target_id":"T"}`,
		} {
			f.Add(uint8(i), s)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, body string) {
		rt := all[int(i)%len(all)]
		fuzzed(t, admin, nil, rt.Method, apitest.Path(rt.Path, "one"), body)
	})
}

func FuzzPaths(f *testing.F) {
	admin := token.Generate()
	for _, s := range []string{
		"/v1/tasks/one", "/v1/tasks/a%2Fb/snapshot", "/v1/tasks/../tasks", "/v1/tasks/%00", "/v1/tasks/..", "/v1/tasks/é/events?x=1;y=2", "//v1//tasks",
		"/v1/tasks/one/snapshot?target_id=T&full=1", "/v1/tasks?label=a=b", "*", "http://evil/v1/tasks",
	} {
		f.Add("GET", s)
		f.Add("PUT", s)
	}
	f.Fuzz(func(t *testing.T, method, path string) { fuzzed(t, admin, nil, method, path, "") })
}

func FuzzHeaders(f *testing.F) {
	admin := token.Generate()
	for _, s := range []string{"", "1", "-1", "99999999999999999999", "Bearer ", "localhost:1", "[::1]:2", "[", ":", "http://localhost", "null", "application/json; a=\"b", "%zz"} {
		f.Add(s, s, s, s)
	}
	f.Fuzz(func(t *testing.T, lastEventID, host, origin, contentType string) {
		fuzzed(t, admin, func(r *http.Request) { r.Header.Set("Last-Event-ID", lastEventID) }, "GET", "/v1/tasks/one/events", "")
		fuzzed(t, admin, func(r *http.Request) { r.Host = host }, "GET", "/v1/tasks", "")
		fuzzed(t, admin, func(r *http.Request) { r.Header.Set("Origin", origin) }, "GET", "/v1/tasks", "")
		fuzzed(t, admin, func(r *http.Request) { r.Header.Set("Content-Type", contentType) }, "PUT", "/v1/tasks/one", "{}")
	})
}

// FuzzAuthorization: whatever stands in the header, only the token itself gets
// through.
func FuzzAuthorization(f *testing.F) {
	admin := token.Generate()
	for _, s := range []string{"", "Bearer", "Bearer x", "bearer hft.one.x", "Basic eDp5", "Bearer  x", "Bearer hfn.a.b.c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		reached := &apitest.Node{}
		entrance, err := gate.New(gate.Config{Token: admin})
		if err != nil {
			t.Fatal(err)
		}
		h, err := api.New(api.Config{Node: reached, Gate: entrance})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/v1/tasks/one/renew", nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", value)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || len(reached.Renewals()) != 0 {
			t.Fatalf("%q got %d", value, w.Code)
		}
	})
}
