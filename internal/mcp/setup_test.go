package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"holdfast/client"
	"holdfast/internal/gate"
	"holdfast/internal/mcp"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a node whose tasks do nothing but what a test says.
type node struct {
	run func(ctx context.Context, id messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error)

	mu       sync.Mutex
	blockers []messages.BlockerAnswer
	wasFirst error // what answers to blockers get
	answers  []messages.DialogAnswer
	files    map[messages.ArtifactID]string
	types    map[messages.ArtifactID]string
	running  map[messages.TaskID]bool
	starts   []messages.TaskID
	stops    []messages.TaskID
	events   chan messages.Event
}

func newNode() *node {
	return &node{running: map[messages.TaskID]bool{}, events: make(chan messages.Event)}
}

// done is a good result.
func done(text string) *messages.ToolResult {
	return &messages.ToolResult{
		OK: true, Text: text, Category: "completed",
		PendingDialogs: []messages.Dialog{}, Artifacts: []messages.Artifact{}, NextActions: []messages.NextAction{},
	}
}

// failed is a result with a code.
func failed(code messages.Code, text string) *messages.ToolResult {
	r := done(text)
	r.OK, r.Code, r.Category, r.Error = false, code, string(code), messages.Errorf(code, "%s", text)
	return r
}

func (n *node) isRunning(id messages.TaskID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running[id]
}

func (n *node) CallTool(ctx context.Context, id messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error) {
	if !n.isRunning(id) && tool != "browser_task_list" {
		return failed(messages.CodeTaskNotFound, "there is no task"), nil
	}
	if n.run != nil {
		return n.run(ctx, id, tool, input)
	}
	return done(tool + " on " + string(id) + " with " + string(input)), nil
}

func (n *node) GetOrStart(_ context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	isNew := !n.running[id]
	n.running[id] = true
	n.starts = append(n.starts, id)
	return &messages.Snapshot{TaskID: id}, isNew, nil
}

func (n *node) AnswerBlocker(_ context.Context, _ messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blockers = append(n.blockers, a)
	if n.wasFirst != nil {
		return messages.ClosedBlocker{}, n.wasFirst
	}
	return messages.ClosedBlocker{ID: a.BlockerID}, nil
}

func (n *node) Respond(_ context.Context, _ messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers = append(n.answers, a)
	return messages.ClosedDialog{ID: a.DialogID, Type: messages.DialogConfirm, Action: a.Action, ClosedBy: messages.ClosedByHuman}, nil
}

func (n *node) Artifacts(_ context.Context, id messages.TaskID) (messages.ArtifactList, error) {
	if !n.isRunning(id) {
		return messages.ArtifactList{}, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	list := messages.ArtifactList{}
	for file, raw := range n.files {
		list.Artifacts = append(list.Artifacts, messages.Artifact{ArtifactID: file, MIMEType: n.types[file], Size: int64(len(raw))})
	}
	return list, nil
}

func (n *node) ReadArtifact(_ context.Context, _ messages.TaskID, file messages.ArtifactID, w io.Writer) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	written, err := io.WriteString(w, n.files[file])
	return int64(written), err
}

func (n *node) StopTask(_ context.Context, id messages.TaskID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.running, id)
	n.stops = append(n.stops, id)
	return nil
}

func (n *node) Tasks(context.Context, map[string]string) (list []*messages.Snapshot, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.running {
		list = append(list, &messages.Snapshot{TaskID: id, State: messages.StateActive})
	}
	return list, nil
}

func (n *node) Snapshot(_ context.Context, id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
	if !n.isRunning(id) {
		return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
	}
	return &messages.Snapshot{TaskID: id, Version: 7, PendingDialogs: []messages.Dialog{{ID: "d-1", Type: "alert", Message: "hello"}}}, nil
}

func (n *node) Watch(ctx context.Context, _ messages.TaskID, _ client.Position) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for {
			select {
			case e := <-n.events:
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				yield(messages.Event{}, ctx.Err())
				return
			}
		}
	}
}

// table is a table of tools.
var table = []messages.ToolInfo{
	info("browser_snapshot", "pages", true),
	info("browser_evaluate", "raw", true),
	info("browser_cdp", "raw", false),
	info("browser_task_list", "tasks", true),
	info("browser_dialog", "dialogs", true),
}

func info(name, group string, isCore bool) messages.ToolInfo {
	return messages.ToolInfo{
		Name: name, Title: name, Description: "does " + name, Group: group, IsCore: isCore, Hints: messages.ToolHints{ReadOnly: true},
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"task": map[string]any{"type": "string"}}},
		OutputSchema: map[string]any{"type": "object", "required": []any{"ok"}, "properties": map[string]any{
			"ok": map[string]any{"type": "boolean", "description": "whether"}, "data": map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "string"}}},
		}},
	}
}

// stdio connects a client of the SDK to a server that speaks over pipes; stop ends the client and
// waits for the server.
func stdio(t *testing.T, n mcp.Node, cfg mcp.Config, own mcp.OwnTask, o *sdk.ClientOptions) (c *sdk.ClientSession, stop func()) {
	t.Helper()
	if cfg.Table == nil {
		cfg.Table = table
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		defer toClient.Close()
		served <- mcp.Serve(context.Background(), n, cfg, own, fromClient, toClient)
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "Tester 7", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server did not end with its client")
		}
	})
	t.Cleanup(stop)
	return c, stop
}

// call calls a tool, which has to have a result.
func call(t *testing.T, c *sdk.ClientSession, tool string, input map[string]any) *sdk.CallToolResult {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// text is the words of a result.
func text(r *sdk.CallToolResult) string {
	all := ""
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			all += t.Text
		}
	}
	return all
}

// overHTTP serves MCP behind a gate at a URL; the token is that of the admin.
func overHTTP(t *testing.T, n mcp.Node) (url string, admin token.Admin) {
	t.Helper()
	admin = token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		t.Fatal(err)
	}
	h, err := mcp.NewHandler(mcp.Config{Table: table}, func(*http.Request) mcp.Node { return n })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := entrance.Authenticate(r, gate.Route{Class: "drive", Path: "/mcp"})
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(r.Body); err == nil {
				err = h.Serve(w, r, body, caller)
			}
		}
		if err != nil {
			http.Error(w, err.Error(), messages.CodeOf(err).Status())
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(entrance.CloseStreams)
	return server.URL, admin
}

// bearer sends a token with each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}
