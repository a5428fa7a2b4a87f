package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// serve serves h on a real socket until the test ends; cut ends what it holds.
func serve(t testing.TB, h http.Handler, cut func()) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		cut()
		_ = server.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// serveFake serves a fake browser on a real socket and returns its address.
func serveFake(t testing.TB, o chaos.Options) (*chaos.Browser, string) {
	t.Helper()
	b := chaos.New(o)
	return b, serve(t, b, b.Close)
}

// homes are pages with an iframe in a process of its own and one in theirs.
func homes(url string) chaos.Document {
	d := chaos.DefaultDocument(url)
	if strings.HasPrefix(url, "http://a.test/home") {
		d.Frames = []string{"http://b.test/widget", "/same"}
	}
	return d
}

// startNode starts a node that ends with the test.
func startNode(t testing.TB, change ...func(*node.Config)) *node.Node {
	t.Helper()
	cfg := node.Config{
		StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), AllowChaos: true,
		KeepAlive: time.Second, Seed: *seed,
	}
	for _, c := range change {
		c(&cfg)
	}
	node, err := node.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), chromiumtest.Patience)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	return node
}

// startDrills starts n tasks. Half of them have a browser of their own, the
// others share one and see each other's pages come and go.
func startDrills(t testing.TB, n int) []*drill {
	t.Helper()
	noted := &ledger{ran: map[string][]messages.FrameID{}}
	fake := func(seed uint64) (*chaos.Browser, *chromiumtest.FaultProxy) {
		b, addr := serveFake(t, chaos.Options{Seed: seed, Pages: 1, Load: homes, Evaluate: noted.evaluate})
		return b, chromiumtest.Proxy(t, addr)
	}
	drills := make([]*drill, n)
	shared, sharedAddr := serveFake(t, chaos.Options{Seed: *seed, Pages: 1, Load: homes, Evaluate: noted.evaluate})
	for i := range drills {
		d := &drill{TB: t, id: messages.TaskID(fmt.Sprintf("t%d", i)), ledger: noted, trace: &trace{began: time.Now()}}
		if i%2 == 0 {
			d.scope = messages.ScopeBrowser
			d.browser, d.proxy = fake(*seed + 1 + uint64(i))
		} else {
			d.scope = messages.ScopeOwn
			d.browser, d.proxy = shared, chromiumtest.Proxy(t, sharedAddr)
		}
		drills[i] = d
	}
	// After browsers and proxies, so that it ends before them.
	node := startNode(t)
	for _, d := range drills {
		d.node = node
		u, err := messages.ParseCDPURL(d.browser.URL(d.proxy.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		snap, _, err := node.GetOrStart(context.Background(), d.id, messages.TaskSpec{CDPURL: u, Scope: d.scope})
		if err != nil {
			t.Fatal(err)
		}
		d.page = snap.PageTargetID
		if _, err := node.Navigate(context.Background(), d.id, messages.NavigateRequest{URL: "http://a.test/home"}); err != nil {
			t.Fatal(err)
		}
	}
	return drills
}

func TestRealSockets(t *testing.T) {
	drills := startDrills(t, *tasks)
	var running sync.WaitGroup
	for i, d := range drills {
		n := *kills / *tasks
		if i < *kills%*tasks {
			n++
		}
		running.Go(func() { d.drive(plan(*seed, uint64(i), n)) })
	}
	running.Wait()
	var calls, asked, lost int
	for _, d := range drills {
		calls, asked, lost = calls+len(d.calls), asked+d.asked, lost+d.lost
		if s := d.snapshot(); s.State != messages.StateActive {
			t.Errorf("%s ends as %s", d.id, s.State)
		}
	}
	t.Logf("%d kills, %d calls, %d dialogs of which %d were lost with both links", *kills, calls, asked, lost)
}

// drive runs the plan with all drivers at work, and reports.
func (d *drill) drive(list []kill) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { d.watch(ctx) })
	working.Go(func() { d.clock.run(ctx) })
	working.Go(func() { d.caller(ctx, "page", false) })
	working.Go(func() { d.caller(ctx, "iframe", true) })
	working.Go(func() { d.navigator(ctx) })
	err := d.run(list)
	cancel()
	working.Wait()
	if err == nil {
		err = d.violations()
	}
	if err != nil {
		d.Errorf("%s: %v\n\ntrace of %s:\n%s\n\nThe same plan again (the sockets' timing is their own):\n"+
			"  go test -race ./chaos/live -run 'TestRealSockets$' -seed %d -tasks %d -kills %d", d.id, err, d.id, d.trace, *seed, *tasks, *kills)
	}
}
