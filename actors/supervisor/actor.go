package supervisor

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/dialog"
	"holdfast/actors/frame"
	"holdfast/actors/ledger"
	"holdfast/actors/session"
	"holdfast/internal/guard"
	"holdfast/internal/restart"
	"holdfast/messages"
	"holdfast/transport"
)

// Browser is a browser that the node launched for one task.
type Browser interface {
	Endpoint() messages.CDPURL
	// Exited is closed when the browser has ended, by itself or by Close.
	Exited() <-chan struct{}
	ExitReason() string
	// Close ends the browser and waits for it, as long as ctx allows.
	Close(ctx context.Context) error
}

// Config is what a supervisor is made of.
type Config struct {
	ID    messages.TaskID
	Spec  messages.TaskSpec // with defaults
	Board *Board
	// Registry hears [messages.TaskActive]; Gen is repeated in it.
	Registry *actor.PID
	Gen      uint64
	// Dial opens a link. It waits, honours ctx, and calls onClose once when
	// the link has ended.
	Dial func(ctx context.Context, u messages.CDPURL, onClose func(error)) (*transport.Mux, error)
	// Launch starts a browser; used only for specs that ask for it.
	Launch func(ctx context.Context, headless bool) (Browser, error)
	// Observe hears every event of the task, on the supervisor's goroutine; it
	// must not block. May be nil.
	Observe func([]messages.Event)
	// Owners is shared by the tasks of a node.
	Owners *session.Owners
	// Roll is the jitter of the backoff, in [0, 1).
	Roll func() float64
	// Shed counts console errors dropped in a storm.
	Shed *atomic.Uint64
	Log  *slog.Logger
}

// The restart policies of the two groups (A13, A14). Their intensities differ
// because they multiply.
var (
	linkPolicy = restart.Policy{
		Strategy: restart.RestForOne, MaxConsecutive: 5,
		Backoff: restart.Backoff{Base: 500 * time.Millisecond, Cap: 10 * time.Second},
	}
	dialogPolicy = restart.Policy{
		Strategy: restart.OneForOne, Intensity: 10, Period: time.Minute,
		Backoff: restart.Backoff{Base: 10 * time.Millisecond, Cap: time.Second},
	}
	sessionPolicy = restart.Policy{
		Strategy: restart.OneForOne, Intensity: 20, Period: time.Minute,
		Backoff: restart.Backoff{Base: 10 * time.Millisecond, Cap: time.Second},
	}
)

// The children's names.
const (
	childBrowser  = "browser"
	childFrame    = "frame"
	childDialog   = "dialog"
	sessionPrefix = "session/"
)

// Actor is the shell around a [Machine].
type Actor struct {
	cfg     Config
	machine *Machine
	self    *actor.PID
	log     *slog.Logger

	dialogs, link, sessions *guard.Group

	gen     messages.Generation
	mux     *transport.Mux // of the newest link
	root    *session.Port
	configs map[messages.SessionID]session.Config
	ports   map[messages.SessionID]*session.Port
	pids    map[messages.SessionID]*actor.PID // copied on write: the dialog actor has it
	views   map[messages.SessionID]Session
	orders  ledger.Ledger // with the children, by name

	browser launched
}

// launched is the browser of the task, shared with the dialling goroutine.
type launched struct {
	mu      sync.Mutex
	browser Browser
}

// New returns the behavior of a task's supervisor.
func New(cfg Config) *Actor {
	return &Actor{
		cfg: cfg, machine: NewMachine(cfg.ID, cfg.Spec), log: cfg.Log.With("task", string(cfg.ID)),
		configs: map[messages.SessionID]session.Config{},
		ports:   map[messages.SessionID]*session.Port{},
		pids:    map[messages.SessionID]*actor.PID{},
	}
}

// Init implements guard.Behavior.
func (a *Actor) Init(c *guard.Context) {
	a.self = c.Self()
	a.dialogs = a.group(guard.GroupConfig{
		Name: "dialog", Policy: dialogPolicy,
		Children: []restart.Child{{ID: childDialog, Type: restart.Permanent}},
		Factory:  a.factory, OnStart: a.started,
	})
	a.link = a.group(guard.GroupConfig{
		Name: "link", Policy: linkPolicy,
		Children: []restart.Child{
			// Transient: leaving in good order is not a failure. Every loss is.
			{ID: childBrowser, Type: restart.Transient},
			{ID: childFrame, Type: restart.Permanent},
		},
		Factory: a.factory, OnStart: a.started, OnExit: a.exited,
		OnWait: func(c *guard.Context, _ restart.Wait) {
			if a.pid(a.link, childBrowser) == nil { // else it is the forest that waits
				a.step(c, BrowserWaiting{})
			}
		},
	})
	a.sessions = a.group(guard.GroupConfig{
		Name: "sessions", Policy: sessionPolicy, Factory: a.factory, OnStart: a.started,
	})
	// The dialog actor first: a dialog during the attach is caught.
	a.dialogs.Start(c)
	a.link.Start(c)
	a.sessions.Start(c)
}

