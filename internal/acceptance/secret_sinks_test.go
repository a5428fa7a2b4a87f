package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/artifact"
	"holdfast/internal/node"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// planted are secrets of W26 by their kind. None is text that a page shows, or a value that a caller
// asks a page for: these are content, and stay.
var planted = map[string]string{
	// What a page holds.
	"password field":        "pf-Tr0ub4dor-1",
	"hidden field":          "hf-c5rf-0123456789",
	"cookie":                "ck-0123456789abcdef",
	"local storage":         "ls-0123456789abcdef",
	"bearer on the console": "bc0123456789abcdefABCDEF",
	"web token in an error": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
	"private key":           "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
	"key of AWS, thrown":    "AKIAIOSFODNN7EXAMPLE",
	"key in a title":        "ti-0123456789abcdef",
	"token in a dialog":     "ghp_0123456789abcdefghijABCDEFGHIJ012345",
	"default of a prompt":   "dp-0123456789abcdef",
	// Addresses.
	"user in an address":        "ua-0123456789",
	"key in a query":            "kq-0123456789abcdef",
	"token in a fragment":       "tf-0123456789abcdef",
	"secret of a frame":         "sf-0123456789abcdef",
	"signature of a request":    "sr-0123456789abcdef",
	"token behind a link":       "tl-0123456789abcdef",
	"session in a popup":        "sp-0123456789abcdef",
	"token that history pushes": "tp-0123456789abcdef",
	// What callers say.
	"password typed":          "pt-Tr0ub4dor-2",
	"password of a form":      "pw-Tr0ub4dor-3",
	"answer to a prompt":      "ap-Tr0ub4dor-4",
	"password of basic auth":  "ba-Tr0ub4dor-5",
	"header of raw CDP":       "hc-0123456789abcdef",
	"key in a script's error": "sk-proj-0123456789abcdefghijklmnop",
	"key in a selector":       "glpat-0123456789abcdefghij",
	"token of a CDP URL":      "cu-0123456789abcdef0123456789abcdef",
	"password of a CDP URL":   "cp-Tr0ub4dor-6",
	"argument of an app":      "aa-0123456789abcdef",
	"file of an upload":       "fu-0123456789abcdef",
	"name of an upload":       "npm_0123456789abcdefghijABCDEFGHIJ0123",
}

// addJSON adds what a caller is told.
func (s *sinks) addJSON(t *testing.T, where string, what any) {
	t.Helper()
	raw, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	s.add(where, string(raw)+"\n")
}

