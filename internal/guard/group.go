package guard

import (
	"strconv"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/restart"
	"holdfast/internal/smallmap"
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
	// Excused says that an exit is not its child's fault, and counts for no limit of
	// the policy.
	Excused func(Reason) bool // may be nil
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
	name     string
	factory  func(id string) Child
	roll     func() float64
	excused  func(Reason) bool
	onStart  func(c *Context, id string, ref Ref)
	onExit   func(c *Context, id string, ev Exited)
	onWait   func(c *Context, w restart.Wait)
	onGiveUp func(c *Context, g restart.GiveUp)
	onDone   func(c *Context)

	machine *restart.Supervisor
	places  smallmap.Map[string, *place] // of every child that lives, or was started and not removed
	queue   []restart.Action             // to be performed
	isBusy  bool                         // perform is running: callbacks only add to the queue
	isApart bool                         // each child is restarted by itself
}

// place is what a group knows of a child over its lives.
type place struct {
	kind      string
	starts    int32
	hasFailed bool // its last life has; it has not been started since
	isRemoved bool // nothing is known of it any more once it has exited

	// The machine's generation of the child that lives, and the actor's.
	gen uint64
	pid *actor.PID // nil: none lives
	of  uint64
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
		name: cfg.Name, isApart: cfg.Policy.Strategy == restart.OneForOne, factory: cfg.Factory, roll: cfg.Roll, excused: cfg.Excused,
		onStart: cfg.OnStart, onExit: cfg.OnExit, onWait: cfg.OnWait, onGiveUp: cfg.OnGiveUp, onDone: cfg.OnDone,
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
		pl := g.living(m.Key)
		if pl == nil || pl.of != m.Gen {
			return false
		}
		gen := pl.gen
		pl.pid, pl.hasFailed = nil, pl.hasFailed || m.Reason.IsAbnormal()
		if pl.isRemoved {
			g.places.Delete(m.Key) // under the same id would come another child
		}
		if g.onExit != nil {
			g.onExit(c, m.Key, m)
		}
		isExcused := g.excused != nil && m.Reason.IsAbnormal() && g.excused(m.Reason)
		g.step(c, restart.Exited{ID: m.Key, Gen: gen, IsAbnormal: m.Reason.IsAbnormal(), IsExcused: isExcused, Roll: g.roll()})
		return true
	}
	return false
}

// Ready says that a child is healthy. gen is the actor's (Ref.Gen), so that
// the late word of an earlier generation is dropped.
func (g *Group) Ready(c *Context, id string, gen uint64) {
	if pl := g.living(id); pl != nil && pl.of == gen {
		g.step(c, restart.Ready{ID: id, Gen: pl.gen})
	}
}

// Add starts another child, see [restart.Add].
func (g *Group) Add(c *Context, child restart.Child) { g.step(c, restart.Add{Child: child}) }

// SetPatience changes how long a child has to have failed for the group to give up.
func (g *Group) SetPatience(c *Context, id string, d time.Duration) {
	g.step(c, restart.SetPatience{ID: id, Patience: d})
}

// Remove stops and forgets a child.
func (g *Group) Remove(c *Context, id string) {
	c.p.hidePlace(id)
	if pl := g.living(id); pl != nil {
		pl.isRemoved = true
	} else {
		g.places.Delete(id)
	}
	g.step(c, restart.Remove{ID: id})
}

// Shutdown stops all children right to left; OnDone follows. Only an actor that continues
// needs it: one that ends shuts its children down anyway.
func (g *Group) Shutdown(c *Context) { g.step(c, restart.Shutdown{}) }

// Ref returns the living generation of a child; it may have been told to stop.
func (g *Group) Ref(id string) (Ref, bool) {
	pl := g.living(id)
	if pl == nil {
		return Ref{}, false
	}
	return Ref{PID: pl.pid, Key: id, Gen: pl.of}, true
}

// living is the place of a child that lives, else nil.
func (g *Group) living(id string) *place {
	if pl := g.places.At(id); pl != nil && pl.pid != nil {
		return pl
	}
	return nil
}

// Machine returns the restart machine, for reading.
func (g *Group) Machine() *restart.Supervisor { return g.machine }

func (g *Group) step(c *Context, ev restart.Event) { g.perform(c, g.machine.Step(c.Now(), ev)) }

// perform carries actions out in the order the machine gave them, also those
// that a callback causes while it runs.
func (g *Group) perform(c *Context, actions []restart.Action) {
	g.queue = append(g.queue, actions...)
	if g.isBusy {
		return
	}
	g.isBusy = true
	for i := 0; i < len(g.queue); i++ {
		g.do(c, g.queue[i])
	}
	g.isBusy, g.queue = false, nil
}

func (g *Group) do(c *Context, a restart.Action) {
	switch a := a.(type) {
	case restart.Start:
		child := g.factory(a.ID)
		child.Key = a.ID
		pl := g.places.At(a.ID)
		if pl == nil {
			pl = &place{}
			g.places.Set(a.ID, pl)
		}
		child.restarts, pl.kind = pl.starts, child.Kind
		pl.starts++
		ref := c.Spawn(child)
		c.p.hidePlace(a.ID)
		pl.gen, pl.pid, pl.of = a.Gen, ref.PID, ref.Gen
		if pl.hasFailed {
			pl.hasFailed = false
			observe(func(o Observer) { o.ActorRestarted(child.Kind) }, c.System())
		}
		if g.onStart != nil {
			g.onStart(c, a.ID, ref)
		}
	case restart.Stop:
		c.Stop(a.ID)
	case restart.Wait:
		name := "group/" + g.name + "/" + strconv.FormatUint(a.Token, 10)
		c.After(name, a.Delay, groupDue{group: g, token: a.Token})
		g.showWaiting(c, a.Delay)
		if g.onWait != nil {
			g.onWait(c, a)
		}
	case restart.GiveUp:
		g.hideWaiting(c)
		if pl := g.places.At(a.ID); pl != nil {
			observe(func(o Observer) { o.ActorGaveUp(pl.kind) }, c.System())
		}
		if g.onGiveUp == nil {
			c.Exit(Fail(&GaveUpError{Group: g.name, GiveUp: a}))
			return
		}
		g.onGiveUp(c, a)
	case restart.Done:
		g.hideWaiting(c)
		if g.onDone != nil {
			g.onDone(c)
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
