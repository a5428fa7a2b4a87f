package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/transport"
)

// Connect dials the browser. It waits, honours ctx, and calls onClose once
// when the link it returned has ended.
type Connect func(ctx context.Context, onClose func(error)) (*transport.Mux, error)

// Linked tells the supervisor that the primary link stands.
type Linked struct {
	Gen  messages.Generation
	Mux  *transport.Mux
	Port *Port // of the browser's own session
}

// Browser is the actor of the browser's own session. It owns the primary
// link: when the link is lost the actor exits abnormally, and that is the
// whole reconnect logic.
type Browser struct {
	cfg        BrowserConfig
	connect    Connect
	supervisor *actor.PID
	machine    *BrowserMachine
	mux        atomic.Pointer[transport.Mux] // set by the dialling goroutine
}

// NewBrowser returns the behavior; dialling begins with Init.
func NewBrowser(cfg BrowserConfig, connect Connect, supervisor *actor.PID) *Browser {
	return &Browser{cfg: cfg, connect: connect, supervisor: supervisor, machine: NewBrowserMachine(cfg)}
}

// closeGrace is how long the end of the actor waits for the link's.
const closeGrace = 500 * time.Millisecond

type (
	dialled  struct{ err error }
	linkDown struct{ err error }
)

// Init implements guard.Behavior.
func (b *Browser) Init(c *guard.Context) {
	self, sys := c.Self(), c.System()
	c.Go("dial", func(ctx context.Context) any {
		mux, err := b.connect(ctx, func(err error) { sys.Send(self, linkDown{err}) })
		if err == nil {
			b.mux.Store(mux)
		}
		return dialled{err}
	})
}

// Receive implements guard.Behavior.
func (b *Browser) Receive(c *guard.Context, msg any) {
	switch msg := msg.(type) {
	case dialled:
		if msg.err != nil {
			c.Exit(guard.Fail(msg.err))
			return
		}
		b.linked(c)
	case linkDown:
		c.Exit(guard.Fail(msg.err))
	case messages.Leave:
		if b.mux.Load() == nil {
			c.Exit(guard.Reason{})
			return
		}
		b.step(c, msg)
	default:
		if b.mux.Load() != nil {
			b.step(c, msg)
		} else {
			refuse(msg)
		}
	}
}

// Terminate implements guard.Behavior. It runs after the dialling goroutine
// has ended, so a link that came up too late is closed here too.
func (b *Browser) Terminate(*guard.Context, guard.Reason) {
	if mux := b.mux.Load(); mux != nil {
		mux.Close()
		// What ends next may be the browser itself, and it is to find its
		// client gone already (A6). A stalled peer cannot hold this up for long.
		grace := time.NewTimer(closeGrace)
		defer grace.Stop()
		select {
		case <-mux.Closed():
		case <-grace.C:
		}
	}
	b.machine.abandon()
}

func (b *Browser) linked(c *guard.Context) {
	mux, sys, self := b.mux.Load(), c.System(), c.Self()
	cfg := Config{Gen: b.cfg.Gen}
	mux.Bind("", func(e transport.Event) {
		if fact := decode(cfg, time.Now(), e.Method, e.Params); fact != nil {
			sys.Send(self, fact)
		}
	})
	c.Send(b.supervisor, Linked{Gen: b.cfg.Gen, Mux: mux, Port: &Port{mux: mux, stalled: func() {}}})
	b.step(c, Start{})
}

func (b *Browser) step(c *guard.Context, in any) {
	for _, e := range b.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case Command:
			command(c, b.mux.Load(), "", e)
		case ToSupervisor:
			c.Send(b.supervisor, e.Msg)
		case Arm:
			c.After(e.Name, e.After, TimerFired{e.Name})
		case Disarm:
			c.Cancel(e.Name)
		case Answer:
			e.To(e.Value, e.Err)
		case Exit:
			if e.Err != nil {
				c.Exit(guard.Fail(e.Err))
			} else {
				c.Exit(guard.Reason{})
			}
		}
	}
}
