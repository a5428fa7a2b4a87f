package transport

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/messages"
)

// Connections opens the links of a node. Links of one role to the same browser process
// share one WebSocket ([Shared]), once it is proved that each connection to the address
// leads to that process: see [provesSame]. A first link has a WebSocket of its own, since
// nothing is proved by one connection, and a task that is alone is not to pay for others.
//
//	address            links of the role      a new link
//	no browser's id    any                    has a WebSocket of its own
//	not proved         none                   has a WebSocket of its own
//	not proved         one                    dials, and proves; then as below
//	proved             any                    joins the shared WebSocket, or dials it
//	disproved          any                    has a WebSocket of its own
//
// A connection that drops ends every link over it. Each task comes back by its own restart
// policy: the first dials, the others wait for that dial. Safe for concurrent use.
type Connections struct {
	ration   *Ration
	budget   time.Duration // of a dial that has its turn
	isShared bool

	mu       sync.Mutex // protects what follows
	browsers map[browserKey]*sharedBrowser
}

// browserKey names an address by a hash, since it may hold a credential, and the client that
// judges whether it may be dialled.
type browserKey struct {
	endpoint [sha256.Size]byte
	client   *http.Client
}

// sharedBrowser is what is known of one address.
type sharedBrowser struct {
	verdict verdict
	plain   []*plainLink // that stand; only while nothing is proved
	roles   [messages.Roles]struct {
		shared *Shared  // nil, or perhaps ended
		dial   *attempt // under way
	}
	proof *attempt // under way
}

// plainLink is a link that has a WebSocket of its own.
type plainLink struct {
	role    messages.Role
	mux     *Mux
	isEnded bool
}

// attempt is a dial for which other links wait.
type attempt struct {
	done chan struct{} // closed when err is known
	err  error         // for those that wait as well
}

// verdict is what is known of an address.
type verdict uint8

const (
	unproved verdict = iota
	proved           // each connection leads to the same browser process
	disproved
)

// Bounds of what is remembered, and of one Open.
const (
	maxBrowsers  = 4096 // addresses; what is beyond them is not shared
	maxProofs    = 1    // of one Open
	proofTimeout = 8 * time.Second
	maxJoins     = 8 // tries of one Open to join a connection that drops meanwhile
)

// Sharing is whether links of several tasks share connections. "" is [SharingAuto].
type Sharing string

// The values of [Sharing].
const (
	SharingAuto Sharing = "auto" // where it is proved that they lead to one browser process
	SharingOff  Sharing = "off"  // each link has a WebSocket of its own
)

// Validate checks that the value is known.
func (s Sharing) Validate() error {
	switch s {
	case "", SharingAuto, SharingOff:
		return nil
	}
	return fmt.Errorf("sharing of links is auto or off, not %q", string(s))
}

// NewConnections returns what opens the links of a node. A dial waits for its turn by
// ration, and then has the budget.
func NewConnections(ration *Ration, budget time.Duration, s Sharing) *Connections {
	return &Connections{ration: ration, budget: budget, isShared: s != SharingOff, browsers: map[browserKey]*sharedBrowser{}}
}

// Open opens a link of a role to the browser at an address. Errors are [*messages.Error] and
// hold no credential.
func (c *Connections) Open(ctx context.Context, role messages.Role, at Address, o DialOptions) (*Mux, error) {
	o = o.withDefaults()
	t := &turn{connections: c, ctx: ctx, role: role, at: at}
	defer t.end()
	if at.Pipe != nil || !c.isShared {
		if err := t.take(); err != nil {
			return nil, err
		}
		return Open(t.within, at, o)
	}
	d := newDialer(at.URL, o.HTTPClient)
	endpoint, err := d.given()
	if endpoint == nil && err == nil {
		if err = t.take(); err == nil {
			endpoint, err = d.resolve(t.within)
		}
	}
	if err != nil {
		return nil, err
	}
	a := &opening{c: c, t: t, d: d, endpoint: endpoint, role: role, o: o}
	if processOf(endpoint) == "" {
		return a.alone()
	}
	a.key = browserKey{sha256.Sum256([]byte(endpoint.String())), o.HTTPClient}
	return a.run()
}

// given is the endpoint of an address that names it; nil where the browser has to be asked.
func (d *dialer) given() (*url.URL, error) {
	asked, err := url.Parse(d.raw.Reveal())
	if err != nil || asked.Scheme != "ws" && asked.Scheme != "wss" || strings.Trim(asked.Path, "/") == "" {
		return nil, nil // resolve says what is wrong
	}
	return d.resolve(context.Background()) // asks nothing
}

