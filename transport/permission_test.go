package transport_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"holdfast/transport"
	"holdfast/transport/quirks"
)

// A link whose node may not decide writes what observes, and gives the rest its outcome.
func TestALinkWithholdsWhatDecides(t *testing.T) {
	t.Parallel()
	errLapsed := errors.New("lapsed")
	var isLapsed atomic.Bool
	options := transport.DialOptions{MayDecide: func() error {
		if isLapsed.Load() {
			return errLapsed
		}
		return nil
	}}
	said := func(t *testing.T, m *transport.Mux, c transport.Call, wantErr bool) {
		t.Helper()
		r := m.Await(within(t), c)
		if wantErr != errors.Is(r.Err, errLapsed) || wantErr && r.IsSent || !wantErr && r.Err != nil {
			t.Errorf("%s: %v, sent %v", c.Method, r.Err, r.IsSent)
		}
	}
	check := func(t *testing.T, m *transport.Mux) {
		for _, lapsed := range []bool{false, true, false} {
			isLapsed.Store(lapsed)
			said(t, m, transport.Call{Method: "Page.handleJavaScriptDialog"}, lapsed)
			said(t, m, transport.Call{Method: "Page.enable"}, false)
			said(t, m, transport.Call{Method: "Runtime.runIfWaitingForDebugger"}, false)
			said(t, m, transport.Call{Method: "Runtime.evaluate"}, false)
			said(t, m, transport.Call{Method: "Runtime.evaluate", IsUser: true}, lapsed)
			said(t, m, transport.Call{Method: "Runtime.evaluate", IsGuest: true}, lapsed)
			said(t, m, transport.Call{Method: "DOM.getDocument", IsGuest: true}, false)
		}
	}
	t.Run("over a WebSocket", func(t *testing.T) {
		check(t, newBrowser(t, (*peer).echo).dial(t, options))
	})
	t.Run("over a pipe", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { check(t, newPipedBrowser(t).start().open(options)) })
	})
	t.Run("in its order, and nothing of it late", func(t *testing.T) {
		isLapsed.Store(false)
		var (
			mu   sync.Mutex
			read []string
		)
		release := make(chan struct{})
		m := newBrowser(t, func(p *peer) {
			<-release
			for c, ok := p.read(); ok; c, ok = p.read() {
				mu.Lock()
				read = append(read, c.Method)
				mu.Unlock()
				p.say(`{"id":%d,"result":{}}`, c.ID)
			}
		}).dial(t, options)
		// The first fills the socket, so that the second waits, and the lease lapses meanwhile.
		params := []byte(`{"expression":"` + strings.Repeat("x", 8<<20) + `"}`)
		m.Start(transport.Call{Method: "Runtime.evaluate", Params: params, Done: func(transport.Reply) {}})
		outcome := make(chan transport.Reply, 1)
		m.Start(transport.Call{Method: "Page.navigate", Done: func(r transport.Reply) { outcome <- r }})
		isLapsed.Store(true)
		close(release)
		if r := <-outcome; !errors.Is(r.Err, errLapsed) || r.IsSent {
			t.Errorf("%+v", r)
		}
		said(t, m, transport.Call{Method: "Page.enable"}, false)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(read, " "); got != "Runtime.evaluate Page.enable" {
			t.Errorf("the browser read %s", got)
		}
	})
}

func TestObservingChangesNothing(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{
		"Page.enable": true, "Network.enable": true, "Page.getFrameTree": true, "Target.attachToTarget": true, "Page.captureScreenshot": true,
		"Fetch.enable": false, "Debugger.enable": false, "Runtime.evaluate": false, "Input.dispatchMouseEvent": false, "Page.navigate": false,
		"Page.get": false, "Page.getaway": false, "New.method": false, "enable": false, "": false,
	} {
		if quirks.IsObservation(method) != want || want && quirks.IsDecision(method) {
			t.Errorf("%q observes: %t", method, !want)
		}
	}
}
