package acceptance_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// What is turned off while no task is connected the next link turns off in every document,
// also of a frame that the page's own script does not reach.
func TestBridge_IsTurnedOffWhileNobodyIsConnected(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	r.site.Set("/holds-data", `<title>/holds-data</title><iframe id=f src="data:text/html,<script>addEventListener('message', e => confirm(e.data))</script>"></iframe>`)
	k := r.task("away", r.through(p), bridged, oneLink)
	k.goTo("http://a.test/holds-data")
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == "on" })
	p.Refuse()
	p.KillAll()
	k.await("the loss", func(s *messages.Snapshot) bool { return s.State == messages.StateRecovering })
	spec := r.spec()
	r.through(p)(&spec)
	oneLink(&spec)
	spec.Bridge = messages.BridgeOff
	done := make(chan error, 1)
	go func() {
		_, _, err := r.node.GetOrStart(r.ctx, k.id, spec)
		done <- err
	}()
	k.await("native", func(s *messages.Snapshot) bool { return s.Connection.Bridge == "native" })
	p.Accept(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	k.reconnected(1)
	for _, in := range []string{"confirm('after')", "f.contentWindow.postMessage('after', '*')"} {
		k.later("", in)
		if d := k.dialog(); d.Path != messages.PathNative {
			t.Errorf("%s: %+v", in, d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	}
}
