package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestNoEventIsDecodedTwice sends ten clients with different subscriptions events whose params are no
// JSON, which nothing could decode, and some that the gateway has to know of.
func TestNoEventIsDecodedTwice(t *testing.T) {
	t.Parallel()
	r := setup(t)
	opener := r.connect("/cdp/one")
	page := opener.field(opener.call("", "Target.createTarget", `{"url":"https://a.test/"}`), "targetId")
	domains := []string{"Page", "", "Network", "Runtime", "Log", "DOM", "CSS", "Debugger", "Performance", "Accessibility"}
	var clients []*client
	var sessions []string
	for _, d := range domains {
		c := r.connect("/cdp/one")
		session := c.attach(page)
		if d != "" {
			c.call(session, d+".enable", `{}`)
		}
		clients, sessions = append(clients, c), append(sessions, session)
	}
	at := slices.IndexFunc(r.browser.Connections(), func(c *chaos.Conn) bool { return len(c.Received(messages.SessionID(sessions[0]))) > 0 })
	if at < 0 {
		t.Fatal("no link has had the first client's command")
	}
	link := r.browser.Connections()[at]
	decoded := r.counted("holdfast_client_decoded_events_total")
	const each = 20
	for i := range each {
		for _, session := range sessions {
			link.SendRaw(fmt.Appendf(nil, `{"method":"Network.dataReceived","params":{no JSON, %d},"sessionId":%q}`, i, session))
		}
	}
	for i, session := range sessions {
		link.SendRaw(fmt.Appendf(nil, `{"method":"Page.frameNavigated","params":{"frame":{"id":"F%d","loaderId":"L","url":"about:blank"},"type":"Navigation"},"sessionId":%q}`, i, session))
	}
	for i, c := range clients {
		for n := range each {
			want := fmt.Sprintf(`{"method":"Network.dataReceived","params":{no JSON, %d},"sessionId":%q}`, n, sessions[i])
			if got := c.readText(); got != want {
				t.Fatalf("client %d was told %s, want %s", i, got, want)
			}
		}
		var m message
		if err := json.Unmarshal([]byte(c.readText()), &m); err != nil || m.Method != "Page.frameNavigated" || m.SessionID != sessions[i] {
			t.Fatalf("client %d was told %+v, %v", i, m, err)
		}
	}
	if n := r.counted("holdfast_client_decoded_events_total") - decoded; n != float64(len(clients)) {
		t.Errorf("%v events were decoded of %d that the gateway has to know of and %d others", n, len(clients), each*len(clients))
	}
}

// readText reads one message as it came.
func (c *client) readText() string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	_, text, err := c.conn.Read(ctx)
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// counted returns the value of a counter without labels.
func (r *rig) counted(name string) float64 {
	r.Helper()
	w := httptest.NewRecorder()
	r.node.MetricsHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.Fatal(err)
			}
			return n
		}
	}
	r.Fatalf("there is no %s", name)
	return 0
}
