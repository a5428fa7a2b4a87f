package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/api"
	"holdfast/messages"
)

// routeCase is a request of one route.
type routeCase struct {
	route string // its method and path
	path  string // with the ids of this cluster; "" is that of the route
	body  string
	// ready makes the request possible, before each time that it is made.
	ready func() routeCase
	// has is what the answer says; a task's answer can come from its own node alone.
	has string
}

// everyRoute asks every route of the contract at the node that has the task one, and at another one:
// the answers are the same, or of the same form where they name what has changed meanwhile. A route
// that is new has to be added. The nodes were started with --allow-chaos, and none takes tasks.
func (c *trio) everyRoute(owner, other, spec string) {
	c.Helper()
	reconnects := 0 // that are to have been
	snapshot := func() messages.Snapshot {
		var s messages.Snapshot
		eventually(c.T, "task one is whole", func() (ok bool) {
			s, ok = c.snapshot(owner, "one")
			return ok && int(s.Connection.Reconnects) >= reconnects && s.State == messages.StateActive && s.Connection.Primary == messages.LinkUp && s.PageState == messages.PageOK
		})
		return s
	}
	evaluate := func(script string) string {
		return fmt.Sprintf(`{"method":"Runtime.evaluate","params":{"expression":%q}}`, script)
	}
	var artifact struct{ Artifact messages.Artifact }
	cases := []routeCase{
		{route: "PUT /v1/tasks/{id}", body: spec, has: `"node":"` + owner},
		{route: "POST /v1/tasks", body: spec, has: "limit_reached"},
		{route: "GET /v1/tasks", has: `"task_id":"one"`},
		{route: "GET /v1/tasks/{id}", has: `"node":"` + owner},
		{route: "GET /v1/tasks/{id}/snapshot", has: `"node":"` + owner},
		{route: "POST /v1/tasks/{id}/restart", has: `"task_id":"one"`},
		{route: "POST /v1/tasks/{id}/renew"},
		{route: "GET /v1/tasks/{id}/events", has: "event: reset"},
		{route: "POST /v1/tasks/{id}/navigate", body: `{"url":"about:blank"}`, has: "about:blank"},
		{route: "POST /v1/tasks/{id}/cdp", body: evaluate("1+1"), has: `"result"`},
		{route: "POST /v1/tasks/{id}/dialog", body: `{"action":"accept"}`, has: `"closed_by":"agent"`, ready: func() (r routeCase) {
			c.call(owner, "POST", "/v1/tasks/one/cdp", evaluate("setTimeout(()=>{alert('m')},0)"))
			eventually(c.T, "the dialog is open", func() bool {
				s, ok := c.snapshot(owner, "one")
				return ok && len(s.PendingDialogs) == 1
			})
			return r
		}},
		{route: "POST /v1/tasks/{id}/blocker", has: `"closed_by":"human"`, ready: func() routeCase {
			c.call(owner, "POST", "/v1/tasks/one/tools/browser_request_human", `{"reason":"a code","no_wait":true}`)
			return routeCase{body: fmt.Sprintf(`{"action":"accept","by":"human","text":"4711","blocker_id":%q}`, snapshot().Blockers[0].ID)}
		}},
		{route: "POST /v1/tasks/{id}/recover", body: `{"action":"close","target_id":"none"}`, has: "target_not_found"},
		{route: "POST /v1/tasks/{id}/chaos", body: `{"kill":"primary"}`, has: `"killed"`, ready: func() (r routeCase) {
			reconnects = int(snapshot().Connection.Reconnects) + 1
			return r
		}},
		{route: "GET /v1/tasks/{id}/clients", has: `"clients"`, ready: func() (r routeCase) { snapshot(); return r }},
		{route: "DELETE /v1/tasks/{id}/clients/{client_id}", path: "/v1/tasks/one/clients/none"},
		{route: "POST /v1/tasks/{id}/tools/{tool}", path: "/v1/tasks/one/tools/browser_task_status", has: "Task one is active"},
		{route: "POST /v1/tasks/{id}/batch", body: `{"steps":[{"tool":"browser_task_status"}]}`, has: "Task one is active"},
		{route: "POST /v1/tasks/{id}/run", body: `{"code":""}`, has: "invalid_argument"}, // a script that runs costs seconds
		{route: "POST /v1/tasks/{id}/artifacts", path: "/v1/tasks/one/artifacts?name=a", body: "hello", has: `"artifact_id"`},
		{route: "GET /v1/tasks/{id}/artifacts", has: `"name":"a"`},
		{route: "GET /v1/tasks/{id}/artifacts/{artifact_id}", has: "hello", ready: func() routeCase {
			_, out := c.call(owner, "POST", "/v1/tasks/one/artifacts?name=a", "hello")
			if err := json.Unmarshal([]byte(out), &artifact); err != nil {
				c.Fatal(err)
			}
			return routeCase{path: "/v1/tasks/one/artifacts/" + string(artifact.Artifact.ArtifactID)}
		}},
		{route: "GET /cdp/{id}", has: "is its WebSocket"},
		{route: "GET /cdp/{id}/{rest...}", path: "/cdp/one/json/version", has: "webSocketDebuggerUrl"},
		{route: "PUT /cdp/{id}/json/new", path: "/cdp/one/json/new?about:blank", has: `"id"`},
		{route: "POST /mcp", path: "/mcp?task=one", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_task_status","arguments":{}}}`, has: "Task one is active"},
		{route: "DELETE /mcp"},
		{route: "DELETE /v1/tasks/{id}", path: "/v1/tasks/never"},
		{route: "GET /v1/tools", has: "browser_task_status"},
		{route: "GET /v1/tree", has: `"node":"` + owner},
		{route: "GET /v1/pressure", has: `"node":"` + owner},
		{route: "GET /v1/live", has: "event: "},
		{route: "GET /v1/cluster", has: `"quorum":true`},
		{route: "GET /v1/cluster/snapshot"},
		{route: "POST /v1/cluster/recover", body: `{"i_am_the_last":false}`, has: "invalid_argument"},
		{route: "POST /v1/cluster/voters/{node}/replace", path: "/v1/cluster/voters/none/replace"},
		{route: "DELETE /v1/cluster/nodes/{node}/cordon", path: "/v1/cluster/nodes/" + other + "/cordon"},
		{route: "PUT /v1/cluster/nodes/{node}/cordon", path: "/v1/cluster/nodes/" + other + "/cordon"},
		{route: "POST /v1/cluster/nodes/{node}/drain", path: "/v1/cluster/nodes/" + other + "/drain", has: `"moved":0`},
		{route: "POST /v1/cluster/nodes/{node}/rebalance", path: "/v1/cluster/nodes/" + other + "/rebalance", has: `"moved":0`},
		{route: "POST /v1/codes", has: `"code"`},
		{route: "POST /v1/session", body: `{"code":"none"}`},
		{route: "GET /v1/openapi.json", has: "openapi"},
		{route: "GET /livez"},
		{route: "GET /readyz", has: `"status":"ok"`},
		{route: "GET /metrics", has: "holdfast_cluster_has_quorum 1"},
		{route: "GET /ui/"},
		// It ends the node: TestX11DrainUnderLoad has it.
		{route: "POST /v1/drain", path: "-"},
	}
	var known []string
	for _, one := range cases {
		known = append(known, one.route)
		method, path, _ := strings.Cut(one.route, " ")
		if one.path == "" {
			one.path = strings.ReplaceAll(path, "{id}", "one")
		}
		if one.path == "-" {
			continue
		}
		var answers [2]string
		for i, node := range []string{owner, other} {
			if one.ready != nil {
				now := one.ready()
				if now.path != "" {
					one.path = now.path
				}
				if now.body != "" {
					one.body = now.body
				}
			}
			answer := c.ask(node, method, one.path, one.body, one.has)
			if answers[i] = answer.form(); !strings.Contains(answer.body, one.has) {
				c.Errorf("%s through %s has no %s: %d %s", one.route, node, one.has, answer.status, answer.body)
			}
		}
		if answers[0] != answers[1] {
			c.Errorf("%s: at its node %s, and through %s %s", one.route, answers[0], other, answers[1])
		}
	}
	for _, r := range api.Routes() {
		if route := r.Method + " " + r.Path; !slices.Contains(known, route) {
			c.Errorf("%s has no case", route)
		}
	}
}

// answer is what a node has said.
type answer struct {
	status     int
	kind, body string
}

// form is what does not change from one request to the next.
func (a answer) form() string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(a.body), &object) != nil {
		return fmt.Sprint(a.status, " ", a.kind)
	}
	var refusal messages.Error
	if json.Unmarshal(object["error"], &refusal) == nil && refusal.Code != "" {
		return fmt.Sprint(a.status, " ", refusal.Code)
	}
	return fmt.Sprint(a.status, " ", a.kind, " ", slices.Sorted(maps.Keys(object)))
}

