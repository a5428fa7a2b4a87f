package cluster

import (
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/cluster/clock"
	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/member"
	"holdfast/messages"
)

// duties are the tasks that this node decides for, each with what its links ask last. They
// follow the lease's machine, on its goroutine.
type duties struct {
	tasks Tasks
	of    sync.Map // messages.TaskID → *duty
}

// duty is a task's permission besides the node's lease.
type duty struct {
	isDeciding atomic.Bool
	notBefore  atomic.Int64  // by the clock since boot
	begun      atomic.Uint64 // the epoch whose begin has been carried out
	wake       atomic.Pointer[time.Timer]
}

func (d *duties) get(id messages.TaskID) *duty {
	if v, ok := d.of.Load(id); ok {
		return v.(*duty)
	}
	v, _ := d.of.LoadOrStore(id, &duty{})
	return v.(*duty)
}

// allows says whether the node decides for the task now, if it has a lease.
func (d *duty) allows(now lease.Reading) bool {
	return d.isDeciding.Load() && now.Boot >= time.Duration(d.notBefore.Load())
}

// hasBegun says whether the begin of an epoch has been carried out.
func (d *duties) hasBegun(id messages.TaskID, epoch lease.Epoch) bool {
	v, ok := d.of.Load(id)
	return ok && v.(*duty).begun.Load() == uint64(epoch)
}

// begin opens a duty, from a moment on.
func (d *duties) begin(id messages.TaskID, notBefore time.Duration) {
	one := d.get(id)
	one.notBefore.Store(int64(notBefore))
	one.isDeciding.Store(true)
	d.tell(id)
}

// tell tells a task whether the node decides for it: as soon as it may, if it does.
func (d *duties) tell(id messages.TaskID) {
	one := d.get(id)
	if !one.isDeciding.Load() {
		d.tasks.TaskLease(id, false)
		return
	}
	wait := time.Duration(one.notBefore.Load()) - clock.Now().Boot
	if wait <= 0 {
		d.tasks.TaskLease(id, true)
		return
	}
	one.stopWake()
	one.wake.Store(time.AfterFunc(wait, func() {
		if one.isDeciding.Load() {
			d.tasks.TaskLease(id, true)
		}
	}))
}

// withhold closes a duty.
func (d *duties) withhold(id messages.TaskID) {
	one := d.get(id)
	one.isDeciding.Store(false)
	one.stopWake()
	d.tasks.TaskLease(id, false)
}

func (d *duty) stopWake() {
	if t := d.wake.Swap(nil); t != nil {
		t.Stop()
	}
}

// MayDecide is what the links of a task ask last before they write what decides something for
// its pages: an error where this node may not.
//
// Codes: lease_lapsed, no_quorum.
func (c *Cluster) MayDecide(id messages.TaskID) error {
	d, isKnown := c.duties.of.Load(id)
	if isKnown && d.(*duty).allows(clock.Now()) && c.member.Allows() {
		return nil
	}
	if err := c.Lapse(); err != nil {
		return err
	}
	return messages.Errorf(messages.CodeLeaseLapsed, "node %s may not decide for task %s now", c.config.Node, id).
		With("retry_after_s", 1).WithSent(messages.SentNo)
}

// handler carries out what the lease's machine decides. It is the member's: on its goroutine.
type handler struct{ *Cluster }

var _ member.Handler = handler{}

// Begin implements member.Handler: the task runs here, is about to be started, or was another
// node's.
func (h handler) Begin(b lease.Begin) {
	id := messages.TaskID(b.Task)
	h.duties.begin(id, b.NotBefore)
	h.keeper.again(id)
	h.takeUp(b)
	h.duties.get(id).begun.Store(uint64(b.Epoch))
}

// Gather implements member.Handler.
func (h handler) Gather(g lease.Gather) { h.prepare(g) }

// Resume implements member.Handler.
func (h handler) Resume(r lease.Resume) {
	id := messages.TaskID(r.Task)
	h.duties.begin(id, time.Duration(h.duties.get(id).notBefore.Load()))
	h.visits.open(id)
}

// Cease implements member.Handler. What another node has been given ends here at once; reconcile
// ends the rest.
func (h handler) Cease(c lease.Cease) {
	id := messages.TaskID(c.Task)
	h.duties.withhold(id)
	switch c.Why {
	case lease.WhyEnded:
		h.duties.of.Delete(id)
	case lease.WhyMoved:
		<-h.joined
		if node, _, isMine, ok := h.member.Living(c.Task); ok && !isMine {
			h.config.Log.Info("the task continues at another node", "task", id, "node", node)
			h.counts.given.Add(1)
			h.config.Tasks.Moved(id, h.httpAddress(node))
		}
	}
	h.visits.open(id)
}

// Stood implements member.Handler.
func (h handler) Stood(s lease.Stood) { h.config.Tasks.Lease(s.Phase == lease.Held) }
