package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

// DefaultSteps is how long a plan usually is.
const DefaultSteps = 40

// Task is one task of the node under test.
type Task struct {
	Browser       int // which browser it attaches to
	Scope         messages.Scope
	Policy        messages.DialogPolicy
	BeforeUnload  messages.BeforeUnload // "" is the product's default
	DialogTimeout time.Duration         // 0 is the product's default
	// HasAnchor says whether the task has a second link.
	HasAnchor bool
	// IsDirect is a browser WebSocket URL in the spec, which a browser that was
	// restarted does not answer any more; else the endpoint is found by HTTP.
	IsDirect bool
	// Bridge says how the task's dialogs come; "" is natively.
	Bridge messages.Bridge
}

// Step is one thing that happens.
type Step struct {
	Kind Kind
	Task int // index of the task it is about
	// Pick are the numbers by which pages, frames and the like are chosen.
	Pick [3]uint32
	// HasDialog has a dialog opened on the task before the fault.
	HasDialog bool
	// For is how long the fault lasts, or how much is delayed.
	For time.Duration
	// Count is how many: callers, dialogs, frames of garbage.
	Count int
	// Panic is where an actor panics.
	Panic Panic
	// Pause is how long the world is left alone afterwards; with Settle, until
	// all is well again.
	Pause         time.Duration
	NeedsSettling bool
}

// Panic names a place in an actor's life.
type Panic struct{ Actor, Phase string }

// Plan is everything that is going to happen.
type Plan struct {
	Seed     uint64
	Browsers int
	Tasks    []Task
	Steps    []Step
	// HasDoomed says that pages also ask while their next document comes.
	HasDoomed bool
	// IsShared says that the browsers put frames of one site of different tabs into one
	// process (C59).
	IsShared bool
	// HasOutages says that the plan is one of NewOutages.
	HasOutages bool
	// HasClients says that the plan is one of NewClients.
	HasClients bool
}

// New returns the plan of a seed.
func New(seed uint64, steps int) Plan {
	r := rand.New(rand.NewPCG(seed, 0x686f6c6466617374))
	p := Plan{Seed: seed, Browsers: 1 + r.IntN(2)}
	p.Tasks = tasks(r, p.Browsers)
	for range steps {
		p.Steps = append(p.Steps, step(r, len(p.Tasks)))
	}
	return p
}

// NewBridged returns the plan of a seed in which most tasks have their dialogs come
// over the bridge. All else is as in New: chance for this is drawn from a stream of
// its own.
func NewBridged(seed uint64, steps int) Plan {
	p := New(seed, steps)
	r := rand.New(rand.NewPCG(seed, 0x627269646765))
	for i := range p.Tasks {
		p.Tasks[i].Bridge = []messages.Bridge{messages.BridgeOn, messages.BridgeOn, messages.BridgeOn, messages.BridgeAuto, messages.BridgeOff}[r.IntN(5)]
	}
	return p
}

// NewDoomed returns the plan of a seed in which about every fourth step is a
// [DoomedDialog] instead. All else is as in New: chance for this is drawn from a stream
// of its own.
func NewDoomed(seed uint64, steps int) Plan {
	p := New(seed, steps)
	p.HasDoomed = true
	r := rand.New(rand.NewPCG(seed, 0x646f6f6d6564))
	for i := range p.Steps {
		if r.IntN(4) == 0 {
			s := &p.Steps[i]
			s.Kind, s.HasDialog, s.Panic = DoomedDialog, false, Panic{}
		}
	}
	return p
}

// NewShared returns the plan of a seed in whose browsers frames of different tabs share
// renderers, and about every tenth step is a [SlowPage] instead. All else is as in New:
// chance for this is drawn from a stream of its own.
func NewShared(seed uint64, steps int) Plan {
	p := New(seed, steps)
	p.IsShared = true
	r := rand.New(rand.NewPCG(seed, 0x736861726564))
	for i := range p.Steps {
		if r.IntN(10) == 0 {
			s := &p.Steps[i]
			s.Kind, s.Panic = SlowPage, Panic{}
		}
	}
	return p
}

// IsBridged says whether some task of the plan knows the bridge.
func (p Plan) IsBridged() bool {
	return slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Bridge != "" })
}

