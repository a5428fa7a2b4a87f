package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"holdfast/messages"
)

// Options configure a [Manager].
type Options struct {
	Path      string       // the browser's binary; empty: see [Find]
	StateDir  string       // leases and profiles; created with mode 0700; may be shared by nodes of one machine
	ExtraArgs []string     // the operator's flags for every browser
	Transport Transport    // how browsers are driven; "" is TransportPipe
	Isolation Isolation    // how browsers are kept from the node's files; "" is IsolationAuto
	Sandbox   Sandbox      // whether browsers may run without Chromium's own sandbox; "" is SandboxAuto
	Hide      []string     // files of secrets outside StateDir, which no browser may read
	Env       []string     // names of variables a browser gets besides the usual ones; NAME* is a prefix
	Logger    *slog.Logger // nil: none
	OnExit    func(Exit)   // is called at every browser's end; must not block; may be nil
}

// Manager launches browsers and answers for their end. Its methods are safe
// for concurrent use.
type Manager struct {
	options Options
	store   store
	owner   identity
	node    nodeLock
	boot    bootIdentity
	log     *slog.Logger

	closing context.Context // done when Close has begun
	cancel  context.CancelFunc

	mu        sync.Mutex
	isClosed  bool
	processes map[*Process]struct{}
	users     map[int]bool // of browsers that run
	failed    []error      // why the stronger ways of isolation do not work here
	resident  resident
	warm      warm
	launching sync.WaitGroup // Add only under mu while !closed

	sandbox    sync.Once
	canSandbox bool // Chromium's own sandbox works
}

// NewManager prepares the state directory. It needs no browser to be
// installed: a node that only attaches to URLs runs without one.
func NewManager(o Options) (*Manager, error) {
	if err := errors.Join(o.Transport.Validate(), o.Isolation.Validate(), o.Sandbox.Validate()); err != nil {
		return nil, err
	}
	s, warning, err := openStore(o.StateDir)
	if err != nil {
		return nil, err
	}
	owner, err := self()
	if err != nil {
		return nil, fmt.Errorf("browser: who am I: %w", err)
	}
	b, err := boot()
	if err != nil {
		return nil, fmt.Errorf("browser: which boot is this: %w", err)
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if warning != "" {
		log.Warn("the state directory is not safe", "reason", warning)
	}
	node, err := s.lockNode()
	if err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	if node.id == "" {
		log.Warn("the file system of the state directory has no locks: browsers of a container that died are not reaped")
	}
	m := &Manager{node: node, options: o, store: s, owner: owner, boot: b, log: log, processes: map[*Process]struct{}{}, users: map[int]bool{}, warm: warm{taken: make(chan struct{}, 1)}}
	m.closing, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// LaunchOptions say what kind of browser is wanted.
type LaunchOptions struct {
	IsHeadless bool // new headless mode; without it the browser needs a display
	// Proxy, HOST:PORT, is the HTTP proxy through which all connections of the
	// browser's pages go, to loopback too; "" is none.
	Proxy string
	// App is an application made from Chromium to run in place of the browser; "" is none. It
	// gets Args, and has a port, since Electron has no pipe.
	App  string
	Args []string

	transport Transport // the manager's
}

// LaunchBudget bounds a launch. A cold start takes 0.3 to 0.4 s (chromium fact M16), a
// loaded machine many times that. A caller that waits for a task needs more, or never hears
// the last words of a browser that hangs.
const LaunchBudget = 20 * time.Second

// Launch returns a browser in a process group and with a profile of its own: one that is ready
// (see KeepWarm), or one that it starts. It returns once the browser has answered over its pipe, or has said where it listens. Errors are
// *messages.Error with code upstream_unavailable; a browser that failed to start is ended
// and its profile removed before Launch returns.
func (m *Manager) Launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, unavailable("no browser was launched: %v", err)
	}
	if p := m.warm.take(o); p != nil && m.closing.Err() == nil {
		return p, nil
	}
	return m.launch(ctx, o)
}

