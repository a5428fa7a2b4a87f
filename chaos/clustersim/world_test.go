package clustersim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/storetest"
)

// world is one run: the store, the nodes, and what is to happen at which moment of a time
// that no node sees.
type world struct {
	rand      *rand.Rand
	now       time.Duration
	agenda    agenda
	order     int
	store     *storetest.Map
	isStoreUp bool
	isCalm    bool // no more faults, losses or delays
	nodes     []*node
	runs      int // instances so far
	tasks     []string
	gone      map[string]bool // tasks that have been ended
	last      map[string]decision
	trace     []string
	problem   string
}

// decision is the newest epoch of a task that a node could decide under.
type decision struct {
	epoch lease.Epoch
	by    string
}

// node is one machine with its clocks and its way to the store.
type node struct {
	w           *world
	name        string
	instance    string
	machine     *lease.Machine
	isDead      bool
	hasLeft     bool
	isCut       bool
	pausedUntil time.Duration
	waiting     []lease.Input // while it is paused
	offset      time.Duration
	rate        float64
	stood       time.Duration   // how long its clock since boot has stood still
	step        time.Duration   // of its wall clock
	open        map[uint64]bool // attempts that wait for an answer
	arrives     map[string]time.Duration
}

type happening struct {
	at    time.Duration
	order int
	do    func()
}

type agenda []happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func newWorld(seed uint64, nodes, tasks int) *world {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 17)), store: storetest.NewMap(), isStoreUp: true,
		gone: map[string]bool{}, last: map[string]decision{},
	}
	for i := range nodes {
		n := &node{w: w, name: fmt.Sprintf("n%d", i)}
		n.offset = time.Duration(w.rand.Int64N(int64(time.Hour)))
		n.rate = 0.98 + 0.04*w.rand.Float64()
		w.nodes = append(w.nodes, n)
		n.start("")
	}
	for i := range tasks {
		w.at(w.upTo(10*time.Second), func() { w.create(fmt.Sprintf("t%d", i)) })
	}
	return w
}

func (w *world) at(in time.Duration, do func()) {
	w.order++
	heap.Push(&w.agenda, happening{w.now + in, w.order, do})
}

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rand.Int64N(int64(d))) }

// chance is true once in so many times, and never once all is to be well.
func (w *world) chance(in int) bool { return !w.isCalm && w.rand.IntN(in) == 0 }

// run lets the world go on for a while, and checks it at every event.
func (w *world) run(d time.Duration) {
	end := w.now + d
	for len(w.agenda) > 0 && w.agenda[0].at <= end && w.problem == "" {
		h := heap.Pop(&w.agenda).(happening)
		w.now = h.at
		h.do()
		w.check()
	}
	w.now = end
}

func (w *world) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%11v ", w.now.Truncate(time.Microsecond))+fmt.Sprintf(format, args...))
	if len(w.trace) > 4000 {
		w.trace = slices.Delete(w.trace, 0, 2000)
	}
}

// check holds the world to its invariants at this instant. A node that is paused counts:
// it might act in the instant in which it wakes.
func (w *world) check() {
	if w.problem != "" {
		return
	}
	for _, task := range w.tasks {
		var by *node
		for _, n := range w.nodes {
			if n.isDead {
				continue
			}
			epoch, ok := n.machine.Decides(task, n.reading())
			if !ok {
				continue
			}
			if by != nil {
				w.problem = fmt.Sprintf("%s and %s both decide for %s", by.name, n.name, task)
				return
			}
			by = n
			if e, _ := w.store.Get("nodes/" + n.name); e.Created != n.machine.Grant().Term {
				w.problem = fmt.Sprintf("%s decides for %s after the end of its term", n.instance, task)
				return
			}
			last := w.last[task]
			if epoch < last.epoch || epoch == last.epoch && last.by != n.instance {
				w.problem = fmt.Sprintf("%s decides for %s under epoch %v after %s under %v", n.instance, task, epoch, last.by, last.epoch)
				return
			}
			w.last[task] = decision{epoch, n.instance}
		}
	}
}

// commit carries a transaction out in the store, and sends its events to all watches.
func (w *world) commit(t store.Txn) store.Result {
	r, events := w.store.Commit(t)
	for _, e := range events {
		for _, n := range w.nodes {
			n.event(e)
		}
	}
	return r
}

// create puts a task's spec, as any node does for a caller.
func (w *world) create(task string) {
	w.commit(store.Txn{
		If:   []store.Condition{{Key: "tasks/" + task + "/spec", Test: store.CreatedAt}},
		Then: []store.Op{{Key: "tasks/" + task + "/spec", Value: []byte(fmt.Sprintf(`{"place":"%s","bound":%v}`, task, w.rand.IntN(5) == 0))}},
	})
	if !slices.Contains(w.tasks, task) {
		w.tasks = append(w.tasks, task)
	}
	delete(w.gone, task)
	w.say("create %s", task)
}

// start begins a new run of a node's process.
func (n *node) start(predecessor string) {
	w := n.w
	w.runs++
	n.instance = fmt.Sprintf("%s.%d", n.name, w.runs)
	n.machine = lease.New(lease.Config{Name: n.name, Instance: n.instance, Predecessor: predecessor, Times: lease.DefaultTimes()})
	n.isDead, n.hasLeft, n.waiting, n.open, n.arrives = false, false, nil, map[uint64]bool{}, map[string]time.Duration{}
	n.pausedUntil = 0
	w.say("start %s after %q", n.instance, predecessor)
	n.wake(n.instance)
}

