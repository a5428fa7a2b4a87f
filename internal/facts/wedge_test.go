package facts_test

import (
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

var keyUp = params{"type": "keyUp", "key": "Shift"}

// spin has a page run a script that does not end.
func spin(p *chromiumtest.Page) {
	p.Start(p.Session, "console.log('spinning'); spin()")
	p.NextWhere("spinning", on(p.Session, "Runtime.consoleAPICalled"))
}

// keyBeforeSign says which of the two is answered first that are sent in this
// order; neither is none.
func keyBeforeSign(c *chromiumtest.Raw, session string) bool {
	key := c.Send(session, "Input.dispatchKeyEvent", keyUp)
	c.Must(session, "Target.getTargetInfo", nil)
	return key.IsAnswered()
}

// Rule: what tells a dialog from a busy renderer is a key with a question to
// the browser process behind it, on the session of a page or of a frame.
func TestC24_AKeyTellsADialogFromALoop(t *testing.T) {
	t.Parallel()
	t.Run("a dialog takes it, on every session of the page", func(t *testing.T) {
		t.Parallel()
		b, site, c := ownStage(t)
		p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
		_, frame := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
		p.Start(frame, "ask()")
		opening(p)
		c.Close()
		c = chromiumtest.Dial(t, b.WS())
		session := c.Attach(p.Target)
		want(t, "the page's renderer runs", c.DoesHang(session, "Page.getFrameTree", nil, silence), false)
		want(t, "on the page", keyBeforeSign(c, session), true)
		c.Must(session, "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
		frame = c.NextWhere("the frame", on(session, "Target.attachedToTarget")).Param("sessionId")
		want(t, "the frame's hangs", c.DoesHang(frame, "Page.getFrameTree", nil, silence), true)
		want(t, "on the frame", keyBeforeSign(c, frame), true)
	})
	t.Run("a loop does not", func(t *testing.T) {
		t.Parallel()
		_, site, c := ownStage(t)
		p := c.NewPage(site.URL("http://a.test/busy"))
		spin(p)
		session := c.Attach(p.Target)
		for _, s := range []string{p.Session, session} {
			key := p.Send(s, "Input.dispatchKeyEvent", keyUp)
			want(t, "the browser process answers", p.DoesHang(s, "Target.getTargetInfo", nil, chromiumtest.Patience), false)
			_, _ = key.Wait(silence)
			want(t, "the key is answered", key.IsAnswered(), false)
		}
	})
}

// Rule: a page that spins is reloaded once its script was ended, which only a
// session can that was there before; else it goes by way of another process,
// and nothing is sent before that cannot commit.
func TestWhatBringsASpinningPageBack(t *testing.T) {
	t.Parallel()
	back := func(t *testing.T, p *chromiumtest.Page, session string) {
		t.Helper()
		want(t, "hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, chromiumtest.Patience), false)
	}
	for name, story := range map[string]func(t *testing.T, site *chromiumtest.Site, p *chromiumtest.Page, session string){
		"a reload does not": func(t *testing.T, _ *chromiumtest.Site, p *chromiumtest.Page, session string) {
			p.Must(session, "Page.reload", nil)
			want(t, "hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
		},
		"nor the end of its script, by a session that came later": func(t *testing.T, _ *chromiumtest.Site, p *chromiumtest.Page, session string) {
			want(t, "hangs", p.DoesHang(session, "Runtime.terminateExecution", nil, silence), true)
			want(t, "hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
		},
		"the end of its script does, by one that was there": func(t *testing.T, _ *chromiumtest.Site, p *chromiumtest.Page, _ string) {
			p.Must(p.Session, "Runtime.terminateExecution", nil)
			back(t, p, p.Session)
		},
		"a page of another process does, and the way back is free": func(t *testing.T, site *chromiumtest.Site, p *chromiumtest.Page, session string) {
			p.Must(session, "Page.navigate", params{"url": "about:blank"})
			back(t, p, session)
			p.Must(session, "Page.navigate", params{"url": site.URL("http://a.test/busy")})
			back(t, p, session)
			want(t, "title", string(p.Eval(session, "new Promise(r => document.title ? r(document.title) : onload = () => r(document.title))")), `"/busy"`)
		},
		"but not behind a reload that waits to commit": func(t *testing.T, _ *chromiumtest.Site, p *chromiumtest.Page, session string) {
			p.Must(session, "Page.reload", nil)
			want(t, "hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
			p.Send(session, "Page.navigate", params{"url": "about:blank"})
			want(t, "hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, 2*time.Second), true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, site, c := ownStage(t)
			p := c.NewPage(site.URL("http://a.test/busy"))
			spin(p)
			story(t, site, p, c.Attach(p.Target))
		})
	}
}

// Rule: where a dialog lost its link is remembered, and a page whose frame goes
// after that is as poisonous as one whose frame goes before.
func TestC15_AFrameThatIsRemovedUnderALostDialogKillsTheBrowserToo(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(site *chromiumtest.Site, c *chromiumtest.Raw, session, target string){
		"navigate": func(site *chromiumtest.Site, c *chromiumtest.Raw, session, _ string) {
			c.Send(session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		},
		"a new dialog": func(_ *chromiumtest.Site, c *chromiumtest.Raw, session, _ string) {
			c.Send(session, "Runtime.evaluate", params{"expression": "alert(1)"})
		},
		"closeTarget": func(_ *chromiumtest.Site, c *chromiumtest.Raw, _, target string) {
			c.Send("", "Target.closeTarget", params{"targetId": target})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, site, c := ownStage(t)
			p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
			_, frame := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
			p.Start(frame, "ask()")
			opening(p)
			c.Close()
			c = chromiumtest.Dial(t, b.WS())
			session := c.Attach(p.Target)
			c.Must(session, "Page.enable", nil)
			c.Must(session, "Runtime.evaluate", params{"expression": "document.getElementById('f').remove()"})
			touch(site, c, session, p.Target)
			select {
			case <-b.Exited():
			case <-time.After(10 * time.Second):
				t.Error("the browser survived")
			}
		})
	}
}

// Rule: what an orphaned beforeunload leaves is a page that can be closed.
func TestC20_NothingDismissesAnOrphanedBeforeunload(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/plain"))
	p.Eval(p.Session, "window.onbeforeunload = () => 'stay'; 1")
	p.Activate()
	p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://b.test/plain")})
	opening(p)
	c.Close()
	c = chromiumtest.Dial(t, b.WS())
	session := c.Attach(p.Target)
	want(t, "a dialog by the key", keyBeforeSign(c, session), true)
	c.Must(session, "Page.reload", nil)
	want(t, "hangs after a reload", c.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
	c.Must("", "Target.detachFromTarget", params{"sessionId": session})
	c.Must("", "Target.activateTarget", params{"targetId": p.Target})
	c.Must("", "Target.createTarget", params{"url": "about:blank", "newWindow": true})
	session = c.Attach(p.Target)
	want(t, "hangs after a release", c.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
	c.Must("", "Target.closeTarget", params{"targetId": p.Target})
	c.Must("", "Browser.getVersion", nil)
}

// Rule: a dialog that opens while frames load may be closed by Chrome.
func TestADialogBesideFramesThatLoadIsOftenClosedByChrome(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	closed := 0
	const rounds = 10
	for range rounds {
		p := c.NewPage("")
		p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/two-oopifs")})
		p.NextWhere("the document", on(p.Session, "Page.frameNavigated"))
		p.Start(p.Session, "confirm('sure?')")
		opening(p)
		if p.HasSeen(on(p.Session, "Page.javascriptDialogClosed"), within) {
			closed++
		}
		p.CloseTarget()
	}
	// A race: 25 of 40, and 9 of 10.
	if t.Logf("closed by itself: %d of %d", closed, rounds); closed == 0 {
		t.Error("none was closed")
	}
}
