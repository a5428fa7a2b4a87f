package facts_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

var pagesOnly = []params{{"type": "page"}}

// rootAutoAttach has every page attached on the browser's own session.
func rootAutoAttach(c *chromiumtest.Raw, wait bool) {
	c.Must("", "Target.setAutoAttach", params{
		"autoAttach": true, "waitForDebuggerOnStart": wait, "flatten": true, "filter": pagesOnly,
	})
}

// attached waits for the attach of a target; parent "" is the root session.
func attached(c *chromiumtest.Raw, parent string, match func(chromiumtest.Event) bool) chromiumtest.Event {
	return c.NextWhere("Target.attachedToTarget", func(e chromiumtest.Event) bool {
		return on(parent, "Target.attachedToTarget")(e) && match(e)
	})
}

func ofTarget(target string) func(chromiumtest.Event) bool {
	return func(e chromiumtest.Event) bool { return info(e, "targetId") == target }
}

func openedBy(target string) func(chromiumtest.Event) bool {
	return func(e chromiumtest.Event) bool { return info(e, "openerId") == target }
}

// Rule: what a link sends and takes is bounded, each message with a typed
// error of its own.
func TestM15_LargeCommands(t *testing.T) {
	t.Parallel()
	_, _, c := ownStage(t)
	p := c.NewPage("")
	large := func(size int) *chromiumtest.Pending {
		return p.Send(p.Session, "Runtime.evaluate", params{"expression": "'" + strings.Repeat("x", size) + "'.length", "returnByValue": true})
	}
	reply, err := large(64 << 20).Wait(chromiumtest.Patience)
	succeed(t, "64 MiB", err)
	want(t, "length", chromiumtest.Field(json.RawMessage(chromiumtest.Field(reply, "result")), "value"), "67108864")
	// More than Chromium takes costs the whole link, not the one command.
	_, err = large(120 << 20).Wait(chromiumtest.Patience)
	if !errors.Is(err, chromiumtest.ErrGone) {
		t.Errorf("120 MiB: %v, want the end of the connection", err)
	}
}

// trouble opens a page with a dialog that cannot be answered, a busy page and a crashed
// page, and returns their targets.
func trouble(t *testing.T, b *chromiumtest.Browser, site *chromiumtest.Site, c *chromiumtest.Raw) map[string]string {
	t.Helper()
	// The dialog's only client goes away, so that no session of it is left.
	gone := chromiumtest.Dial(t, b.WS())
	dialog := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank"}), "targetId")
	session := gone.Attach(dialog)
	gone.Must(session, "Page.enable", nil)
	gone.Must(session, "Page.navigate", params{"url": site.URL("http://d.test/alert-on-load")})
	gone.NextWhere("opening", on(session, "Page.javascriptDialogOpening"))

	busy := c.NewPage(site.URL("http://e.test/busy"))
	busy.Start(busy.Session, "console.log('spinning'); spin()")
	busy.NextWhere("spinning", on(busy.Session, "Runtime.consoleAPICalled"))

	crashed := c.NewPage(site.URL("http://f.test/plain"))
	crashed.Must(crashed.Session, "Inspector.enable", nil)
	crashed.Send(crashed.Session, "Page.crash", nil)
	crashed.NextWhere("crash", on(crashed.Session, "Inspector.targetCrashed"))

	gone.Close()
	return map[string]string{"dialog": dialog, "busy": busy.Target, "crashed": crashed.Target}
}

