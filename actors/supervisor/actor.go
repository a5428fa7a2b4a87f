package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/ledger"
	"holdfast/actors/session"
	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/wanted"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/actors/supervisor/task"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/backend"
	"holdfast/internal/guard"
	"holdfast/internal/restart"
	"holdfast/internal/shed"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// Config is what a supervisor is made of.
type Config struct {
	ID    messages.TaskID
	Spec  *messages.TaskSpec // with defaults; never written
	Board *view.Board
	// Registry hears [mail.TaskActive] and [mail.TaskEnding]; Gen is repeated in them.
	Registry *actor.PID
	Gen      uint64
	// Resumed, where not nil, is a task that continues here after another node.
	Resumed *mail.Resumed
	// Backend opens the task's links. One that is a [backend.Process] ends with the task.
	Backend backend.Backend
	// Observe hears every event of the task but console errors, on the supervisor's
	// goroutine; it must not block. May be nil.
	Observe func([]messages.Event)
	// Resynced hears that the frames are learned anew on a link that stands: their
	// actor has failed. May be nil.
	Resynced func()
	// Owners is shared by the tasks of a node.
	Owners *session.Owners
	// Asking is shared by them as well.
	Asking *session.Asking
	// Roll returns a stream of jitter in [0, 1), one for each group of children:
	// one group's failures do not change another's backoff.
	Roll func(group string) func() float64
	// IsAudited has the answers that no caller gave logged as information, and not only at debug
	// level.
	IsAudited bool
	// Bounds counts what is cut off.
	Bounds *shed.Counts
	Log    *slog.Logger
}

// Actor is the shell around a [Machine].
type Actor struct {
	cfg     Config
	machine *task.Machine
	self    *actor.PID
	log     *slog.Logger
	// state is what the log was told last, and since when that is so.
	state      messages.TaskState
	stateSince time.Time
	linkErr    error // why the primary link ended last

	dialogs, link, sessions *guard.Group
	anchor                  *guard.Group // nil while there is none

	dialogMail inOrder

	gen     mail.Generation
	anchors mail.Generation // started so far
	mux     *transport.Mux  // of the newest link
	root    *session.Port

	anchorRoot *session.Port

	ports    smallmap.Map[messages.SessionID, *session.Port]
	pids     smallmap.Map[messages.SessionID, *actor.PID] // copied on write: the dialog actor has it
	views    smallmap.Map[messages.SessionID, view.Session]
	isViewed bool          // views are of the newest state, or of console errors before
	isHidden bool          // a standby: another node has the task
	orders   ledger.Ledger // with the children, by name
	wanted   *wanted.Store // outlives sessions and links
	remember func() []byte // what it holds

	downloadDir string         // known with the first link
	spread      func() float64 // of timers, in [0, 1)
}

// New returns the behavior of a task's supervisor.
func New(cfg Config) *Actor {
	a := &Actor{
		cfg: cfg, machine: task.New(cfg.ID, cfg.Spec), log: cfg.Log.With("task", string(cfg.ID)),
	}
	a.machine.BridgeSecret = newBridgeSecret()
	a.machine.SetCaps(cfg.Backend.Caps())
	a.spread = cfg.Roll("timers")
	return a
}

