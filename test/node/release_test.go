package node_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// An anchor that comes while its only page is being freed finds none of the
// task's pages, or one on which it must not be (C19).
func TestReleaseWhileTheAnchorIsOnItsWay(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]func(*messages.TaskSpec){"own": own, "browser": everything} {
		inWorld(t, "scope "+name, chaos.Options{Pages: 1}, func(w *world) {
			attaching, attach, helping, help := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			var armed atomic.Bool
			w.between = func(down bool, message []byte) bool {
				switch {
				case !down || !armed.Load():
				case bytes.HasPrefix(message, []byte(`{"id":1,"method":"Target.setAutoAttach"`)): // the primary's first is another
					close(attaching)
					<-attach
				case bytes.Contains(message, []byte("Target.createTarget")):
					close(helping)
					<-help
				}
				return true
			}
			page := w.start("t", scope).PageTargetID
			w.snapshot("t")
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
			w.snapshot("t")
			armed.Store(true)
			w.b.DropConnections()
			w.becomes(page, messages.PageDialogUnreachable, time.Second)
			<-attaching
			released := begin(w, func(ctx context.Context) (messages.RecoverResult, error) {
				return w.node.Recover(ctx, "t", messages.RecoverRequest{Action: messages.RecoverRelease})
			})
			<-helping
			close(attach)
			synctest.Wait()
			close(help)
			if got := <-released; got.err != nil {
				w.Errorf("release: %v", got.err)
			}
			if r, closed := d.Result(); !closed || r.By != chaos.ClosedByRelease {
				w.Errorf("the dialog: %+v", r)
			}
			time.Sleep(time.Second)
			if s := w.snapshot("t"); s.Connection.Anchor != messages.LinkUp || s.PageState != messages.PageOK {
				w.Errorf("page %s, %+v", s.PageState, s.Connection)
			}
			if n := len(w.b.Sessions(page)); n != 2 {
				w.Errorf("%d sessions on the page", n)
			}
		})
	}
}

func TestACallToAPageThatIsAttachedToAnew(t *testing.T) {
	t.Parallel()
	inWorld(t, "is not told that the page is gone", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		w.between = func(down bool, message []byte) bool { // the browser's refusal is the first word of the detach
			return down || !bytes.Contains(message, []byte("Target.detachedFromTarget"))
		}
		w.b.DropConnections()
		w.snapshot("t")
		begin(w, func(ctx context.Context) (messages.RecoverResult, error) {
			return w.node.Recover(ctx, "t", messages.RecoverRequest{Action: messages.RecoverReattach})
		})
		got := <-w.evaluate(10)
		w.want(messages.CodeUpstreamUnavailable, got.err)
		if e, ok := got.err.(*messages.Error); !ok || e.Sent != messages.SentNo {
			w.Errorf("%v", got.err)
		}
	})
}

// TestReleaseThatLosesItsLink leaves the page that has taken the foreground in the browser. The
// next link closes it, and it never is a page of the task.
func TestReleaseThatLosesItsLink(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]func(*messages.TaskSpec){"own": own, "browser": everything} {
		inWorld(t, "scope "+name, chaos.Options{Pages: 1}, func(w *world) {
			var isCut atomic.Bool
			w.between = func(down bool, message []byte) bool {
				if !down && bytes.Contains(message, []byte(`"url":"about:blank#holdfast-helper-`)) && isCut.CompareAndSwap(false, true) {
					w.b.DropConnections()
				}
				return true
			}
			page := w.wedged("a dialog that the link was lost under", scope)
			pages := len(w.b.Pages())
			// It is told of the drop, or freed by the release that the next link begins.
			_, _ = w.recover(messages.RecoverRelease)
			w.becomes(page, messages.PageOK, 10*time.Second)
			synctest.Wait()
			if !isCut.Load() {
				t.Error("no link was lost")
			}
			if s := w.snapshot("t"); len(s.Pages) != 1 || len(w.b.Pages()) != pages {
				t.Errorf("the task has %+v, the browser %+v", s.Pages, w.b.Pages())
			}
		})
	}
}
