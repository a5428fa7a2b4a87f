package browser_test

import (
	"context"
	"encoding/json"
	"testing"

	"holdfast/internal/browser"
	"holdfast/messages"
	"holdfast/transport"
)

// TestABrowserEndsWithItsPipeUnderADialog: when the node's ends of the pipe close, by the
// node's crash or by its order, an open dialog does not keep the browser.
func TestABrowserEndsWithItsPipeUnderADialog(t *testing.T) {
	t.Parallel()
	m, err := browser.NewManager(browser.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	p := launch(t, m)
	from, to, _ := p.Pipe()
	pipe := transport.NewPipe(from, to)
	asked := make(chan struct{})
	const opening = "Page.javascriptDialogOpening"
	link, err := transport.Open(t.Context(), transport.Address{Pipe: pipe}, transport.DialOptions{
		Events: []string{opening}, Unwanted: func(method string, _ []byte) bool { close(asked); return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	var target struct{ TargetID string }
	do(t, link, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	do(t, link, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	var none struct{}
	do(t, link, session.SessionID, "Page.enable", map[string]any{}, &none)
	do(t, link, session.SessionID, "Runtime.evaluate", map[string]any{"expression": "setTimeout(() => alert('stays'))"}, &none)
	await(t, "the dialog", asked)
	pipe.Close()
	await(t, "the browser's end", p.Exited())
	await(t, "the link's end", link.Closed())
}

// do runs a CDP command that has to succeed.
func do(t *testing.T, link *transport.Mux, session, method string, params map[string]any, result any) {
	t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := link.Do(t.Context(), messages.SessionID(session), method, raw)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if err := json.Unmarshal(reply, result); err != nil {
		t.Fatal(err)
	}
}