func newBridgeSecret() bridge.Secret {
	var b [bridge.SecretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return bridge.NewSecret(hex.EncodeToString(b[:]))
}

// Init implements guard.Behavior.
func (a *Actor) Init(c *guard.Context) {
	a.self = c.Self()
	self, sys := a.self, c.System()
	a.orders.Calls = sys.Calls()
	a.wanted = wanted.New(func() {
		a.cfg.Bounds.Hit(shed.Wanted)
		sys.Send(self, step.WantedFull{})
	})
	if a.cfg.Resumed != nil {
		a.resume(c, *a.cfg.Resumed)
	}
	a.remember = a.wanted.Remember
	a.cfg.Owners.Watch(a.cfg.ID, func(page messages.TargetID) {
		if a.wanted.HasCommon(page) {
			sys.Send(self, link.PageLeft{Page: page})
		}
	})
	a.dialogs = a.group(guard.GroupConfig{
		Name: "dialog", Policy: dialogPolicy,
		Children: []restart.Child{{ID: childDialog, Type: restart.Permanent}},
		Factory:  a.factory, OnStart: a.started,
	})
	a.link = a.group(guard.GroupConfig{
		Name: "link", Policy: linkPolicy,
		Children: []restart.Child{
			// Transient: leaving in good order is not a failure. Every loss is.
			{ID: childBrowser, Type: restart.Transient, Patience: a.cfg.Spec.GiveUpAfter()},
			{ID: childFrame, Type: restart.Permanent},
		},
		Factory: a.factory, OnStart: a.started, OnExit: a.exited, Excused: isExcused,
		OnWait: func(c *guard.Context, _ restart.Wait) {
			if a.pid(a.link, childBrowser) == nil { // else it is the forest that waits
				a.step(c, step.BrowserWaiting{})
			}
		},
	})
	a.sessions = a.group(guard.GroupConfig{
		Name: "sessions", Policy: sessionPolicy, Factory: a.factory, OnStart: a.started, OnExit: a.exited,
	})
	if !a.isHidden {
		a.logState(messages.Event{State: messages.StateStarting}, a.machine.Snapshot())
	}
	// The dialog actor first: a dialog during the attach is caught.
	a.dialogs.Start(c)
	if !a.isHidden {
		a.link.Start(c)
	}
	a.sessions.Start(c)
	if a.isHidden {
		a.carryOut(c, a.machine.StandBy(c.Now()))
	}
}

// resume has the machine go on after another node.
func (a *Actor) resume(c *guard.Context, r mail.Resumed) {
	if a.isHidden = r.IsStandby; !a.isHidden {
		a.recall(r.Memory)
	}
	a.machine.Resume(c.Now(), r)
}

// recall takes up what another node had noted of the task.
func (a *Actor) recall(m mail.TaskMemory) {
	if len(m.Wanted) > 0 {
		if err := a.wanted.Recall(m.Wanted); err != nil {
			a.log.Warn("what agents had set in pages is lost with the node that had the task", "err", err)
		}
	}
	for _, p := range m.Pages {
		a.cfg.Owners.Claim(p.TargetID, a.cfg.ID)
	}
	if m.Context != "" {
		a.cfg.Owners.ClaimContext(m.Context, a.cfg.ID)
	}
}

// Promote has a standby take its task over, and show it on the board from here on. The reply is nil.
type Promote struct {
	Memory mail.TaskMemory
	Board  *view.Board
	Reply  mail.Call
}

// ReplyTo is the call that waits for the answer.
func (p Promote) ReplyTo() mail.Call { return p.Reply }

func (a *Actor) promote(c *guard.Context, p Promote) {
	a.isHidden, a.cfg.Board = false, p.Board
	a.recall(p.Memory)
	a.carryOut(c, a.machine.Promote(c.Now(), p.Memory))
	c.Answer(p.Reply, nil, nil)
}

// openingTab is who owes the answer to an OpenTab: the page being opened is
// handed from child to child.
const openingTab = "opening"

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	if a.dialogs.Handle(c, msg) || a.link.Handle(c, msg) || a.sessions.Handle(c, msg) || a.anchor != nil && a.anchor.Handle(c, msg) {
		return
	}
	switch msg := msg.(type) {
	case session.Linked:
		if msg.Role == messages.RoleAnchor {
			a.anchorLinked(c, msg)
			return
		}
		if msg.Gen != a.gen {
			return
		}
		a.mux, a.root = msg.Mux, msg.Port
		if p := a.process(); p != nil && a.gen == 1 {
			a.watchBrowser(c, p)
		}
		a.downloadDir = a.downloads()
		a.step(c, step.Linked{Gen: msg.Gen, Endpoint: a.cfg.Backend.Identity(), Browser: msg.Mux.Browser()})
	case session.RestoreRefused:
		// Not what the browser says of it: that may repeat what was to be set.
		a.log.Warn("the browser did not take again what an agent had set", "target", msg.Target, "method", msg.Method, "code", messages.CodeOf(msg.Err))
	case link.PageLeft:
		a.pageLeft(c, msg)
	case renewDue:
		a.renew(c, msg)
	case mail.PageUncovered:
		a.step(c, msg)
		a.pageLeft(c, link.PageLeft{Page: msg.Page})
	case effect.TooMany:
		a.tooMany(msg)
	case mail.FromDialog:
		for _, msg := range a.dialogMail.take(msg) {
			a.step(c, msg)
		}
	case bridge.CallUnread:
		a.log.Warn("a dialog over the bridge could not be read, it is dismissed", "target", msg.Page)
	case Promote:
		a.promote(c, msg)
	case browserGone:
		a.step(c, step.BrowserGone{Why: msg.why})
	default:
		a.step(c, msg)
	}
}

