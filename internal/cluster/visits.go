package cluster

import (
	"sync"
	"time"

	"holdfast/messages"
)

// visits are the calls under way at the tasks of this node, and the tasks whose next calls wait
// because they are given to another node.
type visits struct {
	mu sync.Mutex // protects what follows
	of map[messages.TaskID]*visit
}

// visit is a task that has calls under way or is being given away.
type visit struct {
	calls int
	quiet chan struct{} // closed once there is no call; nil while that is of no interest
	moved chan struct{} // closed once calls go on; nil while they do
}

// Hold has a task stay at this node until release is called. Where the task is being given to
// another node it returns what is closed once that is decided: then look where the task is.
func (c *Cluster) Hold(id messages.TaskID) (release func(), moving <-chan struct{}) {
	v := &c.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.get(id)
	if one.moved != nil {
		return nil, one.moved
	}
	one.calls++
	return sync.OnceFunc(func() { v.leave(id, one) }), nil
}

func (v *visits) get(id messages.TaskID) *visit {
	one := v.of[id]
	if one == nil {
		one = &visit{}
		v.of[id] = one
	}
	return one
}

func (v *visits) leave(id messages.TaskID, one *visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one.calls--
	if one.calls == 0 && one.quiet != nil {
		close(one.quiet)
		one.quiet = nil
	}
	v.forget(id, one)
}

// forget drops what says nothing.
func (v *visits) forget(id messages.TaskID, one *visit) {
	if one.calls == 0 && one.moved == nil && v.of[id] == one {
		delete(v.of, id)
	}
}

// close has the next calls of a task wait. It is false where calls that are under way do not end
// in time; then calls go on.
func (v *visits) close(id messages.TaskID, patience time.Duration) bool {
	v.mu.Lock()
	one := v.get(id)
	if one.moved == nil {
		one.moved = make(chan struct{})
	}
	if one.calls == 0 {
		v.mu.Unlock()
		return true
	}
	quiet := make(chan struct{})
	one.quiet = quiet
	v.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-quiet:
		return true
	case <-late.C:
		v.open(id)
		return false
	}
}

// open has the calls of a task go on.
func (v *visits) open(id messages.TaskID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.of[id]
	if one == nil {
		return
	}
	if one.moved != nil {
		close(one.moved)
		one.moved, one.quiet = nil, nil
	}
	v.forget(id, one)
}
