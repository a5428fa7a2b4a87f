package registry

import (
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/supervisor"
	"holdfast/internal/guard"
	"holdfast/messages"
)

// Config is what a registry is made of.
type Config struct {
	Limits    Limits
	Override  messages.CDPURL
	Directory *Directory
	// Supervisor completes the config of a task's supervisor: what every task
	// of the node shares.
	Supervisor func(supervisor.Config) supervisor.Config
}

// SweepEvery is how often expired tasks are looked for. Leases are seconds and
// more.
const SweepEvery = time.Second

// Ping asks the registry for a sign of life; the reply is nil.
type Ping struct{ Reply messages.ReplyTo }

type sweepDue struct{}

// Actor is the shell around a [Machine].
type Actor struct {
	cfg     Config
	machine *Machine
	pids    map[messages.TaskID]*actor.PID
	gens    map[messages.TaskID]uint64
}

// New returns the behavior of a node's registry.
func New(cfg Config) *Actor {
	return &Actor{
		cfg: cfg, machine: NewMachine(cfg.Limits, cfg.Override),
		pids: map[messages.TaskID]*actor.PID{}, gens: map[messages.TaskID]uint64{},
	}
}

// Init implements guard.Behavior.
func (a *Actor) Init(c *guard.Context) { c.After("sweep", SweepEvery, sweepDue{}) }

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	switch msg := msg.(type) {
	case Ping:
		msg.Reply(nil, nil)
	case sweepDue:
		now := c.Now()
		a.step(c, Sweep{IdleFor: func(id messages.TaskID) time.Duration {
			return a.cfg.Directory.Board(id).IdleFor(now)
		}})
		c.After("sweep", SweepEvery, sweepDue{})
	case guard.Exited:
		id := messages.TaskID(msg.Key)
		gen := a.gens[id]
		delete(a.pids, id)
		delete(a.gens, id)
		var err error
		if msg.Reason.Abnormal() {
			err = msg.Reason.Err
		}
		a.step(c, SupervisorExited{ID: id, Gen: gen, Err: err})
	default:
		a.step(c, msg)
	}
}

// Terminate implements guard.Behavior: whoever still waits is told.
func (a *Actor) Terminate(*guard.Context, guard.Reason) {
	for _, e := range a.machine.end() {
		if e, ok := e.(Answer); ok && e.To != nil {
			e.To(e.Value, e.Err)
		}
	}
}

func (a *Actor) step(c *guard.Context, in any) {
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case SpawnSupervisor:
			a.spawn(c, e)
		case ToSupervisor:
			c.Send(a.pids[e.ID], e.Msg)
		case Forget:
			a.cfg.Directory.forget(e.ID)
		case Acknowledge:
			a.cfg.Directory.Board(e.ID).Acknowledge()
		case Answer:
			if e.To != nil {
				e.To(e.Value, e.Err)
			}
		}
	}
}

func (a *Actor) spawn(c *guard.Context, e SpawnSupervisor) {
	board := supervisor.NewBoard(e.ID, e.Spec, c.Now())
	cfg := a.cfg.Supervisor(supervisor.Config{
		ID: e.ID, Spec: e.Spec, Board: board, Registry: c.Self(), Gen: e.Gen,
	})
	a.cfg.Directory.put(e.ID, board)
	ref := c.Spawn(guard.Child{Kind: "supervisor", Key: string(e.ID), New: func() guard.Behavior { return supervisor.New(cfg) }})
	a.pids[e.ID], a.gens[e.ID] = ref.PID, e.Gen
}