// Rule: attach sends everything at once and awaits nothing; a page that does
// not answer delays no other.
func TestC23_TroubledPagesDelayNoOther(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	healthy := map[string]bool{}
	for range 4 {
		healthy[c.NewPage(site.URL("http://a.test/oopif")).Target] = true
	}
	troubled := trouble(t, b, site, c)

	for round := range 3 {
		second := chromiumtest.Dial(t, b.WS())
		begun := time.Now()
		rootAutoAttach(second, true)
		ready := map[string]*chromiumtest.Pending{}
		for _, e := range second.Events(on("", "Target.attachedToTarget")) {
			session := e.Param("sessionId")
			for _, method := range []string{"Inspector.enable", "Page.enable", "Runtime.enable"} {
				second.Send(session, method, nil)
			}
			second.Send(session, "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
			ready[info(e, "targetId")] = second.Send(session, "Page.getFrameTree", nil)
			second.Send(session, "Runtime.runIfWaitingForDebugger", nil)
		}
		for target := range healthy {
			if _, err := ready[target].Wait(chromiumtest.Patience); err != nil {
				t.Errorf("round %d: healthy page: %v", round, err)
			}
		}
		t.Logf("round %d: healthy pages ready after %v", round, time.Since(begun))
		for name, target := range troubled {
			if ready[target] == nil || ready[target].IsAnswered() {
				t.Errorf("round %d: the %s page is not attached, or answers", round, name)
			}
		}
		second.Close()
	}
}

// Rule: what has not answered after some 300 ms is classified by one probe.
func TestC24_TheClassifier(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	troubled := trouble(t, b, site, c)
	probe := func(target string) (enabled, key *chromiumtest.Pending, session string, second *chromiumtest.Raw) {
		second = chromiumtest.Dial(t, b.WS())
		session = second.Attach(target)
		second.Must(session, "Inspector.enable", nil)
		enabled = second.Send(session, "Page.enable", nil)
		_, _ = enabled.Wait(silence)
		want(t, "Page.enable answered", enabled.IsAnswered(), false)
		return enabled, second.Send(session, "Input.dispatchKeyEvent", params{"type": "keyUp", "key": "Shift"}), session, second
	}
	t.Run("dialog", func(t *testing.T) {
		_, key, _, _ := probe(troubled["dialog"])
		_, err := key.Wait(chromiumtest.Patience)
		succeed(t, "key event", err)
	})
	t.Run("busy", func(t *testing.T) {
		_, key, session, second := probe(troubled["busy"])
		_, _ = key.Wait(silence)
		want(t, "key event answered", key.IsAnswered(), false)
		want(t, "crashed", len(second.Events(on(session, "Inspector.targetCrashed"))), 0)
	})
	t.Run("crashed", func(t *testing.T) {
		_, _, session, second := probe(troubled["crashed"])
		second.NextWhere("crash", on(session, "Inspector.targetCrashed"))
	})
}

// Rule: one recipe for connect and reconnect, whatever exists already.
func TestC26_RootAutoAttach(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	site.SetType("/worker.js", "text/javascript", "onconnect = () => {}")
	site.Set("/worker", `<title>/worker</title><script>window.w = new SharedWorker('/worker.js')</script>`)
	old := c.NewPage(site.URL("https://a.test/worker"))

	second := chromiumtest.Dial(t, b.WS())
	enable := func(filter any) {
		p := params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
		if filter != nil {
			p["filter"] = filter
		}
		second.Must("", "Target.setAutoAttach", p)
	}
	count := func() map[string]int {
		kinds := map[string]int{}
		for _, e := range second.Events(on("", "Target.attachedToTarget")) {
			kinds[info(e, "type")]++
		}
		return kinds
	}
	enable(pagesOnly)
	// The reply is here; so are the events of what exists.
	found := second.Events(func(e chromiumtest.Event) bool {
		return on("", "Target.attachedToTarget")(e) && ofTarget(old.Target)(e)
	})
	want(t, "attached before the reply", len(found), 1)
	for _, e := range second.Events(on("", "Target.attachedToTarget")) {
		want(t, "existing target waits", e.Param("waitingForDebugger"), "false")
	}
	pages := count()["page"]
	want(t, "kinds with a filter for pages", len(count()), 1)
	enable(pagesOnly)
	want(t, "pages after a repetition", count()["page"], pages)
	enable(nil)
	want(t, "pages after a wider filter", count()["page"], pages)
	want(t, "shared workers after a wider filter", count()["shared_worker"], 1)
	t.Logf("all kinds: %v", count())

	created := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank"}), "targetId")
	e := attached(second, "", ofTarget(created))
	want(t, "new target waits", e.Param("waitingForDebugger"), "true")
	second.Must(e.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
}

// Rule: the root filter is {type: page}; the browser's own surfaces are never
// attached.
func TestC27_TheDefaultFilterTakesBrowserSurfaces(t *testing.T) {
	t.Parallel()
	b, _, _ := ownStage(t)
	kinds := func(filter any) map[string]int {
		c := chromiumtest.Dial(t, b.WS())
		p := params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}
		if filter != nil {
			p["filter"] = filter
		}
		c.Must("", "Target.setAutoAttach", p)
		found := map[string]int{}
		for _, e := range c.Events(on("", "Target.attachedToTarget")) {
			found[info(e, "type")]++
		}
		return found
	}
	if kinds(nil)["browser_ui"] == 0 {
		t.Errorf("default filter: %v, want browser_ui among them", kinds(nil))
	}
	only := kinds(pagesOnly)
	if len(only) != 1 || only["page"] == 0 {
		t.Errorf("filter for pages: %v", only)
	}
	workers := kinds([]params{{"type": "browser", "exclude": true}, {"type": "tab", "exclude": true}, {"type": "browser_ui", "exclude": true}, {}})
	want(t, "surfaces with the filter for workers", workers["browser_ui"], 0)
	c := chromiumtest.Dial(t, b.WS())
	_, err := c.Call("", "Target.setAutoAttach", params{
		"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []params{{}},
	})
	if err == nil || !strings.Contains(err.Error(), "simultaneously allow") {
		t.Errorf("filter [{}]: %v, want a refusal", err)
	}
}

// Rule: setAutoAttach goes to every page and every frame session; popups come
// on the root session alone.
func TestC28_WhereChildrenAreReported(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/nested"))
	frames := params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}
	parent, target := p.Session, p.Target
	for _, host := range []string{"b", "c", "d"} {
		want(t, "before setAutoAttach", len(c.Events(on(parent, "Target.attachedToTarget"))), 0)
		c.Must(parent, "Target.setAutoAttach", frames)
		e := attached(c, parent, func(chromiumtest.Event) bool { return true })
		want(t, "type", info(e, "type"), "iframe")
		want(t, "parent frame", info(e, "parentFrameId"), target)
		if !strings.HasPrefix(site.Written(info(e, "url")), "http://"+host+".test") {
			t.Errorf("frame at %s, want host %s", info(e, "url"), host)
		}
		parent, target = e.Param("sessionId"), info(e, "targetId")
	}
	q := c.NewPage(site.URL("http://a.test/popup"))
	c.Must(q.Session, "Target.setAutoAttach", frames)
	rootAutoAttach(c, true)
	opened := openPopup(q, "openChild('/plain')")
	popup := attached(c, "", openedBy(q.Target))
	c.Must(popup.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
	_, err := opened.Wait(chromiumtest.Patience)
	succeed(t, "window.open", err)
	want(t, "popups on the page's session", len(c.Events(on(q.Session, "Target.attachedToTarget"))), 0)
}

// Rule: a page's scripts of ours are installed per session, again after each
// attach.
func TestC34_NewDocumentScripts(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	marked := func(p *chromiumtest.Page, session string) string {
		return strings.Trim(string(p.Eval(session, "String(window.mark)")), `"`)
	}
	script := params{"source": "window.mark = (window.mark || 0) + 1"}
	t.Run("only while Page is enabled on the session", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/plain"))
		session := c.Attach(p.Target)
		c.Must(session, "Page.addScriptToEvaluateOnNewDocument", script)
		p.Navigate(site.URL("http://a.test/prompt"))
		want(t, "mark without Page.enable", marked(p, p.Session), "undefined")
		c.Must(session, "Page.enable", nil)
		p.Navigate(site.URL("http://a.test/plain"))
		t.Logf("mark after a later Page.enable: %s", marked(p, p.Session))
		c.Must(session, "Page.addScriptToEvaluateOnNewDocument", script)
		p.Navigate(site.URL("http://a.test/prompt"))
		if marked(p, p.Session) == "undefined" {
			t.Error("no mark with Page.enable")
		}
		c.Must("", "Target.detachFromTarget", params{"sessionId": session})
		p.Navigate(site.URL("http://a.test/plain"))
		want(t, "mark after the session", marked(p, p.Session), "undefined")
	})
	t.Run("per target", func(t *testing.T) {
		p := c.NewPage("")
		p.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", script)
		p.Navigate(site.URL("http://a.test/oopif"))
		_, frame := p.Frame(p.AutoAttach(1), site.URL("http://b.test/plain"))
		want(t, "mark of the page", marked(p, p.Session), "1")
		want(t, "mark of the frame", marked(p, frame), "undefined")
	})
	t.Run("at once on request", func(t *testing.T) {
		p := c.NewPage(site.URL("http://a.test/plain"))
		p.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", script)
		want(t, "mark", marked(p, p.Session), "undefined")
		p.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": script["source"], "runImmediately": true})
		want(t, "mark with runImmediately", marked(p, p.Session), "1")
	})
}

