package api_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

// clustered is a node of a cluster behind its HTTP interface.
func clustered(t *testing.T) (*bench, *apitest.Cluster) {
	t.Helper()
	c := &apitest.Cluster{}
	node := &apitest.Node{SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		if id == apitest.Orphan {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task")
		}
		return apitest.Active(id), nil
	}}
	return setup(t, node, func(cfg *api.Config) { cfg.Cluster = c }), c
}

// TestOnlyNodesMayVouch: what a header says of a caller counts at the nodes' own door alone.
func TestOnlyNodesMayVouch(t *testing.T) {
	t.Parallel()
	b, c := clustered(t)
	for _, header := range []string{"Holdfast-Hop", "Holdfast-Caller", "Holdfast-From", "Holdfast-Epoch"} {
		r := b.request("GET", "/v1/tasks/one", "")
		r.Header.Set(header, "admin")
		b.wantError(b.do(r), 403, messages.CodeForbidden)
	}
	if n := c.ForgedCount.Load(); n != 4 {
		t.Errorf("%d forged requests were counted", n)
	}
	ask := func(caller, path string) *httptest.ResponseRecorder {
		r := b.request("GET", path, "")
		r.Header.Del("Authorization")
		r.Host = "a.name.of.the.other.node"
		r.Header.Set("Holdfast-Hop", "b")
		if caller != "" {
			r.Header.Set("Holdfast-Caller", caller)
		}
		w := httptest.NewRecorder()
		b.handler.Peers().ServeHTTP(w, r)
		return w
	}
	b.wantError(ask("", "/v1/tasks/one"), 401, messages.CodeUnauthorized)
	b.wantError(ask("root", "/v1/tasks/one"), 400, messages.CodeInvalidArgument)
	b.wantError(ask("task two", "/v1/tasks/one"), 403, messages.CodeForbidden)
	b.wantError(ask("task one until 1", "/v1/tasks/one"), 401, messages.CodeUnauthorized)
	for _, caller := range []string{"admin", "task one", "admin until 99999999999"} {
		if w := ask(caller, "/v1/tasks/one"); w.Code != 200 {
			t.Errorf("%s: %d %s", caller, w.Code, w.Body)
		}
	}
	// A request that was passed on is not passed on again.
	b.wantError(ask("admin", "/v1/tasks/"+string(apitest.Elsewhere)), 421, messages.CodeWrongCluster)
}

// TestANodeWithoutALeaseRefusesOrders: reads are answered, and marked.
func TestANodeWithoutALeaseRefusesOrders(t *testing.T) {
	t.Parallel()
	b, c := clustered(t)
	if w := b.call("GET", "/v1/tasks/one", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"node":"a","epoch":1099511627777,"state"`) {
		t.Error(w.Code, w.Body)
	}
	c.Lapsed.Store(messages.Errorf(messages.CodeLeaseLapsed, "why"))
	for _, what := range []string{"PUT /v1/tasks/one", "DELETE /v1/tasks/one", "POST /v1/tasks/one/cdp", "POST /v1/tasks/one/dialog", "GET /cdp/one"} {
		method, path, _ := strings.Cut(what, " ")
		b.wantError(b.call(method, path, "{}"), 503, messages.CodeLeaseLapsed)
	}
	if w := b.call("GET", "/v1/tasks/one", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"lease":"lapsed"`) {
		t.Error(w.Code, w.Body)
	}
}

// TestATaskOfAnotherNode is asked for there.
func TestATaskOfAnotherNode(t *testing.T) {
	t.Parallel()
	b, c := clustered(t)
	c.Lapsed.Store(messages.Errorf(messages.CodeLeaseLapsed, "that is no matter for a task elsewhere"))
	b.wantError(b.call("POST", "/v1/tasks/"+string(apitest.Elsewhere)+"/cdp", `{"method":"A.b"}`), 503, messages.CodeRehoming)
	for _, id := range []messages.TaskID{apitest.Elsewhere, "one"} {
		r := b.request("GET", "/cdp/"+string(id)+"?ticket=unknown", "")
		r.Header.Del("Authorization")
		if id == apitest.Elsewhere {
			b.wantError(b.do(r), 503, messages.CodeRehoming)
		} else {
			b.wantError(b.do(r), 401, messages.CodeUnauthorized)
		}
	}
	b.wantError(b.call("GET", "/v1/tasks/"+string(apitest.Orphan), ""), 503, messages.CodeRehoming)
}