// NewOutages returns the plan of a seed in which one step of five is a fault that lasts
// for seconds: a browser that takes no connections, or a link that is silent and whose
// end the browser hears of late. All else is as in New: chance for this is drawn from a
// stream of its own.
func NewOutages(seed uint64, steps int) Plan {
	p := New(seed, steps)
	p.HasOutages = true
	r := rand.New(rand.NewPCG(seed, 0x6f757461676573))
	for i := range p.Steps {
		roll, kind, lasts := r.IntN(5), r.IntN(len(longFaults)), r.IntN(len(longDurations))
		if roll == 0 {
			p.Steps[i].Kind, p.Steps[i].For, p.Steps[i].Panic = longFaults[kind], longDurations[lasts], Panic{}
		}
	}
	return p
}

// tasks draws three to eight of them. A task that has a whole browser is alone there, most
// of the time: two that hold the same page cannot free it of a dialog (C19). Where tasks
// share a browser, none of them answers by itself: an answer names no dialog, and of two
// answers sent at once one may meet the next dialog (C6).
func tasks(r *rand.Rand, browsers int) []Task {
	n := 3 + r.IntN(6)
	whole := -1 // the browser of scope browser
	if browsers > 1 {
		whole = browsers - 1
	}
	list := make([]Task, n)
	for i := range list {
		t := Task{
			Browser: r.IntN(browsers), Scope: messages.ScopeOwn, Policy: messages.PolicyMustRespond,
			HasAnchor: r.IntN(4) > 0, IsDirect: r.IntN(3) == 0,
		}
		switch {
		case i == n-1 && whole >= 0:
			t.Browser, t.Scope = whole, messages.ScopeBrowser
		case whole >= 0:
			t.Browser = 0
		case i == 0 && n == 3: // three tasks of one browser, which one sees whole
			t.Scope = messages.ScopeBrowser
		}
		switch r.IntN(6) {
		case 0:
			t.Policy = messages.PolicyAutoAccept
		case 1:
			t.Policy = messages.PolicyAutoDismiss
		case 2:
			t.DialogTimeout = 20 * time.Second
		}
		if whole < 0 && n == 3 {
			t.Policy, t.BeforeUnload, t.DialogTimeout = messages.PolicyMustRespond, messages.BeforeUnloadAsk, 0
			list[i] = t
			continue
		}
		switch r.IntN(4) {
		case 0:
			t.BeforeUnload = messages.BeforeUnloadAccept
		case 1:
			t.BeforeUnload = messages.BeforeUnloadDismiss
		}
		list[i] = t
	}
	return list
}

// step draws a step. It always takes the same amount of chance, so that a
// change of one weight leaves the rest of a plan recognisable.
func step(r *rand.Rand, tasks int) Step {
	s := Step{Task: r.IntN(tasks), Pick: [3]uint32{r.Uint32(), r.Uint32(), r.Uint32()}}
	roll, lasts, count, panics := r.IntN(total), r.IntN(len(durations)), 1+r.IntN(5), r.IntN(len(Panics))
	pause, settle := r.IntN(len(pauses)), r.IntN(5)
	s.HasDialog = r.IntN(2) == 0
	for _, w := range weights {
		if roll -= w.weight; roll < 0 {
			s.Kind = w.kind
			break
		}
	}
	s.For, s.Count, s.Pause = durations[lasts], count, pauses[pause]
	s.NeedsSettling = settle < 2
	if s.Kind == ActorPanic {
		s.Panic = Panics[panics]
	}
	return s
}

// durations are those of faults: moments, and more than a keepalive bears.
var durations = []time.Duration{
	50 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 12 * time.Second,
}

// longDurations are those of long faults.
var longDurations = []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 12 * time.Second, 30 * time.Second, 100 * time.Second}

// pauses are what follows a step: nothing at all, the middle of a reconnect, of
// an attach, of a backoff.
var pauses = []time.Duration{
	0, 0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond, 1100 * time.Millisecond,
}

// String is the step in one line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s t%d", s.Kind, s.Task)
	if s.Kind == ActorPanic {
		fmt.Fprintf(&b, " %s/%s", s.Panic.Actor, s.Panic.Phase)
	}
	fmt.Fprintf(&b, " n=%d for=%s", s.Count, s.For)
	if s.HasDialog {
		b.WriteString(" with a dialog")
	}
	if s.NeedsSettling {
		b.WriteString(", then settle")
	} else {
		fmt.Fprintf(&b, ", then %s", s.Pause)
	}
	return b.String()
}
