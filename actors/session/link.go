package session

import (
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/wanted"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// Linked tells the supervisor that a link stands.
type Linked struct {
	Role messages.Role
	Gen  mail.Generation
	Mux  *transport.Mux
	Port *Port // of the browser's own session
}

// Link is the actor that owns one of a task's links: the primary with the browser's own
// session, or the anchor with every session on it.
type Link struct {
	connection
	peers     Peers
	cfg       link.Config
	neighbors Neighbors
	machine   link.Machine
	wanted    *wanted.Store
}

// NewLink returns the behavior; dialling begins with Init. What agents have set is set again
// on the primary alone.
func NewLink(cfg link.Config, n Neighbors, connect Connect, peers Peers, w *wanted.Store) *Link {
	return &Link{connection: connection{connect: connect}, peers: peers, cfg: cfg, neighbors: n, machine: link.New(cfg), wanted: w}
}

// Init implements guard.Behavior.
func (l *Link) Init(c *guard.Context) { l.dial(c) }

// Receive implements guard.Behavior.
func (l *Link) Receive(c *guard.Context, msg any) {
	if l.handle(c, msg, l.linked) {
		return
	}
	isDialling := l.mux.Load() == nil
	switch msg := msg.(type) {
	case Peers:
		if msg.Dialog != l.peers.Dialog {
			defer l.step(c, effect.TellAgain{})
		}
		l.peers = msg
		return
	case mail.Leave:
		if isDialling {
			c.Exit(guard.Reason{})
			return
		}
	case mail.SetBridge: // one that comes before the link is for that
	default:
		if isDialling && l.cfg.Role == messages.RolePrimary {
			c.System().Refuse(msg, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo))
			return
		}
	}
	l.step(c, msg)
}

// State implements guard.Stater.
func (l *Link) State() string { return l.machine.State() }

// Terminate implements guard.Behavior.
func (l *Link) Terminate(c *guard.Context, _ guard.Reason) {
	for _, a := range l.machine.Abandon() {
		c.Answer(a.To, a.Value, a.Err)
	}
}

func (l *Link) linked(c *guard.Context) {
	mux := l.mux.Load()
	l.bind(c, effect.Listen{})
	port := &Port{mux: mux, stalled: func() {}}
	if l.cfg.Role == messages.RoleAnchor {
		c.Send(l.peers.Supervisor, Linked{Role: l.cfg.Role, Gen: l.cfg.Gen, Mux: mux, Port: port})
		l.step(c, effect.Start{})
		return
	}
	port.place, port.wanted = wanted.Place{Link: l.cfg.Gen}, l.wanted
	commands := l.wanted.Begin(port.place)
	c.Send(l.peers.Supervisor, Linked{Gen: l.cfg.Gen, Mux: mux, Port: port})
	start := effect.Start{}
	if l.neighbors.Downloads != nil {
		start.Downloads = l.neighbors.Downloads()
	}
	l.step(c, start)
	restore(c.System(), mux, l.wanted, port.place, commands, l.peers.Supervisor, func() {})
}

// bind hears what the browser says on one session, "" being its own.
func (l *Link) bind(c *guard.Context, on effect.Listen) {
	mux, door := l.mux.Load(), c.Door()
	source := decode.Source{Identity: effect.Identity{Role: l.cfg.Role, Gen: l.cfg.Gen, Session: on.Session, Page: on.Page}, Secret: l.cfg.Bridge.Secret}
	mux.Bind(on.Session, func(e transport.Event) {
		fact := source.Decode(time.Now(), e.Method, e.Params)
		if on.Session != "" {
			fact = fromFrame(on.Session, fact)
		}
		if fact != nil && !door.Send(fact) {
			mux.Flood()
		}
	})
}

// fromFrame has what a page's session says of its frames and their bridge name the session.
func fromFrame(s messages.SessionID, fact any) any {
	switch fact.(type) {
	case bridge.ScriptRuns, bridge.CallPaused, bridge.CallGarbled, bridge.Pause, decode.Crashed, decode.Revived, bridge.CallSaid, bridge.DocumentSaid, mail.FrameNavigated, mail.FrameDetached:
		return link.FromFrame{Session: s, Event: fact}
	}
	return fact
}

func (l *Link) step(c *guard.Context, in any) {
	l.neighbors.inform(l.machine, in)
	for _, e := range l.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case effect.Command:
			command(c, l.mux.Load(), "", e)
		case effect.Listen:
			l.bind(c, e)
		case effect.ToDialog:
			c.Send(l.peers.Dialog, e.Msg)
		case effect.ToSupervisor:
			if i, ok := e.Msg.(mail.Isolated); ok && i.Context != "" && l.neighbors.Claim != nil {
				l.neighbors.Claim(i.Context)
			}
			c.Send(l.peers.Supervisor, e.Msg)
		case effect.Arm:
			c.After(e.Timer.String(), e.After, effect.TimerFired{Timer: e.Timer})
		case effect.Disarm:
			c.Cancel(e.Timer.String())
		case effect.Answer:
			c.Answer(e.To, e.Value, e.Err)
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
	if d, ok := in.(mail.TargetDetached); ok && l.cfg.Role == messages.RoleAnchor { // the primary's sessions have actors of their own
		l.mux.Load().Unbind(d.Session)
		l.mux.Load().Abandon(d.Session, effect.SessionEnded())
	}
}
