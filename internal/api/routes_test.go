package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

func idsOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct {
		Tasks []messages.Snapshot `json:"tasks"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err, w.Body)
	}
	var ids []string
	for _, s := range body.Tasks {
		ids = append(ids, string(s.TaskID))
	}
	return strings.Join(ids, " ")
}

func TestPutTask(t *testing.T) {
	t.Parallel()
	t.Run("201 when started, 200 when it ran", func(t *testing.T) {
		t.Parallel()
		running := map[messages.TaskID]bool{}
		b := setup(t, &apitest.Node{GetOrStartFunc: func(_ context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
			started := !running[id]
			running[id] = true
			return apitest.Active(id), started, nil
		}})
		for _, want := range []int{http.StatusCreated, http.StatusOK} {
			w := b.call("PUT", "/v1/tasks/a.b:c-d_e", `{}`)
			if w.Code != want || !strings.Contains(w.Body.String(), `"task_id":"a.b:c-d_e"`) {
				t.Fatal(w.Code, w.Body)
			}
		}
	})
	t.Run("the spec arrives whole, the URL unredacted", func(t *testing.T) {
		t.Parallel()
		var got messages.TaskSpec
		b := setup(t, &apitest.Node{GetOrStartFunc: func(_ context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
			got = s
			return apitest.Active(id), true, nil
		}})
		w := b.call("PUT", "/v1/tasks/one", `{"cdp_url":"ws://h/devtools/browser/secret-1234","scope":"own","dialog_timeout_s":2.5,"labels":{"team":"a"}}`)
		if w.Code != http.StatusCreated || got.CDPURL.Reveal() != "ws://h/devtools/browser/secret-1234" || got.DialogTimeoutS != 2.5 || got.Labels["team"] != "a" {
			t.Fatal(w.Code, w.Body, got)
		}
	})
	t.Run("a body is not needed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{})
		if w := b.call("PUT", "/v1/tasks/one", ""); w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
		r := b.request("PUT", "/v1/tasks/one", "")
		r.Header.Set("Content-Type", "text/plain")
		if w := b.do(r); w.Code != http.StatusCreated {
			t.Fatal("the type of no body does not matter:", w.Code, w.Body)
		}
	})
	t.Run("POST makes up an id and says where the task is", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{})
		seen := map[string]bool{}
		for range 20 {
			w := b.call("POST", "/v1/tasks", `{"launch":true}`)
			loc := w.Header().Get("Location")
			id, err := messages.ParseTaskID(strings.TrimPrefix(loc, "/v1/tasks/"))
			if w.Code != http.StatusCreated || err != nil || seen[loc] || !strings.Contains(w.Body.String(), `"task_id":"`+string(id)+`"`) {
				t.Fatal(w.Code, loc, w.Body)
			}
			seen[loc] = true
		}
	})
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{GetOrStartFunc: func(context.Context, messages.TaskID, messages.TaskSpec) (*messages.Snapshot, bool, error) {
		panic("a bad request reached the node")
	}})
	long := strings.Repeat("x", 129)
	for _, c := range []struct {
		name, method, path, body string
	}{
		{"not JSON", "PUT", "/v1/tasks/one", `{`},
		{"two values", "PUT", "/v1/tasks/one", `{} {}`},
		{"a list", "PUT", "/v1/tasks/one", `[]`},
		{"unknown field", "PUT", "/v1/tasks/one", `{"cdpurl":"x"}`},
		{"wrong type", "PUT", "/v1/tasks/one", `{"dialog_timeout_s":"1"}`},
		{"wrong scheme", "PUT", "/v1/tasks/one", `{"cdp_url":"ftp://h/"}`},
		{"both browsers", "PUT", "/v1/tasks/one", `{"cdp_url":"ws://h/","launch":true}`},
		{"id too long", "PUT", "/v1/tasks/" + long, ``},
		{"id with a space", "GET", "/v1/tasks/a%20b", ``},
		{"id with a slash", "GET", "/v1/tasks/a%2Fb", ``},
		{"id with NUL", "GET", "/v1/tasks/a%00b", ``},
		{"id dots", "GET", "/v1/tasks/%2E%2E", ``},
		{"no action", "POST", "/v1/tasks/one/dialog", `{}`},
		{"action maybe", "POST", "/v1/tasks/one/dialog", `{"action":"maybe"}`},
		{"no body", "POST", "/v1/tasks/one/dialog", ``},
		{"no url", "POST", "/v1/tasks/one/navigate", `{}`},
		{"timeout too long", "POST", "/v1/tasks/one/navigate", `{"url":"http://x","timeout_s":1e9}`},
		{"url without scheme", "POST", "/v1/tasks/one/navigate", `{"url":"example.com"}`},
		{"url of script", "POST", "/v1/tasks/one/navigate", `{"url":"javascript:alert(1)"}`},
		{"wait too long", "POST", "/v1/tasks/one/navigate", `{"url":"http://x","wait_s":301}`},
		{"wait of an answer", "POST", "/v1/tasks/one/dialog", `{"action":"accept","wait_s":-1}`},
		{"wait of a recovery", "POST", "/v1/tasks/one/recover", `{"action":"reload","wait_s":-1}`},
		{"wait no number", "POST", "/v1/tasks/one/cdp", `{"method":"A.b","wait_s":"5"}`},
		{"on_dialog", "POST", "/v1/tasks/one/cdp", `{"method":"A.b","on_dialog":"maybe"}`},
		{"method no method", "POST", "/v1/tasks/one/cdp", `{"method":"x"}`},
		{"params a list", "POST", "/v1/tasks/one/cdp", `{"method":"A.b","params":[]}`},
		{"no recovery", "POST", "/v1/tasks/one/recover", `{}`},
		{"recovery nobody knows", "POST", "/v1/tasks/one/recover", `{"action":"restart"}`},
		{"recovery of no target", "POST", "/v1/tasks/one/recover", `{"action":"reload","target_id":"a/b"}`},
		{"recovery with more", "POST", "/v1/tasks/one/recover", `{"action":"reload","force":true}`},
		{"on_wedge nobody knows", "PUT", "/v1/tasks/one", `{"on_wedge":"restart"}`},
		{"on_wedge without patience", "PUT", "/v1/tasks/one", `{"on_wedge":"reload","on_wedge_after_s":4.9}`},
		{"on_wedge for longer than a day", "PUT", "/v1/tasks/one", `{"on_wedge_after_s":1e300}`},
		{"no link", "POST", "/v1/tasks/one/chaos", `{}`},
		{"no such link", "POST", "/v1/tasks/one/chaos", `{"kill":"all"}`},
		{"two links", "POST", "/v1/tasks/one/chaos", `{"kill":["primary","anchor"]}`},
		{"frame id", "POST", "/v1/tasks/one/cdp", `{"method":"A.b","frame_id":"/"}`},
		{"target id", "GET", "/v1/tasks/one/snapshot?target_id=a/b", ``},
		{"full", "GET", "/v1/tasks/one/snapshot?full=maybe", ``},
		{"unknown query", "GET", "/v1/tasks/one/snapshot?targetid=a", ``},
		{"malformed query", "GET", "/v1/tasks/one/snapshot?full=%zz", ``},
		{"query where there is none", "GET", "/v1/tasks/one?full=true", ``},
		{"label without value", "GET", "/v1/tasks?label=team", ``},
		{"event id", "GET", "/v1/tasks/one/events?last=1", ``},
		{"tree of no task", "GET", "/v1/tree?task_id=a/b", ``},
		{"tree without depth", "GET", "/v1/tree?depth=0", ``},
		{"live view of no task", "GET", "/v1/live?task_id=a%20b", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := *b
			b.T = t
			b.wantError(b.call(c.method, c.path, c.body), http.StatusBadRequest, messages.CodeInvalidArgument)
		})
	}
	t.Run("the body counts, not what it is called", func(t *testing.T) {
		t.Parallel()
		b := *b
		b.T = t
		for _, kind := range []string{"application/x-www-form-urlencoded", "text/plain", "application/json; charset=UTF-8", ""} {
			r := b.request("POST", "/v1/tasks/one/dialog", `{"action":"accept"}`)
			r.Header["Content-Type"] = []string{kind}
			if w := b.do(r); w.Code != http.StatusOK {
				t.Error(kind, w.Code)
			}
		}
	})
	t.Run("a body that breaks off", func(t *testing.T) {
		t.Parallel()
		b := *b
		b.T = t
		r := httptest.NewRequest("POST", "/v1/tasks/one/dialog", iotest.ErrReader(errors.New("secret of the network")))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+b.admin.Reveal())
		if e := b.wantError(b.do(r), http.StatusBadRequest, messages.CodeInvalidArgument); strings.Contains(e.Message, "secret") {
			t.Fatal(e.Message)
		}
	})
	t.Run("too large a body", func(t *testing.T) {
		t.Parallel()
		b := *b
		b.T = t
		filler := func(n int) string { return strings.Repeat(" ", n) }
		for path, limit := range map[string]int{
			"PUT /v1/tasks/one": 1 << 20, "POST /v1/tasks": 1 << 20, "POST /v1/tasks/one/dialog": 7 << 20, "POST /v1/tasks/one/navigate": 3 << 20,
			"POST /v1/tasks/one/chaos": 1 << 20, "POST /v1/tasks/one/recover": 1 << 20,
			"POST /v1/tasks/one/cdp": messages.MaxCDPMessage + 64<<10,
		} {
			method, path, _ := strings.Cut(path, " ")
			b.wantError(b.call(method, path, filler(limit+1)), http.StatusRequestEntityTooLarge, messages.CodeMessageTooLarge)
		}
		b.wantError(b.call("POST", "/v1/tasks/one/cdp", `{"method":"A.b","params":{"x":"`+strings.Repeat("x", messages.MaxCDPMessage)+`"}}`),
			http.StatusRequestEntityTooLarge, messages.CodeMessageTooLarge)
	})
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	want := map[messages.Code]int{
		"invalid_argument": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404, "task_not_found": 404, "frame_not_found": 404, "target_not_found": 404,
		"dialog_not_found": 404, "client_not_found": 404, "artifact_not_found": 404, "client_busy": 409, "no_dialog": 409, "dialog_ambiguous": 409, "dialog_already_answered": 409, "dialog_lost": 410, "frame_not_oopif": 409,
		"target_foreign": 403, "blocked_by_dialog": 409, "page_wedged": 409, "page_crashed": 409, "cdp_error": 502, "script_error": 422, "stale_ref": 409, "element_not_found": 404, "not_actionable": 409, "check_failed": 409, "upstream_unavailable": 503,
		"deadline": 504, "message_too_large": 413, "limit_reached": 429, "internal": 500,
		"lease_lapsed": 503, "rehoming": 503, "no_quorum": 503, "wrong_cluster": 421,
	}
	for _, code := range messages.Codes() {
		b := setup(t, &apitest.Node{CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, fmt.Errorf("wrapped: %w", messages.Errorf(code, "why").With("at", 1.5))
		}})
		w := b.call("POST", "/v1/tasks/one/cdp", `{"method":"A.b"}`)
		e := b.wantError(w, want[code], code)
		if e.Message != "why" || e.Details["at"] != 1.5 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %+v", code, e)
		}
	}
}

func TestErrorsThatAreNotForCallers(t *testing.T) {
	t.Parallel()
	const secret = "ws://user:hunter2@10.0.0.1/devtools/browser/b3d1f0a2-1111-2222-3333-444455556666"
	fails := map[string]func(messages.CDPRequest) (messages.CDPResult, error){
		"an error of no code": func(messages.CDPRequest) (messages.CDPResult, error) { return messages.CDPResult{}, errors.New(secret) },
		"a panic":             func(messages.CDPRequest) (messages.CDPResult, error) { panic(secret) },
		"a panic of the runtime": func(r messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{Result: r.Params[len(r.Params)+1:]}, nil
		},
		"details of no JSON": func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, messages.Errorf(messages.CodeCDPError, "x").With("at", math.NaN())
		},
		"a result of no JSON": func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{Result: json.RawMessage(`{"a":`)}, nil
		},
	}
	for name, fail := range fails {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, &apitest.Node{CDPFunc: fail})
			w := b.call("POST", "/v1/tasks/one/cdp", `{"method":"A.b"}`)
			b.wantError(w, http.StatusInternalServerError, messages.CodeInternal)
			if !strings.Contains(b.log.String(), `"level":"ERROR"`) {
				t.Error("nothing was logged")
			}
			if strings.Contains(name, "panic") && !strings.Contains(b.log.String(), "routes_test.go") {
				t.Error("no stack was logged", b.log)
			}
			for _, part := range []string{"hunter2", "b3d1f0a2"} {
				if strings.Contains(w.Body.String()+b.log.String(), part) {
					t.Errorf("%q got out", part)
				}
			}
		})
	}
	t.Run("a deadline is one", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, context.DeadlineExceeded
		}})
		b.wantError(b.call("POST", "/v1/tasks/one/cdp", `{"method":"A.b"}`), http.StatusGatewayTimeout, messages.CodeDeadline)
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	node := &apitest.Node{}
	b := setup(t, node)
	t.Run("a closed dialog", func(t *testing.T) {
		var got messages.DialogAnswer
		node.RespondFunc = func(a messages.DialogAnswer) (messages.ClosedDialog, error) {
			got = a
			return messages.ClosedDialog{ID: "d-3", Type: "prompt", Message: "<b>", OpenedAt: 1650000000.25, ClosedAt: 1650000001, ClosedBy: messages.ClosedByAgent}, nil
		}
		b.wantJSON(b.call("POST", "/v1/tasks/one/dialog", `{"action":"accept","prompt_text":"","dialog_id":"d-3"}`), 200,
			`{"dialog":{"id":"d-3","type":"prompt","message":"<b>","opened_at":1650000000.25,"closed_at":1650000001,"closed_by":"agent"}}`)
		if got.PromptText == nil || *got.PromptText != "" {
			t.Error("an empty text is not the same as none")
		}
		b.call("POST", "/v1/tasks/one/dialog", `{"action":"accept"}`)
		if got.PromptText != nil {
			t.Error("no text became some")
		}
	})
	t.Run("a recovered page", func(t *testing.T) {
		var got messages.RecoverRequest
		node.RecoverFunc = func(r messages.RecoverRequest) (messages.RecoverResult, error) {
			got = r
			return messages.RecoverResult{Page: messages.Page{TargetID: "T", SessionID: "S", URL: "http://h/?a&b", PageState: messages.PageOK}}, nil
		}
		b.wantJSON(b.call("POST", "/v1/tasks/one/recover", `{"action":"release","target_id":"T"}`), 200,
			`{"page":{"target_id":"T","session_id":"S","url":"http://h/?a&b","title":"","opener_id":null,"page_state":"ok","bridge":""}}`)
		if got != (messages.RecoverRequest{Action: messages.RecoverRelease, TargetID: "T"}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("Chrome's own result, untouched", func(t *testing.T) {
		for result, want := range map[string]string{`{"a" : "<b>\u2028"}`: `{"result":{"a" : "<b>\u2028"}}`, ``: `{"result":{}}`} {
			node.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
				if string(r.Params) != `{"expression":"1 < 2"}` || r.FrameID != "F1" {
					t.Errorf("%+v", r)
				}
				return messages.CDPResult{Result: json.RawMessage(result)}, nil
			}
			b.wantJSON(b.call("POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate","frame_id":"F1","params":{"expression":"1 < 2"}}`), 200, want)
		}
	})
	t.Run("a navigation", func(t *testing.T) {
		node.NavigateFunc = func(r messages.NavigateRequest) (messages.NavigateResult, error) {
			return messages.NavigateResult{TargetID: "T", FrameID: "T", URL: r.URL}, nil
		}
		b.wantJSON(b.call("POST", "/v1/tasks/one/navigate", `{"url":"http://a.test/?a=1&b=2"}`), 200,
			`{"target_id":"T","frame_id":"T","url":"http://a.test/?a=1&b=2"}`)
	})
	t.Run("a stop, running or not", func(t *testing.T) {
		for _, err := range []error{nil, messages.Errorf(messages.CodeTaskNotFound, "none")} {
			node.StopFunc = func(messages.TaskID) error { return err }
			b.wantJSON(b.call("DELETE", "/v1/tasks/one", ""), http.StatusNoContent, "")
		}
		node.StopFunc = func(messages.TaskID) error { return messages.Errorf(messages.CodeDeadline, "slow") }
		b.wantError(b.call("DELETE", "/v1/tasks/one", ""), http.StatusGatewayTimeout, messages.CodeDeadline)
	})
	t.Run("a snapshot and its options", func(t *testing.T) {
		var got messages.SnapshotOptions
		node.SnapshotFunc = func(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
			got = o
			s := apitest.Active(id)
			s.PendingDialogs = []messages.Dialog{}
			s.ConsoleErrors = []messages.ConsoleError{{TS: 1650000000.5}}
			return s, nil
		}
		w := b.call("GET", "/v1/tasks/one/snapshot?target_id=T1&full=true", "")
		if got != (messages.SnapshotOptions{TargetID: "T1", Full: true}) {
			t.Error(got)
		}
		// Absent and empty are different things (D27); times are numbers.
		for want, is := range map[string]bool{`"pending_dialogs":[]`: true, `"recent_dialogs"`: false, `"ts":1650000000.5`: true} {
			if strings.Contains(w.Body.String(), want) != is {
				t.Errorf("%s: %s", want, w.Body)
			}
		}
		b.call("GET", "/v1/tasks/one", "")
		if got != (messages.SnapshotOptions{}) {
			t.Error(got)
		}
	})
	t.Run("an empty list is a list", func(t *testing.T) {
		b.wantJSON(b.call("GET", "/v1/tasks", ""), 200, `{"tasks":[]}`)
	})
	t.Run("HEAD has no body", func(t *testing.T) {
		for _, path := range []string{"/v1/tasks", "/v1/tasks/one/events", "/livez"} {
			if w := b.call("HEAD", path, ""); w.Code != 200 {
				t.Error(path, w.Code)
			}
		}
	})
}

