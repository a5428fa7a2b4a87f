package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/chaos"
	"holdfast/messages"
)

// context makes a browser context with a page.
func (c *client) context(params string) (context, page string) {
	c.Helper()
	context = c.field(c.call("", "Target.createBrowserContext", params), "browserContextId")
	page = c.field(c.call("", "Target.createTarget", fmt.Sprintf(`{"url":"https://a.test/","browserContextId":%q}`, context)), "targetId")
	return context, page
}

func (r *rig) hasContext(id string) bool { return slices.Contains(r.browser.Contexts(), id) }

func (r *rig) hasPage(id string) bool {
	return slices.ContainsFunc(r.browser.Pages(), func(p chaos.Page) bool { return string(p.Target) == id })
}

// leave ends a client without a word, and waits until the node has noticed.
func (c *client) leave() {
	c.Helper()
	_ = c.conn.CloseNow()
	waitFor(c, "the client is not listed any more", func() bool {
		list, err := c.clients()
		return err == nil && len(list.Clients) == 0
	})
}

// TestAContextOutlivesItsClient: without disposeOnDetach it is the task's, across a drop as well.
func TestAContextOutlivesItsClient(t *testing.T) {
	t.Parallel()
	r := setup(t)
	first := r.connect("/cdp/one")
	context, page := first.context(`{}`)
	first.leave()
	dials := r.browser.Dials()
	r.cut()
	waitFor(t, "the connections are back", func() bool { return r.browser.Dials() >= dials+2 })
	c := r.connect("/cdp/one")
	if m := c.call("", "Target.getBrowserContexts", `{}`); !strings.Contains(string(m.Result), context) {
		t.Errorf("the next client is told of the contexts %s", m.Result)
	}
	if m := c.call("", "Target.getTargets", `{}`); !strings.Contains(string(m.Result), page) || !r.hasPage(page) {
		t.Errorf("the next client is told of the targets %s", m.Result)
	}
	if m := r.connect("/cdp/two").call("", "Target.getBrowserContexts", `{}`); strings.Contains(string(m.Result), context) {
		t.Errorf("the other task's client is told of the contexts %s", m.Result)
	}
	c.call("", "Target.createTarget", fmt.Sprintf(`{"url":"https://b.test/","browserContextId":%q}`, context))
	if m := c.call("", "Target.disposeBrowserContext", fmt.Sprintf(`{"browserContextId":%q}`, context)); m.Error != nil || r.hasContext(context) || r.hasPage(page) {
		t.Errorf("it is disposed of: %+v, and the browser has %v", m.Error, r.browser.Contexts())
	}
	if m := c.call("", "Target.getBrowserContexts", `{}`); strings.Contains(string(m.Result), context) {
		t.Errorf("afterwards the contexts are %s", m.Result)
	}
}

// TestAContextEndsWithItsTask: also where its client has gone, and over the anchor where the
// primary link is down.
func TestAContextEndsWithItsTask(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	context, _ := c.context(`{}`)
	c.leave()
	if err := r.node.StopTask(r.ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if r.hasContext(context) {
		t.Errorf("the task has ended and the browser has %v", r.browser.Contexts())
	}
}

// TestAContextIsDisposedOfOnceThereIsALink: its client dies while there is none.
func TestAContextIsDisposedOfOnceThereIsALink(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	context, page := c.context(`{"disposeOnDetach":true}`)
	r.browser.RefuseConnections(true)
	r.cut()
	waitFor(t, "the link is lost", func() bool {
		s, err := r.node.Snapshot("one", messages.SnapshotOptions{})
		return err == nil && s.Connection.Primary != messages.LinkUp
	})
	c.leave()
	r.browser.RefuseConnections(false)
	waitFor(t, "the context is gone", func() bool { return !r.hasContext(context) && !r.hasPage(page) })
}

// TestAContextIsDisposedOfUnderADialog: the pages are closed as their dialogs allow, and the browser
// lives (C15).
func TestAContextIsDisposedOfUnderADialog(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *client, context string){
		"by its client": func(c *client, context string) {
			if m := c.call("", "Target.disposeBrowserContext", fmt.Sprintf(`{"browserContextId":%q}`, context)); m.Error != nil {
				c.Errorf("%+v", m.Error)
			}
		},
		"with its client": func(c *client, _ string) { c.leave() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			c := r.connect("/cdp/one")
			context, page := c.context(`{"disposeOnDetach":true}`)
			c.attach(page)
			frame := r.browser.AddFrame(messages.FrameID(page), "https://other.test/")
			r.browser.OpenDialog(frame, chaos.Confirm, "sure?", "")
			waitFor(t, "the task shows the dialog", func() bool {
				s, err := r.node.Snapshot("one", messages.SnapshotOptions{})
				return err == nil && len(s.PendingDialogs) == 1
			})
			end(c, context)
			waitFor(t, "the context is gone, or the browser", func() bool { return !r.hasContext(context) || r.browser.IsDead() })
			if r.browser.IsDead() {
				t.Error("the browser has ended")
			}
		})
	}
}
