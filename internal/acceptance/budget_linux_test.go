package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestA10_Budgets(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	r, p := proxied(t, b, silent)
	stalled := chromiumtest.Proxy(t, b.Addr())
	stalled.Stall()
	mute := peer(t, func(ctx context.Context, c *wsConn) { c.drain(ctx) })
	asks := r.task("a10-answer", r.through(p))
	asks.goTo("http://a.test/confirm")
	asks.later("", "ask()")
	asks.dialog()
	calls := r.task("a10-call")
	calls.goTo("http://a.test/plain")
	spins := chromiumtest.Dial(t, b.WS()).NewPage(r.site.URL("http://a.test/busy"))
	spins.Start(spins.Session, "spin()")
	if !spins.DoesHang(spins.Session, "Runtime.evaluate", map[string]any{"expression": "1"}, 100*time.Millisecond) {
		t.Fatal("the page is not busy")
	}
	p.Stall()

	start := func(id messages.TaskID, change func(*messages.TaskSpec)) func() error {
		spec := r.spec()
		change(&spec)
		return func() error {
			_, _, err := r.node.GetOrStart(r.ctx, id, spec)
			return err
		}
	}
	// What a budget may be overrun by on a machine that is shared.
	const slack = 4 * time.Second
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		do       func() error
		code     messages.Code
		min, max time.Duration
	}{
		"dial":   {start("a10-dial", r.through(stalled)), messages.CodeDeadline, 9 * time.Second, 10 * time.Second},
		"attach": {start("a10-attach", at(t, mute)), messages.CodeDeadline, 14 * time.Second, 15 * time.Second},
		"call": {func() error {
			_, err := r.node.CDP(r.ctx, calls.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"new Promise(() => {})","awaitPromise":true}`)})
			return err
		}, messages.CodeDeadline, 9 * time.Second, 10 * time.Second},
		"child enable": {start("a10-busy", func(s *messages.TaskSpec) { scoped(messages.ScopeTarget, spins.Target)(s) }), "", 0, 3 * time.Second},
		"dialog answer, then stop": {func() error {
			_, err := r.node.Respond(r.ctx, asks.id, messages.DialogAnswer{Action: "accept"})
			begin := time.Now()
			if err := r.node.StopTask(r.ctx, asks.id); err != nil {
				t.Errorf("stop: %v", err)
			}
			if took := time.Since(begin); took > 5*time.Second+slack {
				t.Errorf("the stop took %v", took)
			}
			return err
		}, messages.CodeDeadline, 4 * time.Second, 5*time.Second + 5*time.Second},
	} {
		all.Go(func() {
			begin := time.Now()
			err := c.do()
			took := time.Since(begin)
			if got := messages.CodeOf(err); got != c.code {
				t.Errorf("%s: %v, want code %q", name, err, c.code)
			}
			if took < c.min || took > c.max+slack {
				t.Errorf("%s: after %v, want %v to %v", name, took, c.min, c.max)
			}
		})
	}
	all.Wait()
	if s, err := r.node.Snapshot("a10-busy", messages.SnapshotOptions{}); err != nil || s.PageState != messages.PageHung {
		t.Errorf("the busy page: %+v, %v", s, err)
	}
	for _, id := range []messages.TaskID{"a10-dial", "a10-attach"} {
		_, err := r.node.Snapshot(id, messages.SnapshotOptions{})
		wantCode(t, err, messages.CodeTaskNotFound)
	}
}

func TestA11_ADialogStormTimesNothingOut(t *testing.T) {
	t.Parallel()
	const storm = 300 // at 100 a second
	k := setup(t).task("a11", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	k.later("", fmt.Sprintf(`window.n = 0; const id = setInterval(() => { if (window.n >= %d) return clearInterval(id); if (confirm('storm')) window.bad = true; window.n++ }, 10)`, storm))
	calls := 0
	until(t, "the end of the storm", func() bool {
		calls++
		// A fixed time of its own, since the default is what must not be used up.
		res, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TimeoutS: 10}, "window.n")
		if err != nil {
			t.Fatalf("call %d in the storm: %v", calls, err)
		}
		return res == fmt.Sprint(storm)
	})
	if got := k.eval("", "window.bad"); got != "undefined" {
		t.Errorf("a confirm returned %s", got)
	}
	s := k.await("the last dialog", func(s *messages.Snapshot) bool {
		n := len(s.RecentDialogs)
		return n > 0 && s.RecentDialogs[n-1].ID == messages.NewDialogID(storm)
	})
	if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != messages.MaxRecentDialogs || s.Connection.Reconnects != 0 {
		t.Errorf("afterwards: %d pending, %d recent, %d reconnects", len(s.PendingDialogs), len(s.RecentDialogs), s.Connection.Reconnects)
	}
	if calls < 10 {
		t.Errorf("only %d calls fell into the storm", calls)
	}
}

func TestA12_ASnapshotNeverWaitsForTheBrowser(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	k := setupOn(t, b, silent).task("a12")
	k.goTo("http://a.test/oopif")
	k.frame("/plain")
	k.later("", "window.got = prompt('name?', 'x')")
	k.dialog()
	if err := syscall.Kill(b.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(b.PID(), syscall.SIGCONT) })
	// A call that waits must not make the reading wait.
	waiting := make(chan error, 1)
	go func() {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Browser.getVersion", TimeoutS: 2})
		waiting <- err
	}()
	slow, reads := 0, 0
	for begin := time.Now(); time.Since(begin) < time.Second; reads++ {
		before := time.Now()
		s := k.snapshot()
		if time.Since(before) > 50*time.Millisecond {
			slow++
		}
		if len(s.PendingDialogs) != 1 || s.FrameTree == nil || len(s.FrameTree.Children) != 1 || s.PageState != messages.PageDialog {
			t.Fatalf("the snapshot lost something: %+v", s)
		}
	}
	// The processor is shared: a reader may be put aside now and then.
	if slow*100 > reads {
		t.Errorf("%d of %d reads took longer than 50 ms", slow, reads)
	}
	wantCode(t, <-waiting, messages.CodeDeadline) // the browser really stood still
	if err := syscall.Kill(b.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval("", "window.got"); got != `"x"` {
		t.Errorf("the page got %s", got)
	}
}

func TestA18_ATooLargeReplyEndsOneCallOnly(t *testing.T) {
	t.Parallel()
	// A slow machine's browser says nothing for longer than the keepalive waits
	// while it writes so much.
	r, p := proxied(t, chromiumtest.Shared(t), silent)
	k := r.task("a18", r.through(p), oneLink)
	k.goTo("http://a.test/plain")
	big := func(n int) error {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
			Method: "Runtime.evaluate", Params: json.RawMessage(fmt.Sprintf(`{"expression":"'x'.repeat(%d)","returnByValue":true}`, n)), TimeoutS: 60,
		})
		return err
	}
	wantCode(t, big(60_000_000), messages.CodeMessageTooLarge)
	// While it wrote so much the renderer may have been slow enough to be
	// called hung; that is over with the reply.
	k.await("a page that answers", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	if got := k.eval("", "document.title"); got != `"/plain"` {
		t.Fatalf("after it: %s", got)
	}
	if err := big(40_000_000); err != nil {
		t.Fatalf("a reply below the limit: %v", err)
	}
	if s := k.snapshot(); s.Connection.Reconnects != 0 || p.Dials() != 1 || p.Open() != 1 {
		t.Fatalf("the connection did not survive: %+v, %d dials", s.Connection, p.Dials())
	}
}
