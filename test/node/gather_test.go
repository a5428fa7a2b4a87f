package node_test

import (
	"bytes"
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
	"holdfast/internal/node"
	"holdfast/messages"
)

// corked is a listener whose connections keep what is written to them while the
// cork is in, and give it in one piece.
type corked struct {
	net.Listener
	mu      sync.Mutex
	written *sync.Cond
	in      bool
	conns   []*corkedConn
}

type corkedConn struct {
	net.Conn
	cork *corked
	kept []byte
}

func (l *corked) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, &corkedConn{Conn: c, cork: l})
	return l.conns[len(l.conns)-1], nil
}

func (c *corkedConn) Write(p []byte) (int, error) {
	c.cork.mu.Lock()
	defer c.cork.mu.Unlock()
	if !c.cork.in {
		return c.Conn.Write(p)
	}
	c.kept = append(c.kept, p...)
	c.cork.written.Broadcast()
	return len(p), nil
}

func (l *corked) put() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = true
}

// pull waits until something has been said, and lets it out.
func (l *corked) pull(t *testing.T, last string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for _, c := range l.conns {
			if !bytes.Contains(c.kept, []byte(last)) {
				continue
			}
			if _, err := c.Conn.Write(c.kept); err != nil {
				t.Error(err)
			}
			l.in, c.kept = false, nil
			return
		}
		l.written.Wait()
	}
}

// TestSaidInOneGo: what a page says in one go is told like what it says one by one:
// nothing is lost, and everything comes in its order.
func TestSaidInOneGo(t *testing.T) {
	t.Parallel()
	// How much is gathered before the reader waits depends on the pieces in which the
	// socket gives it: some of these sizes end when a gathering has just become full.
	sizes := []int{900}
	for n := 264; n < 276; n++ {
		sizes = append(sizes, n)
	}
	for _, events := range sizes {
		t.Run(fmt.Sprint(events), func(t *testing.T) { saidInOneGo(t, events) })
	}
}

// corkedTask is a task with one link to a fake browser, whose words can be held back and
// let out in one go.
func corkedTask(ctx context.Context, t testing.TB) (*chaos.Browser, *corked, *node.Node, *messages.Snapshot) {
	t.Helper()
	b := chaos.New(chaos.Options{Pages: 1})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &corked{Listener: tcp}
	listener.written = sync.NewCond(&listener.mu)
	server := &http.Server{Handler: b}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		b.Close()
		_ = server.Close()
		served.Wait()
	})
	node, err := node.Start(ctx, node.Config{StateDir: t.TempDir(), Limits: node.Limits{MemoryHigh: -1}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Stop(context.Background()) })
	url, err := messages.ParseCDPURL(b.URL(tcp.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	snap, _, err := node.GetOrStart(ctx, "t", messages.TaskSpec{CDPURL: url, Scope: messages.ScopeBrowser, Anchor: messages.AnchorNone, Bridge: messages.BridgeOff})
	if err != nil {
		t.Fatal(err)
	}
	return b, listener, node, snap
}

func saidInOneGo(t *testing.T, events int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	b, listener, node, snap := corkedTask(ctx, t)
	page := snap.PageTargetID
	const frame = "F"
	session := b.Sessions(page)[0].ID
	watch, err := node.Watch(ctx, "t", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if _, err := watch.Next(ctx); err != nil { // how things stand
		t.Fatal(err)
	}

	ignored := func() int {
		return (&world{T: t, node: node}).metric(`holdfast_link_events_total{what="events_ignored"}`)
	}
	before := ignored()
	listener.put()
	conn := b.Connections()[0]
	say := func(method, params string, args ...any) {
		conn.SendRaw(fmt.Appendf(nil, `{"method":%q,"params":%s,"sessionId":%q}`, method, fmt.Sprintf(params, args...), session))
	}
	say("Page.frameAttached", `{"frameId":%q,"parentFrameId":%q}`, frame, b.MainFrame(page))
	for i := range events {
		switch i % 3 {
		case 0:
			say("Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"e%d"}],"executionContextId":1,"timestamp":%d.5}`, i, 1700000000000+i)
		case 1:
			say("Page.frameNavigated", `{"frame":{"id":%q,"parentId":%q,"loaderId":"L%d","url":"http://a.test/%d","securityOrigin":"http://a.test"},"type":"Navigation"}`, frame, b.MainFrame(page), i, i)
		case 2:
			// What makes no sense is no error of the console.
			say("Runtime.consoleAPICalled", `{"type":"error","args":{},"timestamp":%d}`, i)
		}
		if i == events/2 {
			say("Runtime.consoleAPICalled", `{"type":"log","args":[{"type":"string","value":"%d"}],"executionContextId":1,"timestamp":1}`, i)
			say("Page.javascriptDialogOpening", `{"url":"http://a.test/","frameId":%q,"message":"go on?","type":"alert","hasBrowserHandler":false,"defaultPrompt":""}`, b.MainFrame(page))
			say("Page.javascriptDialogClosed", `{"frameId":%q,"result":true,"userInput":""}`, b.MainFrame(page))
			say("Page.frameNavigated", `{"frame":{"id":%q,"loaderId":"top","url":"http://a.test/top","securityOrigin":"http://a.test"},"type":"Navigation"}`, b.MainFrame(page))
			say("Page.frameAttached", `{"frameId":%q,"parentFrameId":%q}`, frame, b.MainFrame(page))
		}
	}
	say("Page.navigatedWithinDocument", `{"frameId":%q,"url":"http://a.test/last"}`, frame)
	listener.pull(t, "http://a.test/last")

	var order []string
	next := 0
	for {
		list, err := watch.Next(ctx)
		if err != nil {
			t.Fatalf("%v, after %d errors: %s, %+v", err, next, order, snap.FrameTree)
		}
		for _, e := range list {
			switch e.Type {
			case messages.EventConsoleError:
				if want := fmt.Sprint("e", next); e.Console.Text != want {
					t.Fatalf("%s came where %s should", e.Console.Text, want)
				}
				next += 3
			case messages.EventDialogOpened, messages.EventDialogClosed:
				order = append(order, string(e.Type))
			}
		}
		snap, err = node.Snapshot("t", messages.SnapshotOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if tree := snap.FrameTree; next >= events && tree != nil && len(tree.Children) == 1 && tree.Children[0].URL == "http://a.test/last" && len(order) == 2 {
			break
		}
	}
	if got := strings.Join(order, " "); got != "dialog_opened dialog_closed" {
		t.Errorf("dialogs: %s", got)
	}
	if snap.FrameTree.Top.URL != "http://a.test/top" || len(snap.ConsoleErrors) != messages.MaxConsoleErrors || snap.Connection.Reconnects != 0 {
		t.Errorf("top %s, %d errors, %d reconnects", snap.FrameTree.Top.URL, len(snap.ConsoleErrors), snap.Connection.Reconnects)
	}
	// The reader counts them before it waits again, which may be after the rest was told.
	for look := time.NewTicker(time.Millisecond); ignored() == before; {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("no event has ended in the reader: what a page logs has not")
		}
	}
	shed := (&world{T: t, node: node}).metric(`holdfast_shed_total{bound="console_errors"}`)
	if shed != 0 {
		t.Errorf("%d errors were shed", shed)
	}
}
