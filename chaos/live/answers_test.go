package live_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// tally is what came of a storm's answers.
type tally struct{ answered, ambiguous atomic.Int64 }

// TestNoAnswerIsAmbiguousWhileTheOtherLinkStands: 600 dialogs, the primary killed under
// the answer to each. The caller is told what the page got, every time.
func TestNoAnswerIsAmbiguousWhileTheOtherLinkStands(t *testing.T) {
	t.Parallel()
	const tasks, each = 6, 100
	var sum tally
	var all sync.WaitGroup
	for _, d := range startDrills(t, tasks) {
		all.Go(func() {
			if err := d.storm(each, &sum); err != nil {
				t.Errorf("%s: %v", d.id, err)
			}
		})
	}
	all.Wait()
	t.Logf("%d answered, %d ambiguous", sum.answered.Load(), sum.ambiguous.Load())
	if sum.ambiguous.Load() != 0 || sum.answered.Load() != tasks*each {
		t.Errorf("%d of %d answered, %d ambiguous", sum.answered.Load(), tasks*each, sum.ambiguous.Load())
	}
}

func (d *drill) storm(n int, sum *tally) error {
	for i := range n {
		primary, _, err := d.both()
		if err != nil {
			return err
		}
		asked := fmt.Sprintf("question %d of %s", i, d.id)
		opened := d.browser.OpenDialog(d.browser.MainFrame(d.page), chaos.Prompt, asked, "")
		s, err := d.await("the dialog", func(s *messages.Snapshot) bool {
			return len(s.PendingDialogs) == 1 && s.PendingDialogs[0].Message == asked
		})
		if err != nil {
			return err
		}
		text := "answer to " + asked
		done := make(chan error, 1)
		go func() {
			_, err := d.node.Respond(context.Background(), d.id, messages.DialogAnswer{
				Action: messages.ActionAccept, PromptText: &text, DialogID: s.PendingDialogs[0].ID,
			})
			done <- err
		}()
		// Before the answer, under it, and behind it: a round trip takes some hundred
		// microseconds.
		<-time.After(time.Duration(i%20) * 50 * time.Microsecond)
		d.proxy.Kill(primary)
		err = <-done
		if e, ok := errors.AsType[*messages.Error](err); ok && e.Code == messages.CodeUpstreamUnavailable {
			sum.ambiguous.Add(1)
			return fmt.Errorf("dialog %d: %w", i, err)
		}
		if err != nil {
			return fmt.Errorf("dialog %d: %w", i, err)
		}
		sum.answered.Add(1)
		if r, closed := opened.Result(); !closed || !r.IsAccepted || r.Text != text {
			return fmt.Errorf("dialog %d: the page got %+v (closed %v), want %q", i, r, closed, text)
		}
	}
	return nil
}

// both waits until the task's two links stand, and returns their numbers at the proxy.
func (d *drill) both() (primary, anchor int, err error) {
	_, err = d.await("both links", func(s *messages.Snapshot) bool {
		primary, anchor = d.links()
		return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp && len(d.proxy.Connections()) == 2 &&
			primary != 0 && anchor != 0
	})
	return primary, anchor, err
}
