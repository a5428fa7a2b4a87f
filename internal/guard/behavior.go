package guard

import "github.com/anthdm/hollywood/actor"

// Behavior is the code of one actor. Its methods are called one at a time; they
// must not block, and must not keep the Context for use on another goroutine.
type Behavior interface {
	// Init is called first, asynchronously to the spawner.
	Init(c *Context)
	// Receive is called for every message of others, for the Exited of
	// children, and for what timers and Go functions deliver. It is not
	// called any more once the actor is ending.
	Receive(c *Context, msg any)
	// Terminate is called last, after all children have exited and all Go
	// functions have returned (or were given up). It is called whenever Init
	// was, also after a panic in Init or Receive, so the Behavior may be in
	// any state. From it only Send, Respond and the readers of the Context
	// do something.
	Terminate(c *Context, r Reason)
}

// Stater is a Behavior that can say what its machine knows, one line for each fact. Guard
// logs it after a panic, whatever state the panic has left it in, so it holds nothing that
// may not be logged.
type Stater interface{ State() string }

// Child describes an actor to start.
type Child struct {
	// Kind is what sort of actor it is (session, dialog): the first part of
	// its ID and a metric's label, so there must be few.
	Kind string
	// Key is unique among living siblings and the second part of the ID.
	Key string
	// New makes the actor's Behavior, on the actor's own goroutine. When it
	// panics, the actor exits without Terminate.
	New func() Behavior
	// Mailbox bounds the messages that wait, the actor's own timers, results and
	// children aside; 0 means DefaultMailbox. Orders are refused from half of it
	// on (see Refuser). What comes when it is full is lost, and with it the actor:
	// it fails with ErrFlooded.
	Mailbox int
	// CanShed lets the actor live on without what did not find room: where its end
	// would cost more than any message.
	CanShed bool

	restarts int32 // how often its Group has started it before
}

func (c Child) check() {
	if c.Kind == "" || c.New == nil {
		panic("guard: a child needs a Kind and a New")
	}
}

// Ref points to one generation of a child. The zero Ref means that nothing was
// started.
type Ref struct {
	PID *actor.PID
	Key string
	// Gen is unique among all actors of a System and grows.
	Gen uint64
}

// Exited tells a parent that a child is gone. It is the last message about
// that generation and comes exactly once.
type Exited struct {
	Key    string
	PID    *actor.PID
	Gen    uint64
	Reason Reason
}

// Discarder is for results of Go functions that own something, such as a
// connection. Discard is called instead of Receive when the actor is ending or
// the function was cancelled or superseded. It is called on any goroutine and
// must not block.
type Discarder interface{ Discard() }
