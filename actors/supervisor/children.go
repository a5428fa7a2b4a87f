package supervisor

import (
	"strings"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/dialog"
	"holdfast/actors/frame"
	"holdfast/actors/session"
	"holdfast/actors/session/link"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/backend"
	"holdfast/internal/guard"
	"holdfast/internal/restart"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The restart policies of the groups (A13, A14). Their intensities differ because
// they multiply. A link is dialled at least every two seconds, however long it has
// been away: its task is back within three seconds of the end of an outage. What a
// thousand tasks dial at a time is for [transport.Ration] to bound.
var (
	linkPolicy = restart.Policy{
		Strategy: restart.RestForOne, MaxConsecutive: 5,
		Backoff: restart.Backoff{Base: 500 * time.Millisecond, Cap: 2 * time.Second},
	}
	// The anchor's failures never cost the task anything but the anchor.
	anchorPolicy = restart.Policy{
		Strategy: restart.OneForOne, MaxConsecutive: 8,
		Backoff: restart.Backoff{Base: 500 * time.Millisecond, Cap: 10 * time.Second},
	}
	dialogPolicy = restart.Policy{
		Strategy: restart.OneForOne, Intensity: 10, Period: time.Minute,
		Backoff: restart.Backoff{Base: 10 * time.Millisecond, Cap: time.Second},
	}
	// Sessions are temporary: the machine gives up the session of one that has failed, and
	// has its page attached to anew.
	sessionPolicy = restart.Policy{Strategy: restart.OneForOne}
)

// Mailbox bounds what waits for a supervisor or its forest, which hear of every
// page: a thousand pages that are attached at once say ten things each, and more.
// See [guard.Child].
const Mailbox = 1 << 16

// The children's names.
const (
	childBrowser  = "browser"
	childFrame    = "frame"
	childDialog   = "dialog"
	childAnchor   = "anchor"
	sessionPrefix = "session/"
)

const kindSession = "session" // of the actors of sessions

func (a *Actor) group(cfg guard.GroupConfig) *guard.Group {
	cfg.Roll = a.cfg.Roll(cfg.Name)
	var lastErr error
	onExit := cfg.OnExit
	cfg.OnExit = func(c *guard.Context, id string, ev guard.Exited) {
		if ev.Reason.IsAbnormal() {
			lastErr = ev.Reason.Err
		}
		a.orders.Settle(id) // those it had not come to
		if onExit != nil {
			onExit(c, id, ev)
		}
	}
	if name := cfg.Name; cfg.OnGiveUp == nil {
		cfg.OnGiveUp = func(c *guard.Context, g restart.GiveUp) {
			a.step(c, step.GaveUp{Err: gaveUp(name, g, lastErr)})
		}
	}
	g, err := guard.NewGroup(cfg)
	if err != nil {
		panic("supervisor: " + err.Error()) // the policies above are constants
	}
	return g
}

// anchorPatience is how long an anchor that has stood is tried for at least.
const anchorPatience = 15 * time.Second

// startAnchor begins the second link, with a clean record. A trial is given up after
// one failure, until it has stood.
func (a *Actor) startAnchor(c *guard.Context, isTrial bool) {
	policy := anchorPolicy
	if isTrial {
		policy.MaxConsecutive = 1
	}
	a.anchor = a.group(guard.GroupConfig{
		Name: "anchor", Policy: policy,
		Children: []restart.Child{{ID: childAnchor, Type: restart.Transient}},
		Factory:  a.factory, OnStart: a.started, OnExit: a.exited, Excused: isExcused,
		OnWait:   func(c *guard.Context, _ restart.Wait) { a.step(c, step.AnchorWaiting{}) },
		OnGiveUp: func(c *guard.Context, _ restart.GiveUp) { a.step(c, step.AnchorGaveUp{}) },
	})
	a.anchor.Start(c)
}

func isExcused(r guard.Reason) bool { return model.IsShortage(r.Err) }

func gaveUp(group string, g restart.GiveUp, last error) error {
	why := "no reason given"
	if last != nil {
		why = model.ReasonOf(last)
	}
	return messages.Errorf(messages.CodeUpstreamUnavailable, "gave up on the %s after %d failures in a row, in %s; the last: %s", group, g.Failures, g.For.Round(100*time.Millisecond), why)
}

// factory describes a child; it runs for every start and restart.
func (a *Actor) factory(id string) guard.Child {
	switch id {
	case childDialog:
		memory, spec, life := a.machine.Memory, a.machine.Spec, a.dialogMail.begin()
		return guard.Child{Kind: "dialog", New: func() guard.Behavior {
			return dialog.New(spec, memory, a.self, life, a.cfg.Bounds)
		}}
	case childBrowser:
		a.gen++
		cfg := link.Config{
			Gen: a.gen, Scope: a.cfg.Spec.Scope, Target: a.machine.Target, Owned: a.machine.Owned(),
			Isolation: a.cfg.Spec.Isolation, Context: a.machine.Context, Contexts: a.machine.Contexts, Bridge: a.machine.LinkBridge(), Lacks: a.lacks(),
			HelperURL: link.HelperURL(a.cfg.ID),
		}
		return guard.Child{Kind: "browser", New: func() guard.Behavior {
			return session.NewLink(cfg, a.neighbors(), a.connect, session.Peers{Supervisor: a.self}, a.wanted)
		}}
	case childAnchor:
		a.anchors++
		cfg := link.Config{
			Role: messages.RoleAnchor, Gen: a.anchors, Scope: a.cfg.Spec.Scope, Owned: a.machine.Owned(), Left: a.machine.Forbidden(),
			Context: a.machine.Context, Contexts: a.machine.Contexts, IsAlone: a.mux == nil && !a.isHidden, Native: a.machine.KeptNative(), Bridge: a.machine.SessionBridge(),
			Lacks: a.lacks(), HelperURL: link.HelperURL(a.cfg.ID),
		}
		peers := a.peers()
		return guard.Child{Kind: "anchor", New: func() guard.Behavior {
			return session.NewLink(cfg, a.neighbors(), a.connectAnchor, peers, a.wanted)
		}}
	case childFrame:
		gen, dialogs := a.gen, a.pid(a.dialogs, childDialog)
		return guard.Child{Kind: "frame", Mailbox: Mailbox, New: func() guard.Behavior { return frame.New(gen, a.self, dialogs, a.cfg.Bounds) }}
	default:
		cfg, mux, peers := a.machine.SessionConfig(sessionID(id)), a.mux, a.peers()
		return guard.Child{Kind: kindSession, New: func() guard.Behavior {
			return session.NewPage(cfg, mux, peers, a.cfg.Bounds, a.wanted)
		}}
	}
}

// lacks is what the links are not to ask the browser for.
func (a *Actor) lacks() link.Lacks {
	c := a.cfg.Backend.Caps()
	return link.Lacks{HasTargets: c.TargetDomain == backend.No, HasDiscovery: c.Discover == backend.No, HasWindows: c.Windows == backend.No}
}

// foreign is what a task may not have that a task's or a tenant's token has started,
// whatever its scope says.
func (a *Actor) foreign() func(mail.TargetInfo) bool {
	if !a.cfg.Spec.IsRestricted {
		return nil
	}
	return func(t mail.TargetInfo) bool { return a.cfg.Owners.IsForeign(t, a.cfg.ID) }
}

// neighbors is how the task's links ask about the other tasks of the node.
func (a *Actor) neighbors() session.Neighbors {
	return session.Neighbors{
		Elsewhere: a.isElsewhere, Foreign: a.foreign(), Ended: a.cfg.Owners.Left, Claim: a.claimContext, Downloads: a.downloads,
	}
}

func (a *Actor) claimContext(context string) { a.cfg.Owners.ClaimContext(context, a.cfg.ID) }

func (a *Actor) isElsewhere(t messages.TargetID) bool { return a.cfg.Owners.IsElsewhere(t, a.cfg.ID) }

func sessionID(child string) messages.SessionID {
	return messages.SessionID(strings.TrimPrefix(child, sessionPrefix))
}

func (a *Actor) pid(g *guard.Group, id string) *actor.PID {
	if g == nil {
		return nil
	}
	ref, _ := g.Ref(id)
	return ref.PID
}

// ready forgives a child of the link its failures.
func (a *Actor) ready(c *guard.Context, id string) {
	if ref, ok := a.link.Ref(id); ok {
		a.link.Ready(c, id, ref.Gen)
	}
}

func (a *Actor) peers() session.Peers {
	return session.Peers{Supervisor: a.self, Dialog: a.pid(a.dialogs, childDialog), Frame: a.pid(a.link, childFrame)}
}

// started tells every actor that a new actor replaces or serves.
func (a *Actor) started(c *guard.Context, id string, ref guard.Ref) {
	switch id {
	case childDialog:
		a.cfg.Board.SetDialogs(ref.PID)
		a.tellSessions(c)
		c.Send(a.pid(a.link, childFrame), frame.DialogActor{PID: ref.PID})
		// Before the sessions hear of it: what one tells of its page is for a
		// watch that is known.
		a.step(c, step.DialogsRestarted{})
		a.tellPeers(c)
	case childBrowser:
		a.mux, a.root = nil, nil
		a.step(c, step.BrowserStarting{Gen: a.gen})
	case childAnchor:
		a.tellSessions(c)
		a.step(c, step.AnchorStarting{Gen: a.anchors})
	case childFrame:
		// The sessions it hears of here, first; the frames, and what is attached
		// through them, each tells by itself, once it hears of the new actor.
		if a.mux != nil && a.cfg.Resynced != nil { // else it is the link's affair
			a.cfg.Resynced()
		}
		a.step(c, step.FramesRestarted{})
		a.tellPeers(c)
	default:
		s := sessionID(id)
		a.setPID(c, s, ref.PID)
		cfg := a.machine.SessionConfig(s)
		a.ports.Set(s, session.NewPort(cfg, a.mux, c.System(), ref.PID, a.wanted))
		for _, l := range a.cfg.Owners.Left(cfg.Page) {
			c.Send(ref.PID, l)
		}
	}
}

func (a *Actor) tellPeers(c *guard.Context) {
	peers := a.peers()
	for _, pid := range a.pids.All() {
		c.Send(pid, peers)
	}
	c.Send(a.pid(a.anchor, childAnchor), peers)
}

// tellSessions tells the dialog actor who serves which session.
func (a *Actor) tellSessions(c *guard.Context) {
	c.Send(a.pid(a.dialogs, childDialog), dialog.SessionsChanged{PIDs: a.pids, Anchor: a.pid(a.anchor, childAnchor)})
}

// setPID notes which actor serves a session; nil means none any more.
func (a *Actor) setPID(c *guard.Context, s messages.SessionID, pid *actor.PID) {
	a.pids = a.pids.Clone()
	if pid != nil {
		a.pids.Set(s, pid)
	} else {
		a.pids.Delete(s)
	}
	a.tellSessions(c)
}

func (a *Actor) exited(c *guard.Context, id string, ev guard.Exited) {
	switch id {
	case childBrowser:
		a.mux, a.root, a.linkErr = nil, nil, ev.Reason.Err
		a.step(c, step.BrowserExited{Err: ev.Reason.Err})
	case childAnchor:
		a.anchorRoot = nil
		a.step(c, step.AnchorExited{Err: ev.Reason.Err})
		for _, page := range a.machine.Order {
			a.pageLeft(c, link.PageLeft{Page: page}) // its sessions have ended with it
		}
		a.tellSessions(c) // after the loss: an order it had has failed
	case childFrame: // the policy starts the next one
	default:
		if ev.Reason.IsAbnormal() {
			a.step(c, step.SessionFailed{Session: sessionID(id)})
		}
	}
}

// errChildEnded is what an order gets whose child has ended with it: made once, not
// while a page waits for its answer.
var errChildEnded = messages.Errorf(messages.CodeUpstreamUnavailable, "the session ended before the answer came").WithSent(messages.SentYes)

// order sends an order to a child, which owes an answer from then on; to one
// that does not live at the moment it is refused.
func (a *Actor) order(c *guard.Context, child string, to *actor.PID, msg any) {
	if to == nil {
		c.System().Refuse(msg, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo))
		return
	}
	if o, ok := msg.(guard.Order); ok {
		a.orders.Owe(child, o.ReplyTo(), nil, errChildEnded)
	}
	c.Send(to, msg)
}
