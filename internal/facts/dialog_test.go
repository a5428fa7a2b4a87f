package facts_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
)

// Rule: exactly-once answering is ours; a lost race is a typed result, and
// the anchor sees what the primary sees.
func TestM5_EverySessionHearsAndTheFirstAnswerWins(t *testing.T) {
	t.Parallel()
	site, one := stage(t)
	p := one.NewPage(site.URL("http://a.test/prompt"))
	two := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	second := two.Attach(p.Target)
	two.Must(second, "Page.enable", nil)
	third := two.Attach(p.Target) // without Page.enable

	ask(p)
	two.NextWhere("opening", on(second, "Page.javascriptDialogOpening"))
	wantCode(t, handle(two, third, params{"accept": true}), -32602)
	succeed(t, "first answer", handle(two, second, params{"accept": true, "promptText": "first"}))
	wantCode(t, handle(one, p.Session, params{"accept": true, "promptText": "late"}), -32602)
	want(t, "closed on the answerer", two.NextWhere("closed", on(second, "Page.javascriptDialogClosed")).Param("userInput"), "first")
	want(t, "closed on the loser", closed(p).Param("userInput"), "first")
	want(t, "page got", string(p.Eval(p.Session, "got")), `"first"`)
	want(t, "events without Page.enable", len(two.Events(on(third, "Page.javascriptDialogOpening"))), 0)
}

// Rule: a dialog is answered on the top page's session and attributed to its
// frame by frameId.
func TestM6_FrameDialogsArriveOnTheTopPage(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	for _, tc := range []struct {
		depth       int
		path, frame string
	}{{1, "/oopif-prompt", "http://b.test/prompt"}, {3, "/nested", "http://d.test/prompt"}} {
		p := c.NewPage(site.URL("http://a.test" + tc.path))
		sessions := p.AutoAttach(tc.depth)
		frame, session := p.Frame(sessions, site.URL(tc.frame))
		for _, s := range sessions {
			p.Must(s, "Page.enable", nil)
		}
		p.Start(session, "ask()")
		e := opening(p)
		want(t, "frame id", e.Param("frameId"), frame)
		want(t, "url", site.Written(e.Param("url")), tc.frame)
		err := handle(c, session, params{"accept": true})
		wantCode(t, err, -32000)
		if err == nil || !strings.Contains(err.Error(), "top-level targets") {
			t.Errorf("answer on the frame's session: %v", err)
		}
		succeed(t, "answer on the page", handle(c, p.Session, params{"accept": true, "promptText": "x"}))
		want(t, "closed frame id", closed(p).Param("frameId"), frame)
		want(t, "frame got", string(p.Eval(session, "got")), `"x"`)
		for _, s := range sessions {
			want(t, "events on a frame's session", len(p.Events(on(s, "Page.javascriptDialogOpening"))), 0)
		}
	}
}

// Rule: navigate is refused under a dialog unless forced, and returns early
// when a dialog opens.
func TestM9_NavigateClosesADialogAndWaitsForBeforeunload(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	t.Run("a navigation closes the dialog with false", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/alert"))
		ask(p)
		p.Navigate(site.URL("http://a.test/plain"))
		want(t, "result", closed(p).Param("result"), "false")
	})
	t.Run("beforeunload holds the reply", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/beforeunload"))
		p.Activate()
		navigation := p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		want(t, "type", opening(p).Param("type"), "beforeunload")
		if _, err := navigation.Wait(silence); err == nil {
			t.Error("navigate replied while beforeunload was open")
		}
		succeed(t, "answer", handle(c, p.Session, params{"accept": true}))
		if _, err := navigation.Wait(chromiumtest.Patience); err != nil {
			t.Errorf("navigate after the answer: %v", err)
		}
	})
}

// Rule: an accepted prompt without text returns its default from us, since
// Chromium would return an empty string.
func TestC3_AcceptWithoutTextIsEmpty(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	p := c.NewPage(site.URL("http://a.test/prompt"))
	for _, tc := range []struct {
		name       string
		answer     params
		page       string
		text, echo string
	}{
		{"accept without text", params{"accept": true}, `""`, "true", ""},
		{"accept with text", params{"accept": true, "promptText": "t"}, `"t"`, "true", "t"},
		{"dismiss", params{"accept": false}, `null`, "false", ""},
		{"dismiss with text", params{"accept": false, "promptText": "t"}, `null`, "false", "t"},
	} {
		e := ask(p)
		want(t, "default", e.Param("defaultPrompt"), "dflt")
		want(t, "has browser handler", e.Param("hasBrowserHandler"), "true")
		succeed(t, tc.name, handle(c, p.Session, tc.answer))
		e = closed(p)
		want(t, tc.name+": result", e.Param("result"), tc.text)
		want(t, tc.name+": user input", e.Param("userInput"), tc.echo)
		want(t, tc.name+": page got", string(p.Eval(p.Session, "got")), tc.page)
	}
}

