package reference_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/artifact"
	"holdfast/internal/gate"
	"holdfast/internal/gateway"
	"holdfast/internal/mcp"
	"holdfast/internal/node"
	"holdfast/internal/token"
	"holdfast/internal/tools"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a node on a fake browser behind its HTTP interface.
type stage struct {
	*judge
	browser *chaos.Browser
	cdpURL  string
	admin   token.Admin
	cluster apitest.Cluster
	peers   string // where other nodes ask
}

func setup(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	s := &stage{judge: newJudge(ctx, t), admin: token.Generate(), browser: chaos.New(chaos.Options{
		Load: func(url string) chaos.Document {
			switch {
			case strings.HasSuffix(url, "/asks"):
				return chaos.Document{Title: "Asks", Script: `confirm('sure?')`}
			case strings.HasSuffix(url, "/framed"):
				return chaos.Document{Title: "Framed", Frames: []string{"https://shop.example/inside"}}
			}
			return chaos.Document{Title: "Plain"}
		},
	})}
	browser := httptest.NewServer(s.browser)
	t.Cleanup(browser.Close)
	t.Cleanup(s.browser.Close)
	s.cdpURL = s.browser.URL(strings.TrimPrefix(browser.URL, "http://"))
	served, err := node.Start(ctx, node.Config{
		StateDir: t.TempDir(), AllowChaos: true, Log: slog.New(slog.DiscardHandler),
		Limits: messages.Limits{MaxTasks: 3, MemoryHigh: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := served.Stop(context.Background()); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	entrance, err := gate.New(gate.Config{Token: s.admin})
	if err != nil {
		t.Fatal(err)
	}
	clients := gateway.New(gateway.Config{Node: served})
	t.Cleanup(func() { clients.Drain(context.Background()) })
	inside := mcp.NewInside()
	base, err := inside.Client("")
	if err != nil {
		t.Fatal(err)
	}
	talks, err := mcp.NewHandler(mcp.Config{Table: tools.Info().Tools}, func(r *http.Request) mcp.Node { return mcp.For(base, r) })
	if err != nil {
		t.Fatal(err)
	}
	files, err := artifact.New(t.TempDir(), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{Cluster: &s.cluster, Node: served, Gateway: clients, Scripts: apitest.Scripts{}, Artifacts: files, MCP: talks, Gate: entrance, Metrics: served.MetricsHandler(), Drain: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	within := &http.Server{Handler: inside.Handler(handler)}
	go func() { _ = within.Serve(inside) }()
	t.Cleanup(func() { base.Close(); _ = within.Close() })
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	peers := httptest.NewServer(handler.Peers())
	t.Cleanup(peers.Close)
	s.peers = peers.URL
	t.Cleanup(handler.CloseStreams)
	s.url, s.token = server.URL, s.admin.Reveal()
	return s
}

// spec is the body that attaches a task to the browser.
func (s *stage) spec(more string) string { return fmt.Sprintf(`{"cdp_url":%q%s}`, s.cdpURL, more) }

func (s *stage) snapshot(task string) (snap messages.Snapshot) {
	s.Helper()
	if err := json.Unmarshal(s.wants(200, "", "GET", "/v1/tasks/"+task+"/snapshot", ""), &snap); err != nil {
		s.Fatal(err)
	}
	return snap
}

func (s *stage) sawEvent(name string) bool {
	return s.hasSeen("event GET /v1/tasks/{id}/events " + name)
}

// TestANodeIsAsTheReferenceSays drives a node through every route, every answer and every code
// of the reference, and every event of both streams.
func TestANodeIsAsTheReferenceSays(t *testing.T) {
	s := setup(t)
	s.life()
	s.drive()
	s.dialogs()
	s.troubles()
	s.gate()
	s.tools()
	s.artifacts()
	s.mcp()
	s.clients()
	s.rest()
	for _, r := range api.Routes() {
		for _, a := range r.Answers {
			if what := fmt.Sprintf("%s %s %d", r.Method, r.Path, a.Status); !s.hasSeen(what) {
				t.Errorf("not visited: %s", what)
			}
		}
		for _, e := range r.Events {
			if what := fmt.Sprintf("event %s %s %s", r.Method, r.Path, e.Name); !s.hasSeen(what) {
				t.Errorf("not seen: %s", what)
			}
		}
	}
	for _, c := range messages.Codes() {
		if !s.hasSeen("code " + string(c)) {
			t.Errorf("not seen: code %s", c)
		}
	}
}

func (s *stage) life() {
	s.wants(201, "", "PUT", "/v1/tasks/one", s.spec(`,"labels":{"team":"a"}`))
	s.wants(200, "", "PUT", "/v1/tasks/one", s.spec(""))
	s.follow("/v1/tasks/one/events", nil)
	s.follow("/v1/live?task_id=one", nil)
	s.until("the first event", func() bool { return s.sawEvent("reset") })
	s.wants(201, "", "POST", "/v1/tasks", s.spec(""))
	s.wants(200, "", "GET", "/v1/tasks?label=team%3Da", "")
	s.wants(200, "", "GET", "/v1/tasks/one", "")
	s.wants(204, "", "POST", "/v1/tasks/one/renew", "")
	s.wants(201, "", "PUT", "/v1/tasks/two", s.spec(""))
	s.wants(429, messages.CodeLimitReached, "PUT", "/v1/tasks/four", s.spec(`,"queue_timeout_s":0`))
	s.wants(403, messages.CodeTargetForeign, "PUT", "/v1/tasks/two", s.spec(fmt.Sprintf(`,"scope":"target","target_id":%q`, s.snapshot("one").PageTargetID)))
	s.wants(204, "", "DELETE", "/v1/tasks/two", "")
	s.wants(404, messages.CodeTaskNotFound, "POST", "/v1/tasks/two/navigate", `{"url":"https://shop.example/"}`)
	s.wants(201, "", "POST", "/v1/tasks/two/restart", "")
	s.wants(200, "", "POST", "/v1/tasks/two/restart", "")
	s.wants(204, "", "DELETE", "/v1/tasks/two", "")
	s.wants(503, messages.CodeUpstreamUnavailable, "PUT", "/v1/tasks/two", `{"cdp_url":"ws://127.0.0.1:1/devtools/browser/x"}`)
}

func (s *stage) drive() {
	s.wants(200, "", "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/framed"}`)
	s.wants(200, "", "POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate","params":{"expression":"console.error('m')"}}`)
	s.until("a console error", func() bool {
		return s.sawEvent("console_error") && s.sawEvent("frames_changed") && s.sawEvent("page_changed")
	})
	var inside messages.FrameID
	s.until("the frame in the tree", func() bool {
		for _, f := range s.snapshot("one").FrameTree.Children {
			inside = f.FrameID
		}
		return inside != ""
	})
	s.wants(409, messages.CodeFrameNotOOPIF, "POST", "/v1/tasks/one/cdp", fmt.Sprintf(`{"method":"Runtime.evaluate","params":{"expression":"1"},"frame_id":%q}`, inside))
	s.wants(404, messages.CodeFrameNotFound, "POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate","params":{"expression":"1"},"frame_id":"none"}`)
	s.wants(404, messages.CodeTargetNotFound, "GET", "/v1/tasks/one/snapshot?target_id=none&full=true", "")
	s.wants(502, messages.CodeCDPError, "POST", "/v1/tasks/one/cdp", `{"method":"Page.navigateToHistoryEntry","params":{"entryId":99}}`)
	s.wants(200, "", "POST", "/v1/tasks/one/cdp", `{"method":"Target.createTarget","params":{"url":"https://shop.example/"}}`)
	s.until("a second page", func() bool { return s.sawEvent("page_opened") })
	s.wants(200, "", "POST", "/v1/tasks/one/cdp", fmt.Sprintf(`{"method":"Target.closeTarget","params":{"targetId":%q}}`, s.snapshot("one").PageTargetID))
	s.until("its end", func() bool { return s.sawEvent("page_closed") })
	s.wants(200, "", "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/bill.pdf"}`)
	s.wants(200, "", "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/"}`)
	s.wants(200, "", "POST", "/v1/tasks/one/tools/browser_request_human", `{"reason":"a code","no_wait":true}`)
	s.wants(200, "", "POST", "/v1/tasks/one/blocker", fmt.Sprintf(`{"action":"accept","by":"human","text":"4711","blocker_id":%q}`, s.snapshot("one").Blockers[0].ID))
	s.until("a blocker and its end", func() bool { return s.sawEvent("blocker_opened") && s.sawEvent("blocker_closed") })
}

func (s *stage) dialogs() {
	const answer = "/v1/tasks/one/dialog"
	s.wants(409, messages.CodeNoDialog, "POST", answer, `{"action":"accept"}`)
	s.wants(409, messages.CodeBlockedByDialog, "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/asks"}`)
	id := s.snapshot("one").PendingDialogs[0].ID
	s.wants(404, messages.CodeDialogNotFound, "POST", answer, `{"action":"accept","dialog_id":"d-99"}`)
	s.wants(200, "", "POST", answer, `{"action":"accept"}`)
	s.wants(409, messages.CodeDialogAlreadyAnswered, "POST", answer, fmt.Sprintf(`{"action":"accept","dialog_id":%q}`, id))
	s.until("its events", func() bool { return s.sawEvent("dialog_opened") && s.sawEvent("dialog_closed") })
	first := s.snapshot("one").PageTargetID
	s.wants(200, "", "POST", "/v1/tasks/one/cdp", `{"method":"Target.createTarget","params":{"url":"https://other.example/"}}`)
	second := s.snapshot("one").PageTargetID
	for _, page := range []messages.TargetID{first, second} {
		s.browser.OpenDialog(s.browser.MainFrame(page), chaos.Prompt, "who?", "me")
	}
	s.until("two dialogs", func() bool { return len(s.snapshot("one").PendingDialogs) == 2 })
	s.wants(409, messages.CodeDialogAmbiguous, "POST", answer, `{"action":"dismiss"}`)
	open := s.snapshot("one").PendingDialogs
	s.wants(200, "", "POST", answer, fmt.Sprintf(`{"action":"accept","prompt_text":"you","dialog_id":%q}`, open[0].ID))
	s.browser.DropConnections()
	s.until("the dialog's loss", func() bool { return len(s.snapshot("one").PendingDialogs) == 0 })
	s.wants(410, messages.CodeDialogLost, "POST", answer, fmt.Sprintf(`{"action":"accept","dialog_id":%q}`, open[1].ID))
	lost := open[1].TargetID
	s.until("what the page is", func() bool {
		snap := s.snapshot("one")
		for _, p := range snap.Pages {
			if p.TargetID == lost && p.PageState == messages.PageDialogUnreachable {
				return snap.Connection.Primary == messages.LinkUp
			}
		}
		return false
	})
	s.until("the connection's event", func() bool { return s.sawEvent("connection") })
	s.wants(409, messages.CodePageWedged, "POST", "/v1/tasks/one/cdp", fmt.Sprintf(`{"method":"Runtime.evaluate","params":{"expression":"1"},"target_id":%q}`, lost))
	s.wants(200, "", "POST", "/v1/tasks/one/recover", fmt.Sprintf(`{"action":"close","target_id":%q}`, lost))
	s.until("the recovery's event", func() bool { return s.sawEvent("page_recovery") })
}

func (s *stage) troubles() {
	page := s.snapshot("one").PageTargetID
	evaluate := `{"method":"Runtime.evaluate","params":{"expression":"1"},"timeout_s":0.05}`
	for _, c := range s.browser.Connections() {
		c.SwallowNextReply("Page.getLayoutMetrics")
	}
	s.wants(504, messages.CodeDeadline, "POST", "/v1/tasks/one/cdp", `{"method":"Page.getLayoutMetrics","timeout_s":0.05}`)
	s.browser.Crash(page)
	s.until("the crash", func() bool { return s.snapshot("one").PageState == messages.PageCrashed })
	s.wants(409, messages.CodePageCrashed, "POST", "/v1/tasks/one/cdp", evaluate)
	s.wants(200, "", "POST", "/v1/tasks/one/recover", `{"action":"reload"}`)
	s.wants(200, "", "POST", "/v1/tasks/one/chaos", `{"kill":"primary"}`)
	s.wants(413, messages.CodeMessageTooLarge, "POST", "/v1/tasks/one/recover", strings.Repeat(" ", 2<<20)+`{}`)
}

func (s *stage) tools() {
	const tool = "/v1/tasks/one/tools/"
	s.wants(200, "", "POST", tool+"browser_tabs", `{"action":"new","name":"fresh"}`)
	s.wants(200, "", "GET", "/v1/tools", "")
	s.wants(200, "", "POST", tool+"browser_navigate", `{"url":"https://shop.example/","tab":"fresh"}`)
	s.wants(200, "", "POST", tool+"browser_tabs", `{"action":"list"}`)
	s.wants(200, "", "POST", tool+"browser_task_status", "")
	s.wants(200, "", "POST", "/v1/tasks/one/run", `{"code":"return 1","tab":"fresh"}`)
	s.wants(422, messages.CodeScriptError, "POST", tool+"browser_evaluate", `{"expression":"throw new Error('no')","tab":"fresh"}`)
	s.wants(404, messages.CodeNotFound, "POST", tool+"browser_clik", `{}`)
	s.wants(404, messages.CodeTargetNotFound, "POST", tool+"browser_evaluate", `{"expression":"1","tab":"t99"}`)
	s.wants(400, messages.CodeInvalidArgument, "POST", tool+"browser_navigate", `{"adress":"https://shop.example/"}`)
	s.wants(409, messages.CodeStaleRef, "POST", tool+"browser_click", `{"ref":"e99"}`)
	s.wants(200, "", "POST", "/v1/tasks/one/batch", `{"steps":[{"tool":"browser_task_status"},{"tool":"browser_evaluate","input":{"expression":"1","tab":"t99"}},{"tool":"browser_tabs","input":{"action":"list"}}]}`)
	s.wants(400, messages.CodeInvalidArgument, "POST", "/v1/tasks/one/batch", `{"steps":[]}`)
	s.wants(409, messages.CodeStaleRef, "POST", tool+"browser_batch", `{"steps":[{"tool":"browser_navigate","input":{"url":"https://shop.example/","tab":"fresh"}},{"tool":"browser_evaluate","input":{"ref":"e1"}}]}`)
	s.wants(403, messages.CodeForbidden, "POST", tool+"browser_tabs", `{"action":"list"}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.admin.ForTask("two")) })
}

func (s *stage) artifacts() {
	const path = "/v1/tasks/one/artifacts"
	var sent messages.ArtifactReply
	if err := json.Unmarshal(s.wants(201, "", "POST", path+"?name=a", "hello"), &sent); err != nil {
		s.Fatal(err)
	}
	s.wants(200, "", "GET", path, "")
	s.wants(200, "", "POST", "/v1/tasks/one/tools/browser_artifacts", fmt.Sprintf(`{"action":"read","artifact_id":%q}`, sent.Artifact.ArtifactID))
	if got := s.wants(200, "", "GET", path+"/"+string(sent.Artifact.ArtifactID), ""); string(got) != "hello" {
		s.Errorf("the artifact is %q", got)
	}
	s.wants(404, messages.CodeArtifactNotFound, "GET", path+"/a-0123456789abcdef", "")
}

func (s *stage) mcp() {
	asMCP := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_task_status","arguments":{}}}`
	if said := s.wants(200, "", "POST", "/mcp?task=one", call, asMCP); !strings.Contains(string(said), "Task one is active") {
		s.Errorf("a tool over MCP: %s", said)
	}
	s.wants(202, "", "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, asMCP)
	s.wants(204, "", "DELETE", "/mcp", "")
	s.wants(405, messages.CodeInvalidArgument, "GET", "/mcp", "", asMCP)
	s.wants(400, messages.CodeInvalidArgument, "POST", "/mcp?tools=bogus", call, asMCP)
	s.wants(404, messages.CodeNotFound, "POST", "/mcp", call, func(r *http.Request) { asMCP(r); r.Header.Set("Mcp-Session-Id", "made up") })
	s.wants(413, messages.CodeMessageTooLarge, "POST", "/mcp", strings.Repeat(" ", 5<<20), asMCP)
}

func (s *stage) gate() {
	s.wants(400, messages.CodeInvalidArgument, "GET", "/v1/tasks?labels=a", "")
	s.wants(404, messages.CodeNotFound, "GET", "/v1/taks", "")
	s.wants(401, messages.CodeUnauthorized, "GET", "/v1/tasks", "", func(r *http.Request) { r.Header.Del("Authorization") })
	s.wants(403, messages.CodeForbidden, "GET", "/v1/tasks/one", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.admin.ForTask("two")) })
	s.wants(403, messages.CodeForbidden, "GET", "/livez", "", func(r *http.Request) { r.Host = "rebound.example" })
	s.wants(405, messages.CodeInvalidArgument, "PATCH", "/v1/tasks/one", "")
}

func (s *stage) rest() {
	s.wants(200, "", "GET", "/v1/cluster", "")
	s.wants(503, messages.CodeRehoming, "GET", "/v1/tasks/"+string(apitest.Elsewhere), "")
	for _, code := range []messages.Code{messages.CodeLeaseLapsed, messages.CodeNoQuorum} {
		s.cluster.Lapsed.Store(messages.Errorf(code, "the node decides nothing").With("retry_after_s", 1))
		s.wants(503, code, "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/"}`)
		s.wants(200, "", "GET", "/v1/tasks?local=true", "")
	}
	s.cluster.Lapsed.Store(nil)
	s.wants(200, "", "GET", "/v1/cluster/snapshot", "")
	s.wants(200, "", "POST", "/v1/cluster/recover", `{"i_am_the_last":true}`)
	s.wants(204, "", "POST", "/v1/cluster/voters/b/replace", "")
	s.wants(204, "", "PUT", "/v1/cluster/nodes/a/cordon", "")
	s.wants(204, "", "DELETE", "/v1/cluster/nodes/a/cordon", "")
	for _, what := range []string{"drain", "rebalance"} {
		s.wants(200, "", "POST", "/v1/cluster/nodes/a/"+what, "")
	}
	s.wants(204, "", "DELETE", "/v1/cluster/nodes/a/cordon", "")
	front := s.url
	s.url = s.peers
	s.wants(421, messages.CodeWrongCluster, "PUT", "/v1/cluster/nodes/b/cordon", "")
	s.url = front
	for _, path := range []string{"/v1/tree?depth=2", "/v1/pressure", "/v1/openapi.json", "/livez", "/readyz", "/ui/", "/metrics"} {
		s.wants(200, "", "GET", path, "")
	}
	var code messages.LoginCode
	if err := json.Unmarshal(s.wants(201, "", "POST", "/v1/codes", ""), &code); err != nil {
		s.Fatal(err)
	}
	s.wants(201, "", "POST", "/v1/session", fmt.Sprintf(`{"code":%q}`, code.Code))
	s.wants(401, messages.CodeUnauthorized, "POST", "/v1/session", fmt.Sprintf(`{"code":%q}`, code.Code))
	s.wants(202, "", "POST", "/v1/drain", "")
	s.wants(204, "", "DELETE", "/v1/tasks/one", "")
	s.until("the task's last event", func() bool { return s.sawEvent("task_state") })
	s.elements()
	s.failsInside()
}

// failsInside asks a node that fails for reasons which are not for callers.
func (s *stage) failsInside() {
	entrance, err := gate.New(gate.Config{Token: s.admin})
	if err != nil {
		s.Fatal(err)
	}
	handler, err := api.New(api.Config{Gate: entrance, Node: &apitest.Node{NavigateFunc: func(messages.NavigateRequest) (messages.NavigateResult, error) {
		return messages.NavigateResult{}, errors.New("broken")
	}}})
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	url := s.url
	s.url = server.URL
	s.wants(500, messages.CodeInternal, "POST", "/v1/tasks/one/navigate", `{"url":"https://shop.example/"}`)
	s.url = url
}

// elements asks tools for elements of a page that a node without a browser makes up.
func (s *stage) elements() {
	entrance, err := gate.New(gate.Config{Token: s.admin})
	if err != nil {
		s.Fatal(err)
	}
	found := `{}`
	made := &apitest.Node{
		SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
			snap := apitest.Active(id)
			snap.Pages = []messages.Page{{TargetID: "A", PageState: messages.PageOK}}
			return snap, nil
		},
		CDPFunc: func(r messages.CDPRequest) (messages.CDPResult, error) {
			results := map[string]string{
				"Page.getFrameTree": `{"frameTree":{"frame":{"id":"A","loaderId":"L"}}}`, "Page.createIsolatedWorld": `{"executionContextId":7}`,
				"Runtime.callFunctionOn": found,
			}
			return messages.CDPResult{Result: json.RawMessage(results[r.Method])}, nil
		},
	}
	handler, err := api.New(api.Config{Gate: entrance, Node: made})
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	url := s.url
	s.url = server.URL
	const click = "/v1/tasks/one/tools/browser_click"
	s.wants(404, messages.CodeElementNotFound, "POST", click, `{"selector":"#none"}`)
	found = `{"result":{"type":"object","objectId":"1","value":{"why":"covered","by":"<div>"}}}`
	s.wants(409, messages.CodeNotActionable, "POST", click, `{"selector":"#one"}`)
	s.wants(409, messages.CodeCheckFailed, "POST", strings.Replace(click, "browser_click", "browser_qa", 1), `{"selector":"#nowhere","timeout_s":1}`)
	s.url = url
}
