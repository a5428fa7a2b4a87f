package session

import (
	"time"

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
	peers   Peers
	cfg     AnchorConfig
	machine *AnchorMachine
}

// NewAnchor returns the behavior; dialling begins with Init.
func NewAnchor(cfg AnchorConfig, connect Connect, peers Peers) *Anchor {
	return &Anchor{connection: connection{connect: connect}, peers: peers, cfg: cfg, machine: NewAnchorMachine(cfg)}
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
			defer a.step(c, TellAgain{})
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

// Terminate implements guard.Behavior.
func (a *Anchor) Terminate(*guard.Context, guard.Reason) {}

func (a *Anchor) linked(c *guard.Context) {
	a.bind(c, Listen{})
	c.Send(a.peers.Supervisor, AnchorLinked{Gen: a.cfg.Gen, Browser: a.mux.Load().Browser(), Port: &Port{mux: a.mux.Load(), stalled: func() {}}})
	a.step(c, Start{})
}

func (a *Anchor) bind(c *guard.Context, l Listen) {
	mux, door := a.mux.Load(), c.Door()
	source := Source{Identity{Role: messages.RoleAnchor, Gen: a.cfg.Gen, Session: l.Session, Page: l.Page}, a.cfg.Bridge.Secret}
	mux.Bind(l.Session, func(e transport.Event) {
		fact := source.Decode(time.Now(), e.Method, e.Params)
		switch fact.(type) {
		case bridgeScript, bridgePaused, bridgeUnread, pausedEvent, crashed, revived, bridgeAsked, bridgeWord, mail.FrameNavigated, mail.FrameDetached:
			fact = FromFrame{l.Session, fact}
		}
		if fact != nil && !door.Send(fact) {
			mux.Flood()
		}
	})
}

func (a *Anchor) step(c *guard.Context, in any) {
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case Command:
			command(c, a.mux.Load(), "", e)
		case Listen:
			a.bind(c, e)
		case ToDialog:
			c.Send(a.peers.Dialog, e.Msg)
		case ToSupervisor:
			c.Send(a.peers.Supervisor, e.Msg)
		case Arm:
			c.After(e.Timer.String(), e.After, TimerFired{e.Timer})
		case Disarm:
			c.Cancel(e.Timer.String())
		case Exit:
			if e.Err != nil {
				c.Exit(guard.Fail(e.Err))
			} else {
				c.Exit(guard.Reason{})
			}
		default:
			panic(Unknown(e))
		}
	}
	if d, ok := in.(mail.TargetDetached); ok {
		a.mux.Load().Unbind(d.Session)
		a.mux.Load().Abandon(d.Session, gone())
	}
}