// launch starts a browser.
func (m *Manager) launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, LaunchBudget)
	defer cancel()
	m.mu.Lock()
	if m.isClosed {
		m.mu.Unlock()
		return nil, unavailable("no browser was launched: the node is closing")
	}
	m.launching.Add(1)
	m.mu.Unlock()
	defer m.launching.Done()
	defer context.AfterFunc(m.closing, cancel)()

	path, err := o.App, error(nil)
	o.transport = TransportPort
	if path == "" {
		o.transport = m.options.Transport
		path, err = Find(m.options.Path)
	}
	if err != nil {
		m.exited(ExitLaunch)
		return nil, unavailable("no browser was launched: %v", err)
	}
	p, err := m.startIsolated(path, o)
	if err != nil {
		m.exited(ExitLaunch)
		return nil, unavailable("no browser was launched: %v", err)
	}
	listening := p.stderr.endpoint
	if p.pipe != nil {
		listening = nil
	}
	select {
	case p.endpoint = <-listening:
		p.becomeReady()
		m.launched(p, p.endpoint.String())
		return p, nil
	case err := <-p.greeted:
		if err != nil {
			p.awaitEnd(ctx)
			return nil, m.abandon(ctx, p, fmt.Sprintf("the browser did not answer over its pipe: %v", err))
		}
		p.becomeReady()
		m.launched(p, "pipe:")
		return p, nil
	case <-p.exited:
		<-p.cleaned
		return nil, p.failed("the browser ended before it was ready: " + p.ExitReason())
	case <-ctx.Done():
		return nil, m.abandon(ctx, p, "the browser was not ready in time")
	}
}

// startIsolated starts a browser as well isolated as it can be and has to be.
func (m *Manager) startIsolated(path string, o LaunchOptions) (*Process, error) {
	for {
		m.mu.Lock()
		failed := slices.Clone(m.failed)
		m.mu.Unlock()
		p, err := m.start(path, o, failed)
		if !errors.Is(err, errIsolation) || len(failed) == isolationWays {
			return p, err
		}
		m.mu.Lock()
		if len(m.failed) == len(failed) { // else another launch has found out as well
			m.failed = append(m.failed, err)
		}
		m.mu.Unlock()
	}
}

// isolationWays is how many ways there are to isolate a browser: namespaces, and rules
// of the kernel.
const isolationWays = 2

// launched says in the log what runs, and what keeps it from the node and the system.
func (m *Manager) launched(p *Process, endpoint string) {
	how, lacks := p.Seclusion()
	m.log.Info("browser launched", "pid", p.PID(), "endpoint", endpoint, "isolation", how)
	if how == SecludedNone {
		m.log.Warn("the browser can read the node's files, its token among them", "pid", p.PID(), "reason", lacks)
	}
	if !p.HasSandbox() {
		m.log.Warn("the browser runs without its sandbox: a page that breaks out of its renderer has the browser's user", "pid", p.PID(), "user", p.user())
	}
}

// awaitEnd waits a moment for the end of a browser that has closed its pipe: it has
// last words, and a status.
func (p *Process) awaitEnd(ctx context.Context) {
	moment := time.NewTimer(time.Second)
	defer moment.Stop()
	select {
	case <-p.exited:
	case <-moment.C:
	case <-ctx.Done():
	}
}

// abandon ends a browser whose launch has failed, and says so. It also waits where ctx
// has ended: the end of a killed browser needs little.
func (m *Manager) abandon(ctx context.Context, p *Process, why string) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*killGrace)
	defer cancel()
	select {
	case <-p.exited: // by itself, with a reason of its own
		why = "the browser ended before it was ready: " + p.ExitReason()
	default:
	}
	_ = p.kill(late) // what it left behind is in the log
	return p.failed(why)
}

// Close ends every browser this manager launched and refuses further launches. When ctx
// ends first the browsers are killed and Close returns without waiting for their clean-up,
// which continues.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.isClosed = true
	m.mu.Unlock()
	m.cancel()
	// A launch in flight ends its own browser, or has returned it by then.
	launched := make(chan struct{})
	go func() {
		m.launching.Wait()
		close(launched)
	}()
	select {
	case <-launched:
	case <-ctx.Done():
	}
	m.mu.Lock()
	running := slices.Collect(maps.Keys(m.processes))
	m.mu.Unlock()
	results := make(chan error, len(running))
	for _, p := range running {
		go func() { results <- p.Close(ctx) }()
	}
	var errs []error
	for range running {
		errs = append(errs, <-results)
	}
	if ctx.Err() == nil {
		errs = append(errs, m.node.release(m.store))
	}
	return errors.Join(errs...)
}

// Kill ends the browsers this manager launched at once, and refuses further
// launches; ctx bounds the wait for their end alone. It is for a node that has
// no time left, and may be called while Close runs.
func (m *Manager) Kill(ctx context.Context) error {
	m.mu.Lock()
	m.isClosed = true
	running := slices.Collect(maps.Keys(m.processes))
	m.mu.Unlock()
	m.cancel()
	for _, p := range running {
		p.mu.Lock()
		p.isAsked = true
		p.killLocked()
		p.mu.Unlock()
	}
	var errs []error
	for _, p := range running {
		errs = append(errs, p.kill(ctx))
	}
	if ctx.Err() == nil {
		errs = append(errs, m.node.release(m.store))
	}
	return errors.Join(errs...)
}

func unavailable(format string, args ...any) *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, format, args...)
}