func (a *Actor) anchorLinked(c *guard.Context, l session.Linked) {
	if l.Gen == a.anchors {
		a.anchorRoot = l.Port
	}
	a.step(c, step.AnchorLinked{Gen: l.Gen, Browser: l.Mux.Browser()})
}

// pageLeft sets again what the end of a session on a page of the task has taken back.
// A page of another task's that a link of this one has left is for that task.
func (a *Actor) pageLeft(c *guard.Context, l link.PageLeft) {
	if a.cfg.Owners.IsElsewhere(l.Page, a.cfg.ID) {
		a.cfg.Owners.PageLeft(l.Page, a.cfg.ID)
		return
	}
	a.renew(c, renewDue{page: l.Page})
}

// renewAfter is when what the end of another session takes back is set once more, from one
// time to the next. The renderer hears of that end by a pipe of its own, which may be later
// than what is set at once.
var renewAfter = [...]time.Duration{time.Second, 4 * time.Second}

// renewDue sets again what the end of another session on the page has taken back.
type renewDue struct {
	page  messages.TargetID
	round int // of renewAfter, for the next time
}

func (a *Actor) renew(c *guard.Context, due renewDue) {
	self, sys := a.self, c.System()
	for _, p := range a.ports.All() {
		if !p.IsOf(due.page) || !p.Renew(func() { sys.Send(self, renewDue{due.page, due.round}) }) {
			continue
		}
		if due.round < len(renewAfter) {
			c.After("renew "+string(due.page), renewAfter[due.round], renewDue{due.page, due.round + 1})
		}
	}
}

// Terminate implements guard.Behavior. The browser that was launched for the
// task ends after every link to it (A6).
func (a *Actor) Terminate(c *guard.Context, r guard.Reason) {
	if p := a.process(); p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeBudget)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			a.log.Error("the task's browser could not be ended", "err", err)
		}
	}
	state, err := messages.StateStopped, error(nil)
	if r.IsAbnormal() {
		state, err = messages.StateLost, r.Err
	}
	a.carryOut(c, a.machine.End(state, err))
	a.cfg.Asking.Set("", a.cfg.ID, nil)
	for _, page := range a.machine.Owned() {
		a.cfg.Owners.Release(page, a.cfg.ID)
	}
	a.cfg.Owners.Unwatch(a.cfg.ID)
	a.cfg.Owners.ReleaseContext(a.machine.Context, a.cfg.ID)
	a.orders.SettleAll()
}

func (a *Actor) step(c *guard.Context, in any) {
	if task.AsksElsewhere(in) && a.mux != nil {
		a.carryOut(c, a.machine.Step(c.Now(), step.Elsewhere{Sites: a.cfg.Asking.Elsewhere(a.mux.Browser(), a.cfg.ID)}))
	}
	a.carryOut(c, a.machine.Step(c.Now(), in))
}

