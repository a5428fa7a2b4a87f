package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// keeper writes what another node has to know of this node's tasks, once a second where it has
// changed. Where the outcome of a write is not known it is written again.
type keeper struct {
	// writing is held by who writes memories in turn, and shared by who writes the last one of a task
	// that is given away: no older one may come after that.
	writing sync.RWMutex

	mu       sync.Mutex // protects what follows
	specs    map[messages.TaskID]*keptSpec
	memories map[messages.TaskID]keptMemory // what was written last
}

// again has all that is known of a task written once more: its records may be new ones.
func (k *keeper) again(id messages.TaskID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.memories, id)
	if s := k.specs[id]; s != nil {
		k.specs[id] = &keptSpec{spec: s.spec}
	}
}

type keptSpec struct {
	spec      messages.TaskSpec
	isWritten bool
}

type keptMemory struct {
	digest  [sha256.Size]byte
	version uint64
}

// memoryLag is how far behind a memory's version may be before it is written for that alone. It
// is less than what a node that takes the task adds.
const memoryLag = 1 << 18

// Specified hears with what a task is to be started elsewhere, should this node end.
func (c *Cluster) Specified(id messages.TaskID, spec messages.TaskSpec) {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	c.keeper.specs[id] = &keptSpec{spec: spec}
}

// keepAll is the keeper's goroutine.
func (c *Cluster) keepAll() {
	ticker := time.NewTicker(describeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
			c.keep(c.ctx)
		}
	}
}

// Remember writes what another node has to know of a task that has just been started: its pages
// are known to the store before its caller has an answer. It waits for the store.
func (c *Cluster) Remember(ctx context.Context, id messages.TaskID) {
	if c.config.Seal == nil {
		return
	}
	if w, ok := c.memoryOf(id); ok {
		c.write(ctx, []write{w})
	}
}

// keep writes what has changed. It waits for the store.
func (c *Cluster) keep(ctx context.Context) {
	if c.config.Seal == nil {
		return
	}
	c.keeper.mu.Lock()
	specs := make(map[messages.TaskID]*keptSpec, len(c.keeper.specs))
	for id, k := range c.keeper.specs {
		specs[id] = k
	}
	c.keeper.mu.Unlock()
	live := map[messages.TaskID]bool{}
	var ids []messages.TaskID
	for _, id := range c.member.Duties() {
		live[messages.TaskID(id)] = true
		ids = append(ids, messages.TaskID(id))
	}
	for part := range slices.Chunk(ids, maxWrites/2) { // two writes each at most
		c.keepSome(ctx, part, specs)
	}
	c.forgetKept(live)
}

// keepSome writes what has changed of some tasks.
func (c *Cluster) keepSome(ctx context.Context, ids []messages.TaskID, specs map[messages.TaskID]*keptSpec) {
	c.keeper.writing.Lock()
	defer c.keeper.writing.Unlock()
	var batch []write
	for _, id := range ids {
		if k := specs[id]; k != nil && !k.isWritten {
			if value, err := c.encodeSpec(id, k.spec); err == nil {
				batch = append(batch, write{id, store.Op{Key: lease.SpecKey(string(id)), Value: value}, func() { c.specWritten(id, k) }})
			}
		}
		if w, ok := c.memoryOf(id); ok {
			batch = append(batch, w)
		}
	}
	c.write(ctx, batch)
}

func (c *Cluster) specWritten(id messages.TaskID, k *keptSpec) {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	if c.keeper.specs[id] == k {
		k.isWritten = true
	}
}

// forgetKept drops what is known of tasks that are not this node's any more.
func (c *Cluster) forgetKept(live map[messages.TaskID]bool) {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	for id := range c.keeper.memories {
		if !live[id] {
			delete(c.keeper.memories, id)
		}
	}
	c.mu.Lock()
	for id := range c.stays {
		if !live[id] {
			delete(c.stays, id)
		}
	}
	c.mu.Unlock()
	for id := range c.keeper.specs {
		if !live[id] && !c.isHeld(id) {
			delete(c.keeper.specs, id)
		}
	}
}

// memoryOf is the write of a task's memory, where it has changed.
func (c *Cluster) memoryOf(id messages.TaskID) (write, bool) {
	m, ok := c.config.Tasks.Memory(id)
	if !ok {
		return write{}, false
	}
	digest, ok := digestOf(m)
	c.keeper.mu.Lock()
	before, isKnown := c.keeper.memories[id]
	c.keeper.mu.Unlock()
	if !ok || isKnown && before.digest == digest && m.Version-before.version < memoryLag {
		return write{}, false
	}
	value, err := c.encodeMemory(id, m)
	if err != nil {
		c.config.Log.Warn("a task cannot be remembered for another node", "task", id, "err", err)
		return write{}, false
	}
	return write{id, store.Op{Key: lease.MemoryKey(string(id)), Value: value}, func() {
		c.keeper.mu.Lock()
		defer c.keeper.mu.Unlock()
		c.keeper.memories[id] = keptMemory{digest, m.Version}
	}}, true
}

// digestOf is of all but the version.
func digestOf(m mail.TaskMemory) ([sha256.Size]byte, bool) {
	m.Version = 0
	b, err := json.Marshal(m)
	return sha256.Sum256(b), err == nil
}

// maxWrites bounds the writes of one transaction, which has a condition each.
const maxWrites = 50

// write is a change about one task, and what follows from it.
type write struct {
	id   messages.TaskID
	op   store.Op
	done func()
}

// write carries writes out, as far as this node still has the tasks. Where a transaction is
// refused, smaller ones find out for which.
func (c *Cluster) write(ctx context.Context, batch []write) {
	var (
		txn  store.Txn
		left []write
	)
	for _, w := range batch {
		conditions, ok := c.member.Stake(string(w.id))
		if !ok {
			continue
		}
		if len(txn.If) == 0 {
			txn.If = conditions
		} else if !slices.Contains(txn.If, conditions[1]) {
			txn.If = append(txn.If, conditions[1:]...)
		}
		txn.Then, left = append(txn.Then, w.op), append(left, w)
	}
	if len(left) == 0 || ctx.Err() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, claimTime)
	r, err := c.config.Store.Commit(bounded, txn)
	cancel()
	switch {
	case err != nil: // the next look writes it again
	case r.IsDone:
		for _, w := range left {
			w.done()
		}
	case len(left) > 1:
		c.write(ctx, left[:len(left)/2])
		c.write(ctx, left[len(left)/2:])
	}
}
