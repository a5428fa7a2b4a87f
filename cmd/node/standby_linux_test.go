package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// snapshot is a task as a node shows it.
func (c *trio) snapshot(through, task string) (s messages.Snapshot, ok bool) {
	c.Helper()
	status, out, err := c.shells[through].caller().call("GET", c.nodes[through].url+"/v1/tasks/"+task+"/snapshot", "")
	return s, err == nil && status == 200 && json.Unmarshal([]byte(out), &s) == nil
}

// standby waits until a task has one, and returns its node.
func (c *trio) standby(through, task string) (node string) {
	c.Helper()
	eventually(c.T, "task "+task+" has a standby", func() bool {
		s, ok := c.snapshot(through, task)
		node = s.AnchorNode
		return ok && node != ""
	})
	return node
}

// TestADialogOutlivesItsNode: the node of a task is killed while a dialog is open. The node that has
// the standby answers that very dialog, with the session that it had before, and the next node
// after it does the same.
func TestADialogOutlivesItsNode(t *testing.T) {
	t.Parallel()
	b, url := fake(t, chaos.Options{Pages: 1})
	c := newTrio(t)
	for _, name := range names {
		c.start(name)
	}
	for _, name := range names {
		c.await(name, "held held held")
	}
	c.begin("a", "one", fmt.Sprintf(`{"cdp_url":%q,"scope":"browser"}`, url))
	// It keeps its task and takes no other, also once it is back: so the heir is never this one.
	c.shells["a"].run(0, "cluster", "cordon", "a")
	page := b.Pages()[0].Target
	last := "a"
	for round := range 2 {
		heir := c.standby(last, "one")
		text := fmt.Sprint("dialog ", round)
		d := b.OpenDialog(b.MainFrame(page), chaos.Confirm, text, "")
		var known messages.Dialog
		eventually(t, "the dialog is shown", func() bool {
			s, ok := c.snapshot(last, "one")
			if ok && len(s.PendingDialogs) == 1 {
				known = s.PendingDialogs[0]
			}
			return known.Message == text
		})
		c.nodes[last].signal(t, syscall.SIGKILL)
		c.nodes[last].wait(t)
		eventually(t, "the heir answers the dialog", func() bool {
			status, out := c.call(heir, "POST", "/v1/tasks/one/dialog", fmt.Sprintf(`{"action":"accept","dialog_id":%q}`, known.ID))
			if status != 200 && status != 503 {
				t.Fatalf("%d %s\n%s", status, out, c.nodes[heir].log)
			}
			return status == 200 && strings.Contains(out, `"closed_by":"agent"`)
		})
		if r, ok := d.Result(); !ok || !r.IsAccepted {
			t.Errorf("the page has got %+v, %v", r, ok)
		}
		eventually(t, "the task is active at the heir, with its page", func() bool {
			s, ok := c.snapshot(heir, "one")
			return ok && s.State == messages.StateActive && s.Node == heir && s.PageTargetID == messages.TargetID(page) && len(s.PendingDialogs) == 0
		})
		if _, out, err := c.shells[heir].caller().call("GET", c.nodes[heir].url+"/metrics", ""); !strings.Contains(out, `holdfast_cluster_tasks_taken_total{how="standby"} 1`+"\n") {
			t.Errorf("the metrics of %s do not have it: %v\n%s", heir, err, out)
		}
		if round == 0 {
			c.start(last)
			c.await(last, "held held held")
		}
		last = heir
	}
}

// TestADialogOfAFrameOutlivesItsNode is the same on a real browser: a frame of another site asks,
// and continues with the answer of the next node.
func TestADialogOfAFrameOutlivesItsNode(t *testing.T) {
	t.Parallel()
	browser, site := chromiumtest.Launch(t), chromiumtest.Serve(t)
	c := newTrio(t)
	for _, name := range names {
		c.start(name)
	}
	for _, name := range names {
		c.await(name, "held held held")
	}
	c.begin("a", "one", fmt.Sprintf(`{"cdp_url":%q}`, browser.WS()))
	heir := c.standby("a", "one")
	if status, out := c.call("a", "POST", "/v1/tasks/one/navigate", fmt.Sprintf(`{"url":%q,"wait_until":"commit"}`, site.URL("http://a.test/oopif-prompt-on-load"))); status != 200 {
		t.Fatal(status, out)
	}
	var before messages.Snapshot
	eventually(t, "the frame asks", func() bool {
		s, ok := c.snapshot("a", "one")
		before = s
		return ok && len(s.PendingDialogs) == 1
	})
	dialog := before.PendingDialogs[0]
	if dialog.FrameID == messages.FrameID(before.PageTargetID) {
		t.Fatalf("the page itself asks: %+v", dialog)
	}
	c.nodes["a"].signal(t, syscall.SIGKILL)
	c.nodes["a"].wait(t)
	eventually(t, "the heir answers the dialog", func() bool {
		status, out := c.call(heir, "POST", "/v1/tasks/one/dialog", fmt.Sprintf(`{"action":"accept","prompt_text":"the heir","dialog_id":%q}`, dialog.ID))
		if status != 200 && status != 503 {
			t.Fatalf("%d %s\n%s", status, out, c.nodes[heir].log)
		}
		return status == 200 && strings.Contains(out, `"closed_by":"agent"`)
	})
	eventually(t, "the frame has the answer", func() bool {
		_, out := c.call(heir, "POST", "/v1/tasks/one/cdp", fmt.Sprintf(`{"method":"Runtime.evaluate","frame_id":%q,"params":{"expression":"window.got"}}`, dialog.FrameID))
		return strings.Contains(out, "the heir")
	})
	eventually(t, "the task is active with its page", func() bool {
		s, ok := c.snapshot(heir, "one")
		return ok && s.State == messages.StateActive && s.PageTargetID == before.PageTargetID && s.PageState == messages.PageOK && len(s.PendingDialogs) == 0
	})
}