func (a *Actor) group(cfg guard.GroupConfig) *guard.Group {
	cfg.Roll = a.cfg.Roll
	var lastErr error
	onExit := cfg.OnExit
	cfg.OnExit = func(c *guard.Context, id string, ev guard.Exited) {
		if ev.Reason.Abnormal() {
			lastErr = ev.Reason.Err
		}
		if ev.Reason.Kind == guard.Panic {
			a.log.Error("an actor has panicked and is restarted", "actor", id, "reason", ev.Reason.String(), "stack", string(ev.Reason.Stack))
		}
		a.orders.Settle(id) // those it had not come to
		if onExit != nil {
			onExit(c, id, ev)
		}
	}
	cfg.OnGiveUp = func(c *guard.Context, g restart.GiveUp) {
		a.step(c, GaveUp{gaveUp(cfg.Name, g, lastErr)})
	}
	g, err := guard.NewGroup(cfg)
	if err != nil {
		panic("supervisor: " + err.Error()) // the policies above are constants
	}
	return g
}

func gaveUp(group string, g restart.GiveUp, last error) error {
	why := "no reason given"
	if last != nil {
		why = reasonOf(last)
	}
	return messages.Errorf(messages.CodeUpstreamUnavailable, "gave up on the %s after %d failures in a row; the last: %s", group, g.Failures, why)
}

// factory describes a child; it runs for every start and restart.
func (a *Actor) factory(id string) guard.Child {
	switch id {
	case childDialog:
		memory, spec := a.machine.memory, a.machine.spec
		return guard.Child{Kind: "dialog", New: func() guard.Behavior {
			return dialog.New(spec, memory, a.self)
		}}
	case childBrowser:
		a.gen++
		cfg := session.BrowserConfig{
			Gen: a.gen, Scope: a.cfg.Spec.Scope, Target: a.cfg.Spec.TargetID, Owned: a.machine.owned(),
			Elsewhere: func(t messages.TargetID) bool { return a.cfg.Owners.Elsewhere(t, a.cfg.ID) },
		}
		return guard.Child{Kind: "browser", New: func() guard.Behavior {
			return session.NewBrowser(cfg, a.connect, a.self)
		}}
	case childFrame:
		gen, dialogs := a.gen, a.pid(a.dialogs, childDialog)
		return guard.Child{Kind: "frame", New: func() guard.Behavior { return frame.New(gen, a.self, dialogs) }}
	default:
		cfg, mux, peers := a.configs[sessionID(id)], a.mux, a.peers()
		return guard.Child{Kind: "session", New: func() guard.Behavior {
			return session.NewPage(cfg, mux, peers, a.cfg.Shed)
		}}
	}
}

func sessionID(child string) messages.SessionID {
	return messages.SessionID(strings.TrimPrefix(child, sessionPrefix))
}

func (a *Actor) pid(g *guard.Group, id string) *actor.PID {
	ref, _ := g.Ref(id)
	return ref.PID
}

// ready forgives a child of the link its failures.
func (a *Actor) ready(c *guard.Context, id string) {
	if ref, ok := a.link.Ref(id); ok {
		a.link.Ready(c, id, ref.Gen)
	}
}

// openingTab is who owes the answer to an OpenTab: the page being opened is
// handed from child to child.
const openingTab = "opening"

func (a *Actor) peers() session.Peers {
	return session.Peers{Supervisor: a.self, Dialog: a.pid(a.dialogs, childDialog), Frame: a.pid(a.link, childFrame)}
}

// started tells everybody whom a new actor replaces or serves.
func (a *Actor) started(c *guard.Context, id string, ref guard.Ref) {
	switch id {
	case childDialog:
		c.Send(ref.PID, dialog.SessionsChanged{PIDs: a.pids})
		c.Send(a.pid(a.link, childFrame), frame.DialogActor{PID: ref.PID})
		a.tellPeers(c)
		a.step(c, DialogsRestarted{})
	case childBrowser:
		a.mux, a.root = nil, nil
		a.step(c, BrowserStarting{a.gen})
	case childFrame:
		a.tellPeers(c)
		a.step(c, FramesRestarted{})
	default:
		s := sessionID(id)
		again := a.pids[s] != nil
		a.setPID(c, s, ref.PID)
		a.ports[s] = session.NewPort(a.configs[s], a.mux, c.System(), ref.PID)
		if again {
			a.step(c, SessionRestarted{s})
		}
	}
}