func (n *node) wake(instance string) {
	if n.instance != instance || n.isDead {
		return
	}
	n.tell(lease.Woke{})
	n.w.at(50*time.Millisecond, func() { n.wake(instance) })
}

// boot is the node's clock since it was started.
func (n *node) boot() time.Duration {
	return n.offset + time.Duration(float64(n.w.now)*n.rate) - n.stood
}

func (n *node) reading() lease.Reading {
	return lease.Reading{Boot: n.boot(), Wall: 1_700_000_000*time.Second + n.w.now + n.step}
}

// tell gives the machine an input, or keeps it while the node is paused.
func (n *node) tell(in lease.Input) {
	if n.isDead {
		return
	}
	if n.w.now < n.pausedUntil {
		if _, ok := in.(lease.Woke); !ok || len(n.waiting) == 0 {
			n.waiting = append(n.waiting, in)
		}
		return
	}
	for _, e := range n.machine.Step(n.reading(), in) {
		n.carryOut(e)
	}
}

func (n *node) carryOut(e lease.Effect) {
	w := n.w
	switch e := e.(type) {
	case lease.Commit:
		n.send(e)
	case lease.List:
		n.list(false)
	case lease.Gather:
		w.say("%s gather %s %v for %s", n.instance, e.Task, e.Epoch, e.Heir)
		n.later(w.upTo(100*time.Millisecond), lease.Gathered{Task: e.Task, Epoch: e.Epoch})
	case lease.Begin:
		w.say("%s begin %s %v from %v", n.instance, e.Task, e.Epoch, e.NotBefore)
		w.at(max(0, time.Duration(float64(e.NotBefore-n.boot())/n.rate))+1, func() {})
	case lease.Resume:
		w.say("%s resume %s %v", n.instance, e.Task, e.Epoch)
	case lease.Cease:
		w.say("%s cease %s %v: %s", n.instance, e.Task, e.Epoch, e.Why)
	case lease.Stood:
		w.say("%s %s term=%d %s", n.instance, e.Phase, e.Term, e.Why)
	case lease.Alarm:
		w.problem = fmt.Sprintf("alarm of %s at %s: %s", n.name, e.Key, e.Problem)
	default:
		panic(fmt.Sprintf("unknown effect %T", e))
	}
}

// later tells this run of the node something in a while.
func (n *node) later(in time.Duration, what lease.Input) {
	instance := n.instance
	n.w.at(in, func() {
		if n.instance == instance {
			n.tell(what)
		}
	})
}

// canReach says whether the node reaches the store.
func (n *node) canReach() bool { return !n.isCut && n.w.isStoreUp }

// delay is how long a message between a node and the store is under way. Once in a while
// it is stuck.
func (w *world) delay() time.Duration {
	if w.chance(40) {
		return w.upTo(4 * time.Second)
	}
	if w.chance(10) {
		return w.upTo(200 * time.Millisecond)
	}
	return time.Millisecond + w.upTo(4*time.Millisecond)
}

// send carries a transaction to the store and its answer back. Either may be lost, and a
// transaction may arrive long after its node has ceased to wait.
func (n *node) send(c lease.Commit) {
	w := n.w
	open, instance := n.open, n.instance
	open[c.Attempt] = true
	answer := func(a lease.Answered) {
		if n.instance == instance && open[a.Attempt] {
			delete(open, a.Attempt)
			n.tell(a)
		}
	}
	w.at(lease.DefaultTimes().Attempt, func() { answer(lease.Answered{Attempt: c.Attempt, IsUnknown: true}) })
	if !n.canReach() && !w.chance(3) { // some are queued on the way, and arrive
		return
	}
	if w.chance(60) {
		return
	}
	w.at(w.delay(), func() {
		if !w.isStoreUp {
			return
		}
		r := w.commit(c.Txn)
		if !r.IsDone {
			w.say("refused %s %d", instance, c.Attempt)
		}
		if w.chance(40) || !n.canReach() {
			return
		}
		w.at(w.delay(), func() { answer(lease.Answered{Attempt: c.Attempt, Result: r}) })
	})
}

// list carries a listing to the node. One that the node has not asked for is that of a new
// watch, and does not fail.
func (n *node) list(isNewWatch bool) {
	w := n.w
	if !isNewWatch && (!n.canReach() || w.chance(20)) {
		n.later(350*time.Millisecond, lease.ListFailed{})
		return
	}
	instance := n.instance
	w.at(w.delay(), func() {
		l := w.store.List()
		if n.instance == instance {
			n.later(w.delay(), lease.Listed{Listing: l})
		}
	})
}

// event carries an event to the node. Events of one key stay in order, those of several
// keys may not.
func (n *node) event(e store.Event) {
	if n.isDead || n.isCut || !n.w.isStoreUp {
		return // a new watch lists anew
	}
	at := max(n.w.now+n.w.delay(), n.arrives[e.Key]+1)
	n.arrives[e.Key] = at
	n.later(at-n.w.now, lease.Changed{Event: e})
}

func (w *world) String() string {
	var b strings.Builder
	b.WriteString(strings.Join(w.trace, "\n"))
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "\n\n%s dead=%v paused=%v cut=%v boot=%v\n%s", n.instance, n.isDead, w.now < n.pausedUntil, n.isCut, n.boot(), n.machine.State())
	}
	return b.String()
}
