package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// framed is a client on a page with a frame of another process, which asks. It has done what
// Playwright does: its sessions are those of the page and, by auto-attach, of the frame.
func framed(r *rig) (c *client, page, session string, frame messages.FrameID) {
	r.Helper()
	if err := r.node.StopTask(r.ctx, "two"); err != nil { // a connection that tasks share keeps sessions for a while
		r.Fatal(err)
	}
	c = r.connect("/cdp/one")
	page, session = c.page("https://a.test/")
	c.call(session, "Network.setExtraHTTPHeaders", `{"headers":{"x":"1"}}`)
	c.call(session, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	frame = r.browser.AddFrame(messages.FrameID(page), "https://b.test/")
	c.await("the frame's session", func(m message) bool {
		return m.Method == "Target.attachedToTarget" && m.SessionID == session
	})
	r.untilPage(page, "the frame is known", func(s *messages.Snapshot) bool {
		return s.FrameTree != nil && len(s.FrameTree.Children) == 1 && s.FrameTree.Children[0].SessionID != ""
	})
	if r.browser.OpenDialog(frame, chaos.Confirm, "sure?", "") == nil {
		r.Fatal("no dialog opens")
	}
	r.untilPage(page, "the dialog is pending", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 1 })
	return c, page, session, frame
}

// untilPage watches the task's state, with the frames of a page.
func (r *rig) untilPage(page, what string, is func(*messages.Snapshot) bool) {
	r.Helper()
	waitFor(r, what, func() bool {
		s, err := r.node.Snapshot("one", messages.SnapshotOptions{TargetID: messages.TargetID(page)})
		if err != nil {
			r.Fatal(err)
		}
		return is(s)
	})
}

// lives says that the browser has outlived what was done.
func (r *rig) lives() {
	r.Helper()
	if r.browser.IsDead() {
		r.Fatal("the browser is dead")
	}
}

// TestClientsLeaveAPageThatIsReleased: a page with the dialog of a frame that was removed is freed
// only where no session is attached to it (C15, C19). The client's session is there behind that.
func TestClientsLeaveAPageThatIsReleased(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c, page, session, frame := framed(r)
	r.browser.RemoveFrame(frame)
	r.untilPage(page, "the page is freed", func(s *messages.Snapshot) bool {
		i := len(s.Pages) - 1
		return len(s.PendingDialogs) == 0 && s.Pages[i].PageState == messages.PageOK
	})
	if m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error != nil {
		t.Errorf("on the client's session: %+v", m.Error)
	}
	if got := r.browser.Settings(messages.TargetID(page))["Network.setExtraHTTPHeaders"]; got != `{"headers":{"x":"1"}}` {
		t.Errorf("the headers are %s", got)
	}
	if m := c.call(session, "Page.navigate", `{"url":"https://a.test/next"}`); m.Error != nil {
		t.Errorf("the page does not navigate: %+v", m.Error)
	}
	r.lives()
	for _, m := range c.events {
		if m.Method == "Target.detachedFromTarget" && strings.Contains(string(m.Params), session) {
			t.Errorf("the client is told of the end of its session: %s", m.Params)
		}
	}
}

// TestClientsLeaveAPageThatIsClosed: to close a page while a frame of it asks ends the browser, as
// long as a session is attached (C15).
func TestClientsLeaveAPageThatIsClosed(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(r *rig, c *client, page string) error{
		"by the node": func(r *rig, _ *client, page string) error {
			return r.node.ClosePage(r.ctx, "one", messages.TargetID(page))
		},
		"by the client": func(_ *rig, c *client, page string) error {
			if m := c.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, page)); m.Error != nil {
				return fmt.Errorf("%+v", m.Error)
			}
			return nil
		},
		"with the task": func(r *rig, _ *client, _ string) error { return r.node.StopTask(r.ctx, "one") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			c, page, session, _ := framed(r)
			if err := end(r, c, page); err != nil {
				t.Error(err)
			}
			c.await("the end of its session", func(m message) bool {
				return m.Method == "Target.detachedFromTarget" && strings.Contains(string(m.Params), session)
			})
			r.lives()
			for _, p := range r.browser.Pages() {
				if string(p.Target) == page {
					t.Error("the page is there")
				}
			}
		})
	}
}

// TestAClientStaysAtADoomedPage: to leave a page whose dialog is doomed ends the browser (C58).
// What would leave it waits until the page is moved on.
func TestAClientStaysAtADoomedPage(t *testing.T) {
	t.Parallel()
	for what, leave := range map[string]func(c *client, session string){
		"it dies": func(c *client, _ string) { _ = c.conn.CloseNow() },
		"it detaches": func(c *client, session string) {
			if m := c.call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, session)); m.Error != nil {
				c.Errorf("%+v", m.Error)
			}
		},
		"it disables a domain": func(c *client, session string) {
			if m := c.call(session, "Page.disable", `{}`); m.Error != nil {
				c.Errorf("%+v", m.Error)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			c := r.connect("/cdp/one")
			page, session := c.page("https://a.test/")
			for _, conn := range r.browser.Connections() { // what tells that the dialog is doomed
				conn.DelayReplies("Page.navigateToHistoryEntry", 200*time.Millisecond)
			}
			d := r.browser.OpenDoomedDialog(messages.TargetID(page), "https://a.test/next", chaos.Confirm, "saved?", "")
			if d == nil {
				t.Fatal("no dialog opens")
			}
			r.keeps(page) // what is known of it is told at once, though not before it has opened
			leave(c, session)
			ctx, cancel := context.WithTimeout(r.ctx, patience)
			defer cancel()
			if _, err := d.Wait(ctx); err != nil {
				t.Errorf("the dialog stays: %v", err)
			}
			waitFor(t, "the client's session is gone", func() bool {
				list, err := r.clients()
				return err == nil && (what == "it disables a domain" || len(list.Clients) == 0 || list.Clients[0].Sessions == 0)
			})
			r.lives()
		})
	}
}

// keeps waits until the task's board says that a page may not be left.
func (r *rig) keeps(page string) {
	r.Helper()
	b, err := r.node.Board("one")
	if err != nil {
		r.Fatal(err)
	}
	waitFor(r, "the page may not be left", func() bool {
		kept, _ := b.ClientPages()
		return kept.IsKept(messages.TargetID(page))
	})
}
