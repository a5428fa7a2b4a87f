package view_test

import (
	"testing"
	"time"
	"unsafe"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// show publishes snap with events.
func show(b *view.Board, snap *messages.Snapshot, events []messages.Event) {
	b.Publish(&view.View{Snapshot: snap}, view.News{Events: events})
}

func TestBoard(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	fill := func(b *view.Board, n int) {
		for v := 1; v <= n; v++ {
			snap := &messages.Snapshot{TaskID: "t", Version: uint64(v), Active: true, State: messages.StateActive}
			show(b, snap, []messages.Event{{Type: messages.EventConnection, Version: uint64(v)}})
		}
	}
	t.Run("what a watcher missed comes in order, or as a reset", func(t *testing.T) {
		t.Parallel()
		b := view.NewBoard("t", messages.TaskSpec{}, now)
		fill(b, 2000)
		for _, after := range []uint64{1999, 1990, 1600} {
			events, _ := b.After(after)
			if len(events) != int(2000-after) || events[0].Version != after+1 {
				t.Errorf("after %d: %d events", after, len(events))
			}
		}
		for _, after := range []uint64{0, 1000, 2001, ^uint64(0)} {
			events, _ := b.After(after)
			if len(events) != 1 || events[0].Type != messages.EventReset || events[0].Snapshot.Version != 2000 {
				t.Errorf("after %d: %+v", after, events)
			}
		}
	})
	t.Run("a task that starts shows one of the words for its bridge", func(t *testing.T) {
		t.Parallel()
		for spec, want := range map[messages.Bridge]messages.Bridge{
			"": messages.BridgeNative, messages.BridgeAuto: messages.BridgeNative, messages.BridgeOff: messages.BridgeNative, messages.BridgeOn: messages.BridgeOn,
		} {
			b := view.NewBoard("t", messages.TaskSpec{Bridge: spec}, now)
			if got := b.View().Snapshot.Connection.Bridge; got != want {
				t.Errorf("bridge %q shows %q, want %q", spec, got, want)
			}
		}
	})
	t.Run("waiting ends with the next event", func(t *testing.T) {
		t.Parallel()
		b := view.NewBoard("t", messages.TaskSpec{}, now)
		events, more := b.After(0)
		if len(events) != 0 {
			t.Fatalf("events %+v", events)
		}
		fill(b, 1)
		<-more
	})
	t.Run("a task in use is not idle", func(t *testing.T) {
		t.Parallel()
		b := view.NewBoard("t", messages.TaskSpec{}, now)
		if d := b.IdleFor(now.Add(time.Minute)); d != time.Minute {
			t.Errorf("idle for %s", d)
		}
		done := b.Use()
		if d := b.IdleFor(now.Add(time.Minute)); d != 0 {
			t.Errorf("idle for %s while used", d)
		}
		done()
	})
	t.Run("a step of the wall clock uses up no lease", func(t *testing.T) {
		t.Parallel()
		for _, step := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
			now := time.Now()
			b := view.NewBoard("t", messages.TaskSpec{}, now)
			b.Touch(now.Add(time.Second))
			if d := b.IdleFor(stepped(t, now.Add(3*time.Second), step)); d != 2*time.Second {
				t.Errorf("idle for %s after a step of %s", d, step)
			}
			b.Touch(stepped(t, now.Add(4*time.Second), step))
			if d := b.IdleFor(now.Add(5 * time.Second)); d != time.Second {
				t.Errorf("idle for %s after a use on a clock that was set by %s", d, step)
			}
		}
	})
}

// stepped is now on a wall clock that was set by step since the process began. The
// monotonic reading stays, as it does in a suspend: time.Time keeps both, the wall
// clock's seconds above its first thirty bits.
func stepped(t *testing.T, now time.Time, step time.Duration) time.Time {
	t.Helper()
	out := now
	*(*uint64)(unsafe.Pointer(&out)) += uint64(step/time.Second) << 30
	if out.Sub(now) != 0 || out.Round(0).Sub(now.Round(0)) != step {
		t.Fatal("time.Time is laid out in another way: write this helper anew")
	}
	return out
}
