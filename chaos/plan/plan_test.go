package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/chaos/plan"
	"holdfast/messages"
)

func TestPlans(t *testing.T) {
	t.Parallel()

	t.Run("the same seed gives the same plan, and a shorter one its beginning", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(50) {
			long, short := plan.New(seed, 40), plan.New(seed, 7)
			if diff := cmp.Diff(long, plan.New(seed, 40)); diff != "" {
				t.Fatal(diff)
			}
			long.Steps = long.Steps[:7]
			if diff := cmp.Diff(long, short); diff != "" {
				t.Fatal(diff)
			}
		}
	})

	t.Run("a bridged plan differs by the bridge alone", func(t *testing.T) {
		t.Parallel()
		ways := map[messages.Bridge]int{}
		for seed := range uint64(50) {
			p := plan.NewBridged(seed, 40)
			if plan.New(seed, 40).IsBridged() {
				t.Fatalf("seed %d is bridged unasked", seed)
			}
			for i := range p.Tasks {
				ways[p.Tasks[i].Bridge]++
				p.Tasks[i].Bridge = ""
			}
			if diff := cmp.Diff(plan.New(seed, 40), p); diff != "" {
				t.Fatal(diff)
			}
		}
		if len(ways) != 3 || ways[""] != 0 {
			t.Errorf("ways of the bridge: %v", ways)
		}
	})

	t.Run("a plan with doomed dialogs differs by those steps alone", func(t *testing.T) {
		t.Parallel()
		steps, doomed := 0, 0
		for seed := range uint64(50) {
			p, q := plan.NewDoomed(seed, 40), plan.New(seed, 40)
			if !p.HasDoomed || q.HasDoomed {
				t.Fatalf("seed %d: doomed %v, and unasked %v", seed, p.HasDoomed, q.HasDoomed)
			}
			for i := range p.Steps {
				steps++
				if p.Steps[i].Kind == plan.DoomedDialog {
					doomed++
					p.Steps[i] = q.Steps[i]
				}
			}
			p.HasDoomed = false
			if diff := cmp.Diff(q, p); diff != "" {
				t.Fatal(diff)
			}
			short := plan.NewDoomed(seed, 7)
			if diff := cmp.Diff(plan.NewDoomed(seed, 40).Steps[:7], short.Steps); diff != "" {
				t.Fatal(diff)
			}
		}
		if doomed < steps/5 || doomed > steps*3/10 {
			t.Errorf("%d of %d steps", doomed, steps)
		}
	})

	t.Run("a plan with clients differs by their steps alone", func(t *testing.T) {
		t.Parallel()
		kinds, steps := map[plan.Kind]int{}, 0
		for seed := range uint64(50) {
			p, plain := plan.NewClients(seed, 40), plan.New(seed, 40)
			if !p.HasClients || plain.HasClients {
				t.Fatalf("seed %d: clients %v, and unasked %v", seed, p.HasClients, plain.HasClients)
			}
			if diff := cmp.Diff(p.Steps[:7], plan.NewClients(seed, 7).Steps); diff != "" {
				t.Fatal(diff)
			}
			for i := range p.Steps {
				steps++
				if slices.Contains(plan.ClientKinds(), p.Steps[i].Kind) {
					kinds[p.Steps[i].Kind]++
					p.Steps[i] = plain.Steps[i]
				}
			}
			p.HasClients = false
			if diff := cmp.Diff(plain, p); diff != "" {
				t.Fatal(diff)
			}
		}
		sum := 0
		for _, kind := range plan.ClientKinds() {
			if sum += kinds[kind]; kinds[kind] == 0 {
				t.Errorf("no step is %s", kind)
			}
		}
		if sum < steps*2/5 || sum > steps*3/5 {
			t.Errorf("%d of %d steps are of clients", sum, steps)
		}
	})

	t.Run("a shared plan differs by its renderers alone", func(t *testing.T) {
		t.Parallel()
		slow, steps := 0, 0
		for seed := range uint64(50) {
			p, plain := plan.NewShared(seed, 40), plan.New(seed, 40)
			if plain.IsShared || !p.IsShared {
				t.Fatalf("seed %d", seed)
			}
			p.IsShared = false
			for i := range p.Steps {
				steps++
				if p.Steps[i].Kind == plan.SlowPage {
					slow++
					p.Steps[i].Kind, p.Steps[i].Panic = plain.Steps[i].Kind, plain.Steps[i].Panic
				}
			}
			if diff := cmp.Diff(plain, p); diff != "" {
				t.Fatal(diff)
			}
		}
		if slow < steps/20 || slow > steps/5 {
			t.Errorf("%d of %d steps open a slow page", slow, steps)
		}
	})

	t.Run("every kind of step and every panic comes up", func(t *testing.T) {
		t.Parallel()
		kinds, panics := map[plan.Kind]int{}, map[plan.Panic]bool{}
		dialogs, settles, steps := 0, 0, 0
		for seed := range uint64(300) {
			for _, s := range plan.New(seed, plan.DefaultSteps).Steps {
				kinds[s.Kind]++
				steps++
				if s.HasDialog {
					dialogs++
				}
				if s.NeedsSettling {
					settles++
				}
				if s.Kind == plan.ActorPanic {
					panics[s.Panic] = true
				}
			}
		}
		for _, k := range plan.Kinds() {
			if kinds[k] == 0 {
				t.Errorf("%s never happens", k)
			}
		}
		if len(kinds) != len(plan.Kinds()) {
			t.Errorf("%d kinds, want %d", len(kinds), len(plan.Kinds()))
		}
		for _, p := range plan.Panics {
			if !panics[p] {
				t.Errorf("no panic in %s/%s", p.Actor, p.Phase)
			}
		}
		if dialogs < steps*2/5 || dialogs > steps*3/5 {
			t.Errorf("%d of %d steps have a dialog open, want half", dialogs, steps)
		}
		if settles == 0 || settles > steps*3/5 {
			t.Errorf("%d of %d steps settle", settles, steps)
		}
	})

	t.Run("tasks are three to eight, on one browser or two", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(300) {
			p := plan.New(seed, 0)
			if len(p.Tasks) < 3 || len(p.Tasks) > 8 || p.Browsers < 1 || p.Browsers > 2 {
				t.Fatalf("seed %d: %d tasks on %d browsers", seed, len(p.Tasks), p.Browsers)
			}
			for _, task := range p.Tasks {
				if task.Browser < 0 || task.Browser >= p.Browsers {
					t.Errorf("seed %d: %+v", seed, task)
				}
			}
		}
	})
}

