package node

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/backend"
	"holdfast/internal/browser"
	"holdfast/internal/egress"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
	"holdfast/transport"
)

// Egress says where scoped callers ([messages.WithCaller]) and their tasks' pages
// may go (requirement X15). The zero value allows public addresses by http and
// https. Callers without a scope are not bounded by it.
type Egress struct {
	// Schemes are those of addresses that may be opened; nil is
	// http, https, about (about:blank alone), data and blob.
	Schemes []string
	// Allow are host names, "*.NAME" for all below it, IP addresses and CIDR
	// prefixes that may be reached though they are not public.
	Allow []string
	// Deny are hosts, written the same way, that may not be reached.
	Deny []string
	// CDPHosts are the hosts that a scoped caller's cdp_url may name, written the
	// same way; a name may have a port. Nil is none.
	CDPHosts []string
	// MustProxyAll gives every launched browser the proxy that enforces this, and not
	// those alone that a scoped caller has launched. It lets everything through
	// until the first scoped caller drives the task.
	MustProxyAll bool
}

func (e Egress) policy() (*egress.Policy, error) {
	return egress.Parse(egress.Rules{Schemes: e.Schemes, Allow: e.Allow, Deny: e.Deny, CDPHosts: e.CDPHosts})
}

// egressState is what a node knows of its tasks' ways out.
type egressState struct {
	policy  *egress.Policy
	client  *http.Client // for browsers that scoped callers have named
	mu      sync.Mutex
	proxies map[messages.TaskID]*egress.Proxy // of launched browsers
	open    sync.WaitGroup
}

func newEgress(cfg Config) (*egressState, error) {
	p, err := cfg.Egress.policy()
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	s := &egressState{policy: p, client: cfg.HTTPClient, proxies: map[messages.TaskID]*egress.Proxy{}}
	if s.client == nil {
		s.client = transport.NewClient(p.DialBrowser)
	}
	return s, nil
}

// proxy is the proxy of the task's launched browser, nil where it has none.
func (s *egressState) proxy(id messages.TaskID) *egress.Proxy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proxies[id]
}

// wait returns once the proxies have ended, which end with their browsers.
func (s *egressState) wait(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		s.open.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// launch starts a browser for the task, behind a proxy where the policy has to hold.
func (n *Node) launch(ctx context.Context, id messages.TaskID, isRestricted bool, o browser.LaunchOptions) (backend.Browser, error) {
	if !isRestricted && !n.cfg.Egress.MustProxyAll {
		return started(n.browsers.Launch(ctx, o))
	}
	x, err := egress.NewProxy(n.egress.policy, isRestricted, n.log.With("task", string(id)))
	if err != nil {
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "no browser was launched: %v", err)
	}
	o.Proxy = x.Address()
	p, err := n.browsers.Launch(ctx, o)
	if err != nil {
		x.Close()
		return nil, err
	}
	n.egress.mu.Lock()
	n.egress.proxies[id] = x
	n.egress.mu.Unlock()
	n.egress.open.Go(func() {
		<-p.Exited()
		x.Close()
		n.egress.mu.Lock()
		defer n.egress.mu.Unlock()
		if n.egress.proxies[id] == x {
			delete(n.egress.proxies, id)
		}
	})
	return p, nil
}

// started is a launch's outcome: a browser that did not start is nil.
func started(p *browser.Process, err error) (backend.Browser, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// restrict has the policy hold for a task that a scoped caller drives.
func (n *Node) restrict(ctx context.Context, id messages.TaskID) {
	if !messages.CallerOf(ctx).IsScoped {
		return
	}
	if x := n.egress.proxy(id); x != nil {
		x.Restrict()
	}
}

// checkStart refuses a browser that the caller may not name, before anything that
// runs is stopped for it.
func (n *Node) checkStart(ctx context.Context, spec messages.TaskSpec) error {
	if spec.App() != "" {
		return n.checkApp(ctx, spec.App())
	}
	if !messages.CallerOf(ctx).IsScoped || spec.CDPURL.IsZero() || !n.cfg.CDPURLOverride.IsZero() {
		return nil
	}
	u, err := url.Parse(spec.CDPURL.Reveal())
	if err == nil && n.egress.policy.AllowsBrowser(u.Hostname(), portOf(u)) {
		return nil
	}
	return messages.Errorf(messages.CodeForbidden, "this token may not name this browser by cdp_url; the node's operator allows hosts with egress.cdp_hosts")
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https" || u.Scheme == "wss":
		return "443"
	}
	return "80"
}

// checkAddress refuses an address that the caller, or the scoped caller who has
// started the task, may not open.
func (n *Node) checkAddress(ctx context.Context, id messages.TaskID, v *view.View, address string) error {
	if !messages.CallerOf(ctx).IsScoped && !v.IsRestricted {
		return nil
	}
	return n.egress.policy.CheckPage(ctx, address, n.egress.proxy(id) != nil)
}

// opensURL are the commands whose parameter url is loaded.
var opensURL = map[string]bool{
	"Page.navigate": true, "Target.createTarget": true, "Network.loadNetworkResource": true, "Fetch.continueRequest": true,
}

// checkCommand refuses a raw command that would lead around the policy.
func (n *Node) checkCommand(ctx context.Context, id messages.TaskID, v *view.View, r messages.CDPRequest) error {
	if !messages.CallerOf(ctx).IsScoped && !v.IsRestricted {
		return nil
	}
	opens, isContext := opensURL[r.Method], r.Method == "Target.createBrowserContext"
	if !opens && !isContext {
		return nil
	}
	p, err := rawcdp.ReadParams(r.Params)
	switch {
	case err != nil:
		return err
	case isContext && (p.Has("proxyServer") || p.Has("proxyBypassList")):
		return messages.Errorf(messages.CodeForbidden, "a proxy is not this token's to choose: the node's egress policy decides")
	case isContext || !p.Has("url"):
		return nil
	case p.ID("url") == "":
		return messages.Errorf(messages.CodeInvalidArgument, "params: url must be a text")
	}
	return n.checkAddress(ctx, id, v, p.ID("url"))
}
