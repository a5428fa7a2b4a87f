package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/internal/ui"
	"holdfast/messages"
)

// everyRoute is the table plus what no route serves.
func everyRoute() [][2]string {
	var out [][2]string
	for _, rt := range api.RouteTable() {
		out = append(out, [2]string{rt.Method, apitest.Path(rt.Path, "one")})
	}
	return append(out,
		[2]string{"GET", "/"}, [2]string{"GET", "/nothing"}, [2]string{"GET", "/v1"}, [2]string{"GET", "/v1/tasks/"},
		[2]string{"GET", "/v1/tasks/one/"}, [2]string{"GET", "//v1/tasks"}, [2]string{"GET", "/v1/../v1/tasks"},
		[2]string{"POST", "/v1/tasks/one/rescue"}, [2]string{"PATCH", "/v1/tasks/one"}, [2]string{"OPTIONS", "/v1/tasks"},
		[2]string{"POST", "/livez"}, [2]string{"GET", "/debug/pprof/"}, [2]string{"GET", "/LIVEZ"}, [2]string{"GET", "/livez/"},
		[2]string{"TRACE", "/v1/tasks"}, [2]string{"FOO", "/v1/tasks"},
	)
}

// openRoutes are those that want no token. The live page's files tell nothing.
var openRoutes = func() []string {
	list := []string{"GET /livez", "GET /readyz", "GET /metrics", "GET /ui", "GET /", "GET /{$}", "POST /v1/session"}
	for _, a := range ui.Assets() {
		list = append(list, "GET "+a.Path)
	}
	return list
}()

func withMetrics(c *api.Config) {
	c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("up 1\n")) })
}

// TestX13EveryRouteWantsAToken is the negative matrix: every route with every
// kind of token that is not good for it.
func TestX13EveryRouteWantsAToken(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{}, withMetrics)
	other := token.Generate()
	tenant, _ := b.admin.ForTenant("acme")
	otherTenant, _ := other.ForTenant("acme")
	bad := map[string][]string{
		"none":                     nil,
		"empty":                    {""},
		"bearer of nothing":        {"Bearer "},
		"no scheme":                {b.admin.Reveal()},
		"basic":                    {"Basic " + b.admin.Reveal()},
		"another node's":           {"Bearer " + other.Reveal()},
		"another node's task":      {"Bearer " + other.ForTask("one")},
		"another node's tenant":    {"Bearer " + otherTenant},
		"cut":                      {"Bearer " + b.admin.Reveal()[:42]},
		"longer":                   {"Bearer " + b.admin.Reveal() + "x"},
		"very long":                {"Bearer " + strings.Repeat("x", 10_000)},
		"twice":                    {"Bearer " + b.admin.Reveal(), "Bearer " + b.admin.Reveal()},
		"scope changed":            {"Bearer " + strings.Replace(b.admin.ForTask("two"), "two", "one", 1)},
		"tenant made from a task":  {"Bearer " + strings.Replace(b.admin.ForTask("acme"), "hft.", "hfn.", 1)},
		"tenant, its prefix alone": {"Bearer " + tenant[:strings.LastIndex(tenant, ".")+1]},
	}
	for _, rt := range everyRoute() {
		for name, auth := range bad {
			r := b.request(rt[0], rt[1], "")
			r.Header.Del("Authorization")
			for _, a := range auth {
				r.Header.Add("Authorization", a)
			}
			w := b.do(r)
			if slices.Contains(openRoutes, rt[0]+" "+rt[1]) {
				if rt[1] == "/v1/session" && w.Code == http.StatusBadRequest {
					continue // its code, which is missing here, is what opens it
				}
				if w.Code != http.StatusOK && w.Code != http.StatusPermanentRedirect && w.Code != http.StatusTemporaryRedirect {
					t.Errorf("%s, token %s: %d", rt, name, w.Code)
				}
				continue
			}
			if e := errorOf(t, w); w.Code != http.StatusUnauthorized || e.Code != messages.CodeUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s, token %s: %d %s", rt, name, w.Code, e.Code)
			}
		}
	}
	if len(b.failures.by) != 6 || b.failures.by["other"] == 0 {
		t.Errorf("failures were not counted by class: %v", b.failures.by)
	}
}

