package session

import (
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/wanted"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// Linked tells the supervisor that the primary link stands.
type Linked struct {
	Gen  mail.Generation
	Mux  *transport.Mux
	Port *Port // of the browser's own session
}

// Browser is the actor of the browser's own session. It owns the primary
// link.
type Browser struct {
	connection
	supervisor *actor.PID
	cfg        link.PrimaryConfig
	neighbors  Neighbors
	machine    *link.Primary
	wanted     *wanted.Store
}

// NewBrowser returns the behavior; dialling begins with Init.
func NewBrowser(cfg link.PrimaryConfig, n Neighbors, connect Connect, supervisor *actor.PID, w *wanted.Store) *Browser {
	return &Browser{connection: connection{connect: connect}, supervisor: supervisor, cfg: cfg, neighbors: n, machine: link.NewPrimary(cfg), wanted: w}
}

// Init implements guard.Behavior.
func (b *Browser) Init(c *guard.Context) { b.dial(c) }

// Receive implements guard.Behavior.
func (b *Browser) Receive(c *guard.Context, msg any) {
	if b.handle(c, msg, b.linked) {
		return
	}
	switch msg := msg.(type) {
	case mail.Leave:
		if b.mux.Load() == nil {
			c.Exit(guard.Reason{})
			return
		}
		b.step(c, msg)
	case mail.SetBridge:
		b.step(c, msg) // one that comes before the link is for that
	default:
		if b.mux.Load() != nil {
			b.step(c, msg)
		} else {
			c.System().Refuse(msg, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo))
		}
	}
}

// State implements guard.Stater.
func (b *Browser) State() string { return b.machine.State() }

// Terminate implements guard.Behavior.
func (b *Browser) Terminate(c *guard.Context, _ guard.Reason) {
	for _, a := range b.machine.Abandon() {
		c.Answer(a.To, a.Value, a.Err)
	}
}

func (b *Browser) linked(c *guard.Context) {
	mux, door := b.mux.Load(), c.Door()
	gen := b.cfg.Gen
	source := decode.Source{Identity: effect.Identity{Gen: gen}, Secret: b.cfg.Bridge.Secret}
	mux.Bind("", func(e transport.Event) {
		if fact := source.Decode(time.Now(), e.Method, e.Params); fact != nil && !door.Send(fact) {
			mux.Flood()
		}
	})
	place := wanted.Place{Link: gen}
	commands := b.wanted.Begin(place)
	c.Send(b.supervisor, Linked{Gen: gen, Mux: mux, Port: &Port{mux: mux, stalled: func() {}, place: place, wanted: b.wanted}})
	start := effect.Start{}
	if b.neighbors.Downloads != nil {
		start.Downloads = b.neighbors.Downloads()
	}
	b.step(c, start)
	restore(c.System(), mux, b.wanted, place, commands, b.supervisor, func() {})
}

func (b *Browser) step(c *guard.Context, in any) {
	b.neighbors.inform(b.machine, in)
	for _, e := range b.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case effect.Command:
			command(c, b.mux.Load(), "", e)
		case effect.ToSupervisor:
			if i, ok := e.Msg.(mail.Isolated); ok && i.Context != "" && b.neighbors.Claim != nil {
				b.neighbors.Claim(i.Context)
			}
			c.Send(b.supervisor, e.Msg)
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
}