// TestATicketOfAnotherNodeOpensNothingHere: where the task comes to this node while the request waits,
// its caller is asked who it is.
func TestATicketOfAnotherNodeOpensNothingHere(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"GET /cdp/moving?ticket=unknown", "PUT /cdp/moving/json/new?ticket=unknown&http://a.test/", "GET /cdp/moving?ticket=unknown&start=1"} {
		b, _ := clustered(t)
		method, path, _ := strings.Cut(what, " ")
		r := b.request(method, path, "")
		r.Header.Del("Authorization")
		b.wantError(b.do(r), 401, messages.CodeUnauthorized)
	}
}

// TestOperatorsAreAdmins: what changes the cluster wants the admin token, and a cluster.
func TestOperatorsAreAdmins(t *testing.T) {
	t.Parallel()
	b, c := clustered(t)
	plain := setup(t, &apitest.Node{})
	for _, what := range []string{
		"GET /v1/cluster/snapshot", `POST /v1/cluster/recover {"i_am_the_last":true}`, "POST /v1/cluster/voters/b/replace",
		"PUT /v1/cluster/nodes/a/cordon", "DELETE /v1/cluster/nodes/a/cordon",
	} {
		method, rest, _ := strings.Cut(what, " ")
		path, body, _ := strings.Cut(rest, " ")
		b.wantError(b.as(b.admin.ForTask("one"), method, path, body), 403, messages.CodeForbidden)
		plain.wantError(plain.call(method, path, body), 404, messages.CodeNotFound)
		if w := b.call(method, path, body); w.Code/100 != 2 {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	b.wantError(b.call("POST", "/v1/cluster/recover", "{}"), 400, messages.CodeInvalidArgument)
	b.call("PUT", "/v1/cluster/nodes/a/cordon", "")
	if !c.Cordoned.Load() {
		t.Error("a is not cordoned")
	}
	b.wantError(b.call("DELETE", "/v1/cluster/nodes/b/cordon", ""), 503, messages.CodeRehoming)
	if !c.Cordoned.Load() {
		t.Error("a was taken for b")
	}
}

// TestAnAnswerForAllNodes has the part of each, names those that are silent, and is of one node
// where the caller says so.
func TestAnAnswerForAllNodes(t *testing.T) {
	t.Parallel()
	b, c := clustered(t)
	c.Other = func(target url.URL) string {
		if query := target.Query(); query.Get("local") != "true" || target.Path == "/v1/tree" && query.Get("depth") != "1" {
			t.Errorf("b was asked for %v", &target)
		}
		return map[string]string{
			"/v1/tasks": `{"tasks":[{"task_id":"far","node":"b"}]}`, "/v1/tree": `{"node":"b","root":{"kind":"registry"}}`, "/v1/pressure": `{"node":"b","running":7}`,
		}[target.Path]
	}
	for path, want := range map[string][]string{
		"/v1/tasks":        {`"task_id":"far"`, `"missing":["x"]`},
		"/v1/tree?depth=1": {`"node":"a"`, `"others":[`, `"node":"b"`, `"missing":["x"]`},
		"/v1/pressure":     {`"node":"a"`, `"running":7`, `"missing":["x"]`},
	} {
		w := b.call("GET", path, "")
		for _, part := range want {
			if w.Code != 200 || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s lacks %s: %d %s", path, part, w.Code, w.Body)
			}
		}
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		if w := b.call("GET", path+separator+"local=true", ""); w.Code != 200 || strings.Contains(w.Body.String(), "missing") || strings.Contains(w.Body.String(), "far") {
			t.Errorf("%s of one node: %d %s", path, w.Code, w.Body)
		}
	}
}