func (a *Actor) tellPeers(c *guard.Context) {
	peers := a.peers()
	for _, pid := range a.pids {
		c.Send(pid, peers)
	}
}

// setPID notes which actor serves a session; nil means none any more.
func (a *Actor) setPID(c *guard.Context, s messages.SessionID, pid *actor.PID) {
	a.pids = maps.Clone(a.pids)
	if pid != nil {
		a.pids[s] = pid
	} else {
		delete(a.pids, s)
	}
	c.Send(a.pid(a.dialogs, childDialog), dialog.SessionsChanged{PIDs: a.pids})
}

func (a *Actor) exited(c *guard.Context, id string, ev guard.Exited) {
	if id == childBrowser {
		a.mux, a.root = nil, nil
		a.step(c, BrowserExited{ev.Reason.Err})
	}
}

// connect runs on the dialling goroutine.
func (a *Actor) connect(ctx context.Context, onClose func(error)) (*transport.Mux, error) {
	endpoint := a.cfg.Spec.CDPURL
	if a.cfg.Spec.Launch != nil {
		b, err := a.launch(ctx)
		if err != nil {
			return nil, err
		}
		endpoint = b.Endpoint()
	}
	return a.cfg.Dial(ctx, endpoint, onClose)
}

type browserGone struct{ why string }

func (a *Actor) launch(ctx context.Context) (Browser, error) {
	a.browser.mu.Lock()
	defer a.browser.mu.Unlock()
	if a.browser.browser != nil {
		return a.browser.browser, nil
	}
	b, err := a.cfg.Launch(ctx, a.cfg.Spec.IsHeadless())
	if err != nil {
		return nil, err
	}
	a.browser.browser = b
	return b, nil
}

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	if a.dialogs.Handle(c, msg) || a.link.Handle(c, msg) || a.sessions.Handle(c, msg) {
		return
	}
	switch msg := msg.(type) {
	case session.Linked:
		if msg.Gen != a.gen {
			return
		}
		a.mux, a.root = msg.Mux, msg.Port
		endpoint := a.cfg.Spec.CDPURL
		a.browser.mu.Lock()
		if b := a.browser.browser; b != nil {
			endpoint = b.Endpoint()
			if a.gen == 1 {
				a.watchBrowser(c, b)
			}
		}
		a.browser.mu.Unlock()
		a.step(c, Linked{Gen: msg.Gen, Endpoint: endpoint.String()})
	case browserGone:
		a.step(c, BrowserGone{msg.why})
	default:
		a.step(c, msg)
	}
}

// watchBrowser hears of the end of the launched browser at once: a transport
// that is lost comes back, a browser that is dead does not.
func (a *Actor) watchBrowser(c *guard.Context, b Browser) {
	c.Go("browser", func(ctx context.Context) any {
		select {
		case <-b.Exited():
			return browserGone{b.ExitReason()}
		case <-ctx.Done():
			return nil
		}
	})
}

// closeBudget bounds the end of a launched browser.
const closeBudget = 4 * time.Second

// Terminate implements guard.Behavior. The browser that was launched for the
// task ends after every link to it (A6).
func (a *Actor) Terminate(c *guard.Context, r guard.Reason) {
	a.browser.mu.Lock()
	b := a.browser.browser
	a.browser.mu.Unlock()
	if b != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeBudget)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			a.log.Error("the task's browser could not be ended", "err", err)
		}
	}
	state, err := messages.StateStopped, error(nil)
	if r.Abnormal() {
		state, err = messages.StateLost, r.Err
	}
	a.carryOut(c, a.machine.end(state, err))
	for _, page := range a.machine.owned() {
		a.cfg.Owners.Release(page, a.cfg.ID)
	}
	a.orders.SettleAll()
}

