package acceptance_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// proxied is a node whose tasks can reach the browser through a fault proxy.
// The proxy is there before the node, so that it outlives it.
func proxied(t *testing.T, b *chromiumtest.Browser, change ...func(*node.Config)) (*rig, *chromiumtest.FaultProxy) {
	t.Helper()
	p := chromiumtest.Proxy(t, b.Addr())
	return setupOn(t, b, change...), p
}

// silent takes the keepalive away, for tests that stall a link and measure
// what else notices.
func silent(c *node.Config) { c.KeepAlive = -1 }

// through leads a task's spec through the proxy.
func (r *rig) through(p *chromiumtest.FaultProxy) func(*messages.TaskSpec) {
	return at(r.T, p.URL(r.chrome.WS()))
}

// at leads a task's spec to an address.
func at(t *testing.T, raw string) func(*messages.TaskSpec) {
	t.Helper()
	u, err := messages.ParseCDPURL(raw)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *messages.TaskSpec) { s.CDPURL = u }
}

// scoped gives a task's spec a scope, and for [messages.ScopeTarget] its page.
func scoped(s messages.Scope, target ...string) func(*messages.TaskSpec) {
	return func(spec *messages.TaskSpec) {
		spec.Scope = s
		for _, id := range target {
			spec.TargetID = messages.TargetID(id)
		}
	}
}

// policy gives a task's spec a dialog policy.
func policy(p messages.DialogPolicy) func(*messages.TaskSpec) {
	return func(spec *messages.TaskSpec) { spec.DialogPolicy = p }
}

// until waits for what only the outside world shows and nothing announces.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// stays holds for d what must not change in the meantime.
func stays(t *testing.T, what string, d time.Duration, ok func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		if !ok() {
			t.Fatalf("%s: did not stay so", what)
		}
		select {
		case <-look.C:
		case <-end.C:
			return
		}
	}
}

// target is a target as a second client sees it.
type target struct {
	ID       string `json:"targetId"`
	Type     string `json:"type"`
	URL      string `json:"url"`
	Attached bool   `json:"attached"`
	Opener   string `json:"openerId"`
}

// targets asks a second client what the browser has.
func targets(t *testing.T, witness *chromiumtest.Raw) []target {
	t.Helper()
	var list struct {
		TargetInfos []target `json:"targetInfos"`
	}
	if err := json.Unmarshal(witness.Must("", "Target.getTargets", nil), &list); err != nil {
		t.Fatal(err)
	}
	return list.TargetInfos
}

// wsConn is the other side of a link that is no browser.
type wsConn struct{ *websocket.Conn }

// drain takes everything, answers nothing but pings, and returns when the link
// ends.
func (c *wsConn) drain(ctx context.Context) {
	for {
		if _, _, err := c.Read(ctx); err != nil {
			return
		}
	}
}

// peer is a WebSocket endpoint that serve speaks for; it returns its address.
func peer(t *testing.T, serve func(ctx context.Context, c *wsConn)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			return
		}
		c.SetReadLimit(-1)
		serve(ctx, &wsConn{c})
		_ = c.CloseNow()
	}))
	t.Cleanup(func() {
		cancel()
		server.Close()
		running.Wait()
	})
	return strings.Replace(server.URL, "http://", "ws://", 1) + "/devtools/browser/peer"
}
