package restart_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/internal/restart"
)

// world carries out a supervisor's actions and holds it to its word.
type world struct {
	t        *rapid.T
	policy   restart.Policy
	s        *restart.Supervisor
	now      time.Time
	live     map[string]uint64 // started, not exited
	stopping map[string]uint64 // asked to stop, not exited
	lastGen  uint64
	waits    []restart.Wait // not due yet, or overtaken
	asked    bool           // Shutdown was sent
	gaveUp   int
	done     int
	ready    map[string]bool      // its live generation has been
	rows     map[string]time.Time // when the row of its exits began
}

func newWorld(t *rapid.T) *world {
	p := restart.Policy{
		Strategy:       rapid.SampledFrom([]restart.Strategy{restart.OneForOne, restart.OneForAll, restart.RestForOne}).Draw(t, "strategy"),
		MaxConsecutive: rapid.IntRange(0, 6).Draw(t, "max"),
		Backoff:        restart.Backoff{Base: time.Second, Cap: 10 * time.Second},
	}
	if rapid.Bool().Draw(t, "window") {
		p.Intensity, p.Period = rapid.IntRange(0, 8).Draw(t, "intensity"), time.Minute
	}
	var children []restart.Child
	for _, id := range []string{"a", "b", "c", "d"}[:rapid.IntRange(0, 4).Draw(t, "children")] {
		children = append(children, restart.Child{ID: id, Type: drawType(t), Patience: drawPatience(t)})
	}
	w := &world{
		t: t, policy: p, s: restart.New(p, children...), now: time.Unix(1000, 0),
		live: map[string]uint64{}, stopping: map[string]uint64{}, ready: map[string]bool{}, rows: map[string]time.Time{},
	}
	w.perform(w.order(), w.s.Start(), true)
	return w
}

func drawType(t *rapid.T) restart.Type {
	return rapid.SampledFrom([]restart.Type{restart.Permanent, restart.Transient, restart.Temporary}).Draw(t, "type")
}

func drawPatience(t *rapid.T) time.Duration {
	return time.Duration(rapid.SampledFrom([]int{0, 0, 5, 60}).Draw(t, "patience")) * time.Second
}

var allIDs = []string{"a", "b", "c", "d", "e", "f"}

func (w *world) order() []string {
	var ids []string
	for _, c := range w.s.State() {
		ids = append(ids, c.ID)
	}
	return ids
}

func (w *world) step(ev restart.Event) []restart.Action {
	before := w.order()
	ended := w.s.HasEnded()
	if add, ok := ev.(restart.Add); ok && w.stopping[add.Child.ID] != 0 {
		delete(w.rows, add.Child.ID) // it comes back as another child
	}
	out := w.s.Step(w.now, ev)
	maps.DeleteFunc(w.rows, func(id string, _ time.Time) bool { return !slices.Contains(w.order(), id) })
	w.perform(before, out, !ended)
	return out
}

