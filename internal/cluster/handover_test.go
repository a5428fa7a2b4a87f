package cluster_test

import (
	"context"
	"testing"

	"holdfast/internal/cluster/seal"
	"holdfast/internal/cluster/store/storetest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestADrainGivesAwayWhatIsReady: a task goes with its newest memory, once its calls have ended. A
// call that comes meanwhile waits, and finds it at its new node. What is not ready stays, with the reason.
func TestADrainGivesAwayWhatIsReady(t *testing.T) {
	t.Parallel()
	key, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewShared()
	tasks, others := &running{memories: map[messages.TaskID]mail.TaskMemory{}, unready: map[messages.TaskID]string{"asking": "a dialog is open"}}, &running{}
	a, b := joinSealed(t, s, "a", tasks, key), joinSealed(t, s, "b", others, key)
	defer leave(t, b)
	defer leave(t, a)
	eventually(t, "both hold their leases", func() bool { return states(b)["a"] == messages.LeaseHeld && states(a)["b"] == messages.LeaseHeld })
	for _, id := range []messages.TaskID{"one", "asking", "bound"} {
		spec := messages.TaskSpec{}
		if id == "bound" {
			spec.Launch = &messages.LaunchSpec{}
		}
		release, err := a.Claim(t.Context(), id, spec)
		if err != nil {
			t.Fatal(err)
		}
		release()
		tasks.mu.Lock()
		tasks.ids = append(tasks.ids, id)
		tasks.mu.Unlock()
	}
	tasks.mu.Lock()
	tasks.memories["one"] = mail.TaskMemory{Version: 9}
	tasks.mu.Unlock()
	endCall, moving := a.Hold("one")
	if moving != nil {
		t.Fatal("a call waits for nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	moves := make(chan messages.ClusterMoves, 1)
	go func() { moves <- a.Drain(ctx) }()
	// The call that is under way keeps the task; the next ones wait for a while and go on.
	var closed <-chan struct{}
	eventually(t, "the next call waits", func() bool {
		end, moving := a.Hold("one")
		if moving == nil {
			end()
			return false
		}
		closed = moving
		return true
	})
	<-closed
	if node, _, _ := a.Place("one"); node != "a" {
		t.Error("it is given away under a call")
	}
	endCall()
	eventually(t, "b has it", func() bool {
		node, _, _ := a.Place("one")
		others.mu.Lock()
		defer others.mu.Unlock()
		return node == "b" && len(others.resumed) == 1
	})
	others.mu.Lock()
	if r := others.resumed[0]; r.id != "one" || r.memory.Version != 9 {
		t.Errorf("%+v", r)
	}
	others.mu.Unlock()
	eventually(t, "a has ended it", func() bool { return !tasks.Has("one") })
	cancel()
	got := <-moves
	why := map[messages.TaskID]string{}
	for _, stay := range got.Staying {
		why[stay.TaskID] = stay.Why
	}
	if got.Moved != 1 || len(got.Staying) != 2 || why["asking"] != "a dialog is open" {
		t.Errorf("%+v", got)
	}
	// The node ends: what has stayed is decided for by the next one, and forgotten by none.
	a.Part()
	if err := a.MayDecide("asking"); messages.CodeOf(err) != messages.CodeLeaseLapsed {
		t.Errorf("it decides for a task that it leaves: %v", err)
	}
	if err := a.MayDecide("bound"); err != nil {
		t.Errorf("it may not end its own browser: %v", err)
	}
}

// TestANodeWithoutAnHeirKeepsItsTasks: a drain comes to its end at once.
func TestANodeWithoutAnHeirKeepsItsTasks(t *testing.T) {
	t.Parallel()
	key, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewShared()
	tasks := &running{}
	a := joinSealed(t, s, "a", tasks, key)
	defer leave(t, a)
	eventually(t, "it holds its lease", func() bool { return a.Check().OK })
	release, err := a.Claim(t.Context(), "one", messages.TaskSpec{})
	if err != nil {
		t.Fatal(err)
	}
	release()
	tasks.set("one")
	if got := a.Drain(t.Context()); got.Moved != 0 || len(got.Staying) != 1 {
		t.Errorf("%+v", got)
	}
}
