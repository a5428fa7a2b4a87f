package view

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/session"
	"holdfast/actors/supervisor/admit"
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// View is a task's state at one version with the ways to its sessions. It is
// immutable.
type View struct {
	Snapshot   *messages.Snapshot
	Scope      messages.Scope
	IsLaunched bool
	// Context is the browser context of the task's own; "" is the browser's.
	Context string
	// Downloads is the directory for what the task's launched browser downloads; "" is
	// none of the node's.
	Downloads string
	// IsRestricted: a scoped caller has started the task (X15).
	IsRestricted bool
	// Supervisor takes orders; nil once the task has ended.
	Supervisor *actor.PID
	// Dialogs takes answers to dialogs, without a way around; nil once the task has ended.
	Dialogs *actor.PID
	// Browser leads to the browser's own session; nil while there is no link.
	Browser *session.Port
	// Anchor is the same on the second link.
	Anchor *session.Port
	// Sessions are all attached sessions.
	Sessions smallmap.Map[messages.SessionID, Session]
	// Wanted returns what agents have set in pages, for another node. It is nil until the task
	// has been attached.
	Wanted func() []byte
	// Trees are the frame trees of the pages, whole.
	Trees smallmap.Map[messages.TargetID, *messages.FrameTree]
}

// Session is one attached session as callers meet it, with what is known of it.
type Session struct {
	admit.Known
	Port   *session.Port
	Target messages.TargetID
	Page   messages.TargetID
}

// Board is where a task's state is read. It outlives the task's supervisor,
// so that the end of a task can be read too. Safe for concurrent use.
type Board struct {
	view atomic.Pointer[View]
	born time.Time    // on the monotonic clock; only read
	used atomic.Int64 // the last use, in nanoseconds after born
	busy atomic.Int64 // calls and watchers in progress

	ended chan struct{} // closed when the task is lost or stopped

	spec *messages.TaskSpec // as the task was started; never written

	mu      sync.Mutex
	history history
	wait    chan struct{} // closed by the next publish; nil without a waiting reader
	guests  guests
	watch   func() // see Watch; nil without one
}

// NewBoard returns a board that shows a task about to start.
func NewBoard(id messages.TaskID, spec messages.TaskSpec, now time.Time) *Board {
	b := &Board{born: now, ended: make(chan struct{}), spec: &spec}
	bridge := messages.BridgeNative
	if spec.Bridge == messages.BridgeOn {
		bridge = messages.BridgeOn
	}
	b.view.Store(&View{
		Scope: spec.Scope, IsLaunched: spec.Launch != nil, IsRestricted: spec.IsRestricted,
		Snapshot: &messages.Snapshot{
			TaskID: id, State: messages.StateStarting, Active: true, Labels: spec.Labels,
			Connection: messages.Connection{
				Primary: messages.LinkDialing, Anchor: messages.LinkDown, Bridge: bridge, Endpoint: spec.CDPURL.String(),
			},
		},
	})
	return b
}

// Spec is what the task was started with. A task that has ended can be started
// with it again.
func (b *Board) Spec() messages.TaskSpec { return *b.spec }

// View returns the newest state. It costs one atomic load.
func (b *Board) View() *View { return b.view.Load() }

// Ended is closed when the task has been lost or stopped.
func (b *Board) Ended() <-chan struct{} { return b.ended }

// Touch renews the task's lease (requirement X7). A lease is measured on the monotonic
// clock: neither a step of the wall clock nor a suspended machine uses it up.
func (b *Board) Touch(now time.Time) { b.used.Store(int64(now.Sub(b.born))) }

// Use holds the lease until the returned function is called, once.
func (b *Board) Use() (done func()) {
	b.Begin()
	return b.Done
}

// Begin and Done are Use for a call that allocates nothing.
func (b *Board) Begin() { b.busy.Add(1) }

// Done ends what Begin has begun.
func (b *Board) Done() {
	b.Touch(time.Now())
	b.busy.Add(-1)
}

// IdleFor is how long the task has not been used.
func (b *Board) IdleFor(now time.Time) time.Duration {
	if b.busy.Load() > 0 {
		return 0
	}
	return now.Sub(b.born) - time.Duration(b.used.Load())
}

// News is what a version of the state has that the one before has not. It begins with
// Errors of the console, the first of which has the version after Before. At is the time
// of all of them.
type News struct {
	Before uint64
	At     messages.Seconds
	Errors []*messages.ConsoleError
	Events []messages.Event
}

// Publish shows v and wakes the watchers. One publisher at a time.
func (b *Board) Publish(v *View, p News) {
	b.mu.Lock()
	b.view.Store(v)
	b.history.expect(len(p.Errors) + len(p.Events))
	for i, e := range p.Errors {
		b.history.add(errorRecord(p.Before+uint64(i)+1, p.At, e))
	}
	for i := range p.Events {
		b.history.add(recordOf(&p.Events[i]))
	}
	wait, watch := b.wait, b.watch
	b.wait = nil
	if !v.Snapshot.Active {
		select {
		case <-b.ended:
		default:
			close(b.ended)
		}
	}
	b.mu.Unlock()
	if watch != nil {
		watch()
	}
	if wait != nil {
		close(wait)
		runtime.Gosched() // a waiting reader runs now, before the rest of this step
	}
}

// SetDialogs shows who takes answers to dialogs from now on: the state is the same. It is
// for the publisher.
func (b *Board) SetDialogs(pid *actor.PID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v := *b.View(); v.Supervisor != nil {
		v.Dialogs = pid
		b.view.Store(&v)
	}
}

// Shorten drops all but the last events of a task that has ended. A watcher that has not read them gets a reset.
func (b *Board) Shorten() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.View().Snapshot.Active {
		b.history.end()
	}
}

// After returns the events after version, and a channel that is closed when
// there are more. When some of them are gone, or version is not of this
// board, it returns one reset that carries the whole state.
func (b *Board) After(version uint64) ([]messages.Event, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait == nil {
		b.wait = make(chan struct{})
	}
	snap := b.view.Load().Snapshot
	if version < b.history.dropped || version > snap.Version {
		return []messages.Event{{
			Type: messages.EventReset, TaskID: snap.TaskID, Version: snap.Version, At: messages.SecondsOf(time.Now()), Snapshot: snap,
		}}, b.wait
	}
	return b.history.after(version, snap.TaskID), b.wait
}

// Changed is closed once the task's version is another than version.
func (b *Board) Changed(version uint64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.View().Snapshot.Version != version {
		return closed
	}
	if b.wait == nil {
		b.wait = make(chan struct{})
	}
	return b.wait
}

var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Watch has changed called with every change, on the goroutine of the publisher: it must not wait. Nil
// ends that. A board has one that watches.
func (b *Board) Watch(changed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = changed
}

// Acknowledge turns a lost task into a stopped one. Only for a task without a
// supervisor.
func (b *Board) Acknowledge() {
	v := *b.View()
	if v.Snapshot.State != messages.StateLost {
		return
	}
	snap := *v.Snapshot
	snap.State = messages.StateStopped
	snap.Version++
	v.Snapshot = &snap
	b.Publish(&v, News{Events: []messages.Event{{
		Type: messages.EventTaskState, TaskID: snap.TaskID, Version: snap.Version, At: messages.SecondsOf(time.Now()), State: snap.State, Reason: snap.Reason,
	}}})
}
