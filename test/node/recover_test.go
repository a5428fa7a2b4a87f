package node_test

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// wedged makes a page wedge and waits until that has its name.
func (w *world) wedged(name string, change ...func(*messages.TaskSpec)) messages.TargetID {
	w.Helper()
	page := w.page(change...)
	for _, c := range wedges {
		if c.name == name {
			c.befall(w, page)
			w.becomes(page, c.state, time.Second)
			return page
		}
	}
	w.Fatalf("no wedge %q", name)
	return ""
}

func TestRecover(t *testing.T) {
	t.Parallel()
	const (
		loop, oldLoop   = "a loop, while a call waits", "a loop that the link was lost in"
		crash, oldCrash = "a crash", "a crash that the link was lost before"
		dialog          = "a dialog"
		orphan          = "a dialog that the link was lost under"
		frameOrphan     = "a frame's dialog that the link was lost under"
		two             = "two dialogs at once"
	)
	for _, c := range []struct {
		wedge  string
		action messages.RecoverAction
		code   messages.Code // "" is success
		says   string
		within time.Duration
	}{
		{wedge: orphan, action: messages.RecoverRelease},
		{wedge: frameOrphan, action: messages.RecoverRelease},
		{wedge: two, action: messages.RecoverRelease},
		{wedge: orphan, action: messages.RecoverReload},
		{wedge: frameOrphan, action: messages.RecoverReload},
		{wedge: two, action: messages.RecoverReload},
		{wedge: loop, action: messages.RecoverReload},
		{wedge: oldLoop, action: messages.RecoverReload},
		{wedge: crash, action: messages.RecoverReload},
		{wedge: oldCrash, action: messages.RecoverReload},
		{wedge: loop, action: messages.RecoverRelease, code: messages.CodePageWedged, says: "reload"},
		{wedge: crash, action: messages.RecoverRelease, code: messages.CodePageCrashed, says: "reload"},
		{wedge: dialog, action: messages.RecoverRelease, code: messages.CodeBlockedByDialog},
		{wedge: dialog, action: messages.RecoverReload, code: messages.CodeBlockedByDialog},
		{wedge: dialog, action: messages.RecoverReattach, code: messages.CodeBlockedByDialog},
		{wedge: loop, action: messages.RecoverClose},
		{wedge: oldLoop, action: messages.RecoverClose},
		{wedge: crash, action: messages.RecoverClose},
		{wedge: dialog, action: messages.RecoverClose},
		{wedge: orphan, action: messages.RecoverClose},
		{wedge: two, action: messages.RecoverClose},
	} {
		inWorld(t, string(c.action)+" for "+c.wedge, chaos.Options{Pages: 2}, func(w *world) {
			page := w.wedged(c.wedge)
			version := w.snapshot("t").Version
			began := time.Now()
			r, err := w.recover(c.action)
			if took := time.Since(began); took > c.within {
				w.Errorf("after %s", took)
			}
			if c.code != "" {
				w.want(c.code, err)
				if !strings.Contains(err.Error(), c.says) {
					w.Errorf("%v does not point at %s", err, c.says)
				}
				if s := w.snapshot("t"); s.Version != version {
					w.Errorf("something was done all the same: %+v", s)
				}
				return
			}
			if err != nil {
				w.Fatal(err)
			}
			s := w.snapshot("t")
			if c.action == messages.RecoverClose {
				if r.Page.TargetID != page || len(s.Pages) != 1 || s.Pages[0].TargetID == page || len(w.b.Pages()) != 1 {
					w.Errorf("closed %+v, left %+v", r.Page, s.Pages)
				}
				return
			}
			if r.Page.TargetID != page || r.Page.PageState != messages.PageOK || r.Page.URL != "http://a.test/p" {
				w.Errorf("the page is %+v", r.Page)
			}
			if s.State != messages.StateActive || s.PageState != messages.PageOK || len(s.Pages) != 2 || len(w.b.Pages()) != 2 {
				w.Errorf("the task is %+v", s)
			}
			if got := <-w.evaluate(5); got.err != nil || got.after != 0 {
				w.Errorf("the page does not answer: %+v", got)
			}
			// And it can ask again, and be answered.
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "again?", "")
			synctest.Wait()
			if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept"}); err != nil {
				w.Error(err)
			}
			if got, ok := d.Result(); !ok || !got.IsAccepted {
				w.Errorf("the next dialog: %+v", got)
			}
			if w.b.IsDead() {
				w.Error("the browser is gone")
			}
		})
	}
}

func TestRecoverThatEndsTheTask(t *testing.T) {
	t.Parallel()
	inWorld(t, "closing the page that a task cannot be without is what was asked for", chaos.Options{Pages: 1}, func(w *world) {
		page := w.b.Pages()[0].Target
		w.start("t", func(s *messages.TaskSpec) { s.Scope, s.TargetID = messages.ScopeTarget, page })
		w.b.Crash(page)
		synctest.Wait()
		if _, err := w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: messages.RecoverClose}); err != nil {
			w.Error(err)
		}
		if s := w.snapshot("t"); s.State != messages.StateLost {
			w.Errorf("the task is %s", s.State)
		}
	})
}

