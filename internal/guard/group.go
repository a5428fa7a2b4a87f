package guard

import (
	"strconv"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/few"
	"holdfast/internal/restart"
)

// GroupConfig describes a supervised set of children of one actor.
type GroupConfig struct {
	// Name keeps the timers of several groups of one actor apart.
	Name     string
	Policy   restart.Policy
	Children []restart.Child
	// Factory describes the actor of a child; Key is set to the id. It must
	// not fail: what can fail belongs into the child's Init.
	Factory func(id string) Child
	// Roll returns the jitter of one backoff, in [0, 1). It is the only
	// randomness, and injected so that runs can be replayed.
	Roll func() float64
	// OnStart is called for each child that is started, first and again.
	OnStart func(c *Context, id string, ref Ref) // may be nil
	// OnExit is called for each exit, before the policy acts on it.
	OnExit func(c *Context, id string, ev Exited) // may be nil
	// OnWait is called when a restart waits for its backoff.
	OnWait func(c *Context, w restart.Wait) // may be nil
	// OnGiveUp is called when the policy's budget is spent and all children
	// have exited. Without it the actor ends with a Failure.
	OnGiveUp func(c *Context, g restart.GiveUp)
	// OnDone is called when Shutdown is complete.
	OnDone func(c *Context) // may be nil
}

// Group carries out the actions of a [restart.Supervisor] with the means of an
// actor. It belongs to that actor: Init calls Start, Receive calls Handle
// first. The children's keys are their ids, so the groups of one actor need
// different ones.
type Group struct {
	cfg     GroupConfig
	machine *restart.Supervisor
	live    few.Map[string, member]
	places  few.Map[string, *place] // of every child that was started, until it is removed
	queue   []restart.Action        // to be performed
	busy    bool                    // perform is running: callbacks only add to the queue
}

// member ties the machine's generation of a child to the actor's.
type member struct {
	gen uint64
	pid *actor.PID
	of  uint64 // the actor's
}

// groupDue is the message of a Wait's timer.
type groupDue struct {
	group *Group
	token uint64
}

// NewGroup returns a group that has started nothing yet.
func NewGroup(cfg GroupConfig) (*Group, error) {
	if err := cfg.Policy.Validate(); err != nil {
		return nil, err
	}
	if cfg.Factory == nil || cfg.Roll == nil {
		panic("guard: a group needs a Factory and a Roll")
	}
	return &Group{
		cfg:     cfg,
		machine: restart.New(cfg.Policy, cfg.Children...),
	}, nil
}

// Start starts the children, left to right.
func (g *Group) Start(c *Context) { g.perform(c, g.machine.Start()) }

// Handle takes the exits of the group's children and its own timers, and tells
// whether msg was one.
func (g *Group) Handle(c *Context, msg any) bool {
	switch m := msg.(type) {
	case groupDue:
		if m.group != g {
			return false
		}
		g.step(c, restart.Due{Token: m.token})
		return true
	case Exited:
		l, ok := g.live.Get(m.Key)
		if !ok || l.of != m.Gen {
			return false
		}
		g.live.Delete(m.Key)
		if pl := g.places.At(m.Key); pl != nil && m.Reason.Abnormal() {
			pl.failed = true
		}
		if g.cfg.OnExit != nil {
			g.cfg.OnExit(c, m.Key, m)
		}
		g.step(c, restart.Exited{ID: m.Key, Gen: l.gen, Abnormal: m.Reason.Abnormal(), Roll: g.cfg.Roll()})
		return true
	}
	return false
}

// Ready says that a child is healthy. gen is the actor's (Ref.Gen), so that
// the late word of an earlier generation is dropped.
func (g *Group) Ready(c *Context, id string, gen uint64) {
	if l, ok := g.live.Get(id); ok && l.of == gen {
		g.step(c, restart.Ready{ID: id, Gen: l.gen})
	}
}

// Add starts another child, see [restart.Add].
func (g *Group) Add(c *Context, child restart.Child) { g.step(c, restart.Add{Child: child}) }

// Remove stops and forgets a child.
func (g *Group) Remove(c *Context, id string) {
	c.p.hidePlace(id)
	g.places.Delete(id) // under the same id would come another child
	g.step(c, restart.Remove{ID: id})
}

// Shutdown stops all children right to left; OnDone follows. It is only needed
// where the actor itself goes on: one that ends shuts its children down anyway.
func (g *Group) Shutdown(c *Context) { g.step(c, restart.Shutdown{}) }

// Ref returns the living generation of a child; it may have been told to stop.
func (g *Group) Ref(id string) (Ref, bool) {
	l, ok := g.live.Get(id)
	if !ok {
		return Ref{}, false
	}
	return Ref{PID: l.pid, Key: id, Gen: l.of}, true
}

// Machine returns the restart machine, for reading.
func (g *Group) Machine() *restart.Supervisor { return g.machine }

func (g *Group) step(c *Context, ev restart.Event) { g.perform(c, g.machine.Step(c.Now(), ev)) }

// perform carries actions out in the order the machine gave them, also those
// that a callback causes while it runs.
func (g *Group) perform(c *Context, actions []restart.Action) {
	g.queue = append(g.queue, actions...)
	if g.busy {
		return
	}
	g.busy = true
	for i := 0; i < len(g.queue); i++ {
		g.do(c, g.queue[i])
	}
	g.busy, g.queue = false, nil
}

func (g *Group) do(c *Context, a restart.Action) {
	switch a := a.(type) {
	case restart.Start:
		child := g.cfg.Factory(a.ID)
		child.Key = a.ID
		pl := g.places.At(a.ID)
		if pl == nil {
			pl = &place{}
			g.places.Set(a.ID, pl)
		}
		child.restarts, pl.kind = int32(pl.starts), child.Kind
		pl.starts++
		ref := c.Spawn(child)
		c.p.hidePlace(a.ID)
		g.live.Set(a.ID, member{gen: a.Gen, pid: ref.PID, of: ref.Gen})
		if pl.failed {
			pl.failed = false
			observe(func(o Observer) { o.ActorRestarted(child.Kind) }, c.System())
		}
		if g.cfg.OnStart != nil {
			g.cfg.OnStart(c, a.ID, ref)
		}
	case restart.Stop:
		c.Stop(a.ID)
	case restart.Wait:
		name := "group/" + g.cfg.Name + "/" + strconv.FormatUint(a.Token, 10)
		c.After(name, a.Delay, groupDue{group: g, token: a.Token})
		g.showWaiting(c, a.Delay)
		if g.cfg.OnWait != nil {
			g.cfg.OnWait(c, a)
		}
	case restart.GiveUp:
		g.hideWaiting(c)
		if pl := g.places.At(a.ID); pl != nil {
			observe(func(o Observer) { o.ActorGaveUp(pl.kind) }, c.System())
		}
		if g.cfg.OnGiveUp == nil {
			c.Exit(Fail(&GaveUpError{Group: g.cfg.Name, GiveUp: a}))
			return
		}
		g.cfg.OnGiveUp(c, a)
	case restart.Done:
		g.hideWaiting(c)
		if g.cfg.OnDone != nil {
			g.cfg.OnDone(c)
		}
	}
}

// GaveUpError is the failure of an actor whose group has given up.
type GaveUpError struct {
	Group string
	restart.GiveUp
}

// Error names the group and the child.
func (e *GaveUpError) Error() string {
	return "guard: group " + e.Group + " gave up on " + e.ID + " after " + strconv.Itoa(e.Failures) + " failures in a row"
}
