package gateway

import "testing"

func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := newQueue(10)
	if q.push(make([]byte, 50)) == hasNoRoom {
		t.Error("a frame larger than the queue has no room in an empty one")
	}
	if q.push([]byte{1}) != hasNoRoom {
		t.Error("there was room behind it")
	}
	frames, isLast := q.take(nil)
	if len(frames) != 1 || isLast {
		t.Fatalf("%d frames, the last %v", len(frames), isLast)
	}
	q.wrote(frames[0])
	for range 10 {
		if q.push([]byte{1}) == hasNoRoom {
			t.Fatal("no room within the bound")
		}
	}
	if q.push([]byte{1}) != hasNoRoom {
		t.Error("room beyond the bound")
	}
	if n, _ := q.close(true); n != 10 {
		t.Errorf("%d frames were dropped, want 10", n)
	}
	if q.push(make([]byte, 100)) == hasNoRoom {
		t.Error("a closed queue refuses: its client would be cut off twice")
	}
	if frames, isLast := q.take(nil); len(frames) != 0 || !isLast {
		t.Errorf("%d frames, the last %v", len(frames), isLast)
	}
}

// TestOneGoroutineWrites: who is told to see to that, and when nothing is left to do.
func TestOneGoroutineWrites(t *testing.T) {
	t.Parallel()
	q := newQueue(10)
	if p := q.push([]byte{1}); p != isQueued {
		t.Errorf("before the connection is there: %v", p)
	}
	if frames, isLast := q.take(nil); len(frames) != 1 || isLast {
		t.Errorf("%d frames, the last %v", len(frames), isLast)
	}
	if q.isMine() {
		t.Error("two write at a time")
	}
	if frames, isLast := q.take(nil); len(frames) != 0 || isLast {
		t.Errorf("%d frames, the last %v", len(frames), isLast)
	}
	if !q.isMine() || q.push([]byte{1}) != isQueued {
		t.Error("the caller that writes itself is not the one that writes")
	}
	if q.isDone() {
		t.Error("what has come meanwhile is left there")
	}
	q.take(nil)
	q.take(nil)
	if p := q.push([]byte{1}); p != isFirst {
		t.Errorf("to an idle queue: %v", p)
	}
	q.take(nil)
	if _, p := q.close(false); p != isQueued {
		t.Errorf("the end, which the goroutine that writes comes to: %v", p)
	}
	if frames, isLast := q.take(nil); len(frames) != 0 || !isLast {
		t.Errorf("%d frames, the last %v", len(frames), isLast)
	}
	if q.isMine() || q.push([]byte{1}) != isQueued {
		t.Error("something is written behind the end")
	}
}
