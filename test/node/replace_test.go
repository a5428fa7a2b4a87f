package node_test

import (
	"context"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func (w *world) goTo(url string) (messages.NavigateResult, error) {
	w.Helper()
	got := <-begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
		return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: url, TimeoutS: 10})
	})
	r, _ := got.value.(messages.NavigateResult)
	return r, got.err
}

func TestAHungPageIsNavigatedByABlankOne(t *testing.T) {
	t.Parallel()
	inWorld(t, "and is usable then", chaos.Options{Pages: 1, CanStrand: true}, func(w *world) {
		page := w.page()
		w.b.Spin(page)
		call := w.evaluate(3)
		w.becomes(page, messages.PageHung, time.Second)
		if r, err := w.goTo("http://a.test/next"); err != nil || r.URL != "http://a.test/next" {
			t.Fatalf("navigate: %+v, %v", r, err)
		}
		<-call
		w.becomes(page, messages.PageOK, 0)
		if got := <-w.evaluate(3); got.err != nil {
			t.Error(got.err)
		}
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	stranded := func(w *world, change ...func(*messages.TaskSpec)) messages.TargetID {
		page := w.page(change...)
		w.b.Spin(page)
		_, err := w.goTo("http://a.test/next")
		w.want(messages.CodePageWedged, err)
		w.becomes(page, messages.PageHung, 0)
		return page
	}
	inWorld(t, "brings back what nothing else does", chaos.Options{Pages: 1, CanStrand: true}, func(w *world) {
		old := stranded(w)
		_, err := w.recover(messages.RecoverReload)
		w.want(messages.CodePageWedged, err)
		_, err = w.goTo("http://c.test/")
		w.want(messages.CodePageWedged, err)
		r, err := w.recover(messages.RecoverReplace)
		if err != nil {
			t.Fatal(err)
		}
		s := w.snapshot("t")
		if len(s.Pages) != 1 || s.PageTargetID == old || s.PageTargetID != r.Page.TargetID || r.Page.URL != "http://a.test/p" || s.PageState != messages.PageOK {
			t.Errorf("the page is %+v, the task's are %+v", r.Page, s.Pages)
		}
		if got := <-w.evaluate(3); got.err != nil {
			t.Error(got.err)
		}
	})
	inWorld(t, "of a task's only target keeps the task, over a reconnect too", chaos.Options{Pages: 1}, func(w *world) {
		old := w.b.Pages()[0].Target
		target := func(s *messages.TaskSpec) { s.Scope, s.TargetID = messages.ScopeTarget, old }
		w.start("t", target, alone)
		w.b.Crash(old)
		w.becomes(old, messages.PageCrashed, time.Second)
		r, err := w.recover(messages.RecoverReplace)
		if err != nil {
			t.Fatal(err)
		}
		w.b.DropConnections()
		w.becomes(r.Page.TargetID, messages.PageOK, 5*time.Second)
	})
	inWorld(t, "opens the last address that was known, also after a reconnect and a reattach", chaos.Options{Pages: 1, CanStrand: true}, func(w *world) {
		stranded(w)
		w.b.DropConnections()
		time.Sleep(5 * time.Second)
		if _, err := w.recover(messages.RecoverReattach); err != nil {
			t.Fatal(err)
		}
		if s := w.snapshot("t"); s.Pages[0].URL != "http://a.test/p" || s.PageState != messages.PageHung {
			t.Errorf("pages %+v", s.Pages)
		}
		if r, err := w.recover(messages.RecoverReplace); err != nil || r.Page.URL != "http://a.test/p" {
			t.Errorf("%+v, %v", r.Page, err)
		}
	})
	inWorld(t, "of a page that answers is refused", chaos.Options{Pages: 1}, func(w *world) {
		w.page()
		_, err := w.recover(messages.RecoverReplace)
		w.want(messages.CodeInvalidArgument, err)
	})
	inWorld(t, "under a dialog is refused, and tells which", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		w.becomes(page, messages.PageDialog, time.Second)
		_, err := w.recover(messages.RecoverReplace)
		w.want(messages.CodeBlockedByDialog, err)
	})
}

func TestNavigateOpensThePageThatATaskLacks(t *testing.T) {
	t.Parallel()
	inWorld(t, "after its last one was closed", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page()
		w.b.Crash(page)
		w.becomes(page, messages.PageCrashed, time.Second)
		if _, err := w.recover(messages.RecoverClose); err != nil {
			t.Fatal(err)
		}
		if s := w.snapshot("t"); len(s.Pages) != 0 {
			t.Fatalf("pages %+v", s.Pages)
		}
		r, err := w.goTo("http://b.test/next")
		if s := w.snapshot("t"); err != nil || r.URL != "http://b.test/next" || r.TargetID != s.PageTargetID || len(s.Pages) != 1 {
			t.Errorf("navigate: %+v, %v; the task's pages are %+v", r, err, s.Pages)
		}
	})
	inWorld(t, "but not a page that was named", chaos.Options{Pages: 1}, func(w *world) {
		w.page()
		_, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://b.test/", TargetID: "NONE"})
		w.want(messages.CodeTargetNotFound, err)
	})
}
