package gateway_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// FuzzClient sends what a client may send. Whatever it is, a command gets exactly one reply,
// what is none gets one error, and the next command is answered.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"method":"Browser.getVersion"}`, `{"id":1,"method":"Target.getTargets","params":{"filter":[{}]}}`, `{"id":1,"method":"Target.attachToTarget","params":{"targetId":"X"}}`,
		`{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"},"sessionId":"S"}`, `{"id":1,"id":2,"method":"A.b"}`, `{"\u0069d":1,"method":"Page.enable","params":null}`,
		`{"id":-1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}}`, `[[[[`, "\xff", `{"id":1e3}`,
	} {
		f.Add(s)
	}
	r := setup(f)
	f.Fuzz(func(t *testing.T, sent string) {
		if len(sent) > 64<<10 || strings.Contains(sent, "Browser.close") {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		conn, err := r.dial(ctx, "/cdp/one")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		if err := conn.Write(ctx, websocket.MessageText, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(sent) {
			if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusInvalidFramePayloadData {
				t.Fatalf("%q: %v", sent, err)
			}
			return
		}
		const last = math.MaxInt32
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"id":2147483647,"method":"Browser.getVersion"}`)); err != nil {
			t.Fatal(err)
		}
		replies, hasEnded := 0, false
		for replies == 0 || !hasEnded {
			_, text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("%q: %d replies, the last command answered %v: %v", sent, replies, hasEnded, err)
			}
			var m message
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatalf("%q is answered %q: %v", sent, text, err)
			}
			switch {
			case m.ID != nil && *m.ID == last && !hasEnded:
				hasEnded = true
			case m.ID != nil || m.Error != nil:
				replies++
			}
		}
		if replies != 1 {
			t.Fatalf("%q has %d replies", sent, replies)
		}
	})
}
