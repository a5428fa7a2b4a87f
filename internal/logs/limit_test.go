package logs

import (
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	start := time.Unix(1e9, 0)

	t.Run("forgets the oldest kind, and grows no further", func(t *testing.T) {
		t.Parallel()
		l := newLimiter(time.Minute, 100)
		for kind := range uint64(100_000) {
			if ok, _ := l.allow(start, kind); !ok {
				t.Fatalf("kind %d is new and did not pass", kind)
			}
		}
		if len(l.kinds) != 100 || l.order.Len() != 100 {
			t.Errorf("%d kinds, %d in order", len(l.kinds), l.order.Len())
		}
		if ok, _ := l.allow(start, 99_999); ok {
			t.Error("the newest was forgotten")
		}
	})

	t.Run("keeps what passed lately before what passed long ago", func(t *testing.T) {
		t.Parallel()
		l := newLimiter(time.Minute, 2)
		l.allow(start, 1)
		l.allow(start, 2)
		l.allow(start.Add(time.Minute), 1) // again
		l.allow(start.Add(time.Minute), 3)
		if ok, _ := l.allow(start.Add(time.Minute), 1); ok {
			t.Error("1 was forgotten before 2")
		}
	})

	t.Run("a clock that was set back makes nobody mute", func(t *testing.T) {
		t.Parallel()
		l := newLimiter(time.Minute, 2)
		l.allow(start, 1)
		if ok, _ := l.allow(start.Add(-time.Hour), 1); !ok {
			t.Error("mute for an hour")
		}
	})
}
