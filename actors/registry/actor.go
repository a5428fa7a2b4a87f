package registry

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/supervisor"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/guard"
	"holdfast/internal/pressure"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Config is what a registry is made of.
type Config struct {
	Limits    messages.Limits
	Override  messages.CDPURL
	Directory *Directory
	// Gauge is where the registry shows how close it is to its limits.
	Gauge *Gauge
	// Measure reads how much of the machine is in use. It is called on a goroutine
	// of its own, once a second at most, and only while a limit asks for it.
	Measure func() pressure.Sample
	// Bounds counts what is cut off.
	Bounds *shed.Counts
	// Observer hears of admission; nil is allowed.
	Observer Observer
	// Specified hears what each task is to be started with elsewhere, should the node end. It
	// must not wait, and may be nil.
	Specified func(messages.TaskID, messages.TaskSpec)
	// Supervisor completes the config of a task's supervisor: what every task
	// of the node shares.
	Supervisor func(supervisor.Config) supervisor.Config
}

// Observer hears what metrics count. Its methods are called on the registry's
// goroutine and must not block.
type Observer interface {
	// QueueWaited is how long a start stood in the queue that was admitted.
	QueueWaited(time.Duration)
	// AdmissionRejected counts a caller that was refused.
	AdmissionRejected(messages.LimitReason)
	// TaskStarted is how long a task took from its place until it was active.
	TaskStarted(launched bool, took time.Duration)
}

// SweepEvery is how often expired tasks are looked for. Leases are seconds and
// more.
const SweepEvery = time.Second

// Mailbox bounds what waits for the registry: half of it starts and other orders,
// several times what the HTTP layer has connections for. Its end would be that of
// every task, so what finds no room is lost: a start that is not answered in time,
// at the worst.
const Mailbox = 1 << 16

// Ping asks the registry for a sign of life; the reply is nil.
type Ping struct{ Reply mail.Call }

// IsUrgent reports that a sign of life is asked for ahead of what waits.
func (Ping) IsUrgent() bool { return true }

// ReplyTo is the call that waits for the answer.
func (p Ping) ReplyTo() mail.Call { return p.Reply }

type sweepDue struct{}

// shortenAfter is how long those who watched a task have to read how it ended, before
// no more is kept of it than that.
const shortenAfter = 30 * time.Second

// shortenDue says that this time is over.
type shortenDue struct{ board *view.Board }

// measured is a [Measured] whose arrival the shell notes.
type measured struct{ sample pressure.Sample }

// Actor is the shell around a [Machine].
type Actor struct {
	cfg     Config
	machine *Machine
	pids    map[messages.TaskID]*actor.PID
	gens    map[messages.TaskID]uint64
	boards  map[messages.TaskID]*view.Board // of standbys

	isMeasuring bool
}

// New returns the behavior of a node's registry.
func New(cfg Config) *Actor {
	if cfg.Observer == nil {
		cfg.Observer = deaf{}
	}
	if cfg.Gauge == nil {
		cfg.Gauge = &Gauge{}
	}
	if cfg.Specified == nil {
		cfg.Specified = func(messages.TaskID, messages.TaskSpec) {}
	}
	return &Actor{
		cfg: cfg, machine: NewMachine(cfg.Limits, cfg.Override),
		pids: map[messages.TaskID]*actor.PID{}, gens: map[messages.TaskID]uint64{}, boards: map[messages.TaskID]*view.Board{},
	}
}

