package transport_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"holdfast/messages"
	"holdfast/transport"
)

var testEvents = []string{"A.event", "Target.attachedToTarget", "Target.detachedFromTarget"}

// heard collects a sink's events as "session method params".
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) sink(e transport.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, fmt.Sprintf("%s %s %s", e.SessionID, e.Method, e.Params))
}

func (h *heard) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.list...)
}

// script says the lines, each a format's result, and then answers commands.
func script(lines ...string) func(*peer) {
	return func(p *peer) {
		for _, line := range lines {
			p.say("%s", line)
		}
		p.echo()
	}
}

const (
	attachS1 = `{"method":"Target.attachedToTarget","params":{"sessionId":"S1","targetInfo":{"sessionId":"no"},"waitingForDebugger":true}}`
	detachS1 = `{"method":"Target.detachedFromTarget","params":{"sessionId":"S1"}}`
)

func eventOf(session string, n int) string {
	return fmt.Sprintf(`{"method":"A.event","params":{"n":%d},"sessionId":%q}`, n, session)
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("of an announced session wait for its sink, in order", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var root, page heard
			m := newBrowser(t, script(attachS1, eventOf("S1", 1), `{"method":"A.ignored","params":{},"sessionId":"S1"}`, eventOf("S1", 2))).
				dial(t, transport.DialOptions{Events: testEvents})
			synctest.Wait()
			m.Bind("", root.sink)
			m.Bind("S1", page.sink)
			want := []string{"S1 A.event {\"n\":1}", "S1 A.event {\"n\":2}"}
			if d := cmp.Diff(want, page.got()); d != "" {
				t.Error(d)
			}
			if got := root.got(); len(got) != 1 || !strings.HasPrefix(got[0], " Target.attachedToTarget {") {
				t.Errorf("root: %q", got)
			}
		})
	})
	t.Run("reach a sink that was bound within the announcing event", func(t *testing.T) {
		t.Parallel()
		var page heard
		bound := make(chan struct{})
		m := newBrowser(t, func(p *peer) {
			<-bound
			script(attachS1, eventOf("S1", 1), eventOf("S1", 2))(p)
		}).dial(t, transport.DialOptions{Events: testEvents})
		m.Bind("", func(transport.Event) { m.Bind("S1", page.sink) })
		close(bound)
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"S1 A.event {\"n\":1}", "S1 A.event {\"n\":2}"}, page.got()); d != "" {
			t.Error(d)
		}
	})
	t.Run("that are unwanted end in the reader, where they are as Chrome writes them", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stats transport.Stats
			var page heard
			var asked []string
			unwanted := func(params string) string {
				return `{"method":"A.event","params":` + params + `,"sessionId":"S1"}`
			}
			m := newBrowser(t, script(attachS1,
				unwanted(`{"no":1}`), unwanted(`{"n":1}`), unwanted(`{"no":"\"}}`),
				`{"method":"A.event","sessionId":"S1"}`,
				`{"method":"A.event", "params":{"no":2},"sessionId":"S1"}`,
				`{"sessionId":"S1","method":"A.event","params":{"no":3}}`,
				`{"method":"A.ev\u0065nt","params":{"no":4},"sessionId":"S1"}`,
				detachS1, unwanted(`{"n":2}`))).
				dial(t, transport.DialOptions{Events: testEvents, Stats: &stats, Unwanted: func(method string, head []byte) bool {
					asked = append(asked, method)
					return method != "A.event" || strings.HasPrefix(string(head), `{"no":`)
				}})
			m.Bind("", func(e transport.Event) {
				if e.Method == "Target.attachedToTarget" {
					m.Bind("S1", page.sink)
				} else {
					m.Unbind("S1")
				}
			})
			synctest.Wait()
			want := []string{`S1 A.event {"n":1}`, `S1 A.event `, `S1 A.event {"no":2}`, `S1 A.event {"no":3}`, `S1 A.event {"no":4}`}
			if d := cmp.Diff(want, page.got()); d != "" {
				t.Error(d)
			}
			if n := len(asked); n != 6 {
				t.Errorf("asked about %q", asked)
			}
			if in, ignored, unknown := stats.EventsIn.Load(), stats.EventsIgnored.Load(), stats.EventsUnknown.Load(); in != 10 || ignored != 2 || unknown != 1 {
				t.Errorf("of %d events %d were ignored and %d of no session", in, ignored, unknown)
			}
		})
	})
	t.Run("of sessions nobody announced are counted", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, script(eventOf("S9", 1), attachS1, eventOf("S1", 1), detachS1, eventOf("S1", 2))).
			dial(t, transport.DialOptions{Events: testEvents, Stats: &stats})
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Fatal(err)
		}
		var late heard
		m.Bind("S1", late.sink)
		if n := stats.EventsUnknown.Load(); n != 2 || len(late.got()) != 0 {
			t.Errorf("%d unknown; after the detach %q", n, late.got())
		}
	})
	t.Run("are shed when too many wait", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, func(p *peer) {
			p.say(attachS1)
			for i := range 300 {
				p.say("%s", eventOf("S1", i))
			}
			p.echo()
		}).dial(t, transport.DialOptions{Events: testEvents, Stats: &stats})
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Fatal(err)
		}
		var page heard
		m.Bind("S1", page.sink)
		if n, shed := len(page.got()), stats.EventsShed.Load(); n != 256 || shed != 300-256 {
			t.Errorf("%d kept, %d shed", n, shed)
		}
	})
	t.Run("are shed when too large ones wait", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		big := strings.Repeat("x", 300<<10)
		m := newBrowser(t, func(p *peer) {
			p.say(attachS1)
			for range 5 {
				p.say(`{"method":"A.event","params":{"a":"%s"},"sessionId":"S1"}`, big)
			}
			p.echo()
		}).dial(t, transport.DialOptions{Events: testEvents, Stats: &stats})
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Fatal(err)
		}
		if kept, shed := stats.EventsQueued.Load(), stats.EventsShed.Load(); kept != 3+1 || shed != 2 { // and the announcement itself
			t.Errorf("%d kept, %d shed", kept, shed)
		}
	})
	t.Run("end with Unbind", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, func(p *peer) {
			for c, ok := p.read(); ok; c, ok = p.read() {
				p.say("%s", eventOf("S1", 1))
				p.say(`{"id":%d,"result":{}}`, c.ID)
			}
		}).dial(t, transport.DialOptions{Events: testEvents, Stats: &stats})
		var page heard
		m.Bind("S1", page.sink)
		for range 2 {
			if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
				t.Fatal(err)
			}
			m.Unbind("S1")
		}
		if n := stats.EventsUnknown.Load(); n != 1 || len(page.got()) != 1 {
			t.Errorf("%d unknown, got %q", n, page.got())
		}
	})
	t.Run("keep their order while Bind races, and none is lost", func(t *testing.T) {
		t.Parallel()
		const rounds, n = 100, 250
		m := newBrowser(t, func(p *peer) {
			for round := range rounds {
				session := fmt.Sprint("S", round)
				p.say("%s", strings.Replace(attachS1, "S1", session, 1))
				c, _ := p.read()
				for i := range n {
					p.say("%s", eventOf(session, i))
					if i == n/2 {
						p.say(`{"id":%d,"result":{}}`, c.ID)
					}
				}
				c, _ = p.read()
				p.say(`{"id":%d,"result":{}}`, c.ID)
			}
		}).dial(t, transport.DialOptions{Events: testEvents})
		for round := range rounds {
			if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
				t.Fatal(err)
			}
			// The stream is in full flow.
			var busy sync.Mutex
			next := 0
			m.Bind(messages.SessionID(fmt.Sprint("S", round)), func(e transport.Event) {
				if !busy.TryLock() {
					t.Error("two calls of one sink at a time")
					return
				}
				defer busy.Unlock()
				if want := fmt.Sprintf(`{"n":%d}`, next); string(e.Params) != want {
					t.Errorf("%s, want %s", e.Params, want)
				}
				next++
			})
			if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
				t.Fatal(err)
			}
			busy.Lock()
			if next != n {
				t.Errorf("%d events of %d", next, n)
			}
			busy.Unlock()
		}
	})
}

func TestManyAnnouncedSessions(t *testing.T) {
	t.Parallel()
	var stats transport.Stats
	m := newBrowser(t, func(p *peer) {
		for i := range 5000 {
			p.say(`{"method":"Target.attachedToTarget","params":{"sessionId":"S%d"}}`, i)
		}
		p.say("%s", eventOf("S10", 1))
		p.say("%s", eventOf("S4999", 1))
		p.echo()
	}).dial(t, transport.DialOptions{Events: []string{"A.event"}, Stats: &stats})
	if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
		t.Fatal(err)
	}
	if q, u := stats.EventsQueued.Load(), stats.EventsUnknown.Load(); q != 1 || u != 1 {
		t.Errorf("%d queued, %d unknown", q, u)
	}
	var s messages.SessionID = "S10"
	var h heard
	m.Bind(s, h.sink)
	if len(h.got()) != 1 {
		t.Errorf("got %q", h.got())
	}
}
