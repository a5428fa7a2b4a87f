package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// discovered leads to the browser by the address that outlives its restarts.
func (w *world) discovered(s *messages.TaskSpec) {
	u, err := messages.ParseCDPURL("http://127.0.0.1:9222")
	if err != nil {
		w.Fatal(err)
	}
	s.CDPURL = u
}

func TestBrowserRestart(t *testing.T) {
	t.Parallel()

	inWorld(t, "scope own: the old pages are closed, the task gets a new tab", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", own, w.discovered).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		synctest.Wait()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		w.b.LogError(w.b.MainFrame(page), "boo")
		w.b.OpenDialog(w.b.MainFrame(popup), chaos.Confirm, "sure?", "")
		if s := w.snapshot("t"); len(s.Pages) != 2 || len(s.PendingDialogs) != 1 || s.Connection.BrowserRestarts != 0 {
			w.Fatalf("before: %+v", s)
		}
		stream, err := w.node.Watch(w.ctx, "t", w.snapshot("t").Version, true)
		if err != nil {
			w.Fatal(err)
		}
		defer stream.Close()
		w.b.Restart()
		time.Sleep(5 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateActive || len(s.Pages) != 1 || s.PageTargetID == page || s.PageTargetID == popup || s.PageState != messages.PageOK {
			w.Fatalf("after: %+v", s)
		}
		if c := s.Connection; c.BrowserRestarts != 1 || c.Reconnects != 1 || c.Primary != messages.LinkUp {
			w.Errorf("connection %+v", c)
		}
		if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByLost {
			w.Errorf("dialogs %+v, %+v", s.PendingDialogs, s.RecentDialogs)
		}
		if s.FrameTree == nil || s.FrameTree.Top.FrameID != w.b.MainFrame(s.PageTargetID) || len(s.FrameTree.Children) != 0 {
			w.Errorf("frames %+v", s.FrameTree)
		}
		if len(s.ConsoleErrors) != 1 { // what was is history, not undone
			w.Errorf("console %+v", s.ConsoleErrors)
		}
		if n := w.lines.count("another browser answers"); n != 1 {
			w.Errorf("said %d times", n)
		}
		closed, told := map[messages.TargetID]bool{}, uint64(0)
		for seen := uint64(0); seen < s.Version; {
			events, err := stream.Next(w.ctx)
			if err != nil {
				w.Fatal(err)
			}
			for _, e := range events {
				seen = e.Version
				switch e.Type {
				case messages.EventPageClosed:
					closed[e.Page.TargetID] = true
				case messages.EventConnection:
					told = e.Connection.BrowserRestarts
				}
			}
		}
		if !closed[page] || !closed[popup] || told != 1 {
			w.Errorf("closed %v, %d restarts told", closed, told)
		}
		_, err = w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"1"}`), FrameID: w.b.MainFrame(page)})
		w.want(messages.CodeFrameNotFound, err)
		_, err = w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/", TargetID: page})
		w.want(messages.CodeTargetNotFound, err)
		if _, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/"}); err != nil {
			w.Error(err)
		}
	})

	inWorld(t, "scope browser: the pages are the new browser's", chaos.Options{Pages: 2}, func(w *world) {
		before := w.start("t", everything, w.discovered)
		for n := uint64(1); n <= 3; n++ {
			w.b.Restart()
			time.Sleep(5 * time.Second)
			s := w.snapshot("t")
			if s.State != messages.StateActive || len(s.Pages) != 2 || s.Connection.BrowserRestarts != n || s.Connection.Reconnects != n {
				w.Fatalf("after restart %d: %+v", n, s)
			}
			for _, p := range s.Pages {
				if p.TargetID == before.PageTargetID {
					w.Errorf("page %+v is the old browser's", p)
				}
			}
			before = s
		}
	})

	inWorld(t, "scope target: the page is gone and so is the task", chaos.Options{Pages: 2}, func(w *world) {
		page := w.b.Pages()[1].Target
		w.start("t", w.discovered, func(s *messages.TaskSpec) { s.Scope, s.TargetID = messages.ScopeTarget, page })
		w.b.Restart()
		time.Sleep(5 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateLost || s.Reason != "the browser has no page "+string(page) {
			w.Errorf("state %s: %q", s.State, s.Reason)
		}
		if n := len(w.b.Connections()); n != 0 {
			w.Errorf("%d links are left", n)
		}
	})

	inWorld(t, "pages that somebody closed meanwhile are no restart", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", own, w.discovered).PageTargetID
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		w.b.ClosePage(page)
		w.b.RefuseConnections(false)
		time.Sleep(5 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateActive || len(s.Pages) != 1 || s.PageTargetID == page {
			w.Fatalf("after: %+v", s)
		}
		if s.Connection.BrowserRestarts != 0 || w.lines.count("another browser answers") != 0 {
			w.Errorf("connection %+v", s.Connection)
		}
	})

	inWorld(t, "a restart while somebody waits is one answer", chaos.Options{Pages: 1, Load: slow}, func(w *world) {
		w.start("t", own, w.discovered)
		calls := []<-chan outcome{
			begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
				return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/slow", TimeoutS: 200})
			}),
			begin(w, func(ctx context.Context) (messages.CDPResult, error) {
				return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"while(true)"}`), TimeoutS: 100})
			}),
		}
		w.b.Restart()
		for i, c := range calls {
			got := <-c
			w.want(messages.CodeUpstreamUnavailable, got.err)
			if e, ok := got.err.(*messages.Error); !ok || e.Sent != messages.SentYes || got.after > time.Second {
				w.Errorf("call %d: %+v after %s", i, got.err, got.after)
			}
		}
	})
}