// ask is as call; of a stream it reads the first event. It reads again what does not say what it has to: a
// node that is starved for seconds is missing in lists, and has no lease.
func (c *trio) ask(node, method, path, body, has string) (a answer) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	eventually(c.T, method+" "+path+" through "+node, func() bool {
		r, err := http.NewRequestWithContext(ctx, method, c.nodes[node].url+path, strings.NewReader(body))
		if err != nil {
			c.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.shells[node].token())
		if strings.HasPrefix(path, "/mcp") {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			c.Fatal(err)
		}
		defer res.Body.Close()
		a = answer{status: res.StatusCode, kind: res.Header.Get("Content-Type")}
		var said strings.Builder
		chunk := make([]byte, 64<<10)
		for isStream := method == http.MethodGet && strings.HasPrefix(a.kind, "text/event-stream"); err == nil && !(isStream && strings.Contains(said.String(), "\ndata: ")); {
			var n int
			n, err = res.Body.Read(chunk)
			said.Write(chunk[:n])
		}
		if err != nil && err != io.EOF {
			c.Fatalf("%s %s through %s: %v", method, path, node, err)
		}
		a.body = said.String()
		if method == http.MethodGet && (!strings.Contains(a.body, has) || strings.Contains(a.body, `"missing":["`)) {
			return false
		}
		return a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "retry_after_s")
	})
	return a
}