// perform checks the actions of one step and carries them out.
func (w *world) perform(before []string, out []restart.Action, mayStart bool) {
	after := w.order()
	lastStart, lastStop := -1, len(before)
	for _, a := range out {
		switch a := a.(type) {
		case restart.Start:
			if !mayStart || w.s.HasEnded() {
				w.t.Fatalf("start of %s after the end", a.ID)
			}
			if gen, ok := w.live[a.ID]; ok {
				w.t.Fatalf("start of %s gen %d while gen %d lives", a.ID, a.Gen, gen)
			}
			if a.Gen <= w.lastGen {
				w.t.Fatalf("generation %d of %s does not grow", a.Gen, a.ID)
			}
			i := slices.Index(after, a.ID)
			if i <= lastStart {
				w.t.Fatalf("start of %s out of order: %v", a.ID, out)
			}
			lastStart, w.lastGen = i, a.Gen
			w.live[a.ID] = a.Gen
		case restart.Stop:
			i := slices.Index(before, a.ID)
			if i >= lastStop {
				w.t.Fatalf("stop of %s out of order: %v", a.ID, out)
			}
			lastStop = i
			if w.live[a.ID] != a.Gen || w.stopping[a.ID] != 0 {
				w.t.Fatalf("stop of %s gen %d, live is %d, already stopping %d", a.ID, a.Gen, w.live[a.ID], w.stopping[a.ID])
			}
			w.stopping[a.ID] = a.Gen
		case restart.Wait:
			if a.Delay <= 0 || a.Delay > w.policy.Backoff.Cap {
				w.t.Fatalf("wait of %v", a.Delay)
			}
			w.waits = append(w.waits, a)
		case restart.GiveUp:
			w.gaveUp++
			if len(w.live) > 0 || w.gaveUp > 1 {
				w.t.Fatalf("give up number %d with %v alive", w.gaveUp, w.live)
			}
		case restart.Done:
			w.done++
			if len(w.live) > 0 || w.done > 1 || !w.asked {
				w.t.Fatalf("done number %d, asked %v, with %v alive", w.done, w.asked, w.live)
			}
		}
	}
	for _, c := range w.s.State() {
		gen, alive := w.live[c.ID]
		if believes := c.Phase == restart.Running || c.Phase == restart.Stopping; believes != alive || alive && c.Gen != gen {
			w.t.Fatalf("%s is %v gen %d, in truth alive %v gen %d", c.ID, c.Phase, c.Gen, alive, gen)
		}
		if stopping := c.Phase == restart.Stopping; stopping != (w.stopping[c.ID] != 0) {
			w.t.Fatalf("%s is %v, was sent a stop: %v", c.ID, c.Phase, !stopping)
		}
	}
	for id := range w.live {
		if !slices.Contains(after, id) {
			w.t.Fatalf("%s was forgotten alive", id)
		}
	}
}

func (w *world) child(id string) restart.ChildState {
	for _, c := range w.s.State() {
		if c.ID == id {
			return c
		}
	}
	w.t.Fatalf("there is no child %s", id)
	return restart.ChildState{}
}

// judge holds the exit of a child, and whether the supervisor gave up for it, to the
// limits of the policy.
func (w *world) judge(id string, before restart.ChildState, stopping, abnormal, excused, wasEnded bool) {
	wasReady := w.ready[id]
	delete(w.ready, id)
	failed := !stopping && before.Type != restart.Temporary && (abnormal || before.Type == restart.Permanent)
	if !failed || wasEnded {
		return
	}
	if _, ok := w.rows[id]; !ok || wasReady {
		w.rows[id] = w.now
	}
	failures := before.Failures
	if !wasReady && !excused {
		failures++
	}
	limit, isSpent := w.policy.MaxConsecutive, false
	if limit > 0 && failures >= limit && w.now.Sub(w.rows[id]) >= before.Patience {
		isSpent = !excused
	}
	if isSpent && !w.s.HasEnded() {
		w.t.Fatalf("%s failed %d times in %v, and is started again", id, failures, w.now.Sub(w.rows[id]))
	}
	if w.policy.Period == 0 && !isSpent && w.s.HasEnded() {
		w.t.Fatalf("gave up on %s after %d failures in %v; the limits are %d and %v", id, failures, w.now.Sub(w.rows[id]), limit, before.Patience)
	}
}

func (w *world) exit(id string, abnormal, excused bool, roll float64) {
	gen, stopping := w.live[id], w.stopping[id] != 0
	failures, before, wasEnded := w.failures(), w.child(id), w.s.HasEnded()
	delete(w.live, id)
	delete(w.stopping, id)
	out := w.step(restart.Exited{ID: id, Gen: gen, IsAbnormal: abnormal, IsExcused: excused, Roll: roll})
	w.judge(id, before, stopping, abnormal, excused, wasEnded)
	if stopping {
		for _, c := range w.s.State() {
			if c.ID == id && c.Failures > failures[id] {
				w.t.Fatalf("exit of %s, which we were stopping, counted as a failure", id)
			}
		}
	}
	if w.policy.Strategy == restart.OneForOne && !w.s.HasEnded() {
		for _, a := range out {
			if s, ok := a.(restart.Stop); ok {
				w.t.Fatalf("one_for_one stopped %s for the exit of %s", s.ID, id)
			}
		}
	}
}

func (w *world) failures() map[string]int {
	m := map[string]int{}
	for _, c := range w.s.State() {
		m[c.ID] = c.Failures
	}
	return m
}

