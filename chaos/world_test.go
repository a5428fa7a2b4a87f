package chaos_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func TestAttachBatchIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, chaos.Options{Pages: 1})
		c := w.dial()
		c.attach()
		synctest.Wait()
		page := w.b.Pages()[0].Target
		s := w.sessionOn(page, 1)
		for _, id := range c.batch(s) {
			synctest.Wait()
			if c.replies(id) != 1 {
				t.Errorf("command %d has %d replies, want 1", id, c.replies(id))
			}
		}
	})
}

func TestSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	run := func() (out string) {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, chaos.Options{Seed: 7, Pages: 3})
			c := w.dial()
			c.attach()
			synctest.Wait()
			for _, p := range w.b.Pages() {
				s := w.sessionOn(p.Target, 1)
				c.batch(s)
				c.send(s, "Page.navigate", `{"url":"http://a.test/p"}`)
				synctest.Wait()
				w.b.AddFrame(w.b.MainFrame(p.Target), "http://b.test/x")
				synctest.Wait()
			}
			var text []string
			for _, m := range c.all() {
				text = append(text, m.raw)
			}
			out = strings.Join(text, "\n") + fmt.Sprint(w.b.Frames())
		})
		return out
	}
	if a, b := run(), run(); a != b || len(a) < 1000 {
		t.Errorf("two runs of one seed differ (%d and %d bytes)", len(a), len(b))
	}
}

