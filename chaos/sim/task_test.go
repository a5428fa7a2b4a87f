package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/chaos/plan"
	"holdfast/messages"
)

// task is one task of the node, and what ought to be true of it.
type task struct {
	w     *world
	index int
	id    messages.TaskID
	plan  plan.Task
	host  *host

	running bool
	lives   int // how often what its clients had has ended with it, or with its browser
	// own are the pages that are the task's.
	own map[messages.TargetID]bool
	// mayLose says why it is no fault of the node's when the task is lost.
	mayLose string
	// leaving is set once a stop was ordered: open dialogs may be dismissed.
	leaving bool
	watch   *watcher
	tabs    int // that were asked for
	// deafened: an actor that hears of dialogs was broken, and what it was
	// being told is lost.
	deafened bool
}

func (t *task) spec() messages.TaskSpec {
	s := messages.TaskSpec{
		CDPURL: t.host.endpoint(t.index, t.plan.IsDirect), Scope: t.plan.Scope, DialogPolicy: t.plan.Policy,
		BeforeUnload: t.plan.BeforeUnload, DialogTimeoutS: t.plan.DialogTimeout.Seconds(), Anchor: "auto",
	}
	if t.plan.IsDirect {
		s.GiveUpAfterS = directPatience.Seconds()
	}
	if t.host.w.plan.IsShared {
		s.Isolation = messages.IsolationShared // pages of two contexts share no renderer
	}
	if !t.plan.HasAnchor {
		s.Anchor = "off"
	}
	if s.Bridge = t.plan.Bridge; s.Bridge == "" {
		s.Bridge = messages.BridgeOff
	}
	return s
}

// start orders a start and waits for its outcome.
func (t *task) start(way uint32) {
	t.own, t.mayLose = map[messages.TargetID]bool{}, ""
	t.running = true
	t.lives++
	t.finish(t.w.begin(t, fmt.Sprintf("%s: start on b%d", t.id, t.host.index), startBudget, func(ctx context.Context) (any, error) {
		s, _, err := t.w.agentFor(way).GetOrStart(ctx, t.id, t.spec())
		return s, err
	}, nil))
	t.leaving = false // what was there before has left by now
	t.follow()
}

// finish waits until an order has its outcome.
func (t *task) finish(c *call) {
	for {
		t.w.quiet()
		t.w.calls.mu.Lock()
		ended := c.ends > 0
		t.w.calls.mu.Unlock()
		if ended || t.w.failed() {
			return
		}
		t.w.pause(millisecond * 10)
	}
}

// leave notes that the task is about to end: dialogs of pages that stay may be dismissed,
// those of pages that go with it have no owner any more.
func (t *task) leave() {
	t.leaving = true
	t.clearShared()
	if t.plan.Scope == messages.ScopeOwn {
		t.w.dialogs.excuse(t, "its page goes with the task")
	}
}

// clearShared answers, as a person at the screen does, the dialogs of pages that two tasks
// hold: closing such a page ends the browser (C15), since each task leaves it only for
// itself.
func (t *task) clearShared() {
	for _, d := range t.host.now().OpenDialogs() {
		if t.own[d.Page()] && t.shared(d.Page()) {
			t.host.now().CloseDialog(d, false, "")
		}
	}
	t.w.quiet()
}

func (t *task) stop(way uint32) {
	t.leave()
	t.lives++
	t.finish(t.w.begin(t, fmt.Sprintf("%s: stop", t.id), stopBudget, func(ctx context.Context) (any, error) {
		return nil, t.w.agentFor(way).StopTask(ctx, t.id)
	}, nil))
	t.running = false
}

// follow begins to watch the task's events, from the first one on.
func (t *task) follow() {
	stream, err := t.w.node.Watch(context.Background(), t.id, 0, true)
	if err != nil {
		if messages.CodeOf(err) != messages.CodeTaskNotFound {
			t.w.violate("%s: watch: %v", t.id, err)
		}
		return
	}
	t.watch = &watcher{task: t, stream: stream, open: map[messages.DialogID]bool{}, closed: map[messages.DialogID]bool{}}
	t.w.watchers.Go(t.watch.run)
}

// watcher reads a task's events and holds them to what streams promise.
type watcher struct {
	task   *task
	stream messages.EventStream

	mu     sync.Mutex
	last   uint64
	state  messages.TaskState
	open   map[messages.DialogID]bool
	closed map[messages.DialogID]bool
	told   uint64           // reconnects
	failed int              // dials of the lost primary
	lostAt messages.Seconds // the primary, last
	deadAt messages.Seconds // the task
}

func (wa *watcher) run() {
	for {
		events, err := wa.stream.Next(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				wa.task.w.violate("%s: the stream ended with %v", wa.task.id, err)
			}
			return
		}
		wa.mu.Lock()
		for _, e := range events {
			wa.see(e)
		}
		wa.mu.Unlock()
	}
}

