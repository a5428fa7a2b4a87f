package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"holdfast/internal/gateway"
	"holdfast/messages"
)

// TestAFloodIsTheClientsOwn: what a client sends beyond its bound is refused, and everything
// has a reply once the page runs again.
func TestAFloodIsTheClientsOwn(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page := c.field(c.call("", "Target.createTarget", `{"url":"about:blank"}`), "targetId")
	session := c.attach(page)
	c.call(session, "Page.enable", `{}`)
	c.call(session, "Page.navigate", `{"url":"https://a.test/asks"}`)
	var dialog messages.DialogID
	waitFor(t, "the dialog is pending", func() bool {
		s, err := r.node.Snapshot("one", messages.SnapshotOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.PendingDialogs {
			dialog = d.ID
		}
		return dialog != ""
	})
	const sent, room = 10_000, 4096
	go func() {
		for i := range sent {
			_ = c.conn.Write(r.ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":%q}`, 100+i, session))
		}
	}()
	replied := map[int]bool{}
	read := func(n int) (refused int) {
		for len(replied) < n {
			m := c.read()
			if m.ID == nil {
				continue
			}
			if replied[*m.ID] {
				t.Fatalf("%d has two replies", *m.ID)
			}
			replied[*m.ID] = true
			if m.Error != nil && m.Error.Data["code"] == "limit_reached" {
				refused++
			}
		}
		return refused
	}
	if refused := read(sent - room); refused != sent-room {
		t.Errorf("%d of %d beyond the bound were refused", refused, sent-room)
	}
	for _, other := range []string{"/cdp/two", "/cdp/one"} { // behind that reply the browser has read the flood
		if m := r.connect(other).call("", "Browser.getVersion", `{}`); m.Error != nil {
			t.Errorf("another client, of %s: %+v", other, m.Error)
		}
	}
	if _, err := r.node.Respond(r.ctx, "one", messages.DialogAnswer{Action: messages.ActionAccept, DialogID: dialog}); err != nil {
		t.Fatal(err)
	}
	if refused := read(sent); refused != 0 {
		t.Errorf("%d that had room were refused", refused)
	}
}

// TestAClientThatDoesNotReadIsCutOff: its queue is bounded, and the task's other clients
// notice nothing.
func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.gateway.SetQueue(256 << 10) // the sockets' own buffers hold more
	deaf, other := r.connect("/cdp/one"), r.connect("/cdp/one")
	long := strings.Repeat("x", 256<<10) // a reply names the method that is unknown
	for i, isCut := 0, false; !isCut; i++ {
		if i > 1000 {
			t.Fatal("it is not cut off")
		}
		err := deaf.conn.Write(r.ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":"A.%s"}`, i, long))
		if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
			t.Fatalf("the other client: %+v", m.Error)
		}
		list, _ := r.clients()
		// The kernel gives one up, too, that takes nothing for ten seconds.
		isCut = err != nil || len(list.Clients) < 2 || list.Clients[0].Dropped > 0
	}
	for {
		_, _, err := deaf.conn.Read(r.ctx)
		if err == nil {
			continue
		}
		var closed websocket.CloseError // one that is late finds the connection closed without
		if errors.As(err, &closed) && closed.Code != gateway.CloseSlow {
			t.Errorf("it reads %v", err)
		}
		break
	}
	if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("the other client, afterwards: %+v", m.Error)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestAMessageThatIsTooLongEndsItsClient and no other.
func TestAMessageThatIsTooLongEndsItsClient(t *testing.T) {
	t.Parallel()
	r := setup(t)
	loud, other := r.connect("/cdp/one"), r.connect("/cdp/one")
	go func() { // the gateway may end the connection before all is written
		_ = loud.conn.Write(r.ctx, websocket.MessageText, []byte(`{"id":1,"method":"`+strings.Repeat("x", messages.MaxCDPMessage)+`"}`))
	}()
	if _, _, err := loud.conn.Read(r.ctx); err == nil {
		t.Error("it has a reply")
	}
	if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("the other client: %+v", m.Error)
	}
}