func TestWorld(t *testing.T) {
	t.Parallel()
	bubble(t, "the forest follows every change of process (C35)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		f, inner := withOOPIF(w, c, page)
		nested := w.b.AddFrame(f, "http://a.test/n")
		synctest.Wait()
		c.batch(w.sessionOn(messages.TargetID(nested), 1))
		synctest.Wait()
		got := w.b.FramesOf(page)
		if len(got) != 3 || !got[1].IsOOPIF || !got[2].IsOOPIF || got[2].Parent != f || got[2].IsLoading {
			t.Fatalf("forest %+v", got)
		}
		w.b.NavigateFrame(f, "http://a.test/back")
		synctest.Wait()
		got = w.b.FramesOf(page)
		if len(got) != 2 || got[1].IsOOPIF || got[1].ID != f || got[1].Target != page {
			t.Fatalf("forest %+v", got)
		}
		gone := c.send(inner, "Page.getFrameTree", "")
		tree := c.send(s, "Page.getFrameTree", "")
		synctest.Wait()
		if c.reply(gone).Error == nil || c.reply(gone).Error.Code != -32001 {
			t.Errorf("the old session answers %s", c.reply(gone).raw)
		}
		if !strings.Contains(c.reply(tree).raw, string(f)) {
			t.Errorf("the frame is not in its parent's tree: %s", c.reply(tree).raw)
		}
		w.b.RemoveFrame(f)
		if got = w.b.FramesOf(page); len(got) != 1 {
			t.Errorf("forest %+v", got)
		}
	})

	bubble(t, "a page's own markup brings frames", func(t *testing.T) {
		load := func(url string) chaos.Document {
			d := chaos.DefaultDocument(url)
			if url == "http://a.test/p" {
				d.Frames = []string{"http://b.test/x", "/same"}
			}
			return d
		}
		w, _, page, _ := supervised(t, chaos.Options{Load: load})
		got := w.b.FramesOf(page)
		if len(got) != 3 || !got[1].IsOOPIF || !got[1].IsLoading || got[2].IsOOPIF || got[2].URL != "http://a.test/same" {
			t.Errorf("forest %+v", got)
		}
	})

	bubble(t, "a popup that two hold runs after the first of them", func(t *testing.T) {
		w, a, page, _ := supervised(t, chaos.Options{})
		b := w.dial()
		b.attach()
		synctest.Wait()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		if url := w.b.Pages()[1].URL; url != "" {
			t.Fatalf("runs with none resumed: %s", url)
		}
		a.send(w.sessionOn(popup, 1), "Runtime.runIfWaitingForDebugger", "")
		synctest.Wait()
		if url := w.b.Pages()[1].URL; url != "http://a.test/pop" {
			t.Errorf("popup at %q after one", url)
		}
		b.send(w.sessionOn(popup, 2), "Runtime.runIfWaitingForDebugger", "")
	})

	bubble(t, "a popup whose holder is gone freezes its opener (C33)", func(t *testing.T) {
		w, c, page, _ := supervised(t, chaos.Options{})
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		w.b.DropConnections()
		<-c.done
		c = w.dial()
		c.attach()
		synctest.Wait()
		for _, attached := range c.events("", "Target.attachedToTarget") {
			if strings.Contains(attached.raw, `"waitingForDebugger":true`) {
				t.Errorf("waiting is reported: %s", attached.raw)
			}
		}
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "later", "")
		if d.Answerable() != 0 {
			t.Error("the opener runs while its popup is frozen")
		}
		// It asks as soon as its popup runs.
		c.send(w.sessionOn(page, 2), "Page.enable", "")
		c.send(w.sessionOn(popup, 2), "Runtime.runIfWaitingForDebugger", "")
		synctest.Wait()
		if url := w.b.Pages()[1].URL; url != "http://a.test/pop" || d.Answerable() != 1 {
			t.Errorf("popup at %q, dialog answerable by %d", url, d.Answerable())
		}
	})

	bubble(t, "one resume of a popup frees it and its opener, whoever held it (C33)", func(t *testing.T) {
		w, c, page, _ := supervised(t, chaos.Options{})
		other := w.dial()
		other.attach()
		synctest.Wait()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		w.b.Connections()[1].Drop()
		<-other.done
		if url := w.b.Pages()[1].URL; url != "" {
			t.Fatalf("it runs when one of its holders is gone: %s", url)
		}
		c.send(w.sessionOn(popup, 1), "Runtime.runIfWaitingForDebugger", "")
		synctest.Wait()
		if d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "later", ""); w.b.Pages()[1].URL == "" || d.Answerable() != 1 {
			t.Errorf("popup at %q, the opener's dialog answerable by %d", w.b.Pages()[1].URL, d.Answerable())
		}
	})

	bubble(t, "auto-attach holds a popup also without waiting, until it is off (C33)", func(t *testing.T) {
		w, c, page, _ := supervised(t, chaos.Options{})
		c.send("", "Target.setAutoAttach", strings.Replace(attachAll, `"waitForDebuggerOnStart":true`, `"waitForDebuggerOnStart":false`, 1))
		synctest.Wait()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		if p := w.b.Pages()[1]; p.URL != "" || !p.IsHeld {
			t.Errorf("it runs: %+v", p)
		}
		if list := c.events("", "Target.attachedToTarget"); strings.Contains(list[len(list)-1].raw, `"waitingForDebugger":true`) {
			t.Errorf("waiting is reported: %s", list[len(list)-1].raw)
		}
		c.send(w.sessionOn(popup, 1), "Runtime.runIfWaitingForDebugger", "")
		c.send("", "Target.setAutoAttach", `{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`)
		synctest.Wait()
		w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/next")
		synctest.Wait()
		if list := w.b.Pages(); list[1].URL != "http://a.test/pop" || list[2].URL != "http://a.test/next" {
			t.Errorf("%+v", list)
		}
	})

	bubble(t, "createTarget with a URL is not held (C30)", func(t *testing.T) {
		w, c, _, _ := supervised(t, chaos.Options{})
		c.send("", "Target.createTarget", `{"url":"http://a.test/q"}`)
		synctest.Wait()
		if url := w.b.Pages()[1].URL; url != "http://a.test/q" {
			t.Errorf("at %q", url)
		}
	})

	bubble(t, "the first script of a held popup is not missed (C29)", func(t *testing.T) {
		load := func(url string) chaos.Document {
			d := chaos.DefaultDocument(url)
			if strings.HasSuffix(url, "/pop") {
				d.Script = "confirm('first')"
			}
			return d
		}
		w, c, page, _ := supervised(t, chaos.Options{Load: load})
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://b.test/pop")
		synctest.Wait()
		s := w.sessionOn(popup, 1)
		c.send(s, "Page.enable", "")
		c.send(s, "Runtime.runIfWaitingForDebugger", "")
		synctest.Wait()
		if len(c.events(s, "Page.javascriptDialogOpening")) != 1 || len(c.events(s, "Page.loadEventFired")) != 0 {
			t.Error("the dialog was missed, or did not hold the load")
		}
		c.send(s, "Page.handleJavaScriptDialog", `{"accept":true}`)
		synctest.Wait()
		if len(c.events(s, "Page.loadEventFired")) != 1 {
			t.Error("the page never loaded")
		}
	})

	bubble(t, "a script of a document that is gone never runs", func(t *testing.T) {
		w, _, page, _ := supervised(t, chaos.Options{})
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "first", "")
		second := w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "second", "")
		id := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		w.b.Navigate(page, "http://a.test/q")
		if r := result(t, second); r.By != chaos.ClosedByNavigation {
			t.Errorf("got %+v", r)
		}
		if got := w.b.FramesOf(page); len(got) != 1 || got[0].ID == id {
			t.Errorf("forest %+v", got)
		}
	})

	bubble(t, "a crash takes the process, a reload brings it back (M13)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.Crash(page)
		hung := c.send(s, "Runtime.evaluate", `{"expression":"1"}`)
		synctest.Wait()
		if len(c.events(s, "Inspector.targetCrashed")) != 1 || len(c.events("", "Target.targetCrashed")) != 1 {
			t.Error("the crash was not reported once to both")
		}
		if c.replies(hung) != 0 || !w.b.Pages()[0].IsCrashed || len(w.b.Sessions(page)) != 1 {
			t.Errorf("page %+v", w.b.Pages()[0])
		}
		c.send(s, "Page.reload", "")
		again := c.send(s, "Runtime.evaluate", `{"expression":"1+1"}`)
		synctest.Wait()
		if c.reply(hung).Error == nil || c.replies(again) != 1 || w.b.Pages()[0].IsCrashed {
			t.Errorf("after the reload: %s, %s", c.reply(hung).raw, c.reply(again).raw)
		}
	})

	bubble(t, "a dialog in an OOPIF hangs only that process (C16)", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		f, inner := withOOPIF(w, c, page)
		w.b.OpenDialog(f, chaos.Alert, "a", "")
		root, child := c.send(s, "Runtime.evaluate", `{"expression":"1"}`), c.send(inner, "Runtime.evaluate", `{"expression":"1"}`)
		synctest.Wait()
		if c.replies(root) != 1 || c.replies(child) != 0 {
			t.Errorf("replies: page %d, OOPIF %d", c.replies(root), c.replies(child))
		}
	})

	bubble(t, "a loop hangs the page until it is broken", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.Spin(page)
		hung, key := c.send(s, "Page.getFrameTree", ""), c.send(s, "Input.dispatchKeyEvent", `{"type":"keyUp"}`)
		synctest.Wait()
		if c.replies(hung) != 0 || c.replies(key) != 0 {
			t.Error("a busy page answers")
		}
		w.b.Unspin(page)
		synctest.Wait()
		if c.replies(hung) != 1 || c.replies(key) != 1 {
			t.Error("a page that is free does not answer")
		}
	})

	bubble(t, "a slow server answers later", func(t *testing.T) {
		load := func(url string) chaos.Document {
			d := chaos.DefaultDocument(url)
			if strings.HasSuffix(url, "/slow") {
				d.Delay = time.Minute
			}
			return d
		}
		w, c, _, s := supervised(t, chaos.Options{Load: load})
		id := c.send(s, "Page.navigate", `{"url":"http://a.test/slow"}`)
		synctest.Wait()
		if c.replies(id) != 0 || w.b.Pages()[0].URL != "http://a.test/p" {
			t.Error("it did not wait")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.replies(id) != 1 || w.b.Pages()[0].URL != "http://a.test/slow" {
			t.Errorf("%d replies, page at %s", c.replies(id), w.b.Pages()[0].URL)
		}
	})

	bubble(t, "a hook answers and acts", func(t *testing.T) {
		o := chaos.Options{Evaluate: func(e chaos.Evaluation) (chaos.Value, bool) {
			if e.Expression != "popup()" {
				return chaos.Value{}, false
			}
			return chaos.Value{JSON: map[string]int{"n": 1}, Then: func(b *chaos.Browser) { b.NewPage("about:blank") }}, true
		}}
		w, c, _, s := supervised(t, o)
		known, unknown := c.send(s, "Runtime.evaluate", `{"expression":"popup()"}`), c.send(s, "Runtime.evaluate", `{"expression":"nope()"}`)
		synctest.Wait()
		if !strings.Contains(c.reply(known).raw, `"value":{"n":1}`) || len(w.b.Pages()) != 2 {
			t.Errorf("hook: %s, %d pages", c.reply(known).raw, len(w.b.Pages()))
		}
		if !strings.Contains(c.reply(unknown).raw, "ReferenceError") {
			t.Errorf("unknown expression: %s", c.reply(unknown).raw)
		}
	})

	bubble(t, "errors of a page reach the console", func(t *testing.T) {
		w, c, page, s := supervised(t, chaos.Options{})
		w.b.LogError(w.b.MainFrame(page), "boo")
		w.b.ThrowException(w.b.MainFrame(page), "late")
		synctest.Wait()
		if len(c.events(s, "Runtime.consoleAPICalled")) != 1 || len(c.events(s, "Runtime.exceptionThrown")) != 1 {
			t.Error("not heard once each")
		}
	})

	bubble(t, "nobody to act on is said, not done", func(t *testing.T) {
		w := open(t, chaos.Options{})
		if w.b.ClosePage("x") || w.b.Navigate("x", "about:blank") || w.b.RemoveFrame("x") || w.b.Crash("x") ||
			w.b.AddFrame("x", "") != "" || w.b.OpenPopup("x", "") != "" || w.b.OpenDialog("x", chaos.Alert, "", "") != nil {
			t.Error("something was done to nothing")
		}
	})
}
