package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/actors/registry"
	"holdfast/actors/session"
	"holdfast/actors/session/decode"
	"holdfast/actors/supervisor"
	"holdfast/internal/backend"
	"holdfast/internal/browser"
	"holdfast/internal/egress"
	"holdfast/internal/guard"
	"holdfast/internal/logs"
	"holdfast/internal/node/command"
	"holdfast/internal/node/spans"
	"holdfast/internal/shed"
	"holdfast/internal/statedir"
	"holdfast/messages"
	"holdfast/metrics"
	"holdfast/transport"
)

// The budgets of calls (requirement A10).
const (
	startBudget  = 30 * time.Second // a cold launch and an attach
	dialBudget   = 10 * time.Second
	answerBudget = 10 * time.Second
	stopBudget   = 10 * time.Second
)

// Node supervises tasks. All methods are safe for concurrent use.
type Node struct {
	cfg       Config
	log       *slog.Logger
	sys       *guard.System
	registry  *guard.Handle
	directory *registry.Directory
	gauge     *registry.Gauge
	browsers  *browser.Manager
	metrics   *metrics.Metrics
	stats     transport.Stats
	links     *transport.Connections
	owners    session.Owners
	asking    session.Asking
	traces    *spans.Tracer // nil without tracing
	host      command.Host  // of raw CDP commands
	bounds    shed.Counts   // what was cut off, wherever
	egress    *egressState

	mu       sync.Mutex
	roll     *rand.Rand
	stopping atomic.Bool
	draining atomic.Bool
	tickets  atomic.Uint64
	pulse    pulse
	found    found
	short    atomic.Pointer[shortage] // the newest
}

// Start starts a node. Browsers that an earlier node on this state directory
// left behind are ended first.
//
// It changes nothing of the process: garbage collection, environment and signals are the
// program's.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Log = logs.Guard(cfg.Log)
	if cfg.StateDir == "" {
		dir, err := statedir.Default(os.Getenv)
		if err != nil {
			return nil, fmt.Errorf("holdfast: %w", err)
		}
		cfg.StateDir = dir
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	n := &Node{
		cfg: cfg, log: cfg.Log, directory: &registry.Directory{}, gauge: &registry.Gauge{},
		roll: rand.New(rand.NewPCG(cfg.Seed, 0)),
	}
	var err error
	if err = checkApps(cfg); err != nil {
		return nil, err
	}
	if n.egress, err = newEgress(cfg); err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	n.host = command.Host{Order: n.order, Respond: n.Respond, Boards: n.directory.All}
	n.traces = spans.New(cfg.TracerProvider)
	logs.CountSuppressed(n.log, func() { n.bounds.Hit(shed.LogLines) })
	n.links = transport.NewConnections(transport.NewRation(cfg.Dials, &n.stats), dialBudget, cfg.ShareLinks)
	n.metrics = metrics.New(metrics.Sources{
		Tasks: n.directory.List, Link: &n.stats, Bounds: &n.bounds, Pressure: n.Pressure, Cluster: cfg.Cluster,
		Browsers:  func() (int, uint64) { return n.browsers.Running() },
		Warm:      func() int { return n.browsers.Warm() },
		Mailboxes: func(each func(kind string, longest int, dropped uint64)) { n.sys.Mailboxes(each) },
	})
	n.browsers, err = browser.NewManager(browser.Options{
		Path: cfg.ChromePath, StateDir: cfg.StateDir, ExtraArgs: cfg.ChromeArgs, Transport: cfg.BrowserTransport, Env: cfg.BrowserEnv,
		Isolation: cfg.BrowserIsolation, Sandbox: cfg.BrowserSandbox, Hide: cfg.SecretFiles, Logger: cfg.Log,
		OnExit: func(how browser.Exit) { n.metrics.BrowserExited(string(how)) },
	})
	if err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	reaped, err := n.browsers.Reap(ctx)
	if err != nil {
		cfg.Log.Warn("some browsers of an earlier node could not be ended", "err", err)
	}
	if reaped > 0 {
		cfg.Log.Warn("ended browsers that an earlier node left behind", "browsers", reaped)
		n.metrics.OrphansReaped(reaped)
	}
	n.sys, err = guard.NewSystem(guard.Options{Logger: cfg.Log, Observer: n.metrics, Intercept: cfg.Intercept})
	if err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	limits := n.fit(cfg.Limits)
	n.registry = n.sys.Root(guard.Child{Kind: "registry", Key: "node", Mailbox: registry.Mailbox, CanShed: true, New: func() guard.Behavior {
		return registry.New(registry.Config{
			Limits: limits, Override: cfg.CDPURLOverride, Directory: n.directory, Supervisor: n.supervisor,
			Gauge: n.gauge, Measure: n.measure, Observer: n.metrics, Bounds: &n.bounds, Specified: n.cfg.Specified,
		})
	}})
	if r := cfg.Registerer; r != nil {
		if err := r.Register(n.metrics.Collector()); err != nil {
			return nil, errors.Join(fmt.Errorf("holdfast: register metrics: %w", err), n.Stop(ctx))
		}
	}
	n.browsers.KeepWarm(cfg.WarmBrowsers)
	return n, nil
}

