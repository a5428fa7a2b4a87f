package chromiumtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

func TestProxyKnowsItsConnections(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	p := chromiumtest.Proxy(t, b.Addr())
	first := chromiumtest.Dial(t, p.URL(b.WS()))
	second := chromiumtest.Dial(t, p.URL(b.WS()))
	first.Must("", "Browser.getVersion", nil)
	first.Must("", "Target.getTargets", nil)
	second.Must("", "Target.getTargets", nil)
	if got := p.Connections(); !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("connections %v", got)
	}
	for number, method := range map[int]string{1: "Browser.getVersion", 2: "Target.getTargets"} {
		if got := string(p.First(number)); !strings.Contains(got, method) {
			t.Errorf("connection %d began with %s", number, got)
		}
	}
	if !p.Finish(1) || p.Finish(1) || p.Kill(1) || p.First(1) != nil {
		t.Error("a connection ended other than once")
	}
	<-first.Done()
	second.Must("", "Browser.getVersion", nil)
	if got := p.Connections(); !slices.Equal(got, []int{2}) {
		t.Errorf("connections %v", got)
	}
}

func TestProxyHoldsOneConnection(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	p := chromiumtest.Proxy(t, b.Addr())
	held, free := chromiumtest.Dial(t, p.URL(b.WS())), chromiumtest.Dial(t, p.URL(b.WS()))
	held.Must("", "Browser.getVersion", nil)
	free.Must("", "Browser.getVersion", nil)
	p.Hold(1)
	waits := held.Send("", "Browser.getVersion", nil)
	free.Must("", "Browser.getVersion", nil)
	if _, err := waits.Wait(100 * time.Millisecond); err == nil {
		t.Fatal("a reply passed while held")
	}
	p.Release(1)
	if _, err := waits.Wait(chromiumtest.Patience); err != nil {
		t.Fatalf("after release: %v", err)
	}
	p.Hold(1)
	if !p.Kill(1) {
		t.Error("what is held cannot be killed")
	}
	<-held.Done()
}

func TestProxyHoldsReplies(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	p.HoldReplies(1, "Target.getTargets")
	c.Must("", "Browser.getVersion", nil)
	if p.IsWaiting(1) {
		t.Error("something waits too early")
	}
	waits := c.Send("", "Target.getTargets", nil)
	deadline := time.After(chromiumtest.Patience)
	for !p.IsWaiting(1) {
		select {
		case <-deadline:
			t.Fatal("the browser was not asked")
		case <-time.After(time.Millisecond):
		}
	}
	if _, err := waits.Wait(100 * time.Millisecond); err == nil {
		t.Fatal("a reply passed while held")
	}
	p.Release(1)
	if _, err := waits.Wait(chromiumtest.Patience); err != nil {
		t.Fatalf("after release: %v", err)
	}
	c.Must("", "Target.getTargets", nil)
}

func TestProxyIsSlow(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	c.Must("", "Browser.getVersion", nil)
	const d = 50 * time.Millisecond
	p.Slow(1, d)
	began := time.Now()
	c.Must("", "Browser.getVersion", nil)
	if took := time.Since(began); took < 2*d {
		t.Errorf("there and back in %s", took)
	}
}

func TestProxyHoldsDials(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	p := chromiumtest.Proxy(t, b.Addr())
	before := chromiumtest.Dial(t, p.URL(b.WS()))
	p.HoldDials()
	dialled := make(chan *chromiumtest.Raw, 1)
	go func() {
		defer close(dialled)
		dialled <- chromiumtest.Dial(t, p.URL(b.WS()))
	}()
	before.Must("", "Browser.getVersion", nil)
	select {
	case <-dialled:
		t.Fatal("a dial came through while held")
	case <-time.After(100 * time.Millisecond):
	}
	p.ReleaseDials()
	if after, ok := <-dialled; ok {
		after.Must("", "Browser.getVersion", nil)
	}
}