func TestLabelsFilterTheList(t *testing.T) {
	t.Parallel()
	label := func(id messages.TaskID, l map[string]string) *messages.Snapshot {
		s := apitest.Active(id)
		s.Labels = l
		return s
	}
	b := setup(t, &apitest.Node{List: []*messages.Snapshot{
		label("b", map[string]string{"team": "x", "env": "p"}), label("a", map[string]string{"team": "x"}), label("c", map[string]string{"team": ""}), label("d", nil),
	}})
	for query, want := range map[string]string{
		"": "a b c d", "?label=team=x": "a b", "?label=team=x&label=env=p": "b", "?label=team=": "c", "?label=team=y": "", "?label=none=": "",
	} {
		if got := idsOf(t, b.call("GET", "/v1/tasks"+query, "")); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// TestX7EveryRequestRenewsTheLease of the task it names; stopping one does not.
func TestX7EveryRequestRenewsTheLease(t *testing.T) {
	t.Parallel()
	for _, rt := range api.RouteTable() {
		b := setup(t, &apitest.Node{}, withMetrics)
		b.handler.CloseStreams() // one that never ends by itself does
		b.call(rt.Method, apitest.Path(rt.Path, "one"), "")
		want := 0
		if strings.Contains(rt.Path, "{id}") && rt.Method != "DELETE" {
			want = 1
		}
		if got := b.node.Renewals(); len(got) != want {
			t.Errorf("%s %s renewed %v", rt.Method, rt.Path, got)
		}
	}
	b := setup(t, &apitest.Node{RenewFunc: func(messages.TaskID) error { return messages.Errorf(messages.CodeTaskNotFound, "none") }})
	b.wantError(b.call("POST", "/v1/tasks/one/renew", ""), http.StatusNotFound, messages.CodeTaskNotFound)
	if w := b.call("PUT", "/v1/tasks/one", ""); w.Code != http.StatusCreated {
		t.Error("a task that is not there yet can be started:", w.Code)
	}
}

// The probes of X9.
func TestX9Health(t *testing.T) {
	t.Parallel()
	const alive = `{"status":"ok","checks":[{"name":"registry","ok":true}]}`
	t.Run("alive and ready", func(t *testing.T) {
		b := setup(t, &apitest.Node{CheckList: []messages.Check{{Name: "memory", Reason: "high", Advisory: true}}})
		b.wantJSON(b.call("GET", "/livez", ""), 200, alive)
		b.wantJSON(b.call("GET", "/readyz", ""), 200,
			`{"status":"ok","checks":[{"name":"registry","ok":true},{"name":"memory","ok":false,"reason":"high","advisory":true}]}`)
	})
	t.Run("not ready, and which check it is", func(t *testing.T) {
		b := setup(t, &apitest.Node{CheckList: []messages.Check{{Name: "draining", OK: true}, {Name: "capacity", Reason: "full"}}})
		e := b.wantError(b.call("GET", "/readyz", ""), 503, messages.CodeUpstreamUnavailable)
		if !strings.Contains(e.Message, "capacity: full") || len(e.Details["checks"].([]any)) != 3 {
			t.Error(e)
		}
		b.wantJSON(b.call("GET", "/livez", ""), 200, alive)
	})
	t.Run("neither, and no word of why", func(t *testing.T) {
		b := setup(t, &apitest.Node{AliveFunc: func(context.Context) error { return errors.New("ws://secret.test") }})
		for _, path := range []string{"/livez", "/readyz"} {
			w := b.call("GET", path, "")
			e := b.wantError(w, 503, messages.CodeUpstreamUnavailable)
			if !strings.Contains(e.Message, "registry: no sign of life") || strings.Contains(w.Body.String(), "secret") {
				t.Error(w.Body)
			}
		}
	})
	t.Run("a node that does not come to it has a second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := setup(t, &apitest.Node{AliveFunc: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
			began := time.Now()
			b.wantError(b.call("GET", "/livez", ""), 503, messages.CodeUpstreamUnavailable)
			if took := time.Since(began); took > time.Second {
				t.Error(took)
			}
			b.handler.CloseStreams()
		})
	})
}