// order sends an order to a child, which owes an answer from then on; to one
// that does not live at the moment it is refused.
func (a *Actor) order(c *guard.Context, child string, to *actor.PID, msg any) {
	if to == nil {
		refuse(msg, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").With("sent", false))
		return
	}
	lost := messages.Errorf(messages.CodeUpstreamUnavailable, "the session ended before the answer came").With("sent", true)
	switch o := msg.(type) {
	case messages.AnswerDialog:
		o.Reply = a.orders.Owe(child, o.Reply, nil, lost)
		msg = o
	case messages.Navigate:
		o.Reply = a.orders.Owe(child, o.Reply, nil, lost)
		msg = o
	case messages.OpenPage:
		o.Reply = a.orders.Owe(child, o.Reply, nil, lost)
		msg = o
	case messages.ClosePage:
		o.Reply = a.orders.Owe(child, o.Reply, nil, lost)
		msg = o
	}
	c.Send(to, msg)
}

// refuse answers an order that nobody can be given.
func refuse(order any, err error) {
	switch o := order.(type) {
	case messages.AnswerDialog:
		o.Reply(nil, err)
	case messages.Navigate:
		o.Reply(nil, err)
	case messages.OpenPage:
		o.Reply(nil, err)
	case messages.ClosePage:
		o.Reply(nil, err)
	}
}

func (a *Actor) step(c *guard.Context, in any) { a.carryOut(c, a.machine.Step(c.Now(), in)) }

func (a *Actor) carryOut(c *guard.Context, effects []Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case Publish:
			a.publish(e.Events)
		case FlushSoon:
			c.Send(a.self, Flush{})
		case SpawnSession:
			a.configs[e.Config.Session] = e.Config
			a.sessions.Add(c, restart.Child{ID: sessionPrefix + string(e.Config.Session), Type: restart.Transient})
		case StopSession:
			a.sessions.Remove(c, sessionPrefix+string(e.Session))
			delete(a.configs, e.Session)
			delete(a.ports, e.Session)
			a.setPID(c, e.Session, nil)
		case ToDialog:
			a.order(c, childDialog, a.pid(a.dialogs, childDialog), e.Msg)
		case ToFrame:
			c.Send(a.pid(a.link, childFrame), e.Msg)
		case ToBrowser:
			a.order(c, childBrowser, a.pid(a.link, childBrowser), e.Msg)
		case ToSession:
			child := sessionPrefix + string(e.Session)
			a.order(c, child, a.pid(a.sessions, child), e.Msg)
		case OpenTab:
			sys, self := c.System(), a.self
			reply := a.orders.Owe(openingTab, e.Reply, nil, ended())
			a.order(c, childBrowser, a.pid(a.link, childBrowser), messages.OpenPage{NewWindow: e.NewWindow, Reply: func(v any, err error) {
				target, _ := v.(messages.TargetID)
				sys.Send(self, PageOpened{Target: target, Err: err, URL: e.URL, Reply: reply})
			}})
		case Ready:
			a.ready(c, childBrowser)
			a.ready(c, childFrame)
		case FramesStable:
			a.ready(c, childFrame)
		case FirstActive:
			c.Send(a.cfg.Registry, messages.TaskActive{ID: a.cfg.ID, Gen: a.cfg.Gen})
		case Arm:
			c.After(e.Name, e.After, TimerFired{e.Name})
		case Answer:
			e.To(e.Value, e.Err)
		case Finish:
			if a.link != nil {
				a.link.Shutdown(c) // what is over is not dialled again
			}
			if e.Err != nil {
				c.Exit(guard.Fail(e.Err))
			} else {
				c.Exit(guard.Reason{})
			}
		}
	}
}

func (a *Actor) publish(events []messages.Event) {
	snap := a.machine.Snapshot()
	v := &View{Snapshot: snap, Scope: a.cfg.Spec.Scope, Launched: a.cfg.Spec.Launch != nil}
	if snap.Active {
		if a.views == nil || !onlyConsole(events) {
			a.views = a.machine.sessionViews()
			for s, view := range a.views {
				view.Port = a.ports[s]
				a.views[s] = view
			}
		}
		v.Supervisor, v.Browser, v.Sessions, v.Trees = a.self, a.root, a.views, a.machine.trees
	}
	a.cfg.Board.publish(v, events)
	for _, e := range events {
		switch e.Type {
		case messages.EventTaskState:
			a.logState(e)
		case messages.EventDialogClosed:
			if e.Closed.ClosedBy == messages.ClosedByWatchdog {
				a.log.Warn("nobody answered a dialog in time, it was dismissed", "dialog", e.Closed.ID, "type", e.Closed.Type, "page", e.Closed.TargetID)
			}
		case messages.EventPageOpened:
			a.cfg.Owners.Claim(e.Page.TargetID, a.cfg.ID)
		case messages.EventPageClosed:
			a.cfg.Owners.Release(e.Page.TargetID, a.cfg.ID)
		}
	}
	if a.cfg.Observe != nil {
		a.cfg.Observe(events)
	}
}

func onlyConsole(events []messages.Event) bool {
	for _, e := range events {
		if e.Type != messages.EventConsoleError {
			return false
		}
	}
	return true
}

// logState writes the one line per state change that operators read.
func (a *Actor) logState(e messages.Event) {
	level := slog.LevelInfo
	switch e.State {
	case messages.StateRecovering, messages.StateWedged:
		level = slog.LevelWarn
	case messages.StateLost:
		level = slog.LevelError
	}
	attrs := []any{"version", e.Version}
	if e.Reason != "" {
		attrs = append(attrs, "reason", e.Reason)
	}
	a.log.Log(context.Background(), level, "task is "+string(e.State), attrs...)
}