func TestX13ScopedTokens(t *testing.T) {
	t.Parallel()
	node := &apitest.Node{List: []*messages.Snapshot{apitest.Active("two"), apitest.Active("acme:2"), apitest.Active("one"), apitest.Active("acme:1"), apitest.Active("acmes:1")}}
	_, config := withArtifacts(t)
	b := setup(t, node, config)
	tenant, err := b.admin.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{
		"dialog": `{"action":"accept"}`, "blocker": `{"action":"accept","blocker_id":"b-1"}`, "navigate": `{"url":"about:blank"}`, "cdp": `{"method":"Page.reload"}`, "chaos": `{"kill":"primary"}`, "recover": `{"action":"release"}`,
		"run": `{"code":"return 1"}`, "batch": `{"steps":[{"tool":"browser_task_status"}]}`,
	}
	as := func(tok, method, path, body string) *httptest.ResponseRecorder {
		r := b.request(method, path, body)
		r.Header.Set("Authorization", "Bearer "+tok)
		return b.do(r)
	}
	for _, rt := range api.RouteTable() {
		if !strings.Contains(rt.Path, "{id}") {
			continue
		}
		on := func(tok, id string) *httptest.ResponseRecorder {
			return as(tok, rt.Method, apitest.Path(rt.Path, id), bodies[path.Base(rt.Path)])
		}
		for tok, ids := range map[string][2][]string{
			b.admin.ForTask("one"): {{"one"}, {"two", "one:1", "acme:1"}},
			tenant:                 {{"acme:1", "acme:x:y"}, {"acme", "acmes:1", "one"}},
			b.admin.Reveal():       {{"one", "acme:1"}, nil},
		} {
			for _, id := range ids[0] {
				// A script runs beside a page, and these tasks have none; nor has one an artifact of the path's id.
				last := path.Base(rt.Path)
				if w := on(tok, id); w.Code >= 300 && !((last == "run" || last == "{artifact_id}") && w.Code == http.StatusNotFound) {
					t.Errorf("%s %s on %s: %d", rt.Method, rt.Path, id, w.Code)
				}
			}
			for _, id := range ids[1] {
				b.wantError(on(tok, id), http.StatusForbidden, messages.CodeForbidden)
			}
		}
	}
	t.Run("a list shows what the token covers", func(t *testing.T) {
		for tok, want := range map[string]string{
			b.admin.ForTask("one"): "one", tenant: "acme:1 acme:2", b.admin.Reveal(): "acme:1 acme:2 acmes:1 one two",
		} {
			if got := idsOf(t, as(tok, "GET", "/v1/tasks", "")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("a tenant's generated ids are its own, a task token makes none", func(t *testing.T) {
		w := as(tenant, "POST", "/v1/tasks", "")
		if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"task_id":"acme:`) {
			t.Error(w.Code, w.Body)
		}
		b.wantError(as(b.admin.ForTask("one"), "POST", "/v1/tasks", ""), http.StatusForbidden, messages.CodeForbidden)
	})
	t.Run("no lease is renewed by a token that is out of scope", func(t *testing.T) {
		b := setup(t, &apitest.Node{})
		r := b.request("GET", "/v1/tasks/two", "")
		r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("one"))
		b.wantError(b.do(r), http.StatusForbidden, messages.CodeForbidden)
		if got := b.node.Renewals(); len(got) != 0 || b.failures.by["read"] != 1 {
			t.Error(got, b.failures.by)
		}
	})
}

func TestX13QueryTokenIsForEventStreamsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{})
	for _, rt := range api.RouteTable() {
		if slices.Contains(openRoutes, rt.Method+" "+rt.Path) {
			continue
		}
		r := b.request(rt.Method, apitest.Path(rt.Path, "one")+"?access_token="+b.admin.ForTask("one"), "")
		r.Header.Del("Authorization")
		w := b.do(r)
		if want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[strings.HasSuffix(rt.Path, "/events")]; w.Code != want {
			t.Errorf("%s %s: %d, want %d", rt.Method, rt.Path, w.Code, want)
		}
	}
	t.Run("it does not stand in for a bad header", func(t *testing.T) {
		r := b.request("GET", "/v1/tasks/one/events?access_token="+b.admin.Reveal(), "")
		r.Header.Set("Authorization", "Bearer wrong")
		b.wantError(b.do(r), http.StatusUnauthorized, messages.CodeUnauthorized)
	})
}

