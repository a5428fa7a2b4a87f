package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// processes is what stands behind one address: one browser process, or another one for each
// connection.
type processes struct {
	t       testing.TB
	b       *browser
	links   *transport.Connections
	stats   transport.Stats
	isOther bool // each connection is another process
	refuses string
	ignores string
	stall   chan struct{} // not nil: nothing is answered until it is closed

	mu       sync.Mutex
	peers    map[int]*peer // that are connected
	dials    int
	sessions int
	contexts map[string]int // by the connection that made it
	left     []string
}

func newProcesses(t testing.TB) *processes {
	p := &processes{t: t, peers: map[int]*peer{}, contexts: map[string]int{}}
	p.b = newBrowser(t, p.talk)
	p.links = transport.NewConnections(transport.NewRation(transport.RationLimits{}, &p.stats), 10*time.Second, transport.SharingAuto)
	return p
}

func (p *processes) talk(at *peer) {
	p.mu.Lock()
	p.dials++
	n := p.dials
	p.peers[n] = at
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.peers, n)
	}()
	for {
		c, ok := at.read()
		if !ok {
			return
		}
		if p.stall != nil {
			<-p.stall
		}
		p.answer(n, at, c)
	}
}

func (p *processes) answer(n int, at *peer, c command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := "}"
	if c.SessionID != "" {
		end = fmt.Sprintf(`,"sessionId":%q}`, c.SessionID)
	}
	switch {
	case c.Method == p.ignores:
	case c.Method == p.refuses:
		at.say(`{"id":%d,"error":{"code":-32601,"message":"no"}%s`, c.ID, end)
	case c.Method == "Target.attachToBrowserTarget":
		p.sessions++
		at.say(`{"id":%d,"result":{"sessionId":"ROOT%d"}%s`, c.ID, p.sessions, end)
	case c.Method == "Target.createBrowserContext":
		id := fmt.Sprintf("C%d", len(p.contexts)+1)
		p.contexts[id] = n
		at.say(`{"id":%d,"result":{"browserContextId":%q}%s`, c.ID, id, end)
	case c.Method == "Target.disposeBrowserContext":
		var params struct{ BrowserContextID string }
		_ = json.Unmarshal(c.Params, &params)
		delete(p.contexts, params.BrowserContextID)
		at.say(`{"id":%d,"result":{}%s`, c.ID, end)
	case c.Method == "Target.getBrowserContexts":
		ids := []string{}
		for id, by := range p.contexts {
			if by == n || !p.isOther {
				ids = append(ids, id)
			}
		}
		list, _ := json.Marshal(ids)
		at.say(`{"id":%d,"result":{"browserContextIds":%s}%s`, c.ID, list, end)
	case c.Method == "Target.detachFromTarget":
		var params struct{ SessionID string }
		_ = json.Unmarshal(c.Params, &params)
		p.left = append(p.left, params.SessionID)
		at.say(`{"id":%d,"result":{}%s`, c.ID, end)
	case c.Method == "A.large":
		at.say(`{"id":%d,"result":{"x":%q}%s`, c.ID, strings.Repeat("x", 200<<10), end)
	default:
		at.say(`{"id":%d,"result":{"method":%q}%s`, c.ID, c.Method, end)
	}
}

func (p *processes) counts() (open, dials, sessions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.peers), p.dials, p.sessions
}

// drop ends every connection without a word.
func (p *processes) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.peers {
		_ = at.conn.CloseNow()
	}
}

func (p *processes) open(ctx context.Context, role messages.Role, o transport.DialOptions) (*transport.Mux, error) {
	o.HTTPClient = p.b.client
	return p.links.Open(ctx, role, transport.Address{URL: cdpURL(p.t, "ws://127.0.0.1:9222/devtools/browser/abc")}, o)
}

func (p *processes) opened(role messages.Role, o transport.DialOptions) *transport.Mux {
	p.t.Helper()
	m, err := p.open(p.t.Context(), role, o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		m.Close()
		<-m.Closed()
	})
	if _, err := m.Do(within(p.t), "", "A.b", nil); err != nil {
		p.t.Errorf("a call over a link that has just been opened: %v", err)
	}
	return m
}

