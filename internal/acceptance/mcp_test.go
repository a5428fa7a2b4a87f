package acceptance_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/mcp"
	"holdfast/internal/token"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// agent is a client of MCP on a task of the rig's browser.
type agent struct {
	*testing.T
	*sdk.ClientSession
}

// inside serves the rig's node within the process, over HTTP and MCP.
func (r *rig) inside(change ...func(*api.Config)) (node *client.Client, overHTTP *sdk.StreamableClientTransport) {
	r.Helper()
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin, Logger: slog.New(slog.NewJSONHandler(r.log, nil)), IsAudited: true})
	if err != nil {
		r.Fatal(err)
	}
	within := mcp.NewInside()
	if node, err = within.Client(admin.Reveal()); err != nil {
		r.Fatal(err)
	}
	talks, err := mcp.NewHandler(mcp.Config{Table: tools.Info().Tools, Tools: mcp.All}, func(q *http.Request) mcp.Node { return mcp.For(node, q) })
	if err != nil {
		r.Fatal(err)
	}
	cfg := api.Config{Node: r.node, Gate: entrance, MCP: talks}
	for _, c := range change {
		c(&cfg)
	}
	handler, err := api.New(cfg)
	if err != nil {
		r.Fatal(err)
	}
	server := &http.Server{Handler: within.Handler(handler)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(within) }()
	r.Cleanup(func() {
		handler.CloseStreams()
		node.Close()
		_ = server.Close()
		<-ended
	})
	transport := &http.Transport{DialContext: within.Dial}
	r.Cleanup(transport.CloseIdleConnections)
	return node, &sdk.StreamableClientTransport{
		Endpoint: "http://localhost/mcp?task=agent", DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: tokened{admin.Reveal(), transport}},
	}
}

// tokened sends a token with each request.
type tokened struct {
	token string
	next  http.RoundTripper
}

func (t tokened) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.next.RoundTrip(r)
}

// agents connect to the rig's node over stdio and over HTTP; their own task is agent.
func (r *rig) agents() map[string]func(t *testing.T) agent {
	node, overHTTP := r.inside()
	connect := func(t *testing.T, over sdk.Transport) agent {
		t.Helper()
		c, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(r.ctx, over, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return agent{t, c}
	}
	return map[string]func(t *testing.T) agent{
		"stdio": func(t *testing.T) agent {
			fromClient, toServer := io.Pipe()
			fromServer, toClient := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				defer toClient.Close()
				ended <- mcp.Serve(context.Background(), node, mcp.Config{Table: tools.Info().Tools, Tools: mcp.All}, mcp.OwnTask{ID: "agent", Spec: r.spec()}, fromClient, toClient)
			}()
			t.Cleanup(func() {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			return connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer})
		},
		"http": func(t *testing.T) agent { return connect(t, overHTTP) },
	}
}

// call runs a tool and returns its words and its result.
func (a agent) call(ctx context.Context, tool string, input map[string]any) (string, messages.ToolResult, error) {
	a.Helper()
	res, err := a.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return "", messages.ToolResult{}, err
	}
	var out messages.ToolResult
	b, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if out.OK == res.IsError {
		a.Errorf("%s: ok is %t, isError %t", tool, out.OK, res.IsError)
	}
	return res.Content[0].(*sdk.TextContent).Text, out, err
}

// does runs a tool that has to succeed, and returns its words.
func (a agent) does(tool string, input map[string]any) string {
	a.Helper()
	text, r, err := a.call(a.Context(), tool, input)
	if err != nil || !r.OK {
		a.Fatalf("%s: %v %s", tool, err, text)
	}
	return text
}

// TestMCP_ADialogWhileEvaluating: an agent opens its task with the first tool, meets a dialog in the
// middle of a script, answers it and sees what came of it.
func TestMCP_ADialogWhileEvaluating(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Set("/shop", `<title>shop</title><script>function buy() { document.title = confirm("Buy it?") ? "bought" : "left" }</script>`)
	r.site.Set("/spin", `<title>spin</title>`)
	agents := r.agents()
	for _, door := range []string{"stdio", "http"} { // one by one: they have one task
		t.Run(door, func(t *testing.T) {
			a := agents[door](t)
			a.does("browser_navigate", map[string]any{"url": r.site.URL("http://a.test/shop")})
			begun := time.Now()
			text, res, err := a.call(t.Context(), "browser_evaluate", map[string]any{"expression": "buy()"})
			if err != nil || res.Code != messages.CodeBlockedByDialog || len(res.PendingDialogs) != 1 || !strings.Contains(text, ">Buy it?<") {
				t.Fatalf("%v %s", err, text)
			}
			if took := time.Since(begun); took > patience/4 {
				t.Errorf("a call that a dialog holds up took %v", took)
			}
			// The first of the next actions is done as it stands.
			next := res.NextActions[0]
			if next.Tool != "browser_dialog" || next.Input["action"] != "accept" {
				t.Fatalf("next actions: %+v", res.NextActions)
			}
			a.does(next.Tool, next.Input)
			if text := a.does("browser_evaluate", map[string]any{"expression": "document.title"}); !strings.Contains(text, `"bought"`) {
				t.Error(text)
			}

			a.does("browser_tabs", map[string]any{"action": "new", "url": r.site.URL("http://b.test/spin"), "name": "spin"})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			spun := make(chan error, 1)
			go func() {
				_, res, err := a.call(ctx, "browser_evaluate", map[string]any{"function": "() => { for (;;); }", "tab": "spin"})
				if err == nil && res.Code != messages.CodePageWedged {
					t.Errorf("a script without an end: %+v", res)
				}
				spun <- err
			}()
			begun = time.Now()
			if text := a.does("browser_task_status", nil); !strings.Contains(text, "Task agent is") || time.Since(begun) > patience/4 {
				t.Errorf("%v: %s", time.Since(begun), text)
			}
			if text := a.does("browser_evaluate", map[string]any{"expression": "1 + 1"}); !strings.Contains(text, "\n2\n") {
				t.Errorf("beside a page that spins: %s", text)
			}
			cancel()
			<-spun
			a.does("browser_tabs", map[string]any{"action": "close", "tab_id": "spin"})
		})
	}
}