// TestOutagesLeaveTheRestOfAPlanAlone: a seed that has found something finds it still.
func TestOutagesLeaveTheRestOfAPlanAlone(t *testing.T) {
	t.Parallel()
	kinds := map[plan.Kind]int{}
	steps := 0
	for seed := range uint64(100) {
		p, with := plan.New(seed, plan.DefaultSteps), plan.NewOutages(seed, plan.DefaultSteps)
		if p.HasOutages || !with.HasOutages || p.Browsers != with.Browsers || !slices.Equal(p.Tasks, with.Tasks) || len(p.Steps) != len(with.Steps) {
			t.Fatalf("seed %d: another plan", seed)
		}
		for i, s := range with.Steps {
			steps++
			if s.Kind != plan.Outage && s.Kind != plan.LateEnd {
				if s != p.Steps[i] {
					t.Fatalf("seed %d, step %d: %s, want %s", seed, i, s, p.Steps[i])
				}
				continue
			}
			kinds[s.Kind]++
			if s.For < time.Second {
				t.Errorf("seed %d, step %d: %s", seed, i, s)
			}
		}
	}
	if n := kinds[plan.Outage] + kinds[plan.LateEnd]; n < steps/6 || n > steps/4 || kinds[plan.LateEnd] < n/4 {
		t.Errorf("%v of %d steps", kinds, steps)
	}
}
