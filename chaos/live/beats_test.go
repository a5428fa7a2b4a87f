package live_test

import (
	"context"
	"sync/atomic"
	"time"
)

// beat is how far the clock of a drill goes at a time.
const beat = 10 * time.Millisecond

// clock is a clock that goes as far as the machine lets this process run: it goes on
// by one beat when it gets to run, however late. So what waits for its turn as often as
// the clock does takes no longer by it where there is no turn to be had.
type clock struct{ beats atomic.Int64 }

func (c *clock) run(ctx context.Context) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			c.beats.Add(1)
		case <-ctx.Done():
			return
		}
	}
}

// now is how long the clock has run.
func (c *clock) now() time.Duration { return time.Duration(c.beats.Load()) * beat }