// all opens n links of a role at the same time.
func (p *processes) all(n int, role messages.Role) (links []*transport.Mux) {
	p.t.Helper()
	links = make([]*transport.Mux, n)
	var opening sync.WaitGroup
	for i := range links {
		opening.Go(func() {
			m, err := p.open(p.t.Context(), role, transport.DialOptions{})
			if err != nil {
				p.t.Errorf("link %d: %v", i, err)
				return
			}
			if _, err := m.Do(within(p.t), "", "A.b", nil); err != nil {
				p.t.Errorf("link %d: %v", i, err)
			}
			links[i] = m
		})
	}
	opening.Wait()
	return links
}

func ended(links []*transport.Mux) {
	for _, m := range links {
		<-m.Closed()
	}
}

func TestLinksToOneProcessShareTwoConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		const n = 50
		primaries, anchors := p.all(n, messages.RolePrimary), p.all(n, messages.RoleAnchor)
		// The first link proves nothing, so it has a connection of its own.
		if open, dials, sessions := p.counts(); open != 3 || dials != 3 || sessions != 2*n-1+1 { // one of the proof
			t.Errorf("%d connections are open of %d, with %d browser sessions", open, dials, sessions)
		}
		if len(p.contexts) > 0 {
			t.Errorf("the proof has left %v", p.contexts)
		}
		for range 3 { // the proof is not repeated
			p.drop()
			ended(primaries)
			ended(anchors)
			for _, m := range append(primaries, anchors...) {
				wantCause(t, m.Err(), transport.CauseReset)
			}
			primaries, anchors = p.all(n, messages.RolePrimary), p.all(n, messages.RoleAnchor)
		}
		if open, dials, _ := p.counts(); open != 2 || dials != 3+3*2 {
			t.Errorf("after drops %d connections are open of %d", open, dials)
		}
		for i, m := range primaries {
			m.Close()
			<-m.Closed()
			synctest.Wait()
			if open, _, _ := p.counts(); (open == 2) != (i < n-1) {
				t.Errorf("%d connections are open with %d primaries", open, n-1-i)
			}
		}
		for _, m := range anchors {
			m.Break()
			<-m.Closed()
		}
		synctest.Wait()
		if open, _, _ := p.counts(); open != 0 {
			t.Errorf("%d connections are open without a link", open)
		}
	})
}

func TestALinkThatIsAloneHasItsOwnConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		for range 3 {
			m := p.opened(messages.RolePrimary, transport.DialOptions{})
			a := p.opened(messages.RoleAnchor, transport.DialOptions{})
			m.Break()
			a.Break()
			ended([]*transport.Mux{m, a})
		}
		if _, dials, sessions := p.counts(); dials != 6 || sessions != 0 {
			t.Errorf("%d connections, %d browser sessions", dials, sessions)
		}
	})
}

func TestLinksAreNotSharedWithoutProof(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*processes){
		"where each connection is another browser":    func(p *processes) { p.isOther = true },
		"where the browser makes no contexts":         func(p *processes) { p.refuses = "Target.createBrowserContext" },
		"where the browser does not tell of contexts": func(p *processes) { p.refuses = "Target.getBrowserContexts" },
		"where it gives a connection one session":     func(p *processes) { p.refuses = "Target.attachToBrowserTarget" },
		"where it leaves what it does not know":       func(p *processes) { p.ignores = "Target.attachToBrowserTarget" },
		"where contexts are not made, nor refused":    func(p *processes) { p.ignores = "Target.createBrowserContext" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcesses(t)
				prepare(p)
				const n = 5
				links := p.all(n, messages.RolePrimary)
				synctest.Wait()
				// One more was opened for the proof, and closed.
				if open, dials, sessions := p.counts(); open != n || dials != n+1 || sessions > 1 {
					t.Errorf("%d connections are open of %d, with %d browser sessions", open, dials, sessions)
				}
				p.drop()
				ended(links)
				for _, m := range p.all(n, messages.RolePrimary) {
					m.Close()
					<-m.Closed()
				}
				if _, dials, _ := p.counts(); dials != n+1+n {
					t.Errorf("%d connections after a drop: the address is proved again", dials)
				}
			})
		})
	}
	t.Run("where it is turned off", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newProcesses(t)
			p.links = transport.NewConnections(transport.NewRation(transport.RationLimits{}, &p.stats), 10*time.Second, transport.SharingOff)
			for range 3 {
				p.opened(messages.RolePrimary, transport.DialOptions{})
			}
			if open, dials, _ := p.counts(); open != 3 || dials != 3 {
				t.Errorf("%d connections are open of %d", open, dials)
			}
		})
	})
}

