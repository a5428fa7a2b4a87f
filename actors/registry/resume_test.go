package registry_test

import (
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A task of another node has a place at once, and its browser need not be there. One that is lost
// with its browser is shown until a caller has seen it.
func TestTasksOfAnotherNode(t *testing.T) {
	t.Parallel()
	m := registry.NewMachine(messages.Limits{MaxTasks: 1}, messages.CDPURL{})
	step := func(in any) (effects []registry.Effect, outcome error) {
		effects = m.Step(time.Unix(1000, 0), in)
		for _, e := range effects {
			if a, ok := e.(registry.Answer); ok && a.Err != nil {
				outcome = a.Err
			}
		}
		return effects, outcome
	}
	resumed := &mail.Resumed{Memory: mail.TaskMemory{Version: 7}, IsWithheld: true}
	effects, err := step(mail.StartTask{ID: "a", Spec: at(1), Resumed: resumed})
	isSpawned, isAnswered := false, false
	for _, e := range effects {
		switch e := e.(type) {
		case registry.SpawnSupervisor:
			isSpawned = e.Resumed == resumed
		case registry.Answer:
			isAnswered = e.Value == mail.StartOutcome{HasStarted: true}
		}
	}
	if err != nil || !isSpawned || !isAnswered {
		t.Errorf("%+v, %v", effects, err)
	}
	told, _ := step(registry.Lease{ID: "a", IsHeld: true})
	if len(told) != 1 {
		t.Errorf("with the lease %+v", told)
	}
	if _, err := step(mail.StartTask{ID: "b", Spec: at(2), Resumed: resumed}); messages.CodeOf(err) != messages.CodeLimitReached {
		t.Errorf("without a place: %v", err)
	}
	effects, _ = step(registry.Lose{ID: "c", Spec: at(3), Version: 9})
	if shown, ok := effects[0].(registry.ShowLost); !ok || shown.ID != "c" || shown.Version != 9 {
		t.Errorf("%+v", effects)
	}
	effects, _ = step(mail.StopTask{ID: "c"})
	seen := false
	for _, e := range effects {
		if a, ok := e.(registry.Acknowledge); ok {
			seen = a.ID == "c"
		}
	}
	if !seen {
		t.Errorf("a caller has seen it: %+v", effects)
	}
	if effects, _ = step(registry.Lose{ID: "a", Spec: at(1)}); len(effects) != 1 {
		t.Errorf("one that runs: %+v", effects)
	}
}
