package facts_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
)

// openPopup has the page open url and returns the pending evaluation.
func openPopup(p *chromiumtest.Page, expression string) *chromiumtest.Pending {
	return p.Send(p.Session, "Runtime.evaluate", params{"expression": expression, "userGesture": true, "returnByValue": true})
}

// Rule: popups are caught by browser-level auto-attach and the opener's id.
func TestM14_OnlyTheRootSeesAPopupBeforeItsFirstScript(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name string
		ask  func(c *chromiumtest.Raw, p *chromiumtest.Page)
	}{
		{"the page's own auto-attach does not", func(_ *chromiumtest.Raw, p *chromiumtest.Page) {
			p.Must(p.Session, "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
		}},
		{"autoAttachRelated does not", func(c *chromiumtest.Raw, p *chromiumtest.Page) {
			c.Must("", "Target.autoAttachRelated", params{"targetId": p.Target, "waitForDebuggerOnStart": true})
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			_, site, c := ownStage(t)
			p := c.NewPage(site.URL("http://a.test/popup"))
			way.ask(c, p)
			c.Must("", "Target.setDiscoverTargets", params{"discover": true})
			openPopup(p, "openChild('/plain')")
			c.NextWhere("the popup", func(e chromiumtest.Event) bool {
				return e.Method == "Target.targetCreated" && openedBy(p.Target)(e)
			})
			want(t, "attached", c.HasSeen(func(e chromiumtest.Event) bool {
				return e.Method == "Target.attachedToTarget" && openedBy(p.Target)(e)
			}, within), false)
		})
	}
	t.Run("the root's does, every time", func(t *testing.T) {
		_, site, c := ownStage(t)
		p := c.NewPage(site.URL("http://a.test/popup"))
		rootAutoAttach(c, true)
		for range 10 {
			openPopup(p, "openChild()")
			e := attached(c, "", openedBy(p.Target))
			want(t, "waits", e.Param("waitingForDebugger"), "true")
			session := e.Param("sessionId")
			c.Send(session, "Page.enable", nil)
			c.Send(session, "Runtime.runIfWaitingForDebugger", nil)
			c.NextWhere("its first dialog", on(session, "Page.javascriptDialogOpening"))
			succeed(t, "answer", handle(c, session, params{"accept": true, "promptText": "x"}))
			want(t, "popup got", string(c.Eval(session, "got")), `"x"`)
			c.Must("", "Target.closeTarget", params{"targetId": info(e, "targetId")})
		}
	})
}

