package registry_test

import (
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A task is decided for where the node has a lease and nothing holds the task back.
func TestTasksHearOfTheLease(t *testing.T) {
	t.Parallel()
	m := registry.NewMachine(messages.Limits{IdleTimeout: time.Hour}, messages.CDPURL{})
	now := time.Unix(1000, 0)
	step := func(in any) (told []mail.Lease, stops int) {
		for _, e := range m.Step(now, in) {
			if to, ok := e.(registry.ToSupervisor); ok {
				switch msg := to.Msg.(type) {
				case mail.Lease:
					told = append(told, msg)
				case mail.StopTask:
					stops++
				}
			}
		}
		return told, stops
	}
	want := func(what string, in any, leases ...bool) {
		t.Helper()
		told, _ := step(in)
		if len(told) != len(leases) {
			t.Fatalf("%s: told %v, want %v", what, told, leases)
		}
		for i := range told {
			if told[i].IsHeld != leases[i] {
				t.Errorf("%s: told %v, want %v", what, told, leases)
			}
		}
	}
	start := func(id messages.TaskID) mail.StartTask { return mail.StartTask{ID: id, Spec: at(1)} }
	want("a task starts", start("a"))
	step(mail.TaskActive{ID: "a", Gen: 1})
	want("the node lapses", registry.Lease{}, false)
	want("it is told so again", registry.Lease{})
	want("a task starts meanwhile", start("b"), false)
	step(mail.TaskActive{ID: "b", Gen: 2})
	if _, stops := step(registry.Sweep{IdleFor: func(messages.TaskID) time.Duration { return 2 * time.Hour }}); stops != 0 {
		t.Error("a node without a lease ends idle tasks")
	}
	want("one is held back as well", registry.Lease{ID: "b"})
	want("the node has its lease again", registry.Lease{IsHeld: true}, true)
	want("and the other one too", registry.Lease{ID: "b", IsHeld: true}, true)
	want("one is held back alone", registry.Lease{ID: "a"}, false)
	if _, stops := step(registry.Sweep{IdleFor: func(messages.TaskID) time.Duration { return 2 * time.Hour }}); stops != 1 {
		t.Errorf("%d idle tasks end", stops)
	}
	want("a task that is not there", registry.Lease{ID: "c", IsHeld: true})
}