// turn is one Open's right to dial, while it has one.
type turn struct {
	connections *Connections
	ctx         context.Context // the caller's
	role        messages.Role
	at          Address

	within  context.Context // bounds what is done in the turn
	release func()          // nil without a turn
}

func (t *turn) take() error {
	if t.release != nil {
		return nil
	}
	done, err := t.connections.ration.Wait(t.ctx, t.role, t.at)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(t.ctx, t.connections.budget)
	t.within, t.release = within, func() { cancel(); done() }
	return nil
}

func (t *turn) end() {
	if t.release != nil {
		t.release()
		t.release = nil
	}
}

// opening is one Open of a link that may share a connection.
type opening struct {
	c        *Connections
	t        *turn
	d        *dialer
	endpoint *url.URL
	key      browserKey
	role     messages.Role
	o        DialOptions

	proofs, joins int
}

// alone opens a link with a WebSocket of its own.
func (a *opening) alone() (*Mux, error) {
	if err := a.t.take(); err != nil {
		return nil, err
	}
	return a.d.link(a.t.within, a.endpoint, a.o)
}

// step is what an opening does next.
type step struct {
	wait    *attempt // for this
	join    *Shared  // this connection, a use of which is taken
	first   *attempt // dial, without sharing; tell those that wait
	dial    *attempt // dial what is shared
	witness *Mux     // and prove by this one, where it is not nil
}

func (a *opening) run() (*Mux, error) {
	for {
		switch s := a.next(); {
		case s.wait != nil:
			a.t.end()
			select {
			case <-s.wait.done:
			case <-a.t.ctx.Done():
				return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "dialling was cancelled while it waited for another task's dial").WithSent(messages.SentNo)
			}
			if s.wait.err != nil {
				return nil, s.wait.err
			}
		case s.join != nil:
			m, err := a.join(s.join)
			if err == nil || a.joins >= maxJoins || s.join.isStanding() || a.t.ctx.Err() != nil {
				return m, err
			}
			a.joins++
		case s.first != nil:
			m, err := a.first()
			a.settle(s.first, err)
			return m, err
		case s.dial != nil:
			shared, err := a.dial(s.witness)
			a.settle(s.dial, err)
			if err != nil {
				return nil, err
			}
			if shared != nil {
				return a.join(shared)
			}
			a.t.end() // the next dial has a budget of its own
		default:
			return a.alone()
		}
	}
}

// next says what is to be done, and notes the attempt where it is one of ours.
func (a *opening) next() (s step) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	b := a.c.browserLocked(a.key)
	if b == nil {
		return s
	}
	r := &b.roles[a.role]
	switch {
	case b.verdict == disproved:
	case r.dial != nil:
		s.wait = r.dial
	case b.verdict == proved && r.shared != nil && r.shared.acquire():
		s.join = r.shared
	case b.verdict == proved:
		s.dial = newAttempt()
		r.dial = s.dial
	case b.proof != nil:
		s.wait = b.proof
	default:
		i := slices.IndexFunc(b.plain, func(p *plainLink) bool { return p.role == a.role })
		switch {
		case i < 0:
			s.first = newAttempt()
			r.dial = s.first
		case a.proofs < maxProofs:
			s.dial, s.witness = newAttempt(), b.plain[i].mux
			r.dial, b.proof = s.dial, s.dial
		}
	}
	return s
}

func newAttempt() *attempt { return &attempt{done: make(chan struct{})} }

// browserLocked is what is known of an address, nil where there is no room for more.
func (c *Connections) browserLocked(key browserKey) *sharedBrowser {
	b := c.browsers[key]
	if b != nil {
		return b
	}
	if len(c.browsers) >= maxBrowsers {
		for k, other := range c.browsers {
			if other.isIdle() {
				delete(c.browsers, k)
				break
			}
		}
		if len(c.browsers) >= maxBrowsers {
			return nil
		}
	}
	b = new(sharedBrowser)
	c.browsers[key] = b
	return b
}

// isIdle says that no link uses what is known.
func (b *sharedBrowser) isIdle() bool {
	for i := range b.roles {
		if r := &b.roles[i]; r.dial != nil || r.shared != nil && r.shared.isStanding() {
			return false
		}
	}
	return len(b.plain) == 0
}

