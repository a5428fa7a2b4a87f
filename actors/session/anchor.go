package session

import (
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// AnchorLinked tells the supervisor that the anchor's link stands.
type AnchorLinked struct {
	Gen     mail.Generation
	Port    *Port  // of the browser's own session
	Browser string // see [transport.Mux.Browser]
}

// Anchor is the actor of a task's second link, and of every session on it.
type Anchor struct {
	connection
	peers     Peers
	cfg       link.AnchorConfig
	neighbors Neighbors
	machine   *link.Anchor
}

// NewAnchor returns the behavior; dialling begins with Init.
func NewAnchor(cfg link.AnchorConfig, n Neighbors, connect Connect, peers Peers) *Anchor {
	return &Anchor{connection: connection{connect: connect}, peers: peers, cfg: cfg, neighbors: n, machine: link.NewAnchor(cfg)}
}

// Init implements guard.Behavior.
func (a *Anchor) Init(c *guard.Context) { a.dial(c) }

// Receive implements guard.Behavior.
func (a *Anchor) Receive(c *guard.Context, msg any) {
	if a.handle(c, msg, a.linked) {
		return
	}
	switch msg := msg.(type) {
	case Peers:
		if msg.Dialog != a.peers.Dialog {
			defer a.step(c, effect.TellAgain{})
		}
		a.peers = msg
	case mail.Leave:
		if a.mux.Load() == nil {
			c.Exit(guard.Reason{})
			return
		}
		a.step(c, msg)
	default:
		a.step(c, msg)
	}
}

// State implements guard.Stater.
func (a *Anchor) State() string { return a.machine.State() }

// Terminate implements guard.Behavior.
func (a *Anchor) Terminate(*guard.Context, guard.Reason) {}

func (a *Anchor) linked(c *guard.Context) {
	a.bind(c, effect.Listen{})
	c.Send(a.peers.Supervisor, AnchorLinked{Gen: a.cfg.Gen, Browser: a.mux.Load().Browser(), Port: &Port{mux: a.mux.Load(), stalled: func() {}}})
	a.step(c, effect.Start{})
}

func (a *Anchor) bind(c *guard.Context, l effect.Listen) {
	mux, door := a.mux.Load(), c.Door()
	source := decode.Source{Identity: effect.Identity{Role: messages.RoleAnchor, Gen: a.cfg.Gen, Session: l.Session, Page: l.Page}, Secret: a.cfg.Bridge.Secret}
	mux.Bind(l.Session, func(e transport.Event) {
		fact := source.Decode(time.Now(), e.Method, e.Params)
		switch fact.(type) {
		case bridge.ScriptRuns, bridge.CallPaused, bridge.CallGarbled, bridge.Pause, decode.Crashed, decode.Revived, bridge.CallSaid, bridge.DocumentSaid, mail.FrameNavigated, mail.FrameDetached:
			fact = link.FromFrame{Session: l.Session, Event: fact}
		}
		if fact != nil && !door.Send(fact) {
			mux.Flood()
		}
	})
}

func (a *Anchor) step(c *guard.Context, in any) {
	a.neighbors.inform(a.machine, in)
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case effect.Command:
			command(c, a.mux.Load(), "", e)
		case effect.Listen:
			a.bind(c, e)
		case effect.ToDialog:
			c.Send(a.peers.Dialog, e.Msg)
		case effect.ToSupervisor:
			c.Send(a.peers.Supervisor, e.Msg)
		case effect.Arm:
			c.After(e.Timer.String(), e.After, effect.TimerFired{Timer: e.Timer})
		case effect.Disarm:
			c.Cancel(e.Timer.String())
		case effect.Exit:
			if e.Err != nil {
				c.Exit(guard.Fail(e.Err))
			} else {
				c.Exit(guard.Reason{})
			}
		default:
			panic(effect.Unknown(e))
		}
	}
	if d, ok := in.(mail.TargetDetached); ok {
		a.mux.Load().Unbind(d.Session)
		a.mux.Load().Abandon(d.Session, effect.SessionEnded())
	}
}
