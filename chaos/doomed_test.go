package chaos_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
)

func TestDoomedDialogs(t *testing.T) {
	t.Parallel()
	doomed := func(t *testing.T) (*world, *client, *chaos.Dialog, string) {
		w, c, page, s := supervised(t, chaos.Options{})
		d := w.b.OpenDoomedDialog(page, "http://a.test/next", chaos.Confirm, "saved", "")
		if d == nil {
			t.Fatal("no dialog opened")
		}
		synctest.Wait()
		return w, c, d, s
	}
	const probe = `{"entryId":-1}`

	bubble(t, "one is refused every answer, and a probe finds it out (C58)", func(t *testing.T) {
		_, c, d, s := doomed(t)
		for method, params := range map[string]string{
			"Page.handleJavaScriptDialog": `{"accept":true}`, "Page.reload": "", "Page.stopLoading": "", "Page.close": "",
			"Page.getNavigationHistory": "", "Page.navigateToHistoryEntry": probe,
		} {
			id := c.send(s, method, params)
			synctest.Wait()
			if got := c.reply(id).raw; !strings.Contains(got, "-32000") || !strings.Contains(got, "Not attached to an active page") {
				t.Errorf("%s: %s", method, got)
			}
		}
		if _, closed := d.Result(); closed {
			t.Error("it has closed")
		}
	})

	bubble(t, "a navigation that leads nowhere lets the next document come", func(t *testing.T) {
		w, c, d, s := doomed(t)
		id := c.send(s, "Page.navigate", `{"url":"hcp:nowhere"}`)
		synctest.Wait()
		if got := c.reply(id).raw; !strings.Contains(got, "net::ERR_ABORTED") {
			t.Errorf("navigate: %s", got)
		}
		if r := result(t, d); r.IsAccepted || r.By != chaos.ClosedByNavigation {
			t.Errorf("the page got %+v", r)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.b.Pages()[0].URL; got != "http://a.test/next" {
			t.Errorf("the page is at %s", got)
		}
		id = c.send(s, "Page.navigateToHistoryEntry", probe)
		c.send("", "Target.detachFromTarget", `{"sessionId":"`+s+`"}`)
		synctest.Wait()
		if got := c.reply(id).raw; !strings.Contains(got, "No entry with passed id") || w.b.IsDead() {
			t.Errorf("afterwards: %s, dead %v", got, w.b.IsDead())
		}
	})

	for name, leave := range map[string]func(w *world, c *client, s string){
		"detach":              func(_ *world, c *client, s string) { c.send("", "Target.detachFromTarget", `{"sessionId":"`+s+`"}`) },
		"Page.disable":        func(_ *world, c *client, s string) { c.send(s, "Page.disable", "") },
		"the end of its link": func(w *world, _ *client, _ string) { w.b.Connections()[0].Drop() },
	} {
		bubble(t, "leaving its page kills the browser: "+name, func(t *testing.T) {
			w, c, _, s := doomed(t)
			leave(w, c, s)
			<-c.done
			if !w.b.IsDead() {
				t.Error("it survived")
			}
		})
	}

	bubble(t, "closing its page does not, with every session attached", func(t *testing.T) {
		w, c, d, _ := doomed(t)
		c.send("", "Target.closeTarget", `{"targetId":"`+string(d.Page())+`"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		if w.b.IsDead() || len(w.b.Pages()) != 0 {
			t.Errorf("dead %v, pages %+v", w.b.IsDead(), w.b.Pages())
		}
	})

	bubble(t, "Page.close and Page.crash under a frame's dialog kill the browser (C60)", func(t *testing.T) {
		for _, method := range []string{"Page.close", "Page.crash"} {
			w, c, page, s := supervised(t, chaos.Options{})
			frame, _ := withOOPIF(w, c, page)
			w.b.OpenDialog(frame, chaos.Confirm, "c", "")
			c.send(s, method, "")
			<-c.done
			if !w.b.IsDead() {
				t.Errorf("it survived %s", method)
			}
		}
	})
}
