package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// gateway leads to browsers by path, on one real port that can be closed and opened.
type gateway struct {
	testing.TB
	addr     string
	browsers map[string]*chaos.Browser
	server   *http.Server
	serving  sync.WaitGroup
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b := g.browsers[r.URL.Path]; b != nil {
		b.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// open listens, on the port of before if there was one.
func (g *gateway) open() {
	g.Helper()
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.Fatal(err)
	}
	g.addr = l.Addr().String()
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	server := g.server
	g.serving.Go(func() { _ = server.Serve(l) }) // ends with the listener
}

// shut closes the port and every link: who dials from now on is refused by the kernel.
func (g *gateway) shut() {
	_ = g.server.Close()
	g.serving.Wait()
	for _, b := range g.browsers {
		b.DropConnections()
	}
}

// TestNoTaskIsLostToAnOutageOfRealSockets closes the port of 50 tasks' browsers for a
// while: none is lost, and all are back soon after it is open again.
func TestNoTaskIsLostToAnOutageOfRealSockets(t *testing.T) {
	const (
		tasks      = 50
		backWithin = 3 * time.Second
	)
	g := &gateway{TB: t, addr: "127.0.0.1:0", browsers: map[string]*chaos.Browser{}}
	browsers := make([]*chaos.Browser, tasks)
	for i := range browsers {
		browsers[i] = chaos.New(chaos.Options{Seed: *seed + uint64(i), Pages: 1})
		g.browsers[browsers[i].Path()] = browsers[i]
	}
	g.open()
	t.Cleanup(func() {
		for _, b := range g.browsers {
			b.Close()
		}
		_ = g.server.Close()
		g.serving.Wait()
	})
	node := startNode(t)
	ids := make([]messages.TaskID, tasks)
	for i := range ids {
		u, err := messages.ParseCDPURL(browsers[i].URL(g.addr))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = messages.TaskID(fmt.Sprint("t", i))
		if _, _, err := node.GetOrStart(context.Background(), ids[i], messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser}); err != nil {
			t.Fatal(err)
		}
	}
	for n, lasts := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second} {
		t.Run(lasts.String(), func(t *testing.T) {
			g.shut()
			if _, err := net.Dial("tcp", g.addr); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Fatalf("a dial in the outage: %v", err)
			}
			<-time.After(lasts) // the outage itself
			g.open()
			var left clock
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { left.run(ctx) })
			defer running.Wait()
			defer cancel()
			for i := 0; i < tasks; {
				s, err := node.Snapshot(ids[i], messages.SnapshotOptions{})
				switch {
				case err != nil, !s.Active:
					t.Fatalf("%s: %+v, %v", ids[i], s, err)
				case s.State == messages.StateActive && s.Connection.Reconnects == uint64(n)+1:
					i++
				case left.now() > backWithin:
					t.Fatalf("%s is not back after %s: %+v", ids[i], left.now(), s.Connection)
				default:
					<-time.After(beat)
				}
			}
			t.Logf("all are back after %s", left.now())
		})
	}
}
