package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/messages"
)

// connect connects a client of the SDK over HTTP; query is that of its address.
func connect(t *testing.T, url, token, query string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "Tester 7", Version: "1"}, o).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url + query, HTTPClient: &http.Client{Transport: bearer{token, transport}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// old sends one message as a client of an older protocol does.
func old(t *testing.T, method, url, token, session, body string) (status int, answer string, head http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`
	snapshot   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_snapshot","arguments":{}}}`
)

func TestTasksOverHTTP(t *testing.T) {
	t.Parallel()
	n := newNode()
	url, admin := overHTTP(t, n)
	tenant, err := admin.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ token, query, want string }{
		{admin.Reveal(), "", "browser_snapshot on mcp-tester-7 with"},
		{admin.Reveal(), "?task=shop", "browser_snapshot on shop with"},
		{tenant, "", "browser_snapshot on acme:mcp-tester-7 with"},
		{admin.ForTask("one"), "", "browser_snapshot on one with"},
	} {
		if got := text(call(t, connect(t, url, c.token, c.query, nil), "browser_snapshot", nil)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	t.Run("another's task is refused", func(t *testing.T) {
		if status, _, _ := old(t, "POST", url+"?task=shop", tenant, "", snapshot); status != messages.CodeForbidden.Status() {
			t.Errorf("status %d", status)
		}
	})
	t.Run("no token, no tools", func(t *testing.T) {
		if status, _, _ := old(t, "POST", url, "wrong", "", initialize); status != messages.CodeUnauthorized.Status() {
			t.Errorf("status %d", status)
		}
	})
	t.Run("a tool that there is not", func(t *testing.T) {
		for _, query := range []string{"?tools=bogus", "?profile=bogus", "?task=a/b"} {
			if status, _, _ := old(t, "POST", url+query, admin.Reveal(), "", initialize); status != messages.CodeInvalidArgument.Status() {
				t.Errorf("%s: status %d", query, status)
			}
		}
	})
}

// TestSessionsOverHTTP: clients of older protocols have a task each, by the name that they got.
func TestSessionsOverHTTP(t *testing.T) {
	t.Parallel()
	n := newNode()
	url, admin := overHTTP(t, n)
	tok := admin.Reveal()
	var sessions []string
	for range 2 {
		status, answer, head := old(t, "POST", url, tok, "", initialize)
		if status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-06-18"`) {
			t.Fatal(status, answer)
		}
		sessions = append(sessions, head.Get("Mcp-Session-Id"))
	}
	for _, s := range sessions {
		if _, answer, _ := old(t, "POST", url, tok, s, snapshot); !strings.Contains(answer, "browser_snapshot on mcp-"+s) {
			t.Error(answer)
		}
	}
	if status, _, _ := old(t, "POST", url, tok, "made-up", snapshot); status != http.StatusNotFound {
		t.Errorf("a made up session: status %d", status)
	}
	if status, _, _ := old(t, "DELETE", url, tok, sessions[0], ""); status != http.StatusNoContent {
		t.Errorf("goodbye: status %d", status)
	}
	if status, _, _ := old(t, "DELETE", url+"?task=shop", tok, sessions[1], ""); status != http.StatusNoContent {
		t.Errorf("goodbye: status %d", status)
	}
	if status, _, _ := old(t, "GET", url, tok, sessions[1], ""); status != http.StatusMethodNotAllowed {
		t.Errorf("a stream without a request: status %d", status)
	}
	if !slices.Equal(n.stops, []messages.TaskID{messages.TaskID("mcp-" + sessions[0])}) || sessions[0] == sessions[1] {
		t.Errorf("stopped %v of %v", n.stops, sessions)
	}
}

// TestACallerOverHTTPThatGoes: its call ends at the node.
func TestACallerOverHTTPThatGoes(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.running["mcp"] = true
	hangs, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	n.run = func(ctx context.Context, _ messages.TaskID, _ string, _ json.RawMessage) (*messages.ToolResult, error) {
		hangs <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}
	url, admin := overHTTP(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader([]byte(snapshot)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + admin.Reveal()}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	failed := make(chan error, 1)
	transport := &http.Transport{DisableKeepAlives: true}
	go func() {
		res, err := transport.RoundTrip(r)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		failed <- err
	}()
	<-hangs
	cancel()
	<-ended
	if <-failed == nil {
		t.Error("a cancelled request has an answer")
	}
}

func TestUpdatesOverHTTP(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.running["one"] = true
	updated := make(chan string, 8)
	url, admin := overHTTP(t, n)
	c := connect(t, url, admin.ForTask("one"), "", &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	const dialogs = "browser://tasks/one/dialogs"
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: dialogs}); err != nil {
		t.Fatal(err)
	}
	n.events <- messages.Event{Type: messages.EventDialogClosed, Version: 9}
	if got := <-updated; got != dialogs {
		t.Error(got)
	}
}
