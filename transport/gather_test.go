package transport_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"holdfast/messages"
	"holdfast/transport"
)

// gatherer notes what it is given, and when it has to settle.
type gatherer struct {
	mu    sync.Mutex
	notes []string
}

func (g *gatherer) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

func (g *gatherer) bind(m *transport.Mux, session messages.SessionID) {
	m.Gather(session, transport.Gathering{
		Sink:   func(e transport.Event) { g.note("%s%s", session, strings.Trim(string(e.Params), `{}n":`)) },
		Settle: func() { g.note("%s settles", session) },
	})
}

func (g *gatherer) want(t *testing.T, want ...string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := cmp.Diff(want, slices.Clone(g.notes)); d != "" {
		t.Error(d)
	}
	g.notes = nil
}

// TestGather: gathered events are delivered before a later message can show that they were
// held back.
func TestGather(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		say  []string
		want []string
	}{
		"at the end of what came in one go, once": {
			[]string{eventOf("S1", 1), eventOf("S1", 2), `{"method":"A.ignored","params":{},"sessionId":"S1"}`, eventOf("S1", 3)},
			[]string{"S11", "S12", "S13", "S1 settles"},
		},
		"not for an event without a name": {
			[]string{eventOf("S1", 1), `{"params":{},"method":"","sessionId":"S1"}`},
			[]string{"S11", "S1 settles"},
		},
		"before an event of another session": {
			[]string{eventOf("S1", 1), eventOf("S2", 1), eventOf("S2", 2), eventOf("S1", 2)},
			[]string{"S11", "S1 settles", "S21", "S22", "S2 settles", "S12", "S1 settles"},
		},
		"before an event of one that gathers nothing": {
			[]string{eventOf("S1", 1), eventOf("", 1), eventOf("S1", 2)},
			[]string{"S11", "S1 settles", "root", "S12", "S1 settles"},
		},
		"before a reply, which alone is no reason": {
			[]string{`{"id":1,"result":{}}`, eventOf("S1", 1), `{"id":2,"result":{}}`, eventOf("S1", 2)},
			[]string{"replied", "S11", "S1 settles", "replied", "S12", "S1 settles"},
		},
		"before the link's end": {
			[]string{eventOf("S1", 1), "\x00", strings.Repeat("\x00", 2), "\x00", "\x00", "\x00", "\x00", "\x00", "\x00"},
			[]string{"S11", "S1 settles", "closed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var g gatherer
				conns, done := make(chan net.Conn, 1), make(chan struct{})
				m := newRawBrowser(t, func(c net.Conn) { conns <- c; <-done }).dial(t, transport.DialOptions{
					Events: testEvents, OnClose: func(error) { g.note("closed") },
				})
				c := <-conns
				go func() { // a pipe holds nothing
					_, _ = c.Write(slices.Concat(frame(attachS1), frame(strings.ReplaceAll(attachS1, "S1", "S2"))))
				}()
				synctest.Wait()
				g.bind(m, "S1")
				g.bind(m, "S2")
				m.Bind("", func(e transport.Event) {
					if e.Method == "A.event" {
						g.note("root")
					}
				})
				reads := make(chan struct{})
				go func() {
					defer close(reads)
					ask := make([]byte, 4096)
					for {
						if _, err := c.Read(ask); err != nil {
							return
						}
					}
				}()
				for range 2 {
					m.Start(transport.Call{Method: "A.b", Done: func(r transport.Reply) {
						if r.Err == nil {
							g.note("replied")
						}
					}})
				}
				synctest.Wait()
				var say []byte
				for _, line := range tc.say {
					say = append(say, frame(line)...)
				}
				_, _ = c.Write(say)
				synctest.Wait()
				g.want(t, tc.want...)
				close(done)
				m.Close()
				<-m.Closed()
				<-reads
			})
		})
	}
	t.Run("of events taken unread, in their order among those that are told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var g gatherer
			var stats transport.Stats
			conns, done := make(chan net.Conn, 1), make(chan struct{})
			m := newRawBrowser(t, func(c net.Conn) { conns <- c; <-done }).dial(t, transport.DialOptions{Events: testEvents, Stats: &stats})
			c := <-conns
			m.Gather("S1", transport.Gathering{
				Sink:   func(e transport.Event) { g.note("%s %s", e.Method, e.Params) },
				Settle: func() { g.note("settles") },
				Unread: func(e transport.Event) bool {
					takes := !strings.HasPrefix(string(e.Params), `{"n":2`)
					g.note("unread %v %s %s %s", takes, e.SessionID, e.Params, transport.Whole(e))
					return takes
				},
			})
			m.Bind("S2", func(e transport.Event) { g.note("%s %s", e.SessionID, e.Params) })
			of := func(rest string) []byte { return frame(`{"method":"A.event","params":` + rest) }
			_, _ = c.Write(slices.Concat(
				of(`{"n":1},"sessionId":"S1"}`), of(`{"n":2},"sessionId":"S1"}`), of(`{"n":3}, "sessionId":"S1"}`), of(`{"n":4},"more":[],"sessionId":"S1"}`),
				of(`{"n":5},"id":1,"sessionId":"S1"}`), of(`{"n":6},"sessionId":"S2"}`), of(`{"n":7},"sessionId":"S3"}`), of(`{"n":8},"sessionId":"S1"}`),
				frame(strings.Replace(detachS1, `"}}`, `"},"sessionId":"S1"}`, 1)),
			))
			synctest.Wait()
			g.want(
				t,
				`unread true S1 {"n":1} {"n":1}`, `unread false S1 {"n":2} `+`{"n":2}`, `A.event {"n":2}`, `A.event {"n":3}`, `unread true S1 {"n":4},"more":[] {"n":4}`,
				`unread true S1 {"n":5},"id":1 `, "settles", `S2 {"n":6}`, `unread true S1 {"n":8} {"n":8}`, `Target.detachedFromTarget {"sessionId":"S1"}`, "settles",
			)
			if in, told, unknown := stats.EventsIn.Load(), stats.EventsDelivered.Load(), stats.EventsUnknown.Load(); in != 9 || told != 8 || unknown != 1 {
				t.Errorf("of %d events %d were delivered and %d of no session", in, told, unknown)
			}
			close(done)
			m.Close()
		})
	})
	t.Run("for the one who was bound, when another takes over in the midst of it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var g gatherer
			conns, done := make(chan net.Conn, 1), make(chan struct{})
			m := newRawBrowser(t, func(c net.Conn) { conns <- c; <-done }).dial(t, transport.DialOptions{Events: testEvents})
			c := <-conns
			m.Gather("S1", transport.Gathering{Sink: func(transport.Event) {
				g.note("old")
				m.Gather("S1", transport.Gathering{Sink: func(transport.Event) { g.note("new") }, Settle: func() { g.note("new settles") }})
			}, Settle: func() { g.note("old settles") }})
			_, _ = c.Write(slices.Concat(frame(eventOf("S1", 1)), frame(eventOf("S1", 2)), frame(eventOf("S1", 3))))
			synctest.Wait()
			g.want(t, "old", "old settles", "new", "new", "new settles")
			close(done)
			m.Close()
			<-m.Closed()
		})
	})
	t.Run("what was kept until there was a sink", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var g gatherer
			m := newBrowser(t, script(attachS1, eventOf("S1", 1), eventOf("S1", 2))).dial(t, transport.DialOptions{Events: testEvents})
			synctest.Wait()
			g.bind(m, "S1")
			g.want(t, "S11", "S12", "S1 settles")
		})
	})
}