// TestW26_PlantedSecretsReachNoSink: every tool runs on pages and with inputs that hold secrets, over
// MCP and so over HTTP, and everything that leaves the node is searched for them.
func TestW26_PlantedSecretsReachNoSink(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	log := &logs{}
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := setupOn(t, nil, func(c *node.Config) {
		c.Log, c.TracerProvider, c.IsAudited = logger, provider, true
	})
	r.log = log
	dir := t.TempDir()
	store, err := artifact.New(filepath.Join(dir, "artifacts"), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.UseKey(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	table := tools.New(r.node, logger).WithArtifacts(store)
	over, mcpOver := r.inside(func(c *api.Config) {
		c.Tools, c.Artifacts, c.Logger, c.TracerProvider = table, store, logger, provider
	})
	all := &sinks{texts: map[string]*bytes.Buffer{}}
	mcpOver.Endpoint = "http://localhost/mcp?task=w26"
	c, err := sdk.NewClient(&sdk.Implementation{Name: "w26", Version: "1"}, nil).Connect(r.ctx, mcpOver, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	w := &spy{T: t, rig: r, all: all, mcp: c, used: map[string]bool{}}

	if _, _, err := r.node.GetOrStart(r.ctx, "w26", messages.TaskSpec{Launch: &messages.LaunchSpec{}, Blockers: messages.AskAboutBlockers()}); err != nil {
		t.Fatal(err)
	}
	watching, stop := context.WithCancel(r.ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for e, err := range over.Watch(watching, "w26", client.Position{}) {
			if err != nil {
				return
			}
			raw, _ := json.Marshal(e)
			all.add("events", string(raw))
		}
	}()
	parsed, err := messages.ParseCDPURL("ws://u:" + planted["password of a CDP URL"] + "@127.0.0.1:1/" + planted["token of a CDP URL"])
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = over.GetOrStart(r.ctx, "w26-other", messages.TaskSpec{CDPURL: parsed})
	all.addJSON(t, "errors", wantCode(t, err, messages.CodeUpstreamUnavailable))
	w.plantPages()
	w.useTools()
	full, err := over.Snapshot(r.ctx, "w26", messages.SnapshotOptions{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	all.addJSON(t, "snapshot", full)
	list, err := over.TaskList(r.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	all.addJSON(t, "list of tasks", list)
	w.resources()
	files, err := over.Artifacts(r.ctx, "w26")
	if err != nil {
		t.Fatal(err)
	}
	all.addJSON(t, "manifest", files)
	w.tool("browser_task_stop", map[string]any{})
	stop()
	<-watched

	scraped := httptest.NewRecorder()
	r.node.MetricsHandler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	all.add("metrics", scraped.Body.String())
	for _, s := range spans.GetSpans() {
		all.add("traces", fmt.Sprintf("%s %v %v %v", s.Name, s.Attributes, s.Events, s.Status))
	}
	all.add("log", log.String())
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all.add("files", path+"\n"+string(raw))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, one := range tools.List() {
		if !w.used[one.Name] {
			t.Errorf("%s is not used", one.Name)
		}
	}
	for where, text := range all.texts {
		if text.Len() < 50 {
			t.Errorf("%s holds next to nothing: %q", where, text)
		}
		for kind, secret := range planted {
			if at := strings.Index(text.String(), secret); at >= 0 {
				t.Errorf("%s shows the %s: …%s…", where, kind, text.String()[max(0, at-200):min(text.Len(), at+100)])
			}
		}
	}
	for _, where := range []string{"tools", "errors", "events", "snapshot", "list of tasks", "resources", "manifest", "metrics", "traces", "log", "files"} {
		if all.texts[where] == nil {
			t.Errorf("nothing of %s was read", where)
		}
	}
	// The planting was no exercise in empty pages.
	for _, want := range []string{"audit", "browser_dialog", "Page.navigate"} {
		if where := all.texts["log"].String() + all.texts["traces"].String(); !strings.Contains(where, want) {
			t.Errorf("log and traces have no %s", want)
		}
	}
}

// spy uses a node, and keeps what it answers.
type spy struct {
	*testing.T
	rig  *rig
	all  *sinks
	mcp  *sdk.ClientSession
	used map[string]bool
}

// at is an address of the site that a browser of the node's own reaches.
func (w *spy) at(path string) string {
	return onLocalhost.ReplaceAllString(w.rig.site.URL("http://a.test"+path), "localhost:")
}

// tool calls a tool, whatever comes of it.
func (w *spy) tool(name string, input map[string]any) messages.ToolResult {
	w.Helper()
	w.used[name] = true
	if input["task"] == nil {
		input["task"] = "w26"
	}
	res, err := w.mcp.CallTool(w.rig.ctx, &sdk.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		w.Fatalf("%s: %v", name, err)
	}
	raw, err := json.Marshal(res)
	if err != nil {
		w.Fatal(err)
	}
	var out struct {
		Result messages.ToolResult `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		w.Fatal(err)
	}
	where := "tools"
	if res.IsError {
		where = "errors"
	}
	w.all.add(where, name+" "+string(raw))
	return out.Result
}

// does calls a tool that has to succeed.
func (w *spy) does(name string, input map[string]any) messages.ToolResult {
	w.Helper()
	r := w.tool(name, input)
	if !r.OK {
		w.Fatalf("%s %v: %s", name, input, r.Text)
	}
	return r
}

// fails calls a tool that has to fail with a code.
func (w *spy) fails(code messages.Code, name string, input map[string]any) messages.ToolResult {
	w.Helper()
	r := w.tool(name, input)
	if r.Code != code {
		w.Errorf("%s: %s %s, want %s", name, r.Code, r.Text, code)
	}
	return r
}

func (w *spy) plantPages() {
	site := w.rig.site
	site.Handle("/w26", http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		http.SetCookie(out, &http.Cookie{Name: "session", Value: planted["cookie"], HttpOnly: true, Path: "/"})
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(out, `<!doctype html><title>api_key: %s</title>
			<label>Password <input type=password id=pw value=%q></label><label>Other <input type=password id=other></label><input type=hidden name=csrf value=%q>
			<iframe title=pay src="/blank?client_secret=%s"></iframe>
			<a id=link href="/w26/done?token=%s#x">Go</a><button id=push>Push</button><button id=pop>Pop</button><button id=prompt>Prompt</button>
			<select id=sel><option>one<option>two</select><input type=file id=file><div draggable=true id=drag>drag</div>
			%s
			<script>
			localStorage.setItem("jwt", %q)
			push.onclick = () => history.pushState({}, "", "/w26/pushed?access_token=%s")
			pop.onclick = () => open("/blank?sid=%s")
			document.getElementById("prompt").onclick = () => { document.body.dataset.got = window.prompt("token=%s", "password: %s") }
			console.error("Authorization: Bearer %s"); console.error("%s")
			console.error("-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----")
			setTimeout(() => { throw new Error("denied for %s") })
			fetch("/none?X-Amz-Signature=%s")
			</script>`,
			planted["key in a title"], planted["password field"], planted["hidden field"], planted["secret of a frame"], planted["token behind a link"],
			strings.Repeat("<p>"+strings.Repeat("long ", 100)+"</p>", 60),
			planted["local storage"], planted["token that history pushes"], planted["session in a popup"], planted["token in a dialog"], planted["default of a prompt"],
			planted["bearer on the console"], planted["web token in an error"], planted["private key"], planted["key of AWS, thrown"], planted["signature of a request"])
	}))
	site.Set("/w26/done", "<!doctype html><title>done</title>done")
	site.Set("/blank", "<!doctype html><title>blank</title>")
	site.Handle("/auth", http.HandlerFunc(func(out http.ResponseWriter, q *http.Request) {
		if _, word, _ := q.BasicAuth(); word != planted["password of basic auth"] {
			out.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(out, "welcome")
	}))
}

func (w *spy) useTools() {
	w.does("browser_tabs", map[string]any{"action": "list"})
	page := strings.Replace(w.at("/w26?api_key="+planted["key in a query"]+"#access_token="+planted["token in a fragment"]), "://", "://u:"+planted["user in an address"]+"@", 1)
	visit := func() { w.does("browser_navigate", map[string]any{"url": page}) }
	visit()
	w.does("browser_wait_for", map[string]any{"text": "Go"})
	look := w.does("browser_snapshot", map[string]any{})
	if len(look.Artifacts) == 0 {
		w.Error("no snapshot was spilled")
	}
	for _, a := range look.Artifacts {
		w.does("browser_artifacts", map[string]any{"action": "read", "artifact_id": string(a.ArtifactID)})
	}
	w.does("browser_snapshot", map[string]any{"full": true, "max_chars": 200_000})
	w.does("browser_type", map[string]any{"selector": "#pw", "text": planted["password typed"]})
	w.does("browser_type", map[string]any{"selector": "#other", "text": "x" + planted["password typed"], "slowly": true, "snapshot": true})
	w.does("browser_fill_form", map[string]any{"fields": []any{map[string]any{"selector": "#pw", "value": planted["password of a form"]}}, "snapshot": true})
	w.fails(messages.CodeElementNotFound, "browser_fill_form", map[string]any{"fields": []any{map[string]any{"selector": "#pw", "value": planted["password of a form"]}, map[string]any{"selector": "#" + planted["key in a selector"], "value": planted["password of a form"]}}, "timeout_s": 1})
	if r := w.does("browser_evaluate", map[string]any{"expression": "document.getElementById('pw').value.length"}); r.Text != fmt.Sprint(len(planted["password of a form"])) {
		w.Errorf("the form's password: %s", r.Text)
	}
	w.fails(messages.CodeNotActionable, "browser_select_option", map[string]any{"selector": "#sel", "values": []any{planted["key in a selector"]}})
	w.does("browser_select_option", map[string]any{"selector": "#sel", "values": []any{"two"}})
	w.does("browser_hover", map[string]any{"selector": "#drag"})
	w.does("browser_scroll", map[string]any{})
	w.does("browser_drag", map[string]any{"from": map[string]any{"selector": "#drag"}, "to": map[string]any{"selector": "#push"}})
	w.does("browser_press_key", map[string]any{"key": "Escape"})
	w.does("browser_file_upload", map[string]any{"selector": "#file", "files": []any{map[string]any{"name": planted["name of an upload"] + ".txt", "content": "ZnUtMDEyMzQ1Njc4OWFiY2RlZg=="}}})
	w.does("browser_take_screenshot", map[string]any{})
	w.does("browser_downloads", map[string]any{"wait_s": 1})
	w.does("browser_console_messages", map[string]any{})
	w.does("browser_network_requests", map[string]any{"har": true})
	w.does("browser_extract", map[string]any{})
	w.tool("browser_qa", map[string]any{"keep_going": true, "texts": []any{planted["name of an upload"]}, "timeout_s": 1})

	w.does("browser_click", map[string]any{"selector": "#push", "snapshot": true})
	w.does("browser_click", map[string]any{"selector": "#pop"})
	w.does("browser_tabs", map[string]any{"action": "list"})
	w.tool("browser_click", map[string]any{"selector": "#prompt"})
	w.does("browser_snapshot", map[string]any{})
	w.does("browser_dialog", map[string]any{"action": "accept", "prompt_text": planted["answer to a prompt"]})
	w.does("browser_click", map[string]any{"selector": "#link", "snapshot": true})
	w.does("browser_wait_for", map[string]any{"url": "/w26/done"})
	w.does("browser_pdf_save", map[string]any{}) // of a page without secrets: it is that page

	visit()
	w.fails(messages.CodeScriptError, "browser_evaluate", map[string]any{"expression": "(() => { throw new Error('no " + planted["key in a script's error"] + "') })()"})
	w.fails(messages.CodeInvalidArgument, "browser_click", map[string]any{"selector": "##" + planted["key in a selector"]})
	w.fails(messages.CodeForbidden, "browser_run", map[string]any{"code": "return 1"}) // TestScripts plants in a script
	w.does("browser_cdp", map[string]any{"method": "Network.setExtraHTTPHeaders", "params": map[string]any{"headers": map[string]any{"X-Key": planted["header of raw CDP"]}}})
	w.tool("browser_cdp", map[string]any{"method": "Page.navigate", "params": map[string]any{"url": planted["header of raw CDP"]}})
	w.does("browser_state", map[string]any{"action": "export"})
	w.fails(messages.CodeNoDialog, "browser_handle_dialog", map[string]any{"accept": true, "promptText": planted["answer to a prompt"]})
	w.tool("browser_recover", map[string]any{"action": "reattach"})
	w.tool("browser_request_human", map[string]any{"reason": "the code, please", "timeout_s": 1})
	w.tool("browser_batch", map[string]any{"steps": []any{
		map[string]any{"tool": "browser_type", "input": map[string]any{"selector": "#pw", "text": planted["password typed"]}},
		map[string]any{"tool": "browser_click", "input": map[string]any{"selector": "#" + planted["key in a selector"], "timeout_s": 1}},
		map[string]any{"tool": "browser_type", "input": map[string]any{"selector": "#pw", "text": planted["password typed"]}},
	}})
	w.tool("browser_navigate", map[string]any{"url": w.at("/auth")})
	w.does("browser_blocker", map[string]any{"action": "accept", "username": "u", "password": planted["password of basic auth"]})
	cdpURL := "ws://u:" + planted["password of a CDP URL"] + "@127.0.0.1:1/devtools/browser/" + planted["token of a CDP URL"] + "?token=" + planted["token of a CDP URL"]
	w.fails(messages.CodeInvalidArgument, "browser_task_open", map[string]any{"task": "w26-other", "cdp_url": cdpURL, "scope": "target"})
	w.tool("browser_task_open", map[string]any{"task": "w26-other", "app": "/bin/true", "app_args": []any{"--password=" + planted["argument of an app"]}})
	w.does("browser_task_status", map[string]any{})
	w.does("browser_task_list", map[string]any{})
	w.does("browser_artifacts", map[string]any{"action": "list"})
}

// resources reads what MCP offers besides tools.
func (w *spy) resources() {
	list, err := w.mcp.ListResources(w.rig.ctx, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.all.addJSON(w.T, "resources", list)
	for _, one := range list.Resources {
		got, err := w.mcp.ReadResource(w.rig.ctx, &sdk.ReadResourceParams{URI: one.URI})
		if err != nil {
			w.Errorf("%s: %v", one.URI, err)
			continue
		}
		w.all.addJSON(w.T, "resources", got)
	}
}