func TestPressure(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{Load: messages.Pressure{
		Available: true, Running: 3, RejectedLastMinute: map[messages.LimitReason]uint64{messages.LimitDraining: 2},
		Limits: messages.PressureLimits{Tasks: 10, QueueTimeoutS: 1.5},
		Memory: messages.Load{State: messages.LoadOK, Used: 0.5, High: 0.9, Low: 0.85, UsedBytes: 1, LimitBytes: 2, Source: "cgroup2"},
		CPU:    messages.Load{State: messages.LoadOff},
	}})
	const want = `{"available":true,"retry_after_s":0,"draining":false,"running":3,"browsers":0,"queued":0,"oldest_wait_s":0,` +
		`"rejected_last_minute":{"draining":2},` +
		`"limits":{"tasks":10,"tenant_tasks":0,"browsers":0,"queue_length":0,"queue_timeout_s":1.5,"idle_timeout_s":0,"max_life_s":0,"give_up_after_s":0},` +
		`"memory":{"state":"ok","used":0.5,"high":0.9,"low":0.85,"used_bytes":1,"limit_bytes":2,"source":"cgroup2"},` +
		`"cpu":{"state":"off","used":0,"high":0,"low":0}}`
	b.wantJSON(b.call("GET", "/v1/pressure", ""), 200, want)
	r := b.request("GET", "/v1/pressure", "")
	r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("one")) // no task is named
	b.wantJSON(b.do(r), 200, want)
}