// TestX14Rebinding asks every route the way a page of a rebound name would.
func TestX14Rebinding(t *testing.T) {
	t.Parallel()
	b := setupGate(t, &apitest.Node{}, func(c *gate.Config) { c.AllowHosts = []string{"Holdfast.internal", "10.1.2.3", "fd00::1", "[fd00::2]"} }, withMetrics)
	for _, rt := range everyRoute() {
		for _, host := range []string{
			"", "evil.test", "evil.test:7070", "localhost.evil.test", "127.0.0.1.evil.test", "127.0.0.1:7070:1", "127.0.0.1:x",
			"[::1", "[::1]x", "[127.0.0.1]evil", "0.0.0.0", "10.1.2.4", "user@localhost", "localhost/", "127.0.0.1%lo", "[fe80::1%lo]", "::1", "fd00", "fd00::1", "[fd00::3]",
		} {
			r := b.request(rt[0], rt[1], "")
			r.Host = host
			if w := b.do(r); w.Code != http.StatusForbidden || errorOf(t, w).Code != messages.CodeForbidden {
				t.Errorf("%s for Host %q: %d", rt, host, w.Code)
			}
		}
		for _, origin := range []string{
			"http://evil.test", "null", "", "https://127.0.0.1:7070.evil.test", "http://127.0.0.1", "http://127.0.0.1:7071",
			"http://localhost:7070", "file://", "http://u@127.0.0.1:7070", "http://127.0.0.1:7070/x", "chrome-extension://127.0.0.1:7070", "https://127.0.0.1:7070",
		} {
			r := b.request(rt[0], rt[1], "")
			r.Header["Origin"] = []string{origin}
			w := b.do(r)
			if w.Code != http.StatusForbidden || errorOf(t, w).Code != messages.CodeForbidden {
				t.Errorf("%s from %q: %d", rt, origin, w.Code)
			}
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s answers with %s", rt, name)
				}
			}
		}
	}
	for _, host := range []string{
		"localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:7070", "[::ffff:127.0.0.1]:1",
		"holdfast.INTERNAL:80", "10.1.2.3", "[fd00::1]:7070", "[fd00::2]",
	} {
		r := b.request("GET", "/v1/tasks", "")
		r.Host = host
		if w := b.do(r); w.Code != http.StatusOK {
			t.Errorf("Host %q: %d", host, w.Code)
		}
	}
	for host, origin := range map[string]string{
		"127.0.0.1:7070": "http://127.0.0.1:7070", "localhost": "http://localhost:80", "holdfast.internal": "https://HOLDFAST.internal", "[::1]:80": "http://[::1]",
	} {
		r := b.request("GET", "/v1/tasks", "")
		r.Host = host
		r.Header.Set("Origin", origin)
		if w := b.do(r); w.Code != http.StatusOK {
			t.Errorf("Host %q, Origin %q: %d", host, origin, w.Code)
		}
	}
	t.Run("the metrics listener checks too", func(t *testing.T) {
		h := api.MetricsHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("up 1\n")) }), []string{"prom"})
		for _, c := range []struct {
			host, path string
			want       int
		}{{"localhost", "/metrics", 200}, {"prom:9", "/metrics", 200}, {"evil.test", "/metrics", 403}, {"localhost", "/v1/tasks", 401}} {
			r := httptest.NewRequest("GET", c.path, nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%+v: %d", c, w.Code)
			}
		}
	})
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{})
	for _, path := range []string{"/index.html", "/v1", "/v1/tasks/", "/v1/tasks/one/", "//v1/tasks", "/v1/./tasks", "/v1/tasks/one/rescue", "/metrics", "/livez/", "/V1/tasks"} {
		b.wantError(b.call("GET", path, ""), http.StatusNotFound, messages.CodeNotFound)
	}
	for path, want := range map[string]string{
		"/v1/task": "GET /v1/tasks", "/v1/tasks/one/snapshots": "GET /v1/tasks/{id}/snapshot", "/v1/tasks/one/nav": "POST /v1/tasks/{id}/navigate",
	} {
		e := b.wantError(b.call("GET", path, ""), http.StatusNotFound, messages.CodeNotFound)
		near, _ := e.Details["nearest"].([]any)
		if len(near) == 0 || len(near) > 4 || !slices.Contains(near, any(want)) {
			t.Errorf("%s: the nearest are %v", path, near)
		}
	}
	if w := b.call("GET", "/", ""); w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != "/ui/" {
		t.Errorf("/: %d to %q", w.Code, w.Header().Get("Location"))
	}
	for target, allow := range map[string]string{
		"PATCH /v1/tasks/one": "DELETE, GET, HEAD, PUT", "POST /livez": "GET, HEAD", "OPTIONS /v1/tasks": "GET, HEAD, POST", "GET /v1/tasks/one/cdp": "POST",
	} {
		method, path, _ := strings.Cut(target, " ")
		w := b.call(method, path, "")
		b.wantError(w, http.StatusMethodNotAllowed, messages.CodeInvalidArgument)
		if got := w.Header().Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", target, got, allow)
		}
	}
}

// TestTheNodeLearnsWhoAsks: the node's policy follows from the token.
func TestTheNodeLearnsWhoAsks(t *testing.T) {
	t.Parallel()
	var got messages.Caller
	b := setup(t, &apitest.Node{GetOrStartFunc: func(ctx context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
		got = messages.CallerOf(ctx)
		return apitest.Active(id), true, nil
	}})
	tenant, err := b.admin.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for tok, want := range map[string]messages.Caller{
		b.admin.Reveal():          {},
		b.admin.ForTask("acme:1"): {IsScoped: true},
		tenant:                    {IsScoped: true, Tenant: "acme"},
	} {
		r := b.request("PUT", "/v1/tasks/acme:1", "{}")
		r.Header.Set("Authorization", "Bearer "+tok)
		got = messages.Caller{Tenant: "not asked"}
		if w := b.do(r); w.Code != http.StatusCreated || got != want {
			t.Errorf("%d, %+v, want %+v", w.Code, got, want)
		}
	}
}
