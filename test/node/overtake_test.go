package node_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAnAnswerOvertakesOnItsLastHop: the supervisor hangs while a page reports hundreds of
// documents and an agent answers a dialog. The answer is among the first that it handles.
func TestAnAnswerOvertakesOnItsLastHop(t *testing.T) {
	t.Parallel()
	const documents, most = 500, 10
	var (
		s       staller
		handled atomic.Int64 // messages, by the supervisor
		relayed atomic.Int64 // how many they were with the answer
	)
	config := func(c *node.Config) {
		s.install(c)
		stall := c.Intercept
		c.Intercept = func(m guard.Moment) {
			if stall(m); m.Kind == "supervisor" && m.Phase == guard.PhaseReceive {
				n := handled.Add(1)
				if f, ok := m.Msg.(mail.FromDialog); ok {
					if _, ok := f.Msg.(mail.Relay); ok {
						relayed.Store(n)
					}
				}
			}
		}
	}
	inWorldWith(t, "behind a page's reports", chaos.Options{Pages: 2}, config, func(w *world) {
		pages := w.start("t", everything, alone).Pages
		d := w.b.OpenDialog(w.b.MainFrame(pages[0].TargetID), chaos.Confirm, "well?", "")
		w.snapshot("t")
		busy := func() (resume func()) {
			resume = s.stall(w, "supervisor", func() { w.b.Navigate(pages[1].TargetID, "http://a.test/") })
			for n := range documents {
				w.b.Navigate(pages[1].TargetID, fmt.Sprintf("http://a.test/%d", n))
				time.Sleep(50 * time.Millisecond)
			}
			synctest.Wait()
			handled.Store(0)
			return resume
		}
		resume := busy()
		answered := begin(w, func(ctx context.Context) (messages.ClosedDialog, error) {
			return w.node.Respond(ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept})
		})
		if _, over := d.Result(); !over {
			w.Fatal("the answer has not reached the page")
		}
		synctest.Wait()
		resume()
		if o := <-answered; o.err != nil {
			w.Fatal(o.err)
		}
		if n := relayed.Load(); n == 0 || n > most {
			w.Errorf("the answer is the %d. message that the supervisor handles", n)
		}
		if all := handled.Load(); all < documents {
			w.Errorf("only %d messages waited", all)
		}
	})
}
