package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// crowd starts n tasks of the browser at the same time.
func (w *world) crowd(n int, change ...func(*messages.TaskSpec)) (ids []messages.TaskID, pages []messages.TargetID) {
	w.Helper()
	spec := w.spec()
	for _, c := range append([]func(*messages.TaskSpec){own}, change...) {
		c(&spec)
	}
	var starts []<-chan outcome
	for i := range n {
		id := messages.TaskID(fmt.Sprintf("t%d", i))
		ids = append(ids, id)
		starts = append(starts, begin(w, func(ctx context.Context) (*messages.Snapshot, error) {
			s, _, err := w.node.GetOrStart(ctx, id, spec)
			return s, err
		}))
	}
	for i, s := range starts {
		got := <-s
		if got.err != nil {
			w.Fatalf("start task %s: %v", ids[i], got.err)
		}
		pages = append(pages, got.value.(*messages.Snapshot).PageTargetID)
	}
	synctest.Wait()
	return ids, pages
}

// areBack checks that every task has both links and its page, over two connections.
func (w *world) areBack(after string, ids []messages.TaskID, pages []messages.TargetID) {
	w.Helper()
	for i, id := range ids {
		s := w.snapshot(id)
		if s.State != messages.StateActive || s.Connection.Anchor != messages.LinkUp || s.PageTargetID != pages[i] || len(s.Pages) != 1 {
			w.Fatalf("%s task %s is %s with %d pages, %s for %s, and its anchor is %s: %s", after, id, s.State, len(s.Pages), s.PageTargetID, pages[i], s.Connection.Anchor, s.Connection.LastError)
		}
	}
	if n := len(w.b.Connections()); n != 2 {
		w.Errorf("%s %d connections are open", after, n)
	}
}

// primaries is the connection that the tasks' primaries share.
func (w *world) primaries() *chaos.Conn {
	w.Helper()
	for _, c := range w.b.Connections() {
		// An anchor asks for no frames.
		said := c.Received("*")
		if slices.Contains(said, "Target.attachToBrowserTarget") && slices.Contains(said, "Page.getFrameTree") {
			return c
		}
	}
	w.Fatal("no primary is over a shared connection")
	return nil
}

func TestTasksOfABrowserShareConnections(t *testing.T) {
	t.Parallel()
	inWorld(t, "two of them, from the first reconnect on", chaos.Options{Pages: 1}, func(w *world) {
		const n = 20
		ids, pages := w.crowd(n)
		time.Sleep(10 * time.Second)
		// The first task's links prove nothing yet, so they are its own.
		if got, dials := len(w.b.Connections()), w.b.Dials(); got > 4 || dials > 4 {
			w.Errorf("%d connections are open of %d", got, dials)
		}
		if got := w.b.Contexts(); len(got) > n {
			w.Errorf("the proof has left a browser context: %d", len(got))
		}
		dials := w.b.Dials()
		w.b.DropConnections()
		time.Sleep(5 * time.Second)
		w.areBack("after a drop", ids, pages)
		if got := w.b.Dials() - dials; got != 2 {
			w.Errorf("%d dials after a drop", got)
		}
		for _, id := range ids {
			if err := w.node.StopTask(w.ctx, id); err != nil {
				w.Errorf("stop task %s: %v", id, err)
			}
		}
		synctest.Wait()
		if got := len(w.b.Connections()); got != 0 {
			w.Errorf("%d connections are open without a task", got)
		}
		if got := w.b.Contexts(); len(got) > 0 {
			w.Errorf("%d browser contexts are left", len(got))
		}
	})
	inWorld(t, "and dialogs outlive the one of the primaries", chaos.Options{Pages: 1}, func(w *world) {
		ids, pages := w.crowd(6, func(s *messages.TaskSpec) { s.DialogPolicy = messages.PolicyMustRespond })
		w.b.DropConnections()
		time.Sleep(5 * time.Second)
		w.areBack("after a drop", ids, pages)
		var asked []*chaos.Dialog
		for _, p := range pages {
			asked = append(asked, w.b.OpenDialog(w.b.MainFrame(p), chaos.Prompt, "who?", ""))
		}
		synctest.Wait()
		w.b.RefuseConnections(true)
		w.primaries().Drop()
		time.Sleep(time.Second)
		for i, id := range ids {
			if s := w.snapshot(id); s.Connection.Primary == messages.LinkUp || len(s.PendingDialogs) != 1 {
				w.Fatalf("task %s has its primary %s and %d dialogs", id, s.Connection.Primary, len(s.PendingDialogs))
			}
			name := string(id)
			if _, err := w.node.Respond(w.ctx, id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &name}); err != nil {
				w.Fatalf("answer of task %s: %v", id, err)
			}
			<-asked[i].Done()
			if got, _ := asked[i].Result(); !got.IsAccepted || got.Text != name {
				w.Errorf("task %s answered %+v", id, got)
			}
		}
		w.b.RefuseConnections(false)
		time.Sleep(5 * time.Second)
		w.areBack("after the primaries' drop", ids, pages)
	})
	inWorld(t, "whatever breaks them", chaos.Options{Pages: 1}, func(w *world) {
		ids, pages := w.crowd(12)
		r := rand.New(rand.NewPCG(7, 7))
		w.b.DropConnections()
		time.Sleep(10 * time.Second)
		for round := range 30 {
			all := w.b.Connections()
			c := all[r.IntN(len(all))]
			what, wait := "", 30*time.Second
			switch r.IntN(6) {
			case 0:
				what = "all dropped"
				w.b.DropConnections()
			case 1:
				what = "one dropped"
				c.Drop()
			case 2:
				what = "one half open"
				c.Stall()
				time.AfterFunc(25*time.Second, c.Resume)
			case 3:
				what = "one dropped, and the next as soon as it stands"
				dials := w.b.Dials()
				c.Drop()
				for w.b.Dials() == dials {
					time.Sleep(time.Millisecond)
				}
				for _, c := range w.b.Connections() {
					c.Drop()
				}
			case 4:
				what = "all dropped, and no dial answered for a while"
				w.b.RefuseConnections(true)
				w.b.DropConnections()
				time.Sleep(time.Duration(r.IntN(8000)) * time.Millisecond)
				w.b.RefuseConnections(false)
			case 5:
				what = "one task stopped and started again"
				i := r.IntN(len(ids))
				if err := w.node.StopTask(w.ctx, ids[i]); err != nil {
					w.Fatalf("stop: %v", err)
				}
				pages[i] = w.start(ids[i], own).PageTargetID
			}
			time.Sleep(wait)
			w.areBack(fmt.Sprintf("round %d, %s:", round, what), ids, pages)
		}
	})
	inWorld(t, "also of the next browser at the address", chaos.Options{Pages: 1}, func(w *world) {
		ids, _ := w.crowd(6, w.discovered)
		w.b.Restart()
		time.Sleep(10 * time.Second)
		for _, id := range ids {
			if s := w.snapshot(id); s.State != messages.StateActive || s.Connection.BrowserRestarts != 1 {
				w.Errorf("task %s is %s after %d restarts", id, s.State, s.Connection.BrowserRestarts)
			}
		}
		if got := len(w.b.Connections()); got > 4 {
			w.Errorf("%d connections are open", got)
		}
	})
}
