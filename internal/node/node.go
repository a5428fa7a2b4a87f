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
	"holdfast/actors/supervisor/view"
	"holdfast/internal/backend"
	"holdfast/internal/browser"
	"holdfast/internal/egress"
	"holdfast/internal/guard"
	"holdfast/internal/logs"
	"holdfast/internal/shed"
	"holdfast/internal/statedir"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/metrics"
	"holdfast/transport"
)

// The budgets of calls (requirement A10).
const (
	startBudget  = 30 * time.Second // a cold launch and an attach
	dialBudget   = 10 * time.Second
	answerBudget = 10 * time.Second
	stopBudget   = 10 * time.Second
	lastAnswers  = 250 * time.Millisecond // of a task that has ended
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
	ration    *transport.Ration
	owners    session.Owners
	asking    session.Asking
	traces    *traces     // nil without tracing
	bounds    shed.Counts // what was cut off, wherever
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
	if n.egress, err = newEgress(cfg); err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	n.traces = newTraces(cfg.TracerProvider)
	logs.CountSuppressed(n.log, func() { n.bounds.Hit(shed.LogLines) })
	n.ration = transport.NewRation(cfg.Dials, &n.stats)
	n.metrics = metrics.New(metrics.Sources{
		Tasks: n.directory.List, Link: &n.stats, Bounds: &n.bounds, Pressure: n.Pressure,
		Browsers:  func() (int, uint64) { return n.browsers.Running() },
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
	n.registry = n.sys.Root(guard.Child{Kind: "registry", Key: "node", Mailbox: registry.Mailbox, Sheds: true, New: func() guard.Behavior {
		return registry.New(registry.Config{
			Limits: limits, Override: cfg.CDPURLOverride, Directory: n.directory, Supervisor: n.supervisor,
			Gauge: n.gauge, Measure: n.measure, Observer: n.metrics, Bounds: &n.bounds,
		})
	}})
	if r := cfg.Registerer; r != nil {
		if err := r.Register(n.metrics.Collector()); err != nil {
			return nil, errors.Join(fmt.Errorf("holdfast: register metrics: %w", err), n.Stop(ctx))
		}
	}
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
	c.Bounds, c.Log, c.Observe = &n.bounds, n.log, n.metrics.Observe
	c.Owners, c.Asking = &n.owners, &n.asking
	if c.Backend = n.backend(c.ID, c.Spec); n.cfg.Backend != nil {
		c.Backend = n.cfg.Backend(c.ID, c.Backend)
	}
	return c
}

// backend is where the browser of a task with this spec comes from.
func (n *Node) backend(id messages.TaskID, spec *messages.TaskSpec) backend.Backend {
	dial := n.dial
	if spec.IsRestricted && spec.Launch == nil && n.cfg.CDPURLOverride.IsZero() {
		dial = n.dialNamed
	}
	if n.traces != nil {
		dial = n.traces.dial(id, dial)
	}
	if spec.Launch == nil {
		return backend.NewAttached(spec.CDPURL, dial)
	}
	launch := func(ctx context.Context) (backend.Browser, error) {
		return n.launch(ctx, id, spec.IsRestricted, browser.LaunchOptions{Headless: spec.IsHeadless()})
	}
	if n.traces != nil {
		launch = n.traces.launch(id, launch)
	}
	return backend.NewLaunched(launch, dial)
}

func (n *Node) dial(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
	return n.dialBy(ctx, n.cfg.HTTPClient, r, at, onClose)
}

// dialNamed dials a browser that a scoped caller has named. Every failure is told
// in the same words, since the node's network is not the caller's to explore.
func (n *Node) dialNamed(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
	m, err := n.dialBy(ctx, n.egress.client, r, at, onClose)
	if err != nil {
		n.log.Warn("a browser that a scoped token has named could not be attached", "err", err)
		return nil, egress.ErrBrowserDenied()
	}
	return m, nil
}

func (n *Node) dialBy(ctx context.Context, client *http.Client, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
	done, err := n.ration.Wait(ctx, r, at) // queueing time does not count against the dial timeout
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, dialBudget)
	defer cancel()
	events := decode.Events()
	if r == messages.RoleAnchor {
		events = decode.AnchorEvents()
	}
	mux, err := transport.Open(ctx, at, transport.DialOptions{
		HTTPClient: client, Events: events, Unwanted: decode.Unwanted, KeepAlive: n.cfg.KeepAlive, Stats: &n.stats,
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

// Tasks returns the tasks that run or were lost, by id. It never waits.
func (n *Node) Tasks() []*messages.Snapshot { return n.directory.List() }

// Renew puts off the task's idle timeout. It never waits.
func (n *Node) Renew(id messages.TaskID) error {
	b := n.directory.Board(id)
	if b == nil {
		return notFound(id)
	}
	b.Touch(time.Now())
	return nil
}

// StopTask ends a task and waits until its browser is released. Without such a task it
// returns no error.
func (n *Node) StopTask(ctx context.Context, id messages.TaskID) error {
	if _, err := messages.ParseTaskID(string(id)); err != nil {
		return err
	}
	return n.stopTask(ctx, mail.StopTask{ID: id, Outcome: messages.OutcomeStopped})
}

func (n *Node) stopTask(ctx context.Context, o mail.StopTask) error {
	ctx, cancel := context.WithTimeout(ctx, stopBudget)
	defer cancel()
	_, err := n.ask(ctx, nil, func(r mail.Call) {
		o.Reply = r
		n.sys.Send(n.registry.PID(), o)
	})
	return err
}

// reasonStopping is what the last event of a task says that ends with its node.
const reasonStopping = "the node is stopping"

// Stop ends every task, every browser the node launched, and the node. It may
// be called more than once.
func (n *Node) Stop(ctx context.Context) error {
	n.stopping.Store(true)
	n.BeginDrain() // or the place of each task that ends would be given to the next
	var wg sync.WaitGroup
	for _, t := range n.directory.List() {
		if t.Active {
			stop := mail.StopTask{ID: t.TaskID, Reason: reasonStopping, Outcome: messages.OutcomeDrained}
			wg.Go(func() { _ = n.stopTask(ctx, stop) }) // what is left is ended below
		}
	}
	wg.Wait()
	_, err := n.registry.Stop(ctx)
	if r := n.cfg.Registerer; r != nil {
		r.Unregister(n.metrics.Collector())
	}
	err = errors.Join(err, n.browsers.Close(ctx), n.sys.Close(ctx))
	return errors.Join(err, n.egress.wait(ctx))
}

// Abort kills every browser the node launched, at once; ctx bounds the wait for
// their end alone. It is for a node whose process ends now, and may be called
// while Stop runs.
func (n *Node) Abort(ctx context.Context) error {
	n.stopping.Store(true)
	return n.browsers.Kill(ctx)
}

// ask gives an order and waits for its answer, for ctx, or for the end of the
// task, where ended is not nil.
func (n *Node) ask(ctx context.Context, ended <-chan struct{}, order func(mail.Call)) (any, error) {
	answers := make(answers, 1)
	call := n.sys.Calls().Open(answers.give)
	defer n.sys.Calls().Close(call)
	order(call)
	return n.await(ctx, ended, answers)
}

// answers is where the one answer to an order comes.
type answers chan answer

type answer struct {
	value any
	err   error
}

func (a answers) give(v any, err error) { a <- answer{v, err} }

func (n *Node) await(ctx context.Context, ended <-chan struct{}, answers answers) (any, error) {
	select {
	case a := <-answers:
		return a.value, a.err
	case <-n.registry.Exited():
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the node has stopped").WithSent(messages.SentYes)
	case <-ended:
		// Its last state is published before its last answers are given, and one of
		// them may say that the end was what was asked for.
		last := time.NewTimer(lastAnswers)
		defer last.Stop()
		select {
		case a := <-answers:
			return a.value, a.err
		case <-last.C:
			return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").WithSent(messages.SentYes)
		}
	case <-ctx.Done():
		return nil, messages.Errorf(messages.CodeDeadline, "no answer in time").WithSent(messages.SentYes)
	}
}

// living returns the board and the newest view of a task that is supervised.
func (n *Node) living(id messages.TaskID) (*view.Board, *view.View, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, nil, notFound(id)
	}
	v := b.View()
	switch {
	case v.Snapshot.State == messages.StateLost:
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "task %s was lost (%s); %s", id, v.Snapshot.Reason, startHint(id)).
			With("state", v.Snapshot.State).WithSent(messages.SentNo).Final().With("task_id", id).WithHint(startHint(id))
	case !v.Snapshot.Active && n.stopping.Load():
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the node is stopping").WithSent(messages.SentNo)
	case !v.Snapshot.Active:
		return nil, nil, messages.Errorf(messages.CodeTaskNotFound, "task %s has stopped; %s", id, startHint(id)).With("task_id", id).WithHint(startHint(id))
	case v.Supervisor == nil:
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "task %s is starting", id).WithSent(messages.SentNo)
	}
	return b, v, nil
}

func notFound(id messages.TaskID) error {
	return messages.Errorf(messages.CodeTaskNotFound, "there is no task %s; %s", id, startHint(id)).With("task_id", id).WithHint(startHint(id))
}

// startHint says how a task that does not run is started.
func startHint(id messages.TaskID) string { return "PUT /v1/tasks/" + string(id) + " starts it" }