// Init implements guard.Behavior.
func (a *Actor) Init(c *guard.Context) {
	c.After("sweep", SweepEvery, sweepDue{})
	a.measure(c)
	a.show(c)
}

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	switch msg := msg.(type) {
	case Ping:
		c.Answer(msg.Reply, nil, nil)
	case sweepDue:
		now := c.Now()
		a.step(c, Sweep{IdleFor: func(id messages.TaskID) time.Duration {
			return a.cfg.Directory.Board(id).IdleFor(now)
		}})
		a.measure(c)
		c.After("sweep", SweepEvery, sweepDue{})
	case measured:
		a.isMeasuring = false
		a.step(c, Measured{msg.sample})
	case supervisor.PagesLeft:
		a.pagesLeft(c, msg)
	case ToStandby:
		if a.boards[msg.ID] != nil {
			c.Send(a.pids[msg.ID], msg.Msg)
		} else {
			c.System().Refuse(msg.Msg, messages.Errorf(messages.CodeTaskNotFound, "the node has no standby of the task"))
		}
	case shortenDue:
		msg.board.Shorten()
	case guard.Exited:
		id := messages.TaskID(msg.Key)
		gen := a.gens[id]
		if a.boards[id] != nil {
			delete(a.boards, id)
			delete(a.pids, id)
			delete(a.gens, id)
			a.step(c, StandbyExited{ID: id, Gen: gen})
			return
		}
		if b := a.cfg.Directory.Board(id); b != nil {
			c.After("shorten/"+strconv.FormatUint(gen, 10), shortenAfter, shortenDue{b})
		}
		delete(a.pids, id)
		delete(a.gens, id)
		var err error
		if msg.Reason.IsAbnormal() {
			err = msg.Reason.Err
		}
		a.step(c, SupervisorExited{ID: id, Gen: gen, Err: err})
	default:
		a.step(c, msg)
	}
}

// pagesLeft tells it to the tasks that have the same pages.
func (a *Actor) pagesLeft(c *guard.Context, l supervisor.PagesLeft) {
	shared := func(p messages.Page) bool { return slices.Contains(l.Left.Pages, p.TargetID) }
	for id, pid := range a.pids {
		if id != l.Task && a.boards[id] == nil && slices.ContainsFunc(a.cfg.Directory.Board(id).View().Snapshot.Pages, shared) {
			c.Send(pid, l.Left)
		}
	}
}

// Terminate implements guard.Behavior: every waiting caller gets an answer.
func (a *Actor) Terminate(c *guard.Context, _ guard.Reason) {
	for _, e := range a.machine.end() {
		if e, ok := e.(Answer); ok {
			c.Answer(e.To, e.Value, e.Err)
		}
	}
}

func (a *Actor) step(c *guard.Context, in any) {
	var answers []Answer
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case SpawnSupervisor:
			a.spawn(c, e)
		case ToSupervisor:
			if u, ok := e.Msg.(mail.UpdateSpec); ok && a.boards[e.ID] == nil {
				a.cfg.Specified(e.ID, u.Spec)
			}
			c.Send(a.pids[e.ID], e.Msg)
		case SpawnStandby:
			board := a.spawnUnder(c, e.ID, e.Gen, e.Spec, e.Resumed)
			a.boards[e.ID] = board
			answers = append(answers, Answer{To: e.Reply, Value: StandbyBoard{board}})
		case Promote:
			a.promote(c, e)
		case ShowLost:
			a.showLost(c, e)
		case Forget:
			if e.IsOver {
				a.cfg.Bounds.Hit(shed.EndedTasks)
			}
			a.cfg.Directory.forget(e.ID)
		case Acknowledge:
			a.acknowledge(c, e.ID)
		case Admit:
			c.Answer(e.To, nil, nil)
		case Waited:
			a.cfg.Observer.QueueWaited(e.For)
		case Began:
			a.cfg.Observer.TaskStarted(e.IsLaunched, e.Took)
		case Rejected:
			a.cfg.Gauge.reject(c.Now(), e.Reason)
			a.cfg.Observer.AdmissionRejected(e.Reason)
		case Wake:
			c.After("queue", e.At.Sub(c.Now()), QueueDue{})
		case GateChanged:
			logGate(c, e)
		case Answer:
			answers = append(answers, e)
		}
	}
	// Who has an answer reads a status that knows of it.
	a.show(c)
	for _, e := range answers {
		c.Answer(e.To, e.Value, e.Err)
	}
}

func (a *Actor) show(c *guard.Context) {
	a.cfg.Gauge.show(a.machine.Status(c.Now()))
}

// measure takes a sample beside the actor, where a limit asks for it.
func (a *Actor) measure(c *guard.Context) {
	if a.isMeasuring || a.cfg.Measure == nil || !a.machine.NeedsMeasures() {
		return
	}
	a.isMeasuring = true
	take := a.cfg.Measure
	c.Go("measure", func(context.Context) any { return measured{take()} })
}

