package clustersim

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/cluster/lease"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the one seed that TestSeeds plays")
	seedsFlag = flag.Uint64("seeds", 60, "how many seeds TestSeeds plays")
)

// TestSeeds breaks clusters of two to five nodes for half a minute each: no two nodes ever
// decide for one task, epochs only grow, and once the faults end every task has one owner.
func TestSeeds(t *testing.T) {
	t.Parallel()
	first, last := uint64(1), *seedsFlag
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	for seed := first; seed <= last; seed++ {
		w := play(seed)
		if w.problem != "" {
			t.Fatalf("%s\n\n%s\ngo test ./chaos/clustersim -run '^TestSeeds$' -seed %d", w, w.problem, seed)
		}
	}
}

// TestSameSeedSameTrace: a seed is enough to play a run again.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		a, b := play(seed+1), play(seed+1)
		if a.String() != b.String() {
			t.Errorf("seed %d has two traces", seed+1)
		}
	}
}

// TestFaultsHappen: the faults reach what they are for. Without them no invariant of the
// other tests would say anything.
func TestFaultsHappen(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for seed := range uint64(16) {
		all.WriteString(strings.Join(play(seed+1).trace, "\n"))
	}
	for _, what := range []string{
		string(lease.WhyFenced), string(lease.WhyMoved), string(lease.WhyEnded), "lapsed", "resume", "refused", "kill", "pause", "suspend", "cut", "store down", "wall clock", "drain", "leave",
		"the node's record was deleted", "the term had begun by an attempt without an answer",
	} {
		if !strings.Contains(all.String(), what) {
			t.Errorf("in 16 seeds there is no %q", what)
		}
	}
}

func play(seed uint64) *world {
	w := newWorld(seed, 2+int(seed%4), 8)
	for i := range 40 {
		w.at(w.upTo(30*time.Second)+time.Duration(i), w.fault)
	}
	w.run(32 * time.Second)
	w.calm()
	w.run(16 * time.Second)
	if w.problem == "" {
		w.checkOwned()
	}
	return w
}

// fault does one random thing to the cluster, or has a caller do something.
func (w *world) fault() {
	n := w.nodes[w.rand.IntN(len(w.nodes))]
	task := fmt.Sprintf("t%d", w.rand.IntN(8))
	switch w.rand.IntN(14) {
	case 0, 1:
		w.kill(n)
	case 2, 3:
		w.pause(n, w.upTo([]time.Duration{500 * time.Millisecond, 4 * time.Second, 10 * time.Second}[w.rand.IntN(3)]), false)
	case 4:
		// A short pause that the clock since boot does not show, of a node that cannot renew.
		w.cut(n, 4*time.Second)
		w.at(w.upTo(time.Second), func() {
			w.pause(n, w.upTo([]time.Duration{600 * time.Millisecond, 5 * time.Second}[w.rand.IntN(2)]), true)
		})
	case 5, 6:
		w.cut(n, w.upTo(6*time.Second))
	case 7:
		w.stop(w.upTo(4 * time.Second))
	case 8:
		n.step += w.upTo(2*time.Hour) - time.Hour
		w.say("wall clock of %s stepped", n.name)
	case 9:
		w.say("hand %s over", task)
		for _, n := range w.nodes {
			n.tell(lease.HandOver{Task: task})
		}
	case 10:
		w.say("end %s", task)
		for _, n := range w.nodes {
			n.tell(lease.End{Task: task})
		}
	case 11:
		w.create(task)
	case 12:
		w.say("drain %s", n.name)
		n.tell(lease.Drain{})
		w.at(w.upTo(5*time.Second), func() { w.kill(n) })
	case 13:
		w.say("leave %s", n.name)
		n.tell(lease.Leave{})
		w.at(w.upTo(2*time.Second), func() { w.kill(n) })
	}
}

// kill ends a node's process. It starts again in a while, on the same state directory or
// on an empty one.
func (w *world) kill(n *node) {
	if n.isDead {
		return
	}
	w.say("kill %s", n.instance)
	n.isDead = true
	predecessor := n.instance
	if w.rand.IntN(3) == 0 {
		predecessor = ""
	}
	w.at(w.upTo(5*time.Second), func() { n.start(predecessor) })
}

// pause stops a node's process; in a suspended virtual machine the clock since boot stands
// still as well.
func (w *world) pause(n *node, d time.Duration, isSuspend bool) {
	if n.isDead || w.now < n.pausedUntil {
		return
	}
	if isSuspend {
		w.say("suspend %s for %v", n.instance, d)
	} else {
		w.say("pause %s for %v", n.instance, d)
	}
	n.pausedUntil = w.now + d
	instance := n.instance
	if isSuspend {
		// The clock is behind from here on. Only the check looks at it before the node runs
		// again, which thereby sees the node act at the very end of the pause.
		n.stood += time.Duration(float64(d) * n.rate)
	}
	w.at(d, func() {
		if n.instance != instance || n.isDead {
			return
		}
		w.say("resume %s", instance)
		waiting := n.waiting
		n.waiting = nil
		for _, in := range waiting {
			n.tell(in)
		}
	})
}

// cut separates a node from the store for a while. Its watch begins anew with a listing.
func (w *world) cut(n *node, d time.Duration) {
	if n.isCut {
		return
	}
	w.say("cut %s for %v", n.name, d)
	n.isCut = true
	w.at(d, func() {
		n.isCut = false
		n.list(true)
	})
}

// stop takes the store away from all.
func (w *world) stop(d time.Duration) {
	if !w.isStoreUp {
		return
	}
	w.say("store down for %v", d)
	w.isStoreUp = false
	w.at(d, func() {
		w.isStoreUp = true
		w.say("store up")
		for _, n := range w.nodes {
			n.list(true)
		}
	})
}

// calm ends the faults, and starts what has left or drains anew.
func (w *world) calm() {
	w.isCalm = true
	w.say("calm")
	for _, n := range w.nodes {
		w.at(6*time.Second, func() {
			if !n.isDead {
				predecessor := n.instance
				n.isDead = true
				n.start(predecessor)
			}
		})
	}
}

// checkOwned says which task has no decider though all has been well for a while.
func (w *world) checkOwned() {
	in := map[string]bool{}
	for _, e := range w.store.List().Entries {
		in[e.Key] = true
	}
	for _, task := range w.tasks {
		deciders := 0
		for _, n := range w.nodes {
			if _, ok := n.machine.Decides(task, n.reading()); ok && !n.isDead {
				deciders++
			}
		}
		hasSpec := in["tasks/"+task+"/spec"]
		if hasSpec && deciders != 1 || !hasSpec && deciders != 0 {
			w.problem = fmt.Sprintf("%d nodes decide for %s, whose spec exists: %v", deciders, task, hasSpec)
			return
		}
	}
}