// X4: the header says what the node reckons.
func TestX4RetryAfter(t *testing.T) {
	t.Parallel()
	full := messages.Errorf(messages.CodeLimitReached, "full").With("reason", messages.LimitQueueFull)
	b := setup(t, &apitest.Node{GetOrStartFunc: func(context.Context, messages.TaskID, messages.TaskSpec) (*messages.Snapshot, bool, error) {
		return nil, false, full.With("retry_after_s", 17)
	}})
	w := b.call("PUT", "/v1/tasks/one", `{"queue_timeout_s":0}`)
	e := b.wantError(w, 429, messages.CodeLimitReached)
	if got := w.Header().Get("Retry-After"); got != "17" || e.Details["reason"] != "queue_full" {
		t.Error(got, e.Details)
	}
	for _, s := range []string{"-1", "301", "1e99", `"5"`} {
		b.wantError(b.call("PUT", "/v1/tasks/one", `{"queue_timeout_s":`+s+`}`), 400, messages.CodeInvalidArgument)
	}
}

// TestEveryRouteHasAClassThatMetricsKnow: any other would count as other.
func TestEveryRouteHasAClassThatMetricsKnow(t *testing.T) {
	t.Parallel()
	for _, rt := range api.RouteTable() {
		if !slices.Contains([]string{"read", "life", "dialog", "drive", "events", "health"}, rt.Class) {
			t.Errorf("%s %s is of class %q", rt.Method, rt.Path, rt.Class)
		}
	}
}