func logGate(c *guard.Context, g GateChanged) {
	switch g.Load.State {
	case messages.LoadHigh:
		c.Log().Warn("no task starts until less is in use", "resource", g.Resource, "used", g.Load.Used, "high", g.Load.High, "low", g.Load.Low)
	case messages.LoadUnknown:
		c.Log().Warn("how much is in use cannot be read, tasks start whatever it is", "resource", g.Resource, "err", g.Err)
	default:
		c.Log().Info("tasks start again", "resource", g.Resource, "used", g.Load.Used)
	}
}

// deaf is the observer of a registry without one.
type deaf struct{}

func (deaf) QueueWaited(time.Duration)                  {}
func (deaf) AdmissionRejected(messages.LimitReason)     {}
func (deaf) TaskStarted(launched bool, _ time.Duration) {}

// acknowledge writes the line of the last change of state, which no supervisor
// lives to write.
func (a *Actor) acknowledge(c *guard.Context, id messages.TaskID) {
	b := a.cfg.Directory.Board(id)
	if b.View().Snapshot.State != messages.StateLost {
		return
	}
	b.Acknowledge()
	s := b.View().Snapshot
	c.Log().Info("task is "+string(s.State), "task", string(id), "state", string(s.State),
		"previous", string(messages.StateLost), "version", s.Version, "reason", s.Reason)
}

// versionsAhead is more than a task can have published since another node's last word of it.
const versionsAhead = 1 << 20

// showLost puts up the board of a task that was lost with another node.
func (a *Actor) showLost(c *guard.Context, e ShowLost) {
	board := view.NewBoard(e.ID, *e.Spec, c.Now())
	v := *board.View()
	s := *v.Snapshot
	s.State, s.Active, s.Reason, s.Version = messages.StateLost, false, reasonNodeDown, e.Version+versionsAhead
	s.Connection.Primary = messages.LinkDown
	v.Snapshot = &s
	board.Publish(&v, view.News{Before: s.Version - 1, At: messages.SecondsOf(c.Now()), Events: []messages.Event{{
		Type: messages.EventTaskState, TaskID: e.ID, Version: s.Version, At: messages.SecondsOf(c.Now()), State: s.State, Reason: s.Reason, Outcome: messages.OutcomeLost,
	}}})
	a.cfg.Directory.put(e.ID, board)
	c.Log().Error("task is lost", "task", string(e.ID), "state", string(s.State), "version", s.Version, "reason", s.Reason)
}

func (a *Actor) spawn(c *guard.Context, e SpawnSupervisor) {
	a.cfg.Specified(e.ID, *e.Spec)
	a.cfg.Directory.put(e.ID, a.spawnUnder(c, e.ID, e.Gen, e.Spec, e.Resumed))
}

// spawnUnder starts a supervisor under a new board.
func (a *Actor) spawnUnder(c *guard.Context, id messages.TaskID, gen uint64, spec *messages.TaskSpec, resumed *mail.Resumed) *view.Board {
	board := view.NewBoard(id, *spec, c.Now())
	cfg := a.cfg.Supervisor(supervisor.Config{ID: id, Spec: spec, Board: board, Registry: c.Self(), Gen: gen, Resumed: resumed})
	ref := c.Spawn(guard.Child{Kind: "supervisor", Key: string(id), Mailbox: supervisor.Mailbox, New: func() guard.Behavior { return supervisor.New(cfg) }})
	a.pids[id], a.gens[id] = ref.PID, gen
	return board
}

// promote shows a standby that becomes a task of this node.
func (a *Actor) promote(c *guard.Context, p Promote) {
	delete(a.boards, p.ID)
	a.cfg.Specified(p.ID, *p.Spec)
	board := view.NewBoard(p.ID, *p.Spec, c.Now())
	a.cfg.Directory.put(p.ID, board)
	c.Send(a.pids[p.ID], supervisor.Promote{Memory: p.Memory, Board: board, Reply: p.Reply})
}
