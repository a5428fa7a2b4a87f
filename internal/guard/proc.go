package guard

import (
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/smallmap"
)

type phase uint8

const (
	starting    phase = iota // New and Init have not run
	running                  // user code gets messages
	dying                    // waiting for children and Go functions
	terminating              // in Terminate
	closed
)

type (
	// begin is the first message of every actor.
	begin struct{}
	// shutdown asks an actor to end; repeats are harmless.
	shutdown struct{}
	// wake makes an actor look at its state after a crash.
	wake struct{}
)

// proc is what stands behind a guarded actor's PID: hollywood's Processer. All
// fields without a comment belong to the actor's goroutine.
type proc struct {
	// Constant after newProc and spawnChild.
	sys    *System
	spec   Child
	gen    uint64
	born   int64 // unix nanoseconds
	pid    *actor.PID
	queue  queue   // any goroutine
	mail   mailbox // any goroutine
	parent *proc
	handle *Handle // of a root
	ctx    Context

	isStarted        bool  // set by Start, on the spawner's goroutine
	isExiting        bool  // Exit was called: ends after the current message
	isAsked          bool  // the parent's clock is ticking
	isToldOfProgress bool  // and was stopped by a childProgress
	isLast           bool  // the message being handled is the last for now
	phase            phase // become changes it
	isAbandoned      bool  // under mu; it stands here for its size
	isStopped        bool  // the parent's, likewise: asked to stop
	behavior         Behavior
	end              *Reason // once it is known
	sender           *actor.PID
	next             *proc                         // whose turn it is on this goroutine after that
	backlog          *[]actor.Envelope             // rest of the batch of a crash
	timers           *smallmap.Map[string, *timer] // nil while there are none: nearly always

	// reported: the Observer has heard of the exit.
	reported atomic.Bool
	// shown is the phase for those who look at the tree.
	shown atomic.Uint32

	// mu guards what a parent touches that abandons the actor, and who looks at
	// the tree. The actor's own goroutine reads kids and errands without it, since
	// only it writes them.
	mu      sync.Mutex
	kids    *smallmap.Map[string, *proc] // nil until the first
	errands *errands                     // nil until the first Go function: few actors have any
	waiting map[string]Node              // of its groups: children that are down for their backoff

	// deadline is the parent's: nil while it has not asked the actor to stop, or knows
	// it to wait for others.
	deadline *deadline
}

var _ actor.Processer = (*proc)(nil)

// spawn registers the actor, which starts it.
func (p *proc) spawn() {
	observe(func(o Observer) { o.ActorStarted(p.spec.Kind) }, p.sys)
	p.sys.procs.store(p)
	p.sys.engine.SpawnProc(p)
	if !p.isStarted {
		p.sys.procs.delete(p)
		// The registry kept the other owner of the ID.
		p.become(closed)
		p.setEnd(Fail(ErrDuplicateID))
		p.announce()
	}
}

// Start is called by the registry, once, on the spawner's goroutine.
func (p *proc) Start() {
	p.isStarted = true
	p.queue.open(p)
}

// PID is called by the registry.
func (p *proc) PID() *actor.PID { return p.pid }

// Send is called by the engine on any goroutine.
func (p *proc) Send(_ *actor.PID, msg any, sender *actor.PID) { p.deliver(msg, sender, nil) }

// deliver is called on any goroutine; from is not nil only on its own.
func (p *proc) deliver(msg any, sender *actor.PID, from *proc) {
	if n := p.mail.waiting.Add(1); n > p.mail.half && !p.admitCrowded(n, msg, 1) {
		return
	}
	p.put(actor.Envelope{Msg: msg, Sender: sender}, from)
}

// deliverSeveral is deliver for a message that counts for more than one.
func (p *proc) deliverSeveral(s several, sender *actor.PID, from *proc) {
	if n := p.mail.waiting.Add(s.count); n > p.mail.half && !p.admitCrowded(n, s.msg, s.count) {
		return
	}
	p.put(actor.Envelope{Msg: s, Sender: sender}, from)
}

// Shutdown is part of hollywood's interface.
func (p *proc) Shutdown() { p.tell(shutdown{}) }

