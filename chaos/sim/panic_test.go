package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/chaos/plan"
	"holdfast/internal/guard"
	"holdfast/messages"
)

// breaker makes actors panic, each arming once.
type breaker struct {
	mu    sync.Mutex
	armed map[string]plan.Panic // by task
	fired []string
	last  time.Time // when one of them was, until it is asked for
	deaf  []deaf
	down  map[string]deaf // actors that hear of dialogs and have not started again, by name
}

// deafened is why a dialog may be lost that such an actor was told of.
const deafened = "the actor that was told of it was broken"

// longestRestart is how long a broken actor may wait for its restart.
const longestRestart = 2 * time.Second

// deaf is a task in which an actor was broken that hears of dialogs.
type deaf struct {
	task string
	at   time.Time
}

func (b *breaker) arm(task string, p plan.Panic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed == nil {
		b.armed = map[string]plan.Panic{}
	}
	b.armed[task] = p
}

// waits says whether the task's panic has yet to happen.
func (b *breaker) waits(task string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, waits := b.armed[task]
	return waits
}

// disarm says whether the task's panic has yet to happen, and calls it off.
func (b *breaker) disarm(task string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, waits := b.armed[task]
	delete(b.armed, task)
	return waits
}

// deafened returns, once, the tasks in which an actor was broken that hears of
// dialogs, and those in which such an actor waits for its restart. The message that breaks
// an actor is lost with those behind it, and with those that come before its restart: be it
// the opening of a dialog, or its end. An actor that heard of a frame's removal,
// and not that its dialog had ended before, has to take it for lost (C15).
func (b *breaker) deafened() []deaf {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.deaf
	b.deaf = nil
	for _, actor := range slices.Sorted(maps.Keys(b.down)) {
		d := b.down[actor]
		if time.Since(d.at) > longestRestart {
			delete(b.down, actor) // its session has ended: it does not start again
			continue
		}
		list = append(list, deaf{d.task, time.Now()})
	}
	return list
}

// broke says when an actor was broken last, once.
func (b *breaker) broke() (at time.Time, news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, b.last = b.last, time.Time{}
	return at, !at.IsZero()
}

// hasBroken says whether an actor of that kind of the task has been broken.
func (b *breaker) hasBroken(task messages.TaskID, kind string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.fired, func(what string) bool {
		return strings.HasPrefix(what, fmt.Sprintf("%s: %s/", task, kind))
	})
}

// count is how many actors have been broken, and how many of them before they
// ended.
func (b *breaker) count() (all, alive int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.fired {
		if !strings.Contains(what, string("/"+guard.PhaseTerminate)) {
			alive++
		}
	}
	return len(b.fired), alive
}

// intercept is called by every actor of the node.
func (b *breaker) intercept(m guard.Moment) {
	if *jitterFlag > 0 {
		for range rand.IntN(*jitterFlag) {
			runtime.Gosched()
		}
	}
	task := m.Parent
	if m.Kind == "supervisor" {
		task = m.Key
	}
	actor := fmt.Sprintf("%s: %s/%s", task, m.Kind, m.Key)
	b.mu.Lock()
	if m.Phase == guard.PhaseInit {
		delete(b.down, actor)
	}
	p, ok := b.armed[task]
	if !ok || p.Actor != m.Kind || p.Phase != string(m.Phase) {
		b.mu.Unlock()
		return
	}
	delete(b.armed, task)
	what := fmt.Sprintf("%s: %s/%s %s", task, m.Kind, m.Phase, strings.TrimPrefix(fmt.Sprintf("%T", m.Msg), "messages."))
	b.fired, b.last = append(b.fired, what), time.Now()
	if p.Actor == "dialog" || p.Actor == "session" {
		b.deaf = append(b.deaf, deaf{task, time.Now()})
		if b.down == nil {
			b.down = map[string]deaf{}
		}
		b.down[actor] = deaf{task, time.Now()}
	}
	b.mu.Unlock()
	panic("injected into " + what)
}
