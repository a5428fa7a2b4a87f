package cluster

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/messages"
	"holdfast/messages/mail"
)

const (
	// standbyAgain is the pause before a standby begins anew that could not be, or has ended.
	standbyAgain = 5 * time.Second
	// standbyEnd bounds the wait for the end of one.
	standbyEnd = 5 * time.Second
	// leaveTime bounds the wait for a page that is to be left. The task's node waits half a second.
	leaveTime = 2 * time.Second
	// upTick is how often it is looked whether a standby sees its pages.
	upTick = 500 * time.Millisecond
)

// StandbyNews is what the node that has a task tells of it.
type StandbyNews = mail.StandbyNews

// Standby is a supervisor on this node of a task that another node has: it holds a link, and
// decides nothing.
type Standby interface {
	// Ended is closed once it has ended.
	Ended() <-chan struct{}
	// IsUp says whether it sees the task's pages.
	IsUp() bool
	// Follow tells how the task is now.
	Follow(mail.StandbyNews)
	// Respec gives it another spec of the same browser.
	Respec(messages.TaskSpec)
	// LeavePage leaves a page, and waits until that is so.
	LeavePage(context.Context, messages.TargetID) error
	// Stop ends it. It waits.
	Stop(context.Context) error
	// Promote makes it a task of this node. It waits.
	Promote(context.Context, mail.TaskMemory) error
}

// standbys are those of this node.
type standbys struct {
	mu      sync.Mutex // protects what follows
	of      map[messages.TaskID]*held
	again   map[messages.TaskID]time.Time // not before
	streams map[string]*stream            // by the node that has the tasks
}

// count is how many there are.
func (s *standbys) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of)
}

// held is the standby of a task, from the moment that the task is asked for.
type held struct {
	id     messages.TaskID
	node   string
	epoch  uint64
	news   chan mail.StandbyNews // the newest
	specs  chan int64            // the spec may be another, in this revision
	cancel context.CancelFunc
	done   chan struct{} // closed behind the last use of the following

	standby  Standby // nil before there is one
	memory   mail.TaskMemory
	isUp     atomic.Bool
	isKept   atomic.Bool // it is promoted: it does not end with this
	revision int64       // of the spec; the lock of all protects it
}

// tendStandbys begins and ends standbys, by the records as they are.
func (c *Cluster) tendStandbys(now time.Time) {
	if c.config.Seal == nil || c.config.TLS == nil {
		return
	}
	list, ok := c.member.Standbys()
	if !ok {
		return
	}
	wanted := map[messages.TaskID]lease.Standby{}
	for _, s := range list {
		wanted[messages.TaskID(s.Task)] = s
	}
	all := &c.standbys
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, h := range all.of {
		switch s, isWanted := wanted[id]; {
		case !isWanted, s.Node != "" && (s.Node != h.node || uint64(s.Epoch) != h.epoch):
			h.cancel()
		case s.Node != "" && s.SpecRevision != h.revision:
			h.revision = s.SpecRevision
			replace(h.specs, s.SpecRevision)
		}
	}
	for id := range all.again {
		if now.After(all.again[id]) {
			delete(all.again, id)
		}
	}
	for id, s := range wanted {
		if s.Node != "" && all.of[id] == nil && all.again[id].IsZero() && len(all.of) < maxStandbys && !c.isHeld(id) {
			c.beginStandby(id, s)
		}
	}
	for node, out := range all.streams {
		if !all.has(node) {
			out.cancel()
			delete(all.streams, node)
		}
	}
}

// has says whether there is a standby of a task of the node. The caller has the lock.
func (s *standbys) has(node string) bool {
	for _, h := range s.of {
		if h.node == node {
			return true
		}
	}
	return false
}

// replace puts a value into a channel of one place, in the place of the one that waits there.
func replace[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}

// beginStandby asks for a task. The caller has the lock.
func (c *Cluster) beginStandby(id messages.TaskID, s lease.Standby) {
	ctx, cancel := context.WithCancel(c.ctx)
	h := &held{
		id: id, node: s.Node, epoch: uint64(s.Epoch), revision: s.SpecRevision, cancel: cancel,
		news: make(chan mail.StandbyNews, 1), specs: make(chan int64, 1), done: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		cancel()
		return
	}
	c.standbys.of[id] = h
	out := c.standbys.streams[s.Node]
	if out == nil {
		out = newStream(c.ctx, s.Node)
		c.standbys.streams[s.Node] = out
		c.all.Go(func() { c.runStream(out) })
	}
	c.all.Go(func() {
		defer close(h.done)
		c.standBy(ctx, h, out)
	})
	out.send(standbyLine{Task: id, Epoch: h.epoch})
}