// Rule: dialogs belong to the page's session, whatever kind of frame raised
// them; Page.enable on the frame's session is irrelevant.
func TestC7_EveryKindOfFrameReportsOnThePage(t *testing.T) {
	t.Parallel()
	site := chromiumtest.Serve(t)
	const script = `<script>top.postMessage(prompt('q', 'd'), '*')</script>`
	site.Set("/asks", script)
	site.Set("/holds-asks", `<iframe src="http://c.test/asks"></iframe>`)
	site.Set("/holds-a", `<iframe src="http://a.test/asks"></iframe>`)
	site.Set("/top", `<script>
		addEventListener('message', e => window.got = e.data);
		function add(attributes) {
			window.got = undefined;
			const f = document.createElement('iframe');
			for (const name in attributes) f.setAttribute(name, attributes[name]);
			document.documentElement.append(f);
			return f;
		}
		function addBlank() { const d = add({}).contentDocument; d.open(); d.write('<scr'+'ipt>top.postMessage(prompt("q", "d"), "*")</scr'+'ipt>'); d.close() }
	</script>`)
	for _, tc := range []struct{ name, add, url string }{
		{"same origin", `add({src: '/asks'})`, "http://a.test/asks"},
		{"out of process", `add({src: 'http://b.test/asks'})`, "http://b.test/asks"},
		{"nested out of process", `add({src: 'http://b.test/holds-asks'})`, "http://c.test/asks"},
		{"A-B-A", `add({src: 'http://b.test/holds-a'})`, "http://a.test/asks"},
		{"srcdoc", "add({srcdoc: `" + strings.ReplaceAll(script, "</script>", `<\/script>`) + "`})", "about:srcdoc"},
		{"data", "add({src: 'data:text/html,' + encodeURIComponent(`" + strings.ReplaceAll(script, "</script>", `<\/script>`) + "`)})", "data:"},
		{"about:blank", `addBlank()`, ""},
		{"sandbox with allow-modals", `add({src: '/asks', sandbox: 'allow-scripts allow-modals'})`, "http://a.test/asks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
			p := c.NewPage(site.URL("http://a.test/top"))
			p.AutoAttach(0)
			p.Start(p.Session, site.URL(tc.add))
			e := opening(p)
			if e.Param("frameId") == p.Target || e.Param("frameId") == "" {
				t.Errorf("frame id %q is not the frame's", e.Param("frameId"))
			}
			if !strings.HasPrefix(site.Written(e.Param("url")), tc.url) {
				t.Errorf("url %q, want %q", e.Param("url"), tc.url)
			}
			succeed(t, "answer", handle(c, p.Session, params{"accept": true, "promptText": "yes"}))
			want(t, "closed frame id", closed(p).Param("frameId"), e.Param("frameId"))
			want(t, "page got", string(p.Eval(p.Session, "(async () => { while (window.got === undefined) await new Promise(r => setTimeout(r, 5)); return got })()")), `"yes"`)
			for _, seen := range p.Events(func(e chromiumtest.Event) bool { return e.Method == "Page.javascriptDialogOpening" }) {
				want(t, "session of the event", seen.Session, p.Session)
			}
		})
	}
}

