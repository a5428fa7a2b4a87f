package guard

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/call"
)

// DefaultStopTimeout is how long a child may take to exit after Stop.
const DefaultStopTimeout = 5 * time.Second

// Observer hears about the lives of actors, for metrics. Its methods are
// called on actors' goroutines, several at a time, and must not block.
type Observer interface {
	ActorStarted(kind string)
	// ActorExited is called once for each ActorStarted; for an abandoned
	// actor at the time it is given up.
	ActorExited(kind string, r Reason)
	// ActorRestarted is called when a [Group] starts a child again that has
	// failed, ActorGaveUp when it does not any more.
	ActorRestarted(kind string)
	ActorGaveUp(kind string)
	// DeadLetter is a message to an actor that is gone. One that crosses the exit is
	// normal; a late one shows that its sender keeps the PID of a dead actor.
	DeadLetter(late bool)
	// DuplicateID is a spawn under an ID that is taken: always a bug.
	DuplicateID()
}

// Options are the settings of a System; the zero value will do.
type Options struct {
	Logger   *slog.Logger // default slog.Default()
	Observer Observer     // default none
	// StopTimeout is how long an actor may spend in its own code before it
	// exits after Stop, and how long its Go functions may take to return.
	// Time spent waiting for its children does not count.
	StopTimeout time.Duration // default DefaultStopTimeout
	// Remote connects the engine to other nodes; default none.
	Remote actor.Remoter
	// Intercept is called before each method of each Behavior, on the actor's
	// goroutine, and may panic as if the method had: the seam through which
	// tests break actors. Default none, which costs one comparison a message.
	Intercept func(Moment)
}

// System is what all guarded actors of one node share. Its methods are safe
// for concurrent use.
type System struct {
	engine      *actor.Engine
	log         *slog.Logger
	observer    Observer
	stopTimeout time.Duration
	intercept   func(Moment) // may be nil
	lastGen     atomic.Uint64
	exits       exits
	dropped     sync.Map // kind → *atomic.Uint64: messages lost at full mailboxes
	procs       actorTable
	pill        reflect.Type // of hollywood's poison pill
	events      *Handle
	calls       call.Table

	mu    sync.Mutex // protects what follows
	roots map[*proc]struct{}
}

// NewSystem creates the engine and its one subscriber to the event stream.
func NewSystem(o Options) (*System, error) {
	cfg := actor.NewEngineConfig()
	if o.Remote != nil {
		cfg = cfg.WithRemote(o.Remote)
	}
	engine, err := actor.NewEngine(cfg)
	if err != nil {
		return nil, fmt.Errorf("guard: new engine: %w", err)
	}
	s := &System{
		engine:      engine,
		log:         o.Logger,
		observer:    o.Observer,
		stopTimeout: o.StopTimeout,
		intercept:   o.Intercept,
		roots:       map[*proc]struct{}{},
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.observer == nil {
		s.observer = noObserver{}
	}
	if s.stopTimeout <= 0 {
		s.stopTimeout = DefaultStopTimeout
	}
	s.pill = learnPill(engine)
	s.events = s.Root(Child{Kind: "events", Key: "node", CanShed: true, New: func() Behavior { return &events{sys: s} }})
	// Here and not in Init: so that no event after NewSystem is missed.
	engine.Subscribe(s.events.PID())
	return s, nil
}

// Calls returns the table of the calls that wait for an answer of an actor.
func (s *System) Calls() *call.Table { return &s.calls }

// Refuse answers an order with err, and says whether a call waits for its answer.
func (s *System) Refuse(msg any, err error) bool {
	o, ok := msg.(Order)
	if !ok || o.ReplyTo() == 0 {
		return false
	}
	s.calls.Answer(o.ReplyTo(), nil, err)
	return true
}

// Engine returns the hollywood engine, for what is outside the tree: tests,
// remoting. Actors of the tree are spawned with Root and Context.Spawn only.
func (s *System) Engine() *actor.Engine { return s.engine }

// Send sends msg to an actor on this or another node. It never blocks. To nil
// it does nothing.
func (s *System) Send(to *actor.PID, msg any) {
	if to == nil {
		return
	}
	if p := s.procs.load(to); p != nil {
		p.deliver(msg, nil, nil)
		return
	}
	s.Refuse(msg, errEnded)
	s.engine.Send(to, msg)
}

// Close ends the subscriber to the event stream. It should come after the
// roots have been stopped; they are not stopped by it.
func (s *System) Close(ctx context.Context) error {
	_, err := s.events.Stop(ctx)
	return err
}

// Root starts an actor that has no parent.
func (s *System) Root(child Child) *Handle {
	child.check()
	h := &Handle{exited: make(chan struct{})}
	h.p = s.newProc(child)
	h.p.handle = h
	s.mu.Lock()
	s.roots[h.p] = struct{}{}
	s.mu.Unlock()
	h.p.spawn()
	return h
}

func (s *System) newProc(child Child) *proc {
	gen := s.lastGen.Add(1)
	id := child.Kind + "/" + child.Key + "/" + strconv.FormatUint(gen, 10)
	p := &proc{
		sys:  s,
		spec: child,
		gen:  gen,
		born: time.Now().UnixNano(),
		pid:  actor.NewPID(s.engine.Address(), id),
	}
	if child.Mailbox <= 0 {
		child.Mailbox = DefaultMailbox
	}
	p.mail.half = int64(max(1, child.Mailbox/2))
	p.ctx.p = p
	// First in the mailbox, before the PID is known to any other actor.
	p.tell(begin{})
	return p
}

// unregister takes an actor's address from those who have it.
func (s *System) unregister(p *proc) {
	s.procs.delete(p)
	s.engine.Registry.Remove(p.pid)
}

type noObserver struct{}

func (noObserver) ActorStarted(string)        {}
func (noObserver) ActorExited(string, Reason) {}
func (noObserver) ActorRestarted(string)      {}
func (noObserver) ActorGaveUp(string)         {}
func (noObserver) DeadLetter(bool)            {}
func (noObserver) DuplicateID()               {}