// A witness that says nothing proves nothing: the task starts all the same, and the next
// one is not held up by the same witness.
func TestAWitnessThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		first := p.opened(messages.RolePrimary, transport.DialOptions{KeepAlive: -1})
		p.mu.Lock()
		p.stall = make(chan struct{})
		p.mu.Unlock()
		first.Start(transport.Call{Method: "A.b"})
		synctest.Wait()
		stalled := p.stall
		p.mu.Lock()
		p.stall = nil // for other connections
		p.mu.Unlock()
		began := time.Now()
		p.opened(messages.RolePrimary, transport.DialOptions{})
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("the second link took %v", took)
		}
		began = time.Now()
		p.opened(messages.RolePrimary, transport.DialOptions{})
		p.opened(messages.RolePrimary, transport.DialOptions{})
		if took := time.Since(began); took > 0 {
			t.Errorf("the next links took %v", took)
		}
		close(stalled)
	})
}

func TestASharedConnectionThatIsSilentEndsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		p.opened(messages.RolePrimary, transport.DialOptions{KeepAlive: -1})
		var links []*transport.Mux
		for i := range 3 { // one of them is asked; the others would never be
			o := transport.DialOptions{KeepAlive: -1}
			if i == 1 {
				o.KeepAlive = time.Second
			}
			links = append(links, p.opened(messages.RolePrimary, o))
		}
		time.Sleep(time.Minute)
		for _, m := range links {
			if m.Err() != nil {
				t.Fatalf("a browser that answers: %v", m.Err())
			}
		}
		p.mu.Lock()
		p.stall = make(chan struct{})
		p.mu.Unlock()
		links[0].Start(transport.Call{Method: "A.b"}) // the peer reads nothing behind it
		synctest.Wait()
		time.Sleep(20 * time.Second)
		for _, m := range links {
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseHalfOpen)
		}
		close(p.stall)
	})
}

func TestASharedConnectionCutsWhatIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		p.opened(messages.RolePrimary, transport.DialOptions{})
		const limit = 64 << 10
		one := p.opened(messages.RolePrimary, transport.DialOptions{MaxMessage: limit})
		two := p.opened(messages.RolePrimary, transport.DialOptions{MaxMessage: limit})
		for range 2 {
			if _, err := one.Do(within(t), "", "A.large", nil); !errors.Is(err, transport.ErrTooLarge) {
				t.Errorf("a reply above the limit: %v", err)
			}
			for _, m := range []*transport.Mux{one, two} {
				if _, err := m.Do(within(t), "", "A.small", nil); err != nil {
					t.Errorf("behind it: %v", err)
				}
			}
		}
	})
}

// A dial that fails is the failure of all that wait for it; one whose caller has gone is not.
func TestASharedDialThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses(t)
		links := p.all(3, messages.RolePrimary)
		p.drop()
		ended(links)
		_, before, _ := p.counts()
		p.mu.Lock()
		p.stall = make(chan struct{}) // a WebSocket opens, and no attach is answered
		p.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := p.open(ctx, messages.RolePrimary, transport.DialOptions{})
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("an open whose caller has gone: %v", err)
		}
		close(p.stall)
		p.stall = nil
		synctest.Wait()
		if open, _, _ := p.counts(); open != 0 {
			t.Errorf("%d connections are left", open)
		}
		links = p.all(3, messages.RolePrimary)
		if _, dials, _ := p.counts(); dials != before+2 {
			t.Errorf("%d dials, want one that was given up and one", dials-before)
		}
		for _, m := range links {
			m.Close()
		}
		ended(links)
	})
}

// TestManyLinksComeAndGo: each call over links that come, go and are dropped has its outcome.
func TestManyLinksComeAndGo(t *testing.T) {
	t.Parallel()
	p := newProcesses(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 6 {
				m, err := p.open(within(t), messages.Role(j%2), transport.DialOptions{})
				if err != nil {
					if messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
						t.Errorf("link %d of %d: %v", j, i, err)
					}
					continue
				}
				for k := range 5 {
					method := fmt.Sprintf("T.m%dx%dx%d", i, j, k)
					got, err := m.Do(within(t), "", method, nil)
					if err == nil && !strings.Contains(string(got), method+`"`) || err != nil && !errors.Is(err, transport.ErrLinkClosed) {
						t.Errorf("%s: %s, %v", method, got, err)
					}
				}
				switch {
				case i == 0 && j == 3:
					p.drop()
				case j%2 == 0:
					m.Start(transport.Call{Method: "T.last"})
				}
				m.Close()
				<-m.Closed()
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		open, _, _ := p.counts()
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are open without a link", open)
		}
	}
}
