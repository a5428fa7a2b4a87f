package tools

import (
	"context"
	"sync"
	"time"

	"holdfast/messages"
)

// The patience with a page that has become silent. Script of a page may keep it busy for a while,
// so silence alone is no reason to give up at once.
const (
	// busyPatience is how long a call waits for a page that is silent as it begins.
	busyPatience = 2 * time.Second
	// actionPatience is how long an action waits for a page that fell silent meanwhile.
	actionPatience = 2 * time.Second
	// hungPatience is that of a capture, which itself keeps the renderer of a large page busy.
	hungPatience = 3 * time.Second
)

// whileOK bounds a call by the states of a page: limit says how long one may last before the
// call is given up, and whether it may not last for ever. stop has to be called.
func (c *call) whileOK(ctx context.Context, target messages.TargetID, limit func(messages.PageState) (time.Duration, bool)) (_ context.Context, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	events, err := c.node.Watch(ctx, c.task, 0, false)
	if err != nil {
		cancel(nil)
		return ctx, func() {}, err
	}
	silent := messages.Errorf(messages.CodePageWedged, "the page has been silent since: a script of it is busy, maybe for ever. Other tabs are not held up")
	var watching sync.WaitGroup
	watching.Go(func() {
		over := time.AfterFunc(time.Hour, func() { cancel(silent) })
		over.Stop()
		defer over.Stop()
		var last messages.PageState
		for {
			if now := c.stateOf(target); now != last {
				last = now
				over.Stop()
				if within, isBounded := limit(now); isBounded {
					over.Reset(within)
				}
			}
			if _, err := events.Next(ctx); err != nil {
				return
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
		events.Close()
	}, nil
}

// answering bounds an action on a page by how long that is silent.
func (c *call) answering(ctx context.Context, target messages.TargetID) (context.Context, func(), error) {
	return c.whileOK(ctx, target, func(s messages.PageState) (time.Duration, bool) { return actionPatience, s == messages.PageHung })
}

// silence is why a page's call was given up: that the page is silent, or the error itself.
func silence(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && messages.CodeOf(cause) == messages.CodePageWedged {
		return cause
	}
	return err
}

// awaitBusy waits for a moment while the page is silent: one that is busy comes back.
func (c *call) awaitBusy(ctx context.Context, target messages.TargetID) error {
	for began := time.Now(); c.stateOf(target) == messages.PageHung && time.Since(began) < busyPatience; {
		if err := pause(ctx, commitNotice); err != nil {
			return err
		}
	}
	return nil
}