// standBy is the goroutine of a standby.
func (c *Cluster) standBy(ctx context.Context, h *held, out *stream) {
	defer c.endStandby(h, out)
	var (
		spec  messages.TaskSpec
		ended <-chan struct{}
		left  []messages.TargetID
	)
	ticker := time.NewTicker(upTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-ticker.C:
			if h.standby != nil && h.standby.IsUp() != h.isUp.Load() {
				isUp := !h.isUp.Load()
				h.isUp.Store(isUp)
				out.send(standbyLine{Task: h.id, IsUp: &isUp})
			}
		case <-h.specs:
			now, err := c.specOf(ctx, h.id)
			switch {
			case err != nil:
				c.lookAgain(h)
			case h.standby == nil:
			case !canStandBy(now) || !now.IsSameBrowser(spec):
				return // another one begins, if it may
			default:
				spec = now
				h.standby.Respec(spec)
			}
		case news := <-h.news:
			h.memory = news.Memory
			if h.standby != nil {
				h.standby.Follow(news)
			} else {
				var err error
				if spec, err = c.specOf(ctx, h.id); err != nil || !canStandBy(spec) {
					return
				}
				if h.standby, err = c.config.Tasks.StandBy(ctx, h.id, spec, news); err != nil {
					c.config.Log.Debug("a task has no standby here", "task", h.id, "err", err)
					return
				}
				ended = h.standby.Ended()
			}
			for _, page := range news.Off {
				if !slices.Contains(left, page) && c.leavePage(ctx, h, page) {
					out.send(standbyLine{Task: h.id, Left: page})
				}
			}
			left = news.Off
		}
	}
}

// lookAgain has the spec of a task read once more, which the store did not give.
func (c *Cluster) lookAgain(h *held) {
	c.standbys.mu.Lock()
	defer c.standbys.mu.Unlock()
	h.revision = 0
}

// canStandBy says whether a task may have a second link that another node holds: one over the
// bridge needs none, since a dialog can be answered by any session that comes.
func canStandBy(spec messages.TaskSpec) bool {
	return spec.Launch == nil && spec.Anchor != messages.AnchorNone && spec.Bridge != messages.BridgeOn
}

func (c *Cluster) leavePage(ctx context.Context, h *held, page messages.TargetID) bool {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	return h.standby.LeavePage(ctx, page) == nil
}

func (c *Cluster) specOf(ctx context.Context, id messages.TaskID) (messages.TaskSpec, error) {
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	key := lease.SpecKey(string(id))
	found, err := c.read(ctx, key)
	if err != nil {
		return messages.TaskSpec{}, err
	}
	if found[key] == nil {
		return messages.TaskSpec{}, errNoSpec
	}
	return c.decodeSpec(id, found[key])
}

// endStandby ends a standby, unless it is a task of this node by now.
func (c *Cluster) endStandby(h *held, out *stream) {
	h.cancel()
	if !h.isKept.Load() && h.standby != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), standbyEnd)
		defer cancel()
		if err := h.standby.Stop(ctx); err != nil {
			c.config.Log.Debug("a standby did not end", "task", h.id, "err", err) // the node stops
		}
	}
	out.send(standbyLine{Task: h.id, IsOver: true})
	all := &c.standbys
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of[h.id] == h {
		delete(all.of, h.id)
		all.again[h.id] = time.Now().Add(standbyAgain)
	}
}

// hearNews takes a line of the node that has tasks.
func (c *Cluster) hearNews(node string, l newsLine) {
	all := &c.standbys
	all.mu.Lock()
	defer all.mu.Unlock()
	h := all.of[l.Task]
	switch {
	case h == nil || h.node != node:
	case l.IsOver:
		h.cancel()
	case l.News != nil:
		replace(h.news, *l.News)
	}
}

// hasPromoted makes the standby of a task that is this node's by now the task itself. It is false
// where there is none that stands.
func (c *Cluster) hasPromoted(ctx context.Context, id messages.TaskID) bool {
	all := &c.standbys
	all.mu.Lock()
	h := all.of[id]
	if h != nil {
		h.isKept.Store(true)
		delete(all.of, id)
	}
	all.mu.Unlock()
	if h == nil {
		return false
	}
	h.cancel()
	<-h.done
	if h.standby == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, standbyEnd)
	defer cancel()
	err := h.standby.Promote(ctx, c.newest(ctx, h))
	if err == nil {
		return true
	}
	c.config.Log.Warn("the standby of a task could not take it over", "task", id, "err", err)
	if err := h.standby.Stop(ctx); err != nil {
		c.config.Log.Warn("a standby did not end", "task", id, "err", err)
	}
	return false
}

// newest is the last word of a task: what its node told the standby, or what the store has.
func (c *Cluster) newest(ctx context.Context, h *held) mail.TaskMemory {
	key := lease.MemoryKey(string(h.id))
	found, err := c.read(ctx, key)
	if err != nil || found[key] == nil {
		return h.memory
	}
	stored, err := c.decodeMemory(h.id, found[key])
	if err != nil || stored.Version <= h.memory.Version {
		return h.memory
	}
	return stored
}