// supervisor completes a task's config with what every task of the node shares.
func (n *Node) supervisor(c supervisor.Config) supervisor.Config {
	if n.cfg.OnTaskStart != nil {
		n.cfg.OnTaskStart()
	}
	n.mu.Lock()
	seed := n.roll.Uint64()
	n.mu.Unlock()
	c.Roll = func(group string) func() float64 {
		name := fnv.New64a()
		_, _ = name.Write([]byte(group)) // never fails
		return rand.New(rand.NewPCG(seed, name.Sum64())).Float64
	}
	c.Resynced = n.metrics.FramesResynced
	c.IsAudited = n.cfg.IsAudited
	c.Bounds, c.Log, c.Observe = &n.bounds, n.log, n.metrics.Observe
	c.Owners, c.Asking = &n.owners, &n.asking
	if c.Backend = n.backend(c.ID, c.Spec); n.cfg.Backend != nil {
		c.Backend = n.cfg.Backend(c.ID, c.Backend)
	}
	return c
}

// backend is where the browser of a task with this spec comes from.
func (n *Node) backend(id messages.TaskID, spec *messages.TaskSpec) backend.Backend {
	var mayDecide func() error
	if n.cfg.MayDecide != nil {
		mayDecide = n.cfg.MayDecide(id)
	}
	dial := n.dial(mayDecide)
	if spec.IsRestricted && spec.Launch == nil && n.cfg.CDPURLOverride.IsZero() {
		dial = n.dialNamed(mayDecide)
	}
	if n.traces != nil {
		dial = n.traces.Dial(id, dial)
	}
	if spec.Launch == nil {
		return backend.NewAttached(spec.CDPURL, dial)
	}
	launch := func(ctx context.Context) (backend.Browser, error) {
		o, err := n.launchOptions(spec)
		if err != nil {
			return nil, err
		}
		return n.launch(ctx, id, spec.IsRestricted, o)
	}
	if n.traces != nil {
		launch = n.traces.Launch(id, launch)
	}
	return backend.NewLaunched(launch, dial)
}

func (n *Node) dial(mayDecide func() error) backend.Dial {
	return func(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
		return n.dialBy(ctx, n.cfg.HTTPClient, r, at, mayDecide, onClose)
	}
}

// dialNamed dials a browser that a scoped caller has named. Every failure is told
// in the same words, since the node's network is not the caller's to explore.
func (n *Node) dialNamed(mayDecide func() error) backend.Dial {
	return func(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
		m, err := n.dialBy(ctx, n.egress.client, r, at, mayDecide, onClose)
		if err != nil {
			n.log.Warn("a browser that a scoped token has named could not be attached", "err", err)
			return nil, egress.ErrBrowserDenied()
		}
		return m, nil
	}
}

func (n *Node) dialBy(ctx context.Context, client *http.Client, r messages.Role, at transport.Address, mayDecide func() error, onClose func(error)) (*transport.Mux, error) {
	events := decode.Events()
	if r == messages.RoleAnchor {
		events = decode.AnchorEvents()
	}
	mux, err := n.links.Open(ctx, r, at, transport.DialOptions{
		HTTPClient: client, Events: events, Unwanted: decode.IsUnwanted, KeepAlive: n.cfg.KeepAlive, Stats: &n.stats, MayDecide: mayDecide,
		OnClose: func(err error) {
			if p, ok := errors.AsType[*transport.PanicError](err); ok {
				n.log.Error("a link's reader panicked", "reason", p.What, "stack", string(p.Stack))
			}
			onClose(err)
		},
	})
	if short, ok := errors.AsType[*transport.ShortageError](err); ok {
		n.stats.Short(short.Of).Add(1)
		n.short.Store(&shortage{time.Now(), short.Of})
	}
	return mux, err
}

// MetricsHandler serves the node's metrics in the Prometheus text format.
func (n *Node) MetricsHandler() http.Handler { return n.metrics.Handler() }

// Metrics are the node's counters, for the layers around it: each notes there
// what it lets in and what it refuses.
func (n *Node) Metrics() *metrics.Metrics { return n.metrics }
