package chaos_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// supervised is a world with one page at http://a.test/p and one client that
// went through the recipe.
func supervised(t *testing.T, o chaos.Options) (w *world, c *client, page messages.TargetID, session string) {
	t.Helper()
	o.Pages = 1
	w = open(t, o)
	c = w.dial()
	c.attach()
	synctest.Wait()
	page = w.b.Pages()[0].Target
	session = w.sessionOn(page, 1)
	c.batch(session)
	c.send(session, "Page.navigate", `{"url":"http://a.test/p"}`)
	synctest.Wait()
	return w, c, page, session
}

// withOOPIF adds a cross-site iframe and runs the recipe on its session.
func withOOPIF(w *world, c *client, page messages.TargetID) (frame messages.FrameID, session string) {
	w.t.Helper()
	frame = w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
	synctest.Wait()
	session = w.sessionOn(messages.TargetID(frame), 1)
	c.batch(session)
	synctest.Wait()
	return frame, session
}

func result(t *testing.T, d *chaos.Dialog) chaos.DialogResult {
	t.Helper()
	r, closed := d.Result()
	if !closed {
		t.Fatal("the dialog is still open")
	}
	return r
}

func TestDialogs(t *testing.T) {
	t.Parallel()
	bubble(t, "the page gets the text of an accepted prompt", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "name?", "nobody")
		c.send(s, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"é€😀"}`)
		r, err := d.Wait(t.Context())
		if err != nil || r.Text != "é€😀" || r.By != chaos.ClosedByAnswer || r.Conn != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
		synctest.Wait()
		closed := c.events(s, "Page.javascriptDialogClosed")
		if len(closed) != 1 || !strings.Contains(closed[0].raw, `"userInput":"\u00e9\u20ac\ud83d\ude00"`) {
			t.Errorf("closed events %v", closed)
		}
	})

	bubble(t, "what needs the renderer waits for the answer and comes in order (C16)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "a", "")
		hung := []int{c.send(s, "Runtime.evaluate", `{"expression":"1+1"}`), c.send(s, "Page.getFrameTree", "")}
		answered := []int{c.send(s, "Page.getNavigationHistory", ""), c.send("", "Target.getTargets", "")}
		synctest.Wait()
		for _, id := range hung {
			if c.replies(id) != 0 {
				t.Errorf("command %d was answered under the dialog", id)
			}
		}
		for _, id := range answered {
			if c.replies(id) != 1 {
				t.Errorf("command %d was not answered under the dialog", id)
			}
		}
		c.send(s, "Page.handleJavaScriptDialog", `{"accept":true}`)
		synctest.Wait()
		for _, id := range hung {
			if c.replies(id) != 1 {
				t.Errorf("command %d has %d replies after the dialog", id, c.replies(id))
			}
		}
	})

	bubble(t, "a session that enables Page under the dialog can never answer (C5, C17)", func(t *testing.T) {
		w, c, page, _ := supervised(t, chaos.Options{})
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "c", "")
		w.b.Connections()[0].Drop()
		synctest.Wait()
		<-c.done
		late := w.dial()
		late.attach()
		synctest.Wait()
		s := w.sessionOn(page, 2)
		enable := late.send(s, "Page.enable", "")
		handle := late.send(s, "Page.handleJavaScriptDialog", `{"accept":true}`)
		synctest.Wait()
		if late.replies(enable) != 0 || late.reply(handle).Error == nil || d.Answerable() != 0 {
			t.Errorf("enable answered %d times, handle %s, %d sessions may answer", late.replies(enable), late.reply(handle).raw, d.Answerable())
		}
		// Only navigating, reloading and closing end it, or R1.
		late.send(s, "Page.navigate", `{"url":"http://a.test/q"}`)
		synctest.Wait()
		if r := result(t, d); r.By != chaos.ClosedByNavigation || r.IsAccepted {
			t.Errorf("got %+v", r)
		}
		if late.replies(enable) != 1 {
			t.Error("Page.enable is still hanging")
		}
	})

	bubble(t, "a second client that had Page enabled keeps it answerable (C18)", func(t *testing.T) {
		w, _, page, _ := supervised(t, chaos.Options{})
		anchor := w.dial()
		anchor.attach()
		synctest.Wait()
		s := w.sessionOn(page, 2)
		anchor.send(s, "Page.enable", "")
		synctest.Wait()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "c", "")
		w.b.Connections()[0].Drop()
		anchor.send(s, "Page.handleJavaScriptDialog", `{"accept":true}`)
		synctest.Wait()
		if r := result(t, d); !r.IsAccepted || r.Conn != 2 {
			t.Errorf("got %+v", r)
		}
	})

	bubble(t, "touching a poisoned dialog kills the browser (C15)", func(t *testing.T) {
		for _, command := range [][2]string{
			{"Page.handleJavaScriptDialog", `{"accept":false}`},
			{"Page.navigate", `{"url":"http://a.test/q"}`},
			{"Page.reload", ""},
			{"Page.close", ""},
		} {
			w, c, page, s := supervised(t, chaos.Options{})
			frame, _ := withOOPIF(w, c, page)
			d := w.b.OpenDialog(frame, chaos.Confirm, "c", "")
			w.b.RemoveFrame(frame)
			if !d.IsPoisoned() || w.b.IsDead() {
				t.Fatalf("poisoned %v, dead %v", d.IsPoisoned(), w.b.IsDead())
			}
			c.send(s, command[0], command[1])
			<-c.done
			if !w.b.IsDead() {
				t.Errorf("the browser survived %s", command[0])
			}
		}
	})

	bubble(t, "release takes the poison out (C15, C19)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		frame, _ := withOOPIF(w, c, page)
		d := w.b.OpenDialog(frame, chaos.Confirm, "c", "")
		w.b.RemoveFrame(frame)
		c.send("", "Target.detachFromTarget", `{"sessionId":"`+s+`"}`)
		c.send("", "Target.createTarget", `{"url":"about:blank","background":true}`)
		synctest.Wait()
		if _, closed := d.Result(); closed {
			t.Fatal("a background tab released the dialog")
		}
		c.send("", "Target.createTarget", `{"url":"about:blank","newWindow":true}`)
		synctest.Wait()
		if r := result(t, d); r.By != chaos.ClosedByRelease {
			t.Errorf("got %+v", r)
		}
		attach := c.send("", "Target.attachToTarget", `{"targetId":"`+string(page)+`","flatten":true}`)
		synctest.Wait()
		c.send(str(c.reply(attach).Result, "sessionId"), "Page.navigate", `{"url":"http://a.test/q"}`)
		synctest.Wait()
		if w.b.IsDead() {
			t.Error("the browser died after a release")
		}
	})

	bubble(t, "release does nothing for a beforeunload (C20)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.ArmBeforeUnload(w.b.MainFrame(page))
		navigate := c.send(s, "Page.navigate", `{"url":"http://a.test/q"}`)
		synctest.Wait()
		if c.replies(navigate) != 0 {
			t.Error("navigate was answered before the dialog")
		}
		w.b.DropConnections()
		<-c.done
		w.b.NewPage("about:blank")
		if got := w.b.Pages()[0]; got.Dialogs != 1 || got.URL != "http://a.test/p" {
			t.Errorf("the page is %+v", got)
		}
	})

	bubble(t, "a background tab without a debugger shows none (C5)", func(t *testing.T) {
		w := open(t, chaos.Options{Pages: 2})
		behind := w.b.Pages()[0].Target
		d := w.b.OpenDialog(w.b.MainFrame(behind), chaos.Confirm, "c", "")
		if r := result(t, d); r.By != chaos.ClosedByBackground || r.IsAccepted {
			t.Errorf("got %+v", r)
		}
	})

	bubble(t, "a long message is cut (C2)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, strings.Repeat("x", 20000), "")
		synctest.Wait()
		if got := len(str(c.events(s, "Page.javascriptDialogOpening")[0].Params, "message")); got != 10240 {
			t.Errorf("message of %d", got)
		}
	})

	bubble(t, "the screen can answer, and waiting has a limit", func(t *testing.T) {
		w, _, page, _ := supervised(t, chaos.Options{})
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "c", "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := d.Wait(ctx); err == nil {
			t.Error("nobody answered, yet it ended")
		}
		if !w.b.CloseDialog(d, true, "") || w.b.CloseDialog(d, true, "") {
			t.Error("closing works once")
		}
		if r := result(t, d); !r.IsAccepted || r.By != chaos.ClosedByUser {
			t.Errorf("got %+v", r)
		}
	})
}
