package view_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// TestAHistoryIsBoundedInBytes: a page that asks long questions for ever costs its task
// no more than 256 KiB of history, and hardly anything once the task has ended. Not
// parallel: the heap is measured.
func TestAHistoryIsBoundedInBytes(t *testing.T) {
	const tasks, dialogs = 20, 300
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	boards := make([]*view.Board, tasks)
	for i := range boards {
		b := view.NewBoard("t", messages.TaskSpec{}, time.Now())
		boards[i] = b
		for d := range dialogs {
			text := strings.Repeat(fmt.Sprintf("%04d %03d", d, i), 2000+3000*(d%2))
			snap := &messages.Snapshot{TaskID: "t", Version: uint64(2*d + 2), Active: true, State: messages.StateActive}
			show(b, snap, []messages.Event{
				{Type: messages.EventDialogOpened, Version: uint64(2*d + 1), Dialog: &messages.Dialog{Message: text}},
				{Type: messages.EventDialogClosed, Version: uint64(2*d + 2), Closed: &messages.ClosedDialog{Message: text}},
			})
		}
	}
	if alive := (heap() - before) / tasks; alive > 320<<10 {
		t.Errorf("a task that lives keeps %d bytes", alive)
	}
	for i, b := range boards {
		// Who is a little behind has every event, who is far behind the whole state.
		if events, _ := b.After(2*dialogs - 4); len(events) != 4 || events[0].Type != messages.EventDialogOpened {
			t.Fatalf("task %d: %d events", i, len(events))
		}
		if events, _ := b.After(10); len(events) != 1 || events[0].Type != messages.EventReset {
			t.Fatalf("task %d: %d events", i, len(events))
		}
		b.Shorten()
		if events, _ := b.After(2*dialogs - 4); len(events) != 4 {
			t.Fatalf("task %d: a task that lives was shortened", i)
		}
		snap := &messages.Snapshot{TaskID: "t", Version: 2*dialogs + 1, State: messages.StateStopped}
		show(b, snap, []messages.Event{{Type: messages.EventTaskState, Version: 2*dialogs + 1, State: messages.StateStopped}})
		b.Shorten()
		if events, _ := b.After(2 * dialogs); len(events) != 1 || events[0].State != messages.StateStopped {
			t.Fatalf("task %d: %+v", i, events)
		}
	}
	if ended := (heap() - before) / tasks; ended > 16<<10 {
		t.Errorf("a task that has ended keeps %d bytes", ended)
	}
	runtime.KeepAlive(boards)
}

// TestWhatAWatcherMissedIsWholeOrAReset, whatever the sizes of the events.
func TestWhatAWatcherMissedIsWholeOrAReset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := view.NewBoard("t", messages.TaskSpec{}, time.Now())
		var sizes []int
		var version uint64
		for range rapid.IntRange(1, 60).Draw(t, "publications") {
			var events []messages.Event
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				size := rapid.SampledFrom([]int{0, 10, 5000, 40_000, 400_000}).Draw(t, "size")
				version++
				sizes = append(sizes, size)
				events = append(events, messages.Event{Type: messages.EventDialogOpened, Version: version, Dialog: &messages.Dialog{Message: strings.Repeat("x", size)}})
			}
			show(b, &messages.Snapshot{TaskID: "t", Version: version, Active: true}, events)
		}
		after := uint64(rapid.IntRange(0, int(version)).Draw(t, "after"))
		got, _ := b.After(after)
		if len(got) == 1 && got[0].Type == messages.EventReset && got[0].Snapshot.Version == version {
			sum := 0
			for _, n := range sizes[after:] {
				sum += n + 256
			}
			if missed := int(version - after); missed < 2 || missed <= 512 && sum <= 256<<10 {
				t.Fatalf("a reset for %d events of %d bytes", missed, sum)
			}
			return
		}
		var versions []uint64
		for _, e := range got {
			versions = append(versions, e.Version)
		}
		var want []uint64
		for v := after + 1; v <= version; v++ {
			want = append(want, v)
		}
		if !slices.Equal(versions, want) {
			t.Fatalf("after %d of %d: %v", after, version, versions)
		}
	})
}