// Invoke is called with the next batch, one call at a time. No panic leaves it.
// The batch is not used after it.
func (p *proc) Invoke(batch []actor.Envelope) {
	if p.backlog != nil {
		batch = slices.Concat(*p.backlog, batch)
		p.backlog = nil
	}
	next, counted := 0, 0
	finished := false
	// One deferred call for the whole batch: a crash is rare, a message is not.
	defer func() {
		p.mail.waiting.Add(int64(counted - next))
		if finished {
			return
		}
		v := recover()
		p.handleCrash(panicked(v))
		if p.phase != closed {
			// User messages among the rest are dropped when their turn comes, but
			// exits of children must not be lost.
			rest := slices.Clone(batch[next:])
			p.backlog = &rest
			p.tell(wake{})
		}
		if v == nil {
			// runtime.Goexit: this goroutine ends when this function returns, and a queued
			// actor may wait for it to run next.
			go work(p)
		}
	}()
	for next < len(batch) && p.phase != closed {
		for p.phase == running && p.queue.hasUrgent.Load() {
			env, ok := p.queue.next()
			if !ok {
				break
			}
			p.mail.waiting.Add(-1)
			p.isLast = false
			p.step(&env)
		}
		if p.phase == closed {
			break
		}
		env := &batch[next]
		next++
		p.isLast = next == len(batch)
		if p.mail.flooded.Load() && p.phase == running {
			p.logger().Error("more was said to the actor than it could hear", "waiting", 2*p.mail.half)
			p.die(Fail(ErrFlooded))
		}
		p.step(env)
		if next-counted == settleEvery {
			p.mail.waiting.Add(-settleEvery)
			counted = next
		}
	}
	for _, env := range batch[next:] { // of an actor that has ended
		p.sys.Refuse(env.Msg, errEnded)
	}
	finished = true
}

func (p *proc) step(env *actor.Envelope) {
	switch m := env.Msg.(type) {
	case begin:
		p.begin()
	case shutdown:
		p.handleShutdown()
	case wake:
	case *timer:
		p.handleTimer(m)
	case *task:
		p.handleTask(m)
	case delivery:
		p.handleDelivery(m)
	case tasksOverdue:
		p.giveUpTasks()
	case childExited:
		p.handleChildExited(m)
	case childProgress:
		p.handleChildProgress(m)
	case *deadline:
		p.handleDeadline(m)
	case several:
		p.mail.waiting.Add(1 - m.count) // one is counted with the batch
		p.sender = env.Sender
		p.receive(m.msg)
		p.sender = nil
	default:
		if reflect.TypeOf(m) == p.sys.pill {
			p.logger().Error("poison pill sent to a guarded actor; use Stop of its parent or Handle")
			p.handleShutdown()
			break
		}
		p.sender = env.Sender
		p.receive(m)
		p.sender = nil
	}
	p.settle()
}

// receive hands a message to the Behavior, unless the actor is ending.
func (p *proc) receive(msg any) {
	if p.phase == running {
		p.about(PhaseReceive, msg)
		p.behavior.Receive(&p.ctx, msg)
		return
	}
	p.sys.Refuse(msg, errEnded) // no other actor knows of it
}

func (p *proc) begin() {
	if p.phase != starting {
		return
	}
	b := p.spec.New()
	if b == nil {
		panic("guard: New of a " + p.spec.Kind + " returned nil")
	}
	p.spec.New = nil // what it captured is not needed any more
	p.behavior, p.phase = b, running
	p.about(PhaseInit, nil)
	b.Init(&p.ctx)
	p.become(running)
}

func (p *proc) handleShutdown() {
	p.isAsked = true
	if p.phase <= running {
		p.die(Reason{Kind: Shutdown})
	}
}

func (p *proc) setEnd(r Reason) { p.end = &r }

// isLive tells whether the actor may still start things.
func (p *proc) isLive() bool { return p.phase <= running }

// die begins the end; settle completes it.
func (p *proc) die(r Reason) {
	p.become(dying)
	p.setEnd(r)
	p.stopTimers()
	p.stopTasks()
	p.stopKids()
}