// Rule: a client that only watches attaches to frames one by one. A frame of another
// process that is held for one client loses its session when any client sends
// Target.setAutoAttach on the page, with or without waiting, also the holder itself; the
// frame stays held, and its page without its load event, until the client that held it ends
// its auto-attach.
func TestC33_AHeldFrameIsTornFromWhoHoldsIt(t *testing.T) {
	t.Parallel()
	frames := func(on, hold bool) params {
		return params{"autoAttach": on, "waitForDebuggerOnStart": hold, "flatten": true}
	}
	for name, c := range map[string]struct {
		meanwhile func(holder, other *chromiumtest.Raw, p *chromiumtest.Page, frame string)
		torn      bool
	}{
		"nothing":              {func(_, _ *chromiumtest.Raw, _ *chromiumtest.Page, _ string) {}, false},
		"a session of another": {func(_, other *chromiumtest.Raw, p *chromiumtest.Page, _ string) { other.Attach(p.Target) }, false},
		"another looks on": {func(_, other *chromiumtest.Raw, p *chromiumtest.Page, _ string) {
			other.Must(other.Attach(p.Target), "Target.setAutoAttach", frames(true, false))
		}, true},
		"another holds": {func(_, other *chromiumtest.Raw, p *chromiumtest.Page, _ string) {
			other.Must(other.Attach(p.Target), "Target.setAutoAttach", frames(true, true))
		}, true},
		"the same, once more": {func(holder, _ *chromiumtest.Raw, p *chromiumtest.Page, _ string) {
			holder.Must(p.Session, "Target.setAutoAttach", frames(true, true))
		}, true},
		"another goes to the frame": {func(_, other *chromiumtest.Raw, _ *chromiumtest.Page, frame string) {
			other.Send(other.Attach(frame), "Page.enable", nil)
		}, false},
		"another goes to the frame and drops": {func(_, other *chromiumtest.Raw, _ *chromiumtest.Page, frame string) {
			other.Attach(frame)
			other.Close()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, holder := stage(t)
			other := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
			p := holder.NewPage(site.URL("http://a.test/plain"))
			p.Must(p.Session, "Target.setAutoAttach", frames(true, true))
			p.Start(p.Session, site.Written("const f = document.createElement('iframe'); f.src = 'http://b.test/plain'; f.onload = () => console.log('loaded'); document.body.append(f)"))
			p.Must(p.Session, "Runtime.enable", nil)
			loaded := on(p.Session, "Runtime.consoleAPICalled")
			e := p.NextWhere("attach", on(p.Session, "Target.attachedToTarget"))
			c.meanwhile(holder, other, p, info(e, "targetId"))
			want(t, "torn", p.HasSeen(on(p.Session, "Target.detachedFromTarget"), silence), c.torn)
			_, err := p.Call(e.Param("sessionId"), "Runtime.runIfWaitingForDebugger", nil)
			want(t, "refused", err != nil, c.torn)
			if !c.torn {
				p.NextWhere("the load", loaded)
				return
			}
			p.Must(p.Session, "Runtime.runIfWaitingForDebugger", nil)
			want(t, "loaded", p.HasSeen(loaded, silence), false)
			p.Must(p.Session, "Target.setAutoAttach", frames(false, false))
			p.NextWhere("the load", loaded)
		})
	}
}

// Rule: a page that a lost link has made is known by the address that it was given.
func TestC72_TheFirstEventOfAPageHasTheFragmentOfItsAddress(t *testing.T) {
	t.Parallel()
	b, _, c := ownStage(t)
	const url = "about:blank#made-by-a-test"
	c.Must("", "Target.setDiscoverTargets", params{"discover": true})
	c.Must("", "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
	made := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": url, "newWindow": true}), "targetId")
	later := chromiumtest.Dial(t, b.WS())
	later.Must("", "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
	for client, methods := range map[*chromiumtest.Raw][]string{c: {"Target.targetCreated", "Target.attachedToTarget"}, later: {"Target.attachedToTarget"}} {
		for _, method := range methods {
			told := client.Events(func(e chromiumtest.Event) bool { return e.Method == method && info(e, "targetId") == made })
			if len(told) != 1 || info(told[0], "url") != url {
				t.Errorf("%s: %v", method, told)
			}
		}
	}
}
