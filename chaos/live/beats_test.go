package live_test

import (
	"context"
	"sync/atomic"
	"time"
)

// beat is how far the clock of a drill goes at a time.
const beat = 10 * time.Millisecond

// clock advances as far as the machine lets this process run: by one beat when it gets to
// run, however late. So a wait of a number of beats takes no longer where the machine does
// not run the process.
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
