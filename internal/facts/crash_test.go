package facts_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// killRenderers ends every renderer of the client's browser, as the kernel
// does when memory is short.
func killRenderers(t *testing.T, c *chromiumtest.Raw) {
	t.Helper()
	var processes struct {
		ProcessInfo []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	if err := json.Unmarshal(c.Must("", "SystemInfo.getProcessInfo", nil), &processes); err != nil {
		t.Fatal(err)
	}
	for _, p := range processes.ProcessInfo {
		if p.Type == "renderer" {
			_ = chromiumtest.KillProcess(p.ID)
		}
	}
}

// Rule: a crash is a state of its own; no detach follows, and a reload on the same session
// revives the page.
func TestM13_RendererCrash(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	c.Must("", "Target.setDiscoverTargets", params{"discover": true})
	p := c.NewPage(site.URL("http://a.test/plain"))
	p.Must(p.Session, "Inspector.enable", nil)
	p.Send(p.Session, "Page.crash", nil)
	p.NextWhere("Inspector.targetCrashed", on(p.Session, "Inspector.targetCrashed"))
	p.NextWhere("Target.targetCrashed", func(e chromiumtest.Event) bool {
		return e.Method == "Target.targetCrashed" && e.Param("targetId") == p.Target
	})
	want(t, "evaluate hangs", p.DoesHang(p.Session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
	p.NextWhere("first load", on(p.Session, "Page.loadEventFired"))
	p.Must(p.Session, "Page.reload", nil)
	p.NextWhere("load after the reload", on(p.Session, "Page.loadEventFired"))
	want(t, "title", string(p.Eval(p.Session, "document.title")), `"/plain"`)
	want(t, "detached", len(p.Events(func(e chromiumtest.Event) bool { return e.Method == "Target.detachedFromTarget" })), 0)
}

// Rule: the frames of other processes end with the renderer of their parent, before the crash
// is told.
func TestM13_ACrashRemovesTheFramesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
	p.Must(p.Session, "Inspector.enable", nil)
	frame, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
	p.Send(p.Session, "Page.crash", nil)
	p.NextWhere("Inspector.targetCrashed", on(p.Session, "Inspector.targetCrashed"))
	var told []string
	for _, e := range p.Events(func(e chromiumtest.Event) bool { return e.Session == p.Session }) {
		switch {
		case e.Method == "Page.frameDetached" && e.Param("frameId") == frame && e.Param("reason") == "remove",
			e.Method == "Target.detachedFromTarget" && e.Param("sessionId") == session,
			e.Method == "Inspector.targetCrashed":
			told = append(told, e.Method)
		}
	}
	want(t, "events", strings.Join(told, " "), "Page.frameDetached Target.detachedFromTarget Inspector.targetCrashed")
}

// Rule: C60 holds of every crash of the parent's renderer, not of Page.crash alone.
func TestC60_ACrashUnderAFramesDialogKillsTheBrowser(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
	_, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
	p.Start(session, "ask()")
	opening(p)
	p.Send(p.Session, "Page.navigate", params{"url": "chrome://crash"})
	select {
	case <-b.Exited():
		t.Log(b.ExitReason())
	case <-time.After(10 * time.Second):
		t.Error("the browser survived")
	}
}

// poison opens a dialog in a cross-site frame and removes the frame.
func poison(t *testing.T, site *chromiumtest.Site, c *chromiumtest.Raw) *chromiumtest.Page {
	t.Helper()
	p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
	frame, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
	p.Start(session, "ask()")
	opening(p)
	p.Must(p.Session, "Runtime.evaluate", params{"expression": "document.getElementById('f').remove()"})
	p.NextWhere("frameDetached", func(e chromiumtest.Event) bool {
		return on(p.Session, "Page.frameDetached")(e) && e.Param("frameId") == frame
	})
	p.NextWhere("detachedFromTarget", func(e chromiumtest.Event) bool {
		return e.Method == "Target.detachedFromTarget" && e.Param("sessionId") == session
	})
	want(t, "closed events", len(p.Events(on(p.Session, "Page.javascriptDialogClosed"))), 0)
	return p
}

// Rule: a dialog whose frame was removed is poison: never answered, and no
// navigation on that session; it ends in a release.
func TestC15_ADialogOfARemovedFrameKillsTheBrowser(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(*chromiumtest.Site, *chromiumtest.Page){
		"accept": func(_ *chromiumtest.Site, p *chromiumtest.Page) {
			p.Send(p.Session, "Page.handleJavaScriptDialog", params{"accept": true})
		},
		"dismiss": func(_ *chromiumtest.Site, p *chromiumtest.Page) {
			p.Send(p.Session, "Page.handleJavaScriptDialog", params{"accept": false})
		},
		"navigate": func(site *chromiumtest.Site, p *chromiumtest.Page) {
			p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		},
		"reload": func(_ *chromiumtest.Site, p *chromiumtest.Page) { p.Send(p.Session, "Page.reload", nil) },
		"close":  func(_ *chromiumtest.Site, p *chromiumtest.Page) { p.Send(p.Session, "Page.close", nil) },
		"closeTarget": func(_ *chromiumtest.Site, p *chromiumtest.Page) {
			p.Send("", "Target.closeTarget", params{"targetId": p.Target})
		},
		"a new dialog": func(_ *chromiumtest.Site, p *chromiumtest.Page) {
			p.Send(p.Session, "Runtime.evaluate", params{"expression": "alert(1)"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, site, c := ownStage(t)
			p := poison(t, site, c)
			touch(site, p)
			select {
			case <-b.Exited():
				t.Log(b.ExitReason())
			case <-time.After(10 * time.Second):
				t.Error("the browser survived")
			}
		})
	}
}

// Closing a page removes its frames, so a dialog that a frame of another process
// has open becomes poison on the way. Rule: before a page is closed its dialogs
// are dismissed, or every session of it is left, by every link and by word.
func TestC15_ClosingAPageUnderAFramesDialogKillsTheBrowser(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, site *chromiumtest.Site, c *chromiumtest.Raw) *chromiumtest.Page {
		p := c.NewWindow(site.URL("http://a.test/oopif-prompt"))
		sessions := p.AutoAttach(1)
		_, session := p.Frame(sessions, site.URL("http://b.test/prompt"))
		p.Start(session, "ask()")
		p.Next("Page.javascriptDialogOpening")
		return p
	}
	t.Run("with a session on it, whoever closes", func(t *testing.T) {
		b, site, c := ownStage(t)
		p := asking(t, site, c)
		chromiumtest.Dial(t, b.WS()).Send("", "Target.closeTarget", params{"targetId": p.Target})
		select {
		case <-b.Exited():
			t.Log(b.ExitReason())
		case <-time.After(10 * time.Second):
			t.Error("the browser survived")
		}
	})
	t.Run("with none it survives", func(t *testing.T) {
		_, site, c := ownStage(t)
		p := asking(t, site, c)
		c.Send("", "Target.detachFromTarget", params{"sessionId": p.Session})
		c.Must("", "Target.closeTarget", params{"targetId": p.Target})
		c.NewPage(site.URL("http://a.test/plain"))
	})
}

// The release (C19): every session of the page is detached and another tab
// comes to the front; the page lives and is usable after.
func TestC15_ReleaseSavesTheBrowser(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := poison(t, site, c)
	c.Must("", "Target.detachFromTarget", params{"sessionId": p.Session})
	helper := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank", "newWindow": true}), "targetId")
	p.Session = c.Attach(p.Target)
	p.Must(p.Session, "Page.enable", nil)
	want(t, "title", string(p.Eval(p.Session, "document.title")), `"/oopif-prompt"`)
	p.Navigate(site.URL("http://a.test/prompt"))
	ask(p)
	succeed(t, "a later dialog", handle(c, p.Session, params{"accept": true, "promptText": "alive"}))
	want(t, "page got", string(p.Eval(p.Session, "got")), `"alive"`)
	c.Must("", "Target.closeTarget", params{"targetId": helper})
	c.Must("", "Browser.getVersion", nil)
}

func TestC15_ClosingWithoutASessionSavesTheBrowser(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := poison(t, site, c)
	c.Close()
	again := chromiumtest.Dial(t, b.WS())
	again.Must("", "Target.closeTarget", params{"targetId": p.Target})
	again.NewPage(site.URL("http://a.test/plain"))
}

// Rule: release is the recovery for a dialog that lost its owner; the page
// and its state stay, the dialog is dismissed.
func TestC19_ReleaseFreesAnOrphanAndKeepsThePage(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/prompt"))
	p.Eval(p.Session, "window.state = 'kept'")
	ask(p)
	c.Close()

	again := chromiumtest.Dial(t, b.WS())
	session := again.Attach(p.Target)
	want(t, "a late Page.enable hangs", again.DoesHang(session, "Page.enable", nil, silence), true)
	wantCode(t, handle(again, session, params{"accept": true}), -32602)
	again.Must("", "Target.detachFromTarget", params{"sessionId": session})
	helper := chromiumtest.Field(again.Must("", "Target.createTarget", params{"url": "about:blank", "newWindow": true}), "targetId")
	session = again.Attach(p.Target)
	want(t, "page got", string(again.Eval(session, "got")), "null")
	want(t, "state", string(again.Eval(session, "state")), `"kept"`)
	again.Must("", "Target.closeTarget", params{"targetId": helper})
}
