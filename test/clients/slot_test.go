package clients

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// TestKilledClientFreesItsSlot: a client that has a task exclusively keeps others out, who are
// told by whom, and the slot is free as soon as its process is killed.
func TestKilledClientFreesItsSlot(t *testing.T) {
	chrome, node := chromiumtest.Shared(t), startNode(t)
	startTask(t, node, "slot", chrome.WS())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	exclusive := url.Values{"mode": {"exclusive"}, "client": {"holder"}}
	holder, err := Program{Client: "playwright", file: "hold.mjs"}.command(ctx, Place{WS: node.Address("ws", "slot", exclusive), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Wait() }() // it is killed
	defer cancel()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "connected") {
		t.Fatalf("the holder printed %q: %v", line, err)
	}

	status, body := upgrade(ctx, t, node, "slot")
	if status != http.StatusConflict || !strings.Contains(body, "client_busy") || !strings.Contains(body, "holder") {
		t.Errorf("a second client: %d %s, want a conflict that names the holder", status, body)
	}
	cancel() // which kills the holder
	killed := time.Now()
	for {
		if status, body = upgrade(t.Context(), t, node, "slot"); status == http.StatusSwitchingProtocols {
			break
		}
		if time.Since(killed) > 5*time.Second {
			t.Fatalf("%v after the holder was killed: %d %s", time.Since(killed), status, body)
		}
	}
	t.Logf("the slot was free %v after the kill", time.Since(killed).Round(time.Millisecond))
}

// upgrade asks for the task's WebSocket, and returns how the node answers.
func upgrade(ctx context.Context, t *testing.T, n *Node, id string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.Address("http", id, url.Values{"mode": {"exclusive"}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "aG9sZGZhc3QgdGVzdHMhIQ=="} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return response.StatusCode, ""
	}
	body := make([]byte, 4096)
	k, _ := response.Body.Read(body)
	return response.StatusCode, string(body[:k])
}