// Rule: what is held is resumed at once: the opener's script stands still
// inside window.open for as long.
func TestC29_WaitingReallyHolds(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	site.Set("/first-script", `<title>/first-script</title><script>window.seen = String(window.injected)</script>`)
	rootAutoAttach(c, true)
	for _, tc := range []struct{ name, open string }{
		{"same site", "void (window.child = window.open('/first-script'))"},
		{"cross site", site.URL("void (window.child = window.open('http://b.test/first-script'))")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newAttachedPage(c, site.URL("http://a.test/popup"))
			opened := openPopup(p, tc.open)
			e := attached(c, "", openedBy(p.Target))
			session := e.Param("sessionId")
			c.Send(session, "Page.enable", nil)
			c.Send(session, "Page.addScriptToEvaluateOnNewDocument", params{"source": "window.injected = 'yes'"})
			_, _ = opened.Wait(silence)
			want(t, "window.open returned while held", opened.IsAnswered(), false)
			c.Send(session, "Runtime.runIfWaitingForDebugger", nil)
			_, err := opened.Wait(chromiumtest.Patience)
			succeed(t, "window.open", err)
			c.NextWhere("load", on(session, "Page.loadEventFired"))
			for string(c.Eval(session, "document.title")) != `"/first-script"` {
				c.NextWhere("load", on(session, "Page.loadEventFired"))
			}
			want(t, "injected before the first script", string(c.Eval(session, "seen")), `"yes"`)
		})
	}
	t.Run("an out-of-process frame", func(t *testing.T) {
		p := newAttachedPage(c, "")
		c.Must(p.Session, "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
		site.Set("/frame", `<iframe src="http://b.test/first-script"></iframe>`)
		c.Must(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/frame")})
		e := attached(c, p.Session, func(chromiumtest.Event) bool { return true })
		want(t, "waits", e.Param("waitingForDebugger"), "true")
		session := e.Param("sessionId")
		c.Must(session, "Page.enable", nil)
		c.Must(session, "Page.addScriptToEvaluateOnNewDocument", params{"source": "window.injected = 'yes'"})
		want(t, "the page has loaded while the frame is held", c.HasSeen(on(p.Session, "Page.loadEventFired"), 0) &&
			len(c.Events(on(session, "Page.frameNavigated"))) > 0, false)
		c.Must(session, "Runtime.runIfWaitingForDebugger", nil)
		c.NextWhere("the frame's stop", on(session, "Page.frameStoppedLoading"))
		want(t, "injected before the first script", string(c.Eval(session, "seen")), `"yes"`)
	})
}

// newAttachedPage is NewPage for a client with root auto-attach on.
func newAttachedPage(c *chromiumtest.Raw, url string) *chromiumtest.Page {
	target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank"}), "targetId")
	e := attached(c, "", ofTarget(target))
	p := &chromiumtest.Page{Raw: c, Target: target, Session: e.Param("sessionId")}
	c.Must(p.Session, "Page.enable", nil)
	c.Must(p.Session, "Runtime.enable", nil)
	c.Must(p.Session, "Runtime.runIfWaitingForDebugger", nil)
	if url != "" {
		p.Navigate(url)
	}
	return p
}

// Rule: pages are opened as about:blank, one reply awaited on the session,
// then navigated; createTarget{url} is not held.
func TestC30_CreateTargetIsNotHeld(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	site.Set("/first-script", `<title>/first-script</title><script>window.seen = String(window.injected)</script>`)
	rootAutoAttach(c, true)
	t.Run("the document comes though the target waits", func(t *testing.T) {
		target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": site.URL("http://a.test/first-script")}), "targetId")
		e := attached(c, "", ofTarget(target))
		want(t, "waits", e.Param("waitingForDebugger"), "true")
		session := e.Param("sessionId")
		c.Must(session, "Page.enable", nil)
		for string(c.Eval(session, "document.readyState + document.title")) != `"complete/first-script"` {
			if t.Context().Err() != nil {
				return
			}
		}
		want(t, "its first script ran", string(c.Eval(session, "seen")), `"undefined"`)
	})
	t.Run("the recipe injects every time", func(t *testing.T) {
		for range 15 {
			target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank"}), "targetId")
			session := attached(c, "", ofTarget(target)).Param("sessionId")
			c.Send(session, "Page.enable", nil)
			c.Send(session, "Page.addScriptToEvaluateOnNewDocument", params{"source": "window.injected = 'yes'"})
			reply := c.Send(session, "Page.getFrameTree", nil)
			c.Send(session, "Runtime.runIfWaitingForDebugger", nil)
			_, err := reply.Wait(chromiumtest.Patience)
			succeed(t, "the one awaited reply", err)
			p := &chromiumtest.Page{Raw: c, Target: target, Session: session}
			p.Navigate(site.URL("http://a.test/first-script"))
			want(t, "injected", string(c.Eval(session, "seen")), `"yes"`)
			p.CloseTarget()
		}
	})
}

// Rule: as C30. With the recipe no first-script dialog is missed; how many
// createTarget{url} misses is a race, and only logged.
func TestC31_FirstScriptDialogs(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	rootAutoAttach(c, true)
	for range 15 {
		p := newAttachedPage(c, "")
		p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/prompt-on-load")})
		opening(p)
		succeed(t, "answer", handle(c, p.Session, params{"accept": false}))
		p.CloseTarget()
	}
	missed := 0
	const tries = 5
	for range tries {
		target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": site.URL("http://a.test/prompt-on-load")}), "targetId")
		session := attached(c, "", ofTarget(target)).Param("sessionId")
		c.Send(session, "Page.enable", nil)
		c.Send(session, "Runtime.runIfWaitingForDebugger", nil)
		if !c.HasSeen(on(session, "Page.javascriptDialogOpening"), 2*silence) {
			missed++
		}
		c.Must("", "Target.closeTarget", params{"targetId": target})
	}
	t.Logf("createTarget with a URL: %d of %d first-script dialogs missed", missed, tries)
}

// Rule: on a popup both links have Page.enable before either resumes it. Who
// waits decides: a page made by createTarget runs once every waiting client
// has resumed it, a popup of window.open as soon as one has.
func TestC32_TwoWaitingClients(t *testing.T) {
	t.Parallel()
	two := func(t *testing.T) (*chromiumtest.Site, *chromiumtest.Raw, *chromiumtest.Raw) {
		b, site, c := ownStage(t)
		return site, c, chromiumtest.Dial(t, b.WS())
	}
	both := func(c, d *chromiumtest.Raw) {
		rootAutoAttach(c, true)
		rootAutoAttach(d, true)
	}
	t.Run("a created page waits for both", func(t *testing.T) {
		site, c, d := two(t)
		both(c, d)
		target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank"}), "targetId")
		s1, s2 := attached(c, "", ofTarget(target)).Param("sessionId"), attached(d, "", ofTarget(target)).Param("sessionId")
		c.Must(s1, "Page.enable", nil)
		c.Must(s1, "Runtime.runIfWaitingForDebugger", nil)
		navigation := c.Send(s1, "Page.navigate", params{"url": site.URL("http://a.test/prompt-on-load")})
		_, _ = navigation.Wait(silence)
		want(t, "navigates after one resumed", navigation.IsAnswered(), false)
		want(t, "requests", site.Hits("/prompt-on-load"), 0)
		d.Must(s2, "Page.enable", nil)
		d.Must(s2, "Runtime.runIfWaitingForDebugger", nil)
		c.NextWhere("opening", on(s1, "Page.javascriptDialogOpening"))
		d.NextWhere("opening", on(s2, "Page.javascriptDialogOpening"))
		succeed(t, "answer", handle(d, s2, params{"accept": false}))
	})
	t.Run("a popup waits for one", func(t *testing.T) {
		site, c, d := two(t)
		p := c.NewPage(site.URL("http://a.test/popup"))
		both(c, d)
		openPopup(p, "openChild()")
		s1, s2 := attached(c, "", openedBy(p.Target)).Param("sessionId"), attached(d, "", openedBy(p.Target)).Param("sessionId")
		c.Send(s1, "Page.enable", nil)
		c.Send(s1, "Runtime.runIfWaitingForDebugger", nil)
		c.NextWhere("opening", on(s1, "Page.javascriptDialogOpening"))
		d.Send(s2, "Page.enable", nil)
		d.Send(s2, "Runtime.runIfWaitingForDebugger", nil)
		want(t, "the second client hears of it", d.HasSeen(on(s2, "Page.javascriptDialogOpening"), silence), false)
		wantCode(t, handle(d, s2, params{"accept": true}), -32602)
		succeed(t, "answer", handle(c, s1, params{"accept": false}))
	})
	t.Run("a popup with Page enabled by both is heard by both", func(t *testing.T) {
		site, c, d := two(t)
		p := c.NewPage(site.URL("http://a.test/popup"))
		both(c, d)
		openPopup(p, "openChild()")
		s1, s2 := attached(c, "", openedBy(p.Target)).Param("sessionId"), attached(d, "", openedBy(p.Target)).Param("sessionId")
		c.Must(s1, "Page.enable", nil)
		d.Must(s2, "Page.enable", nil)
		c.Send(s1, "Runtime.runIfWaitingForDebugger", nil)
		c.NextWhere("opening", on(s1, "Page.javascriptDialogOpening"))
		d.NextWhere("opening", on(s2, "Page.javascriptDialogOpening"))
		succeed(t, "answer", handle(d, s2, params{"accept": false}))
	})
	t.Run("canAccessOpener tells who waits for whom", func(t *testing.T) {
		// With an opener that can reach it, a held popup answers Page.enable and
		// runs after the first resume; without, it answers only once all have
		// resumed it.
		for name, open := range map[string]string{
			"window.open":       `openChild()`,
			"to another site":   `openChild('http://b.test/prompt-on-load')`,
			"noopener":          `window.open('/prompt-on-load', '_blank', 'noopener')`,
			"a link":            `const a = document.createElement('a'); a.href = '/prompt-on-load'; a.target = '_blank'; document.body.append(a); a.click()`,
			"a link rel=opener": `const a = document.createElement('a'); a.href = '/prompt-on-load'; a.target = '_blank'; a.rel = 'opener'; document.body.append(a); a.click()`,
		} {
			t.Run(name, func(t *testing.T) {
				site, c, d := two(t)
				p := c.NewPage(site.URL("http://a.test/popup"))
				both(c, d)
				openPopup(p, site.URL(open))
				e := attached(c, "", openedBy(p.Target))
				s1, s2 := e.Param("sessionId"), attached(d, "", openedBy(p.Target)).Param("sessionId")
				reachable := info(e, "canAccessOpener") == "true"
				first, second := c.Send(s1, "Page.enable", nil), d.Send(s2, "Page.enable", nil)
				_, _ = first.Wait(silence)
				want(t, "answers while held", first.IsAnswered(), reachable)
				c.Send(s1, "Runtime.runIfWaitingForDebugger", nil)
				if reachable {
					_, err := second.Wait(chromiumtest.Patience)
					succeed(t, "the second's Page.enable", err)
				} else {
					want(t, "runs after one resumed", c.HasSeen(on(s1, "Page.javascriptDialogOpening"), silence), false)
				}
				d.Send(s2, "Runtime.runIfWaitingForDebugger", nil)
				c.NextWhere("opening", on(s1, "Page.javascriptDialogOpening"))
				d.NextWhere("opening", on(s2, "Page.javascriptDialogOpening"))
				succeed(t, "answer", handle(d, s2, params{"accept": false}))
			})
		}
	})
	t.Run("a frame waits for each in turn", func(t *testing.T) {
		site, c, d := two(t)
		p := c.NewPage(site.URL("http://a.test/plain"))
		session := d.Attach(p.Target)
		d.Must(session, "Page.enable", nil)
		frames := params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
		c.Must(p.Session, "Target.setAutoAttach", frames)
		d.Must(session, "Target.setAutoAttach", frames)
		c.Must(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/oopif-prompt-on-load")})
		anyTarget := func(chromiumtest.Event) bool { return true }
		first := attached(c, p.Session, anyTarget)
		want(t, "the second client is told meanwhile", d.HasSeen(on(session, "Target.attachedToTarget"), silence), false)
		c.Must(first.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
		second := attached(d, session, anyTarget)
		want(t, "waits for the second", second.Param("waitingForDebugger"), "true")
		want(t, "runs after one resumed", c.HasSeen(on(p.Session, "Page.javascriptDialogOpening"), silence), false)
		d.Must(second.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
		opening(p)
		succeed(t, "answer", handle(c, p.Session, params{"accept": false}))
	})
}

// task is an expression that needs the page's own event loop; a plain
// evaluation is answered even inside the loop that holds window.open.
var task = params{"expression": "new Promise(r => setTimeout(r, 1))", "awaitPromise": true}

// Rule: runIfWaitingForDebugger goes to every attached session, last and
// always, whatever the flag says.
func TestC33_ADropWithAHeldPopupFreezesTheOpener(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/popup"))
	holder := chromiumtest.Dial(t, b.WS())
	rootAutoAttach(holder, true)
	opened := openPopup(p, "openChild('/plain')")
	popup := info(attached(holder, "", openedBy(p.Target)), "targetId")
	holder.Close()
	waiting := p.Send(p.Session, "Runtime.evaluate", task)
	_, _ = waiting.Wait(silence)
	want(t, "the drop frees the opener", opened.IsAnswered() || waiting.IsAnswered(), false)

	again := chromiumtest.Dial(t, b.WS())
	rootAutoAttach(again, true)
	opener, child := attached(again, "", ofTarget(p.Target)), attached(again, "", ofTarget(popup))
	want(t, "waiting, says the opener", opener.Param("waitingForDebugger"), "false")
	want(t, "waiting, says the popup", child.Param("waitingForDebugger"), "false")
	_, _ = waiting.Wait(silence)
	want(t, "attaching frees it", opened.IsAnswered() || waiting.IsAnswered(), false)
	for _, e := range []chromiumtest.Event{opener, child} {
		again.Send(e.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
	}
	_, err := opened.Wait(chromiumtest.Patience)
	succeed(t, "window.open after the resume", err)
	_, err = waiting.Wait(chromiumtest.Patience)
	succeed(t, "the opener's tasks after the resume", err)
	_, err = again.Call(child.Param("sessionId"), "Runtime.evaluate", task)
	succeed(t, "the popup's tasks after the resume", err)
}

// Rule: the end of a popup that is held frees nothing; a resume of its opener does.
func TestC33_TheEndOfAHeldPopupLeavesItsOpenerFrozen(t *testing.T) {
	t.Parallel()
	for _, isDropped := range []bool{false, true} {
		b, site, c := ownStage(t)
		p := c.NewPage(site.URL("http://a.test/popup"))
		holder := chromiumtest.Dial(t, b.WS())
		rootAutoAttach(holder, true)
		opened := openPopup(p, "openChild('/plain')")
		popup := info(attached(holder, "", openedBy(p.Target)), "targetId")
		if isDropped {
			holder.Close()
		}
		c.Must("", "Target.closeTarget", params{"targetId": popup})
		waiting := p.Send(p.Session, "Runtime.evaluate", task)
		_, _ = waiting.Wait(silence)
		want(t, "the opener runs", opened.IsAnswered() || waiting.IsAnswered(), false)
		p.Send(p.Session, "Runtime.runIfWaitingForDebugger", nil)
		_, err := opened.Wait(chromiumtest.Patience)
		succeed(t, "window.open after the resume of the opener", err)
		_, err = waiting.Wait(chromiumtest.Patience)
		succeed(t, "the opener's tasks after its resume", err)
	}
}

// Rule: one resume of the popup is enough, from any client: one of two that hold it when
// the other drops, one that attached later, one that came back.
func TestC33_AnyResumeOfThePopupFreesItsOpener(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(opened func(*chromiumtest.Raw) string, dial func() *chromiumtest.Raw) (*chromiumtest.Raw, string){
		"one of two drops, the other resumes": func(popup func(*chromiumtest.Raw) string, dial func() *chromiumtest.Raw) (*chromiumtest.Raw, string) {
			first, second := dial(), dial()
			popup(first)
			session := popup(second)
			first.Close()
			return second, session
		},
		"one resumes who attached later": func(popup func(*chromiumtest.Raw) string, dial func() *chromiumtest.Raw) (*chromiumtest.Raw, string) {
			popup(dial())
			late := dial()
			return late, popup(late)
		},
		"the holder drops, one who comes back resumes the popup alone": func(popup func(*chromiumtest.Raw) string, dial func() *chromiumtest.Raw) (*chromiumtest.Raw, string) {
			first := dial()
			popup(first)
			first.Close()
			again := dial()
			return again, popup(again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, site, c := ownStage(t)
			p := c.NewPage(site.URL("http://a.test/popup"))
			var opened *chromiumtest.Pending
			resumer, session := hold(func(r *chromiumtest.Raw) string {
				if opened == nil {
					opened = openPopup(p, "openChild('/plain')")
				}
				return attached(r, "", openedBy(p.Target)).Param("sessionId")
			}, func() *chromiumtest.Raw {
				r := chromiumtest.Dial(t, b.WS())
				rootAutoAttach(r, true)
				return r
			})
			waiting := p.Send(p.Session, "Runtime.evaluate", task)
			_, _ = waiting.Wait(silence)
			want(t, "the opener runs while held", opened.IsAnswered() || waiting.IsAnswered(), false)
			resumer.Send(session, "Runtime.runIfWaitingForDebugger", nil)
			_, err := opened.Wait(chromiumtest.Patience)
			succeed(t, "window.open after the resume", err)
			_, err = waiting.Wait(chromiumtest.Patience)
			succeed(t, "the opener's tasks after the resume", err)
			_, err = resumer.Call(session, "Runtime.evaluate", task)
			succeed(t, "the popup's tasks after the resume", err)
		})
	}
}

// The flag lies in another case as well: a root auto-attach that asks for no
// waiting holds popups all the same, and says that it does not.
func TestC33_PopupsAreHeldWithoutWaiting(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/popup"))
	rootAutoAttach(c, false)
	opened := openPopup(p, "openChild('/plain')")
	e := attached(c, "", openedBy(p.Target))
	want(t, "waiting, says the popup", e.Param("waitingForDebugger"), "false")
	_, _ = opened.Wait(silence)
	want(t, "window.open returned", opened.IsAnswered(), false)
	c.Must(e.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
	_, err := opened.Wait(chromiumtest.Patience)
	succeed(t, "window.open after the resume", err)
}

// Rule: a link that ends turns auto-attach off, and resumes what was held meanwhile. No
// other way keeps popups from being held: neither without waiting nor by a filter.
func TestC33_OnlyAutoAttachThatIsOffHoldsNoPopup(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/popup"))
	holder := chromiumtest.Dial(t, b.WS())
	rootAutoAttach(holder, true)
	opened := openPopup(p, "openChild('/plain')")
	popup := info(attached(holder, "", openedBy(p.Target)), "targetId")
	holder.Must("", "Target.setAutoAttach", params{"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true})
	_, _ = opened.Wait(silence)
	want(t, "off frees what is held", opened.IsAnswered(), false)
	holder.Send(holder.Attach(popup), "Runtime.runIfWaitingForDebugger", nil)
	_, err := opened.Wait(chromiumtest.Patience)
	succeed(t, "window.open after the resume", err)
	_, err = openPopup(p, "openChild('/plain')").Wait(chromiumtest.Patience)
	succeed(t, "window.open while it is off", err)

	holder.Must("", "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []params{{"exclude": true}}})
	filtered := openPopup(p, "openChild('/plain')")
	_, _ = filtered.Wait(silence)
	want(t, "a popup runs that no filter takes", filtered.IsAnswered(), false)
	holder.Close()
}

// Rule: a popup is held in its opener's process. A dialog in the process that its document is
// to have does not keep it from being resumed, nor its opener from running.
func TestC70_APopupIsHeldInItsOpenersProcess(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/popup"))
	holder := chromiumtest.Dial(t, b.WS())
	rootAutoAttach(holder, true)
	open := func(path string) string {
		opened := openPopup(p, "openChild('"+site.URL("http://b.test"+path)+"')")
		session := attached(holder, "", openedBy(p.Target)).Param("sessionId")
		holder.Must(session, "Page.enable", nil)
		holder.Must(session, "Runtime.runIfWaitingForDebugger", nil)
		_, err := opened.Wait(chromiumtest.Patience)
		succeed(t, "window.open of "+path, err)
		return session
	}
	first := open("/plain?first")
	holder.NextWhere("the document", on(first, "Page.loadEventFired"))
	holder.Send(first, "Runtime.evaluate", params{"expression": "alert(1)"})
	holder.NextWhere("opening", on(first, "Page.javascriptDialogOpening"))
	second := open("/plain?second")
	want(t, "its document is there under the dialog", holder.HasSeen(on(second, "Page.loadEventFired"), silence), false)
	holder.Must(first, "Page.handleJavaScriptDialog", params{"accept": true})
	holder.NextWhere("the document", on(second, "Page.loadEventFired"))
}