// settle takes the steps towards the end that have become possible.
func (p *proc) settle() {
	if p.phase == running && p.isExiting {
		p.die(*p.end)
	}
	if p.phase != dying {
		return
	}
	if p.kids.Len() == 0 && (p.errands == nil || len(p.errands.tasks) == 0) {
		p.terminate()
		p.close()
		return
	}
	if p.isAsked && !p.isToldOfProgress && p.parent != nil {
		p.isToldOfProgress = true
		p.parent.tell(childProgress{kid: p, isWaiting: true})
	}
}

func (p *proc) terminate() {
	p.become(terminating)
	if p.errands != nil && p.errands.overdue != nil {
		p.errands.overdue.Stop()
	}
	if p.isToldOfProgress {
		p.parent.tell(childProgress{kid: p})
	}
	if p.behavior != nil {
		p.about(PhaseTerminate, nil)
		p.behavior.Terminate(&p.ctx, *p.end)
	}
}

// close is the end. The order matters: the ID is free and the mailbox shut before the exit
// is reported.
func (p *proc) close() {
	p.become(closed)
	p.sys.exits.add(p.gen, time.Now())
	p.sys.unregister(p)
	for _, env := range p.queue.close() {
		p.sys.Refuse(env.Msg, errEnded)
	}
	p.behavior = nil
	p.announce()
}

func (p *proc) announce() {
	p.report(*p.end)
	if p.parent != nil {
		p.parent.tell(childExited{kid: p, reason: *p.end})
	}
	if p.handle != nil {
		p.sys.mu.Lock()
		delete(p.sys.roots, p)
		p.sys.mu.Unlock()
		p.handle.reason = *p.end
		close(p.handle.exited)
	}
}

// report tells the Observer of the exit, once.
func (p *proc) report(r Reason) {
	if p.reported.CompareAndSwap(false, true) {
		observe(func(o Observer) { o.ActorExited(p.spec.Kind, r) }, p.sys)
	}
}

// handleCrash turns a panic of user code into the actor's end.
func (p *proc) handleCrash(r Reason) {
	p.sender = nil
	p.logPanic(r)
	p.logState()
	switch p.phase {
	case starting, running:
		p.die(r)
	case terminating:
		if !p.end.IsAbnormal() {
			p.setEnd(r) // a crash before this one is the better explanation
		}
		p.close()
	}
}

// name is what lines about the actor carry.
func (p *proc) name() []any {
	name := []any{"actor", p.spec.Kind, "key", p.spec.Key, "gen", p.gen}
	if p.parent != nil {
		name = append(name, "parent", p.parent.spec.Key)
	}
	return name
}

// logger is made where it is needed: few actors log, and seldom.
func (p *proc) logger() *slog.Logger { return p.sys.log.With(p.name()...) }

// logPanic may be called on any goroutine, and is by Go functions.
func (p *proc) logPanic(r Reason) {
	defer func() { _ = recover() }() // a log handler that panics must not make it worse
	p.logger().Error("actor panicked", "reason", r.String(), "stack", string(r.Stack))
}

// maxState bounds what is logged of an actor's state, in bytes.
const maxState = 4 << 10

// logState logs what the behavior of an actor that has panicked knew, if it can say.
func (p *proc) logState() {
	defer func() { _ = recover() }() // the panic may have left it in any state
	s, ok := p.behavior.(Stater)
	if !ok {
		return
	}
	state := s.State()
	if len(state) > maxState {
		state = state[:maxState] + "…"
	}
	p.logger().Error("state of the actor that panicked", "state", state)
}

// GaveUp tells the Observer that actors of a kind have failed too often. It is for a limit
// that is the parent's own, and not that of a [Group].
func (s *System) GaveUp(kind string) { observe(func(o Observer) { o.ActorGaveUp(kind) }, s) }

// observe keeps a panic of the Observer from the actor: at the places it is
// called from, an actor's end must not be interrupted.
func observe(call func(Observer), s *System) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("observer panicked", "reason", panicked(v).String())
		}
	}()
	call(s.observer)
}