func sortedKeys(m map[string]uint64) []string {
	var ids []string
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// drain answers every stop and lets every wait pass, and checks what must hold
// once nothing is under way.
func (w *world) drain() {
	for len(w.stopping) > 0 || len(w.waits) > 0 {
		for _, id := range sortedKeys(w.stopping) {
			w.exit(id, true, false, 0)
		}
		if len(w.waits) > 0 {
			next := w.waits[0]
			w.waits = w.waits[1:]
			w.now = w.now.Add(next.Delay)
			w.step(restart.Due{Token: next.Token})
		}
	}
	if w.s.HasEnded() {
		if len(w.live) > 0 {
			w.t.Fatalf("ended, but %v live on without a stop", w.live)
		}
		if w.asked != (w.done == 1) {
			w.t.Fatalf("shutdown asked %v, done %d times", w.asked, w.done)
		}
		if !w.asked && w.gaveUp == 0 {
			w.t.Fatal("ended by itself without giving up")
		}
		return
	}
	for _, c := range w.s.State() {
		if c.Phase == restart.Down || c.Phase == restart.Stopping || c.Type == restart.Permanent && c.Phase != restart.Running {
			w.t.Fatalf("at rest, but %s (%v) is %v", c.ID, c.Type, c.Phase)
		}
	}
}

func TestSupervisorKeepsItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"exit": func(t *rapid.T) {
				if len(w.live) == 0 {
					return
				}
				id := rapid.SampledFrom(sortedKeys(w.live)).Draw(t, "id")
				w.exit(id, rapid.Bool().Draw(t, "abnormal"), rapid.Bool().Draw(t, "excused"), rapid.Float64Range(0, 1).Draw(t, "roll"))
			},
			"ready": func(t *rapid.T) {
				if len(w.live) == 0 {
					return
				}
				id := rapid.SampledFrom(sortedKeys(w.live)).Draw(t, "id")
				w.step(restart.Ready{ID: id, Gen: w.live[id]})
				w.ready[id] = w.stopping[id] == 0 || w.ready[id]
				if n := w.failures()[id]; n != 0 {
					t.Fatalf("%s is ready and still has %d failures", id, n)
				}
			},
			"stale": func(t *rapid.T) {
				id := rapid.SampledFrom(allIDs).Draw(t, "id")
				gen := rapid.Uint64Range(0, w.lastGen+1).Draw(t, "gen")
				if w.live[id] == gen {
					return
				}
				before := w.s.State()
				out := append(w.step(restart.Exited{ID: id, Gen: gen, IsAbnormal: true}), w.step(restart.Ready{ID: id, Gen: gen})...)
				if len(out) > 0 || !reflect.DeepEqual(before, w.s.State()) {
					t.Fatalf("stale %s gen %d did something: %v", id, gen, out)
				}
			},
			"due": func(t *rapid.T) {
				if len(w.waits) == 0 {
					return
				}
				i := rapid.IntRange(0, len(w.waits)-1).Draw(t, "wait")
				token := w.waits[i].Token
				w.waits = slices.Delete(w.waits, i, i+1)
				w.now = w.now.Add(time.Second)
				w.step(restart.Due{Token: token})
				if out := w.step(restart.Due{Token: token}); len(out) > 0 {
					t.Fatalf("the second due of token %d did something: %v", token, out)
				}
			},
			"add": func(t *rapid.T) {
				w.step(restart.Add{Child: restart.Child{ID: rapid.SampledFrom(allIDs).Draw(t, "id"), Type: drawType(t)}})
			},
			"remove": func(t *rapid.T) {
				w.step(restart.Remove{ID: rapid.SampledFrom(allIDs).Draw(t, "id")})
			},
			"patience": func(t *rapid.T) {
				id, d := rapid.SampledFrom(allIDs).Draw(t, "id"), drawPatience(t)
				w.step(restart.SetPatience{ID: id, Patience: d})
				for _, c := range w.s.State() {
					if c.ID == id && c.Patience != d {
						t.Fatalf("%s has a patience of %v, not of %v", id, c.Patience, d)
					}
				}
			},
			"advance": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			},
			"drain": func(*rapid.T) { w.drain() },
			"shutdown": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					w.asked = true
					w.step(restart.Shutdown{})
				}
			},
		})
		w.drain()
	})
}