func (a *Actor) carryOut(c *guard.Context, effects []step.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case step.Publish:
			a.publish(c, e)
		case step.FlushSoon:
			c.Send(a.self, step.Flush{})
		case step.SpawnSession:
			a.sessions.Add(c, restart.Child{ID: sessionPrefix + string(e.Session), Type: restart.Temporary})
		case step.StopSession:
			a.sessions.Remove(c, sessionPrefix+string(e.Session))
			a.ports.Delete(e.Session)
			a.setPID(c, e.Session, nil)
		case step.ToDialog:
			a.order(c, childDialog, a.pid(a.dialogs, childDialog), e.Msg)
		case step.ToFrame:
			c.Send(a.pid(a.link, childFrame), e.Msg)
		case step.ToBrowser:
			a.order(c, childBrowser, a.pid(a.link, childBrowser), e.Msg)
		case step.ToSession:
			child := sessionPrefix + string(e.Session)
			a.order(c, child, a.pid(a.sessions, child), e.Msg)
		case step.StartAnchor:
			a.startAnchor(c, e.IsTrial)
		case step.StopAnchor:
			a.anchor.Remove(c, childAnchor)
		case step.ToAnchor:
			c.Send(a.pid(a.anchor, childAnchor), e.Msg)
		case step.ClientPages:
			a.cfg.Board.SetClientPages(view.ClientPages(e))
		case step.StartLink:
			a.link.Start(c)
		case step.AnchorReady:
			if ref, ok := a.anchor.Ref(childAnchor); ok {
				a.anchor.Ready(c, childAnchor, ref.Gen)
			}
			a.anchor.SetPatience(c, childAnchor, anchorPatience)
		case step.OpenTab:
			a.openTab(c, e)
		case step.NavigateOpened:
			calls := c.System().Calls()
			a.carryOut(c, []step.Effect{step.ToSession{Session: e.Session, Msg: mail.Navigate{
				Request: messages.NavigateRequest{URL: e.URL, WaitUntil: messages.WaitCommit},
				Reply: calls.Open(func(_ any, err error) {
					// The page exists either way; a URL that failed shows in it.
					calls.Answer(e.Reply, e.Page, ignoreNavigation(err))
				}),
			}}})
		case step.ReplaceTab:
			sys, self, page := c.System(), a.self, e.Page
			a.openTab(c, step.OpenTab{URL: e.URL, Reply: sys.Calls().Open(func(v any, err error) {
				target, _ := v.(messages.TargetID)
				sys.Send(self, step.PageReplaced{Page: page, New: target, Err: err})
			})})
		case step.ShutTab:
			// Like any order to close, by way of the mailbox.
			sys, self, page := c.System(), a.self, e.Page
			c.Send(self, mail.ClosePage{Page: page, Reply: sys.Calls().Open(func(_ any, err error) {
				sys.Send(self, step.PageShut{Page: page, Err: err})
			})})
		case step.Asks:
			a.cfg.Asking.Set(e.Browser, a.cfg.ID, e.Sites)
		case step.LetGo:
			if a.mux != nil {
				session.LetGo(a.mux, e.Target)
			}
			a.tooMany(effect.TooMany{})
		case step.Warn:
			a.warn(e)
		case step.BridgeTaken:
			a.log.Warn("native dialogs are closed externally; switching to bridge", "dialog", e.Dialog, "after", e.After)
		case step.Ready:
			a.ready(c, childBrowser)
			a.ready(c, childFrame)
		case step.SessionsGaveUp:
			c.System().GaveUp(kindSession)
		case step.SetPatience:
			a.link.SetPatience(c, childBrowser, e.Patience)
		case step.FramesStable:
			a.ready(c, childFrame)
		case step.BrowserRestarted:
			a.log.Warn("another browser answers where the last one did: its pages are gone", "pages", e.Pages)
		case step.TellSiblings:
			if e.MustRemember {
				a.cfg.Owners.Leave(e.Left)
			}
			c.Send(a.cfg.Registry, PagesLeft{a.cfg.ID, e.Left})
		case step.FirstActive:
			c.Send(a.cfg.Registry, mail.TaskActive{ID: a.cfg.ID, Gen: a.cfg.Gen})
		case step.Arm:
			c.After(e.Name, e.After, step.TimerFired{Name: e.Name})
		case step.ArmSpread:
			c.After(e.Name, e.After+time.Duration(a.spread()*float64(e.Spread)), step.TimerFired{Name: e.Name})
		case step.Answer:
			c.Answer(e.To, e.Value, e.Err)
		case step.Finish:
			if a.link != nil && !a.isHidden {
				a.link.Shutdown(c) // what is over is not dialled again
			}
			if a.anchor != nil {
				a.anchor.Shutdown(c)
			}
			if e.Err != nil {
				c.Exit(guard.Fail(e.Err))
			} else {
				c.Exit(guard.Reason{})
			}
		default:
			panic(fmt.Sprintf("supervisor: no shell for the effect %T", e))
		}
	}
}

// openTab has a page opened. The answer is owed until it has gone where it is to go.
func (a *Actor) openTab(c *guard.Context, e step.OpenTab) {
	sys, self := c.System(), a.self
	a.orders.Owe(openingTab, e.Reply, nil, model.Ended())
	a.order(c, childBrowser, a.pid(a.link, childBrowser), mail.OpenPage{IsNewWindow: e.IsNewWindow, Context: e.Context, Reply: sys.Calls().Open(func(v any, err error) {
		target, _ := v.(messages.TargetID)
		sys.Send(self, step.PageOpened{Target: target, Err: err, URL: e.URL, Order: e.Order, Reply: e.Reply})
	})})
}

// PagesLeft takes TellSiblings to the registry, which knows them.
type PagesLeft struct {
	Task messages.TaskID
	Left bridge.SiblingLeft
}

// ignoreNavigation lets through only what says that the page itself is lost.
func ignoreNavigation(err error) error {
	switch messages.CodeOf(err) {
	case messages.CodeUpstreamUnavailable, messages.CodePageCrashed:
		return err
	}
	return nil
}
