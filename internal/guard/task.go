package guard

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// errands are an actor's Go functions. What has no comment belongs to the actor's
// goroutine.
type errands struct {
	tasks   []*task
	overdue *time.Timer

	// Under the actor's mu.
	kept   []*task
	base   context.Context
	cancel context.CancelFunc
}

// cancelAll cancels them, and returns those that end only when they are released. A nil
// receiver has none.
func (e *errands) cancelAll() (kept []*task) {
	if e == nil {
		return nil
	}
	if e.cancel != nil {
		e.cancel()
	}
	kept, e.kept = e.kept, nil
	return kept
}

// task is one running Go function, and the message that says it returned.
type task struct {
	name   string
	cancel context.CancelFunc
	// isSuperseded: the result is not wanted any more. Actor's goroutine only.
	isSuperseded bool
	// settled is set once, by the function's return or by the actor's giving
	// it up, whichever is first: so exactly one side owns the result.
	settled atomic.Bool
	release func() // of a Kept

	result any
	crash  *Reason
}

// Kept is a result of a Go function that owns something for as long as the actor
// lives: Msg is delivered to Receive, and Release is called, on a goroutine of its
// own, when the context of the function ends; the actor does not exit before it has
// returned, as if it were the function's end. Until then it costs no goroutine.
type Kept struct {
	Msg     any
	Release func()
}

// delivery is the Msg of a Kept.
type delivery struct {
	task *task
	msg  any
}

// tasksOverdue gives up the Go functions that have not returned.
type tasksOverdue struct{}

func (p *proc) goTask(name string, fn func(context.Context) any) {
	if !p.isLive() {
		return
	}
	p.supersede(name)
	ctx, cancel := context.WithCancel(p.baseContext())
	t := &task{name: name, cancel: cancel}
	p.errands.tasks = append(p.errands.tasks, t)
	go p.runTask(ctx, t, fn)
}

func (p *proc) runTask(ctx context.Context, t *task, fn func(context.Context) any) {
	returned := false
	defer func() {
		if k, ok := t.result.(Kept); ok {
			t.result, t.release = nil, k.Release
			p.keep(ctx, t, k.Msg)
			return
		}
		t.cancel()
		if !returned {
			r := panicked(recover())
			t.crash = &r
		}
		if t.settled.CompareAndSwap(false, true) {
			p.tell(t)
			return
		}
		// Given up long ago; no actor is left to take the result.
		if t.crash != nil {
			p.logPanic(*t.crash)
		}
		p.discard(t.result)
	}()
	t.result = fn(ctx)
	returned = true
}

// keep ends the task with its release: now, if its context has ended, else when the code
// that ends the context finds the task among the kept ones.
func (p *proc) keep(ctx context.Context, t *task, msg any) {
	p.mu.Lock()
	over, cancel := ctx.Err() != nil, t.cancel
	if !over {
		p.errands.kept = append(p.errands.kept, t)
		t.cancel = func() {} // frees the context, which is not used any more
	}
	p.mu.Unlock()
	if over {
		p.letGo(ctx, t)
		return
	}
	p.tell(delivery{t, msg})
	cancel()
}

// forgetContext drops the parent of the contexts while it is not used.
func (p *proc) forgetContext() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.errands; len(e.kept) == len(e.tasks) && e.cancel != nil && !p.isAbandoned {
		e.cancel()
		e.base, e.cancel = nil, nil
	}
}

// letGo is the end of a task that was kept.
func (p *proc) letGo(ctx context.Context, t *task) {
	p.runTask(ctx, t, func(context.Context) any {
		t.release()
		return nil
	})
}

// letGoAll ends those that were kept and are no longer.
func (p *proc) letGoAll(kept []*task) {
	for _, t := range kept {
		go p.letGo(context.Background(), t)
	}
}

func (p *proc) handleDelivery(d delivery) {
	p.forgetContext()
	if !d.task.isSuperseded {
		p.receive(d.msg)
	}
}

// supersede drops the running function of that name, if any.
func (p *proc) supersede(name string) {
	if p.errands == nil {
		return
	}
	for _, t := range p.errands.tasks {
		if t.name == name && !t.isSuperseded {
			t.isSuperseded = true
			p.mu.Lock()
			t.cancel()
			i := slices.Index(p.errands.kept, t)
			if i >= 0 {
				p.errands.kept = slices.Delete(p.errands.kept, i, i+1)
			}
			p.mu.Unlock()
			if i >= 0 {
				p.letGoAll([]*task{t})
			}
		}
	}
}

func (p *proc) handleTask(t *task) {
	p.errands.tasks = slices.DeleteFunc(p.errands.tasks, func(o *task) bool { return o == t })
	switch {
	case t.crash != nil && p.phase == running:
		p.logPanic(*t.crash)
		p.die(*t.crash)
	case t.crash != nil:
		p.logPanic(*t.crash)
	case t.result == nil:
	case t.isSuperseded || p.phase != running:
		p.discard(t.result)
	default:
		p.receive(t.result)
	}
}

// giveUpTasks leaves behind what has not returned since the actor is ending.
func (p *proc) giveUpTasks() {
	if p.phase != dying {
		return
	}
	left := 0
	p.errands.tasks = slices.DeleteFunc(p.errands.tasks, func(t *task) bool {
		if !t.settled.CompareAndSwap(false, true) {
			return false // its message is in the mailbox
		}
		left++
		return true
	})
	if left > 0 {
		p.logger().Error("actor left goroutines behind", "goroutines", left, "after", p.sys.stopTimeout)
	}
}

func (p *proc) stopTasks() {
	p.mu.Lock()
	kept := p.errands.cancelAll()
	p.mu.Unlock()
	p.letGoAll(kept)
	if p.errands != nil && len(p.errands.tasks) > 0 {
		p.errands.overdue = time.AfterFunc(p.sys.stopTimeout, func() { p.tell(tasksOverdue{}) })
	}
}

// baseContext is the parent of all contexts of Go functions.
func (p *proc) baseContext() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.errands == nil {
		p.errands = new(errands)
	}
	e := p.errands
	if e.base == nil {
		e.base, e.cancel = context.WithCancel(context.Background())
		if p.isAbandoned {
			e.cancel()
		}
	}
	return e.base
}

// discard releases what a dropped result owns. It runs on any goroutine.
func (p *proc) discard(result any) {
	d, ok := result.(Discarder)
	if !ok {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(panicked(v))
		}
	}()
	d.Discard()
}
