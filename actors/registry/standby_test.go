package registry_test

import (
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAStandbyHasNoPlace: it is no task of the node until it is promoted, and a start of the task
// itself waits for its end.
func TestAStandbyHasNoPlace(t *testing.T) {
	t.Parallel()
	m := registry.NewMachine(messages.Limits{MaxTasks: 1}, messages.CDPURL{})
	step := func(in any) []registry.Effect { return m.Step(time.Unix(1000, 0), in) }
	spawned := func(effects []registry.Effect) (gen uint64) {
		for _, e := range effects {
			switch e := e.(type) {
			case registry.SpawnStandby:
				gen = e.Gen
			case registry.SpawnSupervisor:
				gen = e.Gen
			}
		}
		return gen
	}
	refused := func(effects []registry.Effect) bool {
		for _, e := range effects {
			if a, ok := e.(registry.Answer); ok && a.Err != nil {
				return true
			}
		}
		return false
	}
	stops := func(effects []registry.Effect) bool {
		for _, e := range effects {
			if s, ok := e.(registry.ToSupervisor); ok {
				if _, ok := s.Msg.(mail.StopTask); ok {
					return true
				}
			}
		}
		return false
	}
	first := spawned(step(registry.StartStandby{ID: "a", Spec: at(1)}))
	if first == 0 || m.Running() != 0 {
		t.Fatalf("gen %d, %d run", first, m.Running())
	}
	if !refused(step(registry.StartStandby{ID: "a", Spec: at(1)})) {
		t.Error("a task has two standbys")
	}
	if effects := step(registry.Lease{ID: "a", IsHeld: true}); len(effects) != 0 {
		t.Errorf("it is told of a lease: %+v", effects)
	}
	// A start of the task.
	if !stops(step(mail.StartTask{ID: "a", Spec: at(1)})) {
		t.Error("the standby is not ended for it")
	}
	second := spawned(step(registry.StandbyExited{ID: "a", Gen: first}))
	if second == 0 || m.Running() != 1 {
		t.Errorf("gen %d, %d run", second, m.Running())
	}
	if !refused(step(registry.StartStandby{ID: "a", Spec: at(1)})) {
		t.Error("a task that runs has a standby")
	}
	// The node is full, and takes the task of another one over all the same.
	third := spawned(step(registry.StartStandby{ID: "b", Spec: at(2)}))
	var promoted *registry.Promote
	for _, e := range step(registry.PromoteStandby{ID: "b", Memory: mail.TaskMemory{Version: 9}}) {
		if p, ok := e.(registry.Promote); ok {
			promoted = &p
		}
	}
	if promoted == nil || promoted.Memory.Version != 9 || m.Running() != 2 {
		t.Errorf("%+v, %d run", promoted, m.Running())
	}
	if effects := step(registry.Lease{ID: "b", IsHeld: true}); len(effects) != 1 {
		t.Errorf("with its lease %+v", effects)
	}
	step(registry.SupervisorExited{ID: "b", Gen: third})
	if m.Running() != 1 {
		t.Errorf("%d run", m.Running())
	}
	if !refused(step(registry.PromoteStandby{ID: "c"})) {
		t.Error("what is no standby is promoted")
	}
	step(registry.StartStandby{ID: "d", Spec: at(3)})
	if !stops(step(registry.StopStandby{ID: "d"})) || !refused(step(registry.PromoteStandby{ID: "d"})) {
		t.Error("one that ends is promoted")
	}
}
