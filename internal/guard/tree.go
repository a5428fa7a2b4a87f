package guard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"holdfast/internal/restart"
)

// State is what an actor is doing, for readers of the tree.
type State string

// The states of an actor.
const (
	StateStarting State = "starting" // its Init has not returned
	StateRunning  State = "running"
	StateStopping State = "stopping" // ends, or waits for its children to
	StateWaiting  State = "waiting"  // no actor now: its restart waits for the backoff
)

// Node is one actor of a tree, or the empty place of one that is to be
// restarted.
type Node struct {
	Kind, Key string
	// Gen and Started are of the living generation; zero while it waits.
	Gen     uint64
	Started time.Time
	State   State
	// Restarts is how often its group has started it again.
	Restarts int
	// Mailbox is how many messages wait for it.
	Mailbox int
	// Next is when a place that waits gets its actor.
	Next     time.Time
	Children []Node // by key
}

// TreeOptions say how much of a tree is wanted.
type TreeOptions struct {
	// Limit bounds the nodes; 0 means DefaultTreeLimit.
	Limit int
	// Depth bounds the levels below the root; 0 means all.
	Depth int
	// Want selects nodes with all that is below them; nil wants every one. It
	// is called on the caller's goroutine.
	Want func(kind, key string) bool
}

// DefaultTreeLimit is about a node's largest number of tasks with their actors.
const DefaultTreeLimit = 50_000

// Tree returns the actors under the root as they are now. It asks none of them:
// ledgers are read under the locks that guard them for an instant each, so what
// it returns is no single moment's, and an actor that hangs is in it too.
// truncated says that there are more than the limit.
func (h *Handle) Tree(o TreeOptions) (root Node, truncated bool) {
	left := o.Limit
	if left <= 0 {
		left = DefaultTreeLimit
	}
	w := walk{o: o, left: left - 1}
	return w.node(h.p, 0), w.isTruncated
}

type walk struct {
	o           TreeOptions
	left        int
	isTruncated bool
}

func (w *walk) node(p *proc, depth int) Node {
	n := Node{Kind: p.spec.Kind, Key: p.spec.Key, Gen: p.gen, Started: time.Unix(0, p.born), Restarts: int(p.spec.restarts), State: p.visible(), Mailbox: int(max(0, p.mail.waiting.Load()))}
	if w.o.Depth > 0 && depth >= w.o.Depth {
		return n
	}
	p.mu.Lock()
	kids := make([]*proc, 0, p.kids.Len())
	for _, k := range p.kids.All() {
		kids = append(kids, k)
	}
	var waiting []Node
	for key, e := range p.waiting {
		if p.kids.At(key) == nil { // else it has just been started
			waiting = append(waiting, e)
		}
	}
	p.mu.Unlock()
	kids = slices.DeleteFunc(kids, func(k *proc) bool { return !w.isWanted(k.spec.Kind, k.key()) })
	waiting = slices.DeleteFunc(waiting, func(e Node) bool { return !w.isWanted(e.Kind, e.Key) })
	// By key and not by age: a reader finds an actor in the same place, however often it is
	// restarted.
	slices.SortFunc(kids, func(a, b *proc) int { return strings.Compare(a.key(), b.key()) })
	for _, k := range kids {
		if w.take() {
			n.Children = append(n.Children, w.node(k, depth+1))
		}
	}
	for _, e := range waiting {
		if w.take() {
			n.Children = append(n.Children, e)
		}
	}
	if len(waiting) > 0 {
		slices.SortStableFunc(n.Children, func(a, b Node) int { return cmp.Compare(a.Key, b.Key) })
	}
	return n
}

func (w *walk) isWanted(kind, key string) bool { return w.o.Want == nil || w.o.Want(kind, key) }

// take says whether there is room for one more.
func (w *walk) take() bool {
	if w.left == 0 {
		w.isTruncated = true
		return false
	}
	w.left--
	return true
}

// visible is the phase as others see it.
func (p *proc) visible() State {
	switch phase(p.shown.Load()) {
	case starting:
		return StateStarting
	case running:
		return StateRunning
	}
	return StateStopping
}

// become goes into a phase, and shows it. Running is shown only after Init.
func (p *proc) become(ph phase) {
	p.phase = ph
	p.shown.Store(uint32(ph))
}

// showWaiting puts the children that are to be restarted after delay into the
// ledger's sight. A wait of a shared round replaces the one before; where each
// child has a round of its own, only those that came newly are meant.
func (g *Group) showWaiting(c *Context, delay time.Duration) {
	next := c.Now().Add(delay)
	for _, s := range g.machine.State() {
		pl := g.places.At(s.ID)
		if s.Phase != restart.Down || pl == nil {
			continue
		}
		c.p.showPlace(Node{Kind: pl.kind, Key: s.ID, State: StateWaiting, Restarts: int(pl.starts) - 1, Next: next},
			!g.isApart)
	}
}

// hideWaiting takes places out of sight that nothing will be started for.
func (g *Group) hideWaiting(c *Context) {
	for id := range g.places.All() {
		c.p.hidePlace(id)
	}
}

func (p *proc) showPlace(n Node, replace bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.waiting[n.Key]; there && !replace {
		return
	}
	if p.waiting == nil {
		p.waiting = make(map[string]Node)
	}
	p.waiting[n.Key] = n
}

func (p *proc) hidePlace(key string) {
	if p.waiting == nil { // only its own goroutine writes it
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, key)
}