// Rule: beforeunload is answered at once by policy; a reload and a close that
// reply may still not have happened.
func TestC10_Beforeunload(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	fresh := func(activate bool) *chromiumtest.Page {
		p := c.NewPage(site.URL("http://a.test/beforeunload"))
		if activate {
			p.Activate()
		}
		return p
	}
	stays := func(t *testing.T, p *chromiumtest.Page) {
		t.Helper()
		e := opening(p)
		want(t, "type", e.Param("type"), "beforeunload")
		want(t, "message", e.Param("message"), "")
		succeed(t, "dismiss", handle(c, p.Session, params{"accept": false}))
		want(t, "result", closed(p).Param("result"), "false")
		want(t, "title", string(p.Eval(p.Session, "document.title")), `"/beforeunload"`)
	}
	t.Run("no activation, no dialog", func(t *testing.T) {
		p := fresh(false)
		p.Navigate(site.URL("http://a.test/plain"))
		want(t, "dialogs", len(p.Events(on(p.Session, "Page.javascriptDialogOpening"))), 0)
	})
	t.Run("navigate replies with an abort", func(t *testing.T) {
		p := fresh(true)
		navigation := p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		stays(t, p)
		reply, err := navigation.Wait(chromiumtest.Patience)
		succeed(t, "navigate", err)
		want(t, "error text", chromiumtest.Field(reply, "errorText"), "net::ERR_ABORTED")
	})
	t.Run("reload replies at once", func(t *testing.T) {
		p := fresh(true)
		p.Must(p.Session, "Page.reload", nil)
		stays(t, p)
	})
	t.Run("close replies at once", func(t *testing.T) {
		p := fresh(true)
		p.Must(p.Session, "Page.close", nil)
		stays(t, p)
	})
	t.Run("location", func(t *testing.T) {
		p := fresh(true)
		assignment := p.Send(p.Session, "Runtime.evaluate", params{"expression": "void (location = '/plain')"})
		want(t, "type", opening(p).Param("type"), "beforeunload")
		// The dialog opens inside the assignment.
		if _, err := assignment.Wait(silence); !errors.Is(err, chromiumtest.ErrNoReply) {
			t.Errorf("the assignment returned while the dialog was open: %v", err)
		}
		succeed(t, "dismiss", handle(c, p.Session, params{"accept": false}))
		_, err := assignment.Wait(chromiumtest.Patience)
		succeed(t, "assignment", err)
		want(t, "title", string(p.Eval(p.Session, "document.title")), `"/beforeunload"`)
	})
	t.Run("closeTarget asks nobody", func(t *testing.T) {
		p := fresh(true)
		p.CloseTarget()
		p.NextWhere("detached", func(e chromiumtest.Event) bool {
			return e.Method == "Target.detachedFromTarget" && e.Param("sessionId") == p.Session
		})
		want(t, "dialogs", len(p.Events(on(p.Session, "Page.javascriptDialogOpening"))), 0)
	})
	t.Run("window.close is refused", func(t *testing.T) {
		p := fresh(true)
		p.Must(p.Session, "Runtime.evaluate", params{"expression": "window.close()"})
		want(t, "title", string(p.Eval(p.Session, "document.title")), `"/beforeunload"`)
		want(t, "dialogs", len(p.Events(on(p.Session, "Page.javascriptDialogOpening"))), 0)
	})
	t.Run("a frame's beforeunload comes on the page", func(t *testing.T) {
		site.Set("/holder", `<iframe id=f src="http://b.test/beforeunload"></iframe>`)
		p := c.NewPage(site.URL("http://a.test/holder"))
		frame, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/beforeunload"))
		p.Must(session, "Runtime.evaluate", params{"expression": "1", "userGesture": true})
		p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		e := opening(p)
		want(t, "type", e.Param("type"), "beforeunload")
		want(t, "frame", e.Param("frameId"), frame)
		succeed(t, "accept", handle(c, p.Session, params{"accept": true}))
	})
}

// Rule: Closed with result false may come without an answer of ours; it ends
// the dialog in the books.
func TestC13_WhatClosesADialogByItself(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	t.Run("navigate", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/confirm"))
		ask(p)
		p.Must(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
		want(t, "result", closed(p).Param("result"), "false")
	})
	t.Run("closeTarget", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/confirm"))
		ask(p)
		p.CloseTarget()
		want(t, "result", closed(p).Param("result"), "false")
	})
	t.Run("crash of the renderer", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/confirm"))
		ask(p)
		killRenderers(t, c)
		want(t, "result", closed(p).Param("result"), "false")
	})
}

// Rule: a second dialog of one page closes the first and is orphaned; the
// pair ends in a release.
func TestC14_TwoAtOnceOrphanTheSecond(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/two-oopifs"))
	sessions := p.AutoAttach(2)
	first, firstSession := p.Frame(sessions, site.URL("http://b.test/confirm"))
	second, secondSession := p.Frame(sessions, site.URL("http://c.test/confirm"))
	p.Start(firstSession, "ask()")
	want(t, "first opening", opening(p).Param("frameId"), first)
	p.Start(secondSession, "ask()")
	want(t, "second opening", opening(p).Param("frameId"), second)
	e := closed(p)
	want(t, "closed frame", e.Param("frameId"), first)
	want(t, "result", e.Param("result"), "false")
	wantCode(t, handle(c, p.Session, params{"accept": true}), -32602)
	want(t, "first page got", string(p.Eval(firstSession, "got")), "false")
	want(t, "the second's frame hangs", p.DoesHang(secondSession, "Runtime.evaluate", params{"expression": "1"}, silence), true)
	// A reload frees it, at the price of the page.
	p.NextWhere("first load", on(p.Session, "Page.loadEventFired"))
	p.Must(p.Session, "Page.reload", nil)
	p.NextWhere("load after the reload", on(p.Session, "Page.loadEventFired"))
	want(t, "title", string(p.Eval(p.Session, "document.title")), `"/two-oopifs"`)
}