func TestRecoverAPageThatIsWell(t *testing.T) {
	t.Parallel()
	inWorld(t, "is refused where something would be lost", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.Navigate(page, "http://a.test/well")
		before := w.snapshot("t")
		if r, err := w.recover(messages.RecoverRelease); err != nil || r.Page.PageState != messages.PageOK {
			w.Errorf("release: %+v, %v", r, err)
		}
		for _, a := range []messages.RecoverAction{messages.RecoverReload, messages.RecoverClose} {
			_, err := w.recover(a)
			w.want(messages.CodeInvalidArgument, err)
		}
		if s := w.snapshot("t"); s.Version != before.Version {
			w.Errorf("something happened: %+v", s)
		}
	})
	inWorld(t, "is attached to anew where that is asked for", chaos.Options{Pages: 1}, func(w *world) {
		w.page()
		before := w.snapshot("t").Pages[0].SessionID
		r, err := w.recover(messages.RecoverReattach)
		if err != nil {
			w.Fatal(err)
		}
		s := w.snapshot("t")
		if r.Page.SessionID == before || !reflect.DeepEqual(s.Pages[0], r.Page) || s.State != messages.StateActive || len(s.FrameTree.Children) != 1 || s.FrameTree.Children[0].SessionID == "" {
			w.Errorf("%+v, then %+v", r, s)
		}
		if got := <-w.evaluate(5); got.err != nil {
			w.Error(got.err)
		}
	})
	inWorld(t, "is none of those the task has", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t")
		foreign := w.b.Pages()[0].Target
		_, err := w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: messages.RecoverReload, TargetID: foreign})
		w.want(messages.CodeTargetForeign, err)
		_, err = w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: messages.RecoverReload, TargetID: "NONE"})
		w.want(messages.CodeTargetNotFound, err)
		_, err = w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: "restart"})
		w.want(messages.CodeInvalidArgument, err)
		_, err = w.node.Recover(w.ctx, "none", messages.RecoverRequest{Action: messages.RecoverReload})
		w.want(messages.CodeTaskNotFound, err)
	})
}

// slowly is a browser whose pages load at once, until slow is set.
func slowly(pages int) (o chaos.Options, slow *atomic.Bool) {
	slow = &atomic.Bool{}
	return chaos.Options{Pages: pages, Load: func(url string) chaos.Document {
		d := chaos.DefaultDocument(url)
		if slow.Load() {
			d.Delay = time.Minute
		}
		return d
	}}, slow
}

func TestRecoverTakesItsTime(t *testing.T) {
	t.Parallel()
	ask := func(w *world, a messages.RecoverAction) <-chan outcome {
		return begin(w, func(ctx context.Context) (messages.RecoverResult, error) {
			return w.node.Recover(ctx, "t", messages.RecoverRequest{Action: a})
		})
	}
	// story gets a page that has crashed and is being reloaded, which takes a
	// minute.
	story := func(name string, pages int, f func(w *world, page messages.TargetID, reload <-chan outcome)) {
		o, slow := slowly(pages)
		inWorld(t, name, o, func(w *world) {
			page := w.wedged("a crash")
			slow.Store(true)
			f(w, page, ask(w, messages.RecoverReload))
			slow.Store(false)
		})
	}
	story("the same is one recovery with one outcome, another has to wait", 1, func(w *world, _ messages.TargetID, first <-chan outcome) {
		time.Sleep(time.Second)
		second := ask(w, messages.RecoverReload)
		_, err := w.recover(messages.RecoverClose)
		w.want(messages.CodePageWedged, err)
		a, b := <-first, <-second
		w.want(messages.CodePageWedged, a.err)
		w.want(messages.CodePageWedged, b.err)
		if a.after != messages.RecoverReload.Budget() || b.after != a.after-time.Second {
			w.Errorf("after %s and %s", a.after, b.after)
		}
		n := 0
		for _, method := range w.b.Connections()[0].Received("*") {
			if method == "Page.reload" {
				n++
			}
		}
		if n != 1 {
			w.Errorf("%d reloads", n)
		}
		// It comes to pass all the same.
		time.Sleep(time.Minute)
		if s := w.snapshot("t"); s.PageState != messages.PageOK {
			w.Errorf("the page is %s", s.PageState)
		}
	})
	story("a link that is lost ends it", 1, func(w *world, _ messages.TargetID, reload <-chan outcome) {
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		got := <-reload
		w.want(messages.CodeUpstreamUnavailable, got.err)
		if got.after != 0 {
			w.Errorf("after %s", got.after)
		}
		_, err := w.recover(messages.RecoverReload)
		w.want(messages.CodeUpstreamUnavailable, err)
	})
	story("a page that is closed meanwhile ends it", 2, func(w *world, page messages.TargetID, reload <-chan outcome) {
		w.b.ClosePage(page)
		w.want(messages.CodeTargetNotFound, (<-reload).err)
	})
	story("a task that is stopped ends it", 1, func(w *world, _ messages.TargetID, reload <-chan outcome) {
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		w.want(messages.CodeUpstreamUnavailable, (<-reload).err)
	})
	story("a caller that goes away leaves it", 1, func(w *world, page messages.TargetID, reload <-chan outcome) {
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		_, err := w.node.Recover(ctx, "t", messages.RecoverRequest{Action: messages.RecoverReload})
		w.want(messages.CodeDeadline, err)
		w.want(messages.CodePageWedged, (<-reload).err)
	})
}

