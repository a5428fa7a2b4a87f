package gateway

import "testing"

func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := newQueue(10)
	if !q.hasPushed(make([]byte, 50)) {
		t.Error("a frame larger than the queue has no room in an empty one")
	}
	if q.hasPushed([]byte{1}) {
		t.Error("there was room behind it")
	}
	frames, isOpen := q.take(nil)
	if len(frames) != 1 || !isOpen {
		t.Fatalf("%d frames, open %v", len(frames), isOpen)
	}
	q.wrote(frames[0])
	for range 10 {
		if !q.hasPushed([]byte{1}) {
			t.Fatal("no room within the bound")
		}
	}
	if q.hasPushed([]byte{1}) {
		t.Error("room beyond the bound")
	}
	if n := q.close(true); n != 10 {
		t.Errorf("%d frames were dropped, want 10", n)
	}
	if !q.hasPushed(make([]byte, 100)) {
		t.Error("a closed queue refuses: its client would be cut off twice")
	}
	if frames, isOpen := q.take(nil); len(frames) != 0 || isOpen {
		t.Errorf("%d frames, open %v", len(frames), isOpen)
	}
}