// settle ends an attempt. A caller that gave up tells those that wait nothing of the
// browser: the next of them dials.
func (a *opening) settle(at *attempt, err error) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	b := a.c.browsers[a.key]
	b.roles[a.role].dial = nil
	if b.proof == at {
		b.proof = nil
	}
	if a.t.ctx.Err() == nil {
		at.err = err
	}
	close(at.done)
	a.c.dropLocked(a.key, b)
}

// dropLocked forgets an address of which nothing is known.
func (c *Connections) dropLocked(key browserKey, b *sharedBrowser) {
	if b.verdict == unproved && b.isIdle() {
		delete(c.browsers, key)
	}
}

// first opens a link with a WebSocket of its own, by which a later one may prove.
func (a *opening) first() (*Mux, error) {
	p, o := &plainLink{role: a.role}, a.o
	o.OnClose = func(err error) {
		a.c.ended(a.key, p)
		if a.o.OnClose != nil {
			a.o.OnClose(err)
		}
	}
	if err := a.t.take(); err != nil {
		return nil, err
	}
	m, err := a.d.link(a.t.within, a.endpoint, o)
	if err != nil {
		return nil, err
	}
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	b := a.c.browsers[a.key] // kept by the attempt
	if p.mux = m; !p.isEnded && b.verdict == unproved {
		b.plain = append(b.plain, p)
	}
	return m, nil
}

// ended forgets a link before its owner is told that it has ended.
func (c *Connections) ended(key browserKey, p *plainLink) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.isEnded = true
	if b := c.browsers[key]; b != nil {
		b.plain = slices.DeleteFunc(b.plain, func(other *plainLink) bool { return other == p })
		c.dropLocked(key, b)
	}
}

// dial opens the connection that is to be shared, and proves first where nothing is proved
// yet. It returns the connection with a use of it, nil where it is not to be shared.
func (a *opening) dial(witness *Mux) (*Shared, error) {
	if err := a.t.take(); err != nil {
		return nil, err
	}
	shared, err := a.d.share(a.t.within, a.endpoint, a.o.MaxMessage)
	if err != nil {
		return nil, err
	}
	found := proved
	if witness != nil {
		a.proofs++
		found = provesSame(a.t.ctx, shared, witness)
	}
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	b := a.c.browsers[a.key]
	if b.verdict = found; found == proved {
		r := &b.roles[a.role]
		if r.shared == nil {
			shared.awaitNone()
		}
		r.shared, b.plain = shared, nil
		return shared, nil
	}
	// One that did not answer proves nothing to the next either.
	b.plain = slices.DeleteFunc(b.plain, func(p *plainLink) bool { return p.mux == witness })
	shared.dismiss()
	return nil, nil
}

// join opens a link over a shared connection, a use of which it ends.
func (a *opening) join(s *Shared) (*Mux, error) {
	a.t.end()
	defer s.dismiss()
	ctx, cancel := context.WithTimeout(a.t.ctx, a.c.budget)
	defer cancel()
	return s.Open(ctx, a.o)
}

// provesSame says whether two connections lead to the same browser process, and whether the
// first can be shared: what is made over it is there for a link over it, and for another
// connection. An id would be no proof, for a service may start each connection's browser
// from the same image. A browser that refuses, or does not answer, is not shared.
func provesSame(ctx context.Context, s *Shared, witness *Mux) verdict {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	unfit := func() verdict {
		if s.isStanding() && caller.Err() == nil {
			return disproved
		}
		return unproved
	}
	link, err := s.Open(ctx, DialOptions{KeepAlive: -1})
	if err != nil {
		return unfit()
	}
	defer link.Close()
	made, err := s.call(ctx, "Target.createBrowserContext", []byte(`{"disposeOnDetach":true}`))
	mark := string(member(made, "browserContextId"))
	if err != nil || len(mark) <= len(`""`) {
		return unfit()
	}
	defer func() {
		params := append([]byte(`{"browserContextId":`), mark...)
		_ = s.command("Target.disposeBrowserContext", append(params, '}'), func(Envelope) {})
	}()
	if list, err := contexts(ctx, link); err != nil || !strings.Contains(list, mark) {
		return unfit()
	}
	list, err := contexts(ctx, witness)
	if _, isRefused := errors.AsType[*RPCError](err); err != nil && !isRefused {
		return unproved // it may have ended
	}
	if strings.Contains(list, mark) {
		return proved
	}
	return disproved
}

// contexts are the ids of the browser contexts that a link shows, as JSON.
func contexts(ctx context.Context, m *Mux) (string, error) {
	list, err := m.Do(ctx, "", "Target.getBrowserContexts", nil)
	return string(member(list, "browserContextIds")), err
}