func TestBeforeunloadThatLostItsLink(t *testing.T) {
	t.Parallel()
	inWorld(t, "is saved by nothing, said so, and can be closed (C20)", chaos.Options{Pages: 2}, func(w *world) {
		page := w.page(func(s *messages.TaskSpec) { s.BeforeUnload = messages.BeforeUnloadAsk })
		w.b.ArmBeforeUnload(w.b.MainFrame(page))
		<-begin(w, func(ctx context.Context) (messages.CDPResult, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"1","userGesture":true}`)})
		})
		begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://c.test/"})
		})
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || s.PendingDialogs[0].Type != "beforeunload" {
			w.Fatalf("pending %+v", s.PendingDialogs)
		}
		w.b.DropConnections()
		w.becomes(page, messages.PageDialogUnreachable, time.Second)
		for _, a := range []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverReattach} {
			_, err := w.recover(a)
			w.want(messages.CodePageWedged, err)
			if !strings.Contains(err.Error(), "close") {
				w.Errorf("%s: %v does not point at close", a, err)
			}
		}
		if _, err := w.recover(messages.RecoverClose); err != nil {
			w.Fatal(err)
		}
		if len(w.b.Pages()) != 1 {
			w.Error("the page is still there")
		}
	})
}

func TestAPageThatComesBackByItself(t *testing.T) {
	t.Parallel()
	inWorld(t, "a loop that ends", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.Spin(page)
		call := w.evaluate(200)
		w.becomes(page, messages.PageHung, time.Second)
		later := <-w.evaluate(5)
		w.want(messages.CodePageWedged, later.err)
		if later.after != 0 {
			w.Errorf("after %s", later.after)
		}
		time.Sleep(30 * time.Second)
		w.b.Unspin(page)
		w.becomes(page, messages.PageOK, 0)
		// The call that was first is the page's own affair: it was not failed.
		if got := <-call; got.err != nil {
			w.Error(got.err)
		}
	})
	inWorld(t, "a dialog that a person answers", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.DropConnections()
		w.becomes(page, messages.PageDialogUnreachable, time.Second)
		w.b.CloseDialog(d, true, "")
		w.becomes(page, messages.PageOK, 0)
	})
	inWorld(t, "the second of two dialogs, when its renderer crashes", chaos.Options{Pages: 1}, func(w *world) {
		page := w.wedged("two dialogs at once")
		w.b.Crash(messages.TargetID(w.frame(page)))
		w.becomes(page, messages.PageOK, 0)
	})
	inWorld(t, "the second of two dialogs, when a person answers it", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "one?", "")
		second := w.b.OpenDialog(w.frame(page), chaos.Confirm, "two?", "")
		w.becomes(page, messages.PageDialogUnreachable, 0)
		time.Sleep(time.Minute)
		w.becomes(page, messages.PageDialogUnreachable, 0)
		w.b.CloseDialog(second, true, "")
		w.becomes(page, messages.PageOK, 0)
		if n := w.b.Connections()[0].Received(""); strings.Contains(strings.Join(n, " "), "Target.createTarget") {
			w.Error("it was released all the same")
		}
	})
}

func TestAPoisonedPageIsFreedWhateverBecomesOfTheLink(t *testing.T) {
	t.Parallel()
	free := func(w *world, page messages.TargetID) {
		w.Helper()
		w.becomes(page, messages.PageOK, 3*time.Second)
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "alive", "")
		synctest.Wait()
		if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept"}); err != nil {
			w.Error(err)
		}
		if w.b.IsDead() {
			w.Error("the browser is gone")
		}
	}
	inWorld(t, "its frame is removed", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.OpenDialog(w.frame(page), chaos.Alert, "m", "")
		synctest.Wait()
		w.b.RemoveFrame(w.frame(page))
		free(w, page)
	})
	inWorld(t, "and the link is lost before it is free", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.OpenDialog(w.frame(page), chaos.Alert, "m", "")
		synctest.Wait()
		w.b.RemoveFrame(w.frame(page))
		time.Sleep(10 * time.Millisecond)
		w.b.DropConnections()
		free(w, page)
	})
	inWorld(t, "its frame is removed while the link is lost", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.OpenDialog(w.frame(page), chaos.Alert, "m", "")
		synctest.Wait()
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		w.b.RemoveFrame(w.frame(page))
		w.b.RefuseConnections(false)
		free(w, page)
	})
	inWorld(t, "its frame is removed after the link was lost", chaos.Options{Pages: 1}, func(w *world) {
		page := w.wedged("a frame's dialog that the link was lost under")
		w.b.RemoveFrame(w.frame(page))
		free(w, page)
	})
}