func (wa *watcher) see(e messages.Event) {
	w, t := wa.task.w, wa.task
	if e.TaskID != t.id {
		w.violate("%s: an event of %s", t.id, e.TaskID)
	}
	if e.Type == messages.EventReset {
		w.violate("%s: a reset for a watcher that follows", t.id)
		return
	}
	if e.Version != wa.last+1 {
		w.violate("%s: version %d follows %d", t.id, e.Version, wa.last)
	}
	wa.last = e.Version
	switch e.Type {
	case messages.EventTaskState:
		if wa.state == messages.StateStopped {
			w.violate("%s: becomes %s after it was stopped", t.id, e.State)
		}
		wa.state = e.State
		if e.State == messages.StateLost {
			wa.deadAt = messages.SecondsOf(time.Now())
		}
		w.trace.say("%s is %s %s", t.id, e.State, e.Reason)
	case messages.EventConnection:
		c := e.Connection
		if c.Reconnects < wa.told || c.Reconnects > wa.told+1 {
			w.violate("%s: %d reconnects after %d", t.id, c.Reconnects, wa.told)
		}
		wa.told = c.Reconnects
		if c.Primary == messages.LinkUp {
			wa.failed = 0
		}
		if c.RecoveringSince != 0 {
			wa.lostAt = c.RecoveringSince
			if c.Primary == messages.LinkDown {
				wa.failed = c.Attempt
			}
		}
		w.counts.add(e)
		w.trace.say("%s: primary %s, anchor %s %s", t.id, c.Primary, c.Anchor, c.AnchorOff)
	case messages.EventDialogOpened:
		if wa.open[e.Dialog.ID] {
			w.violate("%s: dialog %s opened twice", t.id, e.Dialog.ID)
		}
		wa.open[e.Dialog.ID] = true
		w.counts.add(e)
		w.trace.say("%s: dialog %s %q opened, %s", t.id, e.Dialog.ID, e.Dialog.Message, e.Dialog.Path)
		w.dialogs.opened(t, *e.Dialog)
	case messages.EventDialogClosed:
		if !wa.open[e.Closed.ID] || wa.closed[e.Closed.ID] {
			w.violate("%s: dialog %s closed twice, or before it opened", t.id, e.Closed.ID)
		}
		wa.closed[e.Closed.ID] = true
		w.counts.add(e)
		w.trace.say("%s: dialog %s %q closed by %s", t.id, e.Closed.ID, e.Closed.Message, e.Closed.ClosedBy)
		w.dialogs.closed(t, *e.Closed)
	}
}

// counts is what the events say in sum, to be compared with the metrics.
type counts struct {
	mu         sync.Mutex
	opened     map[messages.DialogType]int
	closedBy   map[messages.ClosedBy]int
	reconnects int
	connection map[messages.TaskID]messages.Connection
}

func (c *counts) add(e messages.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Type {
	case messages.EventDialogOpened:
		c.opened[e.Dialog.Type]++
	case messages.EventDialogClosed:
		c.closedBy[e.Closed.ClosedBy]++
	case messages.EventConnection:
		if e.Connection.Reconnects > c.connection[e.TaskID].Reconnects {
			c.reconnects++
		}
		c.connection[e.TaskID] = *e.Connection
	}
}

// failures is how many dials of the task's primary have failed in a row, and how long
// after the loss of the link the task was.
func (wa *watcher) failures() (n int, in time.Duration) {
	if wa == nil {
		return 0, 0
	}
	wa.mu.Lock()
	defer wa.mu.Unlock()
	return wa.failed, time.Duration(float64(wa.deadAt-wa.lostAt) * float64(time.Second)).Round(time.Millisecond)
}

// snapshot is the task's state, nil when there is none.
func (t *task) snapshot() *messages.Snapshot {
	s, err := t.w.node.Snapshot(t.id, messages.SnapshotOptions{})
	if err != nil {
		return nil
	}
	return s
}

// pages are the task's pages as they really are, in the order they were opened. Those that
// a dialog has poisoned are left out: to touch one from outside ends the browser.
func (t *task) pages() []chaos.Page {
	var pages []chaos.Page
	for _, p := range t.host.now().Pages() {
		if t.own[p.Target] && !p.IsPoisoned && !p.IsComing { // where what is asked now would be doomed
			pages = append(pages, p)
		}
	}
	return pages
}

// page picks one of the task's pages.
func (t *task) page(pick uint32) (chaos.Page, bool) {
	pages := t.pages()
	if len(pages) == 0 {
		return chaos.Page{}, false
	}
	return pages[pick%uint32(len(pages))], true
}

// frame picks a frame of a page; with child not the main frame.
func (t *task) frame(page messages.TargetID, pick uint32, suits func(chaos.Frame) bool) (chaos.Frame, bool) {
	var frames []chaos.Frame
	for _, f := range t.host.now().FramesOf(page) {
		if suits(f) {
			frames = append(frames, f)
		}
	}
	if len(frames) == 0 {
		return chaos.Frame{}, false
	}
	return frames[pick%uint32(len(frames))], true
}

// shared says whether another task has the page too.
func (t *task) shared(page messages.TargetID) bool {
	for _, o := range t.w.tasks {
		if o != t && o.running && o.host == t.host && o.own[page] {
			return true
		}
	}
	return false
}
