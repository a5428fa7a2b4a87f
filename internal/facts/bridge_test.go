package facts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
)

// waiting is the name of the script whose pauses count; every other one is
// blackboxed.
const waiting = "facts-5f2c"

var blackbox = params{"patterns": []string{"^(?!" + waiting + "$)"}, "skipAnonymous": true}

// pausing replaces confirm by a function that stops in the debugger, up to three times,
// until the answer is set.
const pausing = `(() => {
	function ask(n) { 'use strict'; let answer; debugger; return n === undefined ? n : answer; }
	window.confirm = m => { for (let i = 0; i < 3; i++) { const a = ask.call('said ' + m, i); if (a !== undefined) return a } return 'nobody' };
})()
//# sourceURL=` + waiting

// stepping is pausing with the three times within the function that stops, and room for
// steps: after one that comes to the debugger statement the next call does not stop.
const stepping = `(() => {
	function ask(n) {
		'use strict';
		let answer, tries = 0;
		while (answer === undefined && tries < 3) {
			debugger;
			for (let steps = 0; steps < 16; steps++);
			tries++;
		}
		return n === undefined ? n : answer;
	}
	window.confirm = m => ask.call('said ' + m, 1);
})()
//# sourceURL=` + waiting

func debugs(r *chromiumtest.Raw, session string) {
	r.Must(session, "Debugger.setBlackboxPatterns", blackbox)
	r.Must(session, "Debugger.enable", nil)
}

// pausingPage is a page whose confirm waits in the debugger, and its document.
func pausingPage(c *chromiumtest.Raw, url string) *chromiumtest.Page {
	p := c.NewPage("")
	debugs(c, p.Session)
	c.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": pausing, "runImmediately": true})
	p.Navigate(url)
	return p
}

// stop is a pause in one of our functions.
type stop struct{ frame, said string }

func paused(r *chromiumtest.Raw, session string) stop {
	e := r.NextWhere("a pause", on(session, "Debugger.paused"))
	var p struct {
		CallFrames []struct {
			CallFrameID string
			This        struct{ Value any }
		}
	}
	_ = json.Unmarshal(e.Params, &p)
	said, _ := p.CallFrames[0].This.Value.(string)
	return stop{p.CallFrames[0].CallFrameID, said}
}

func (s stop) answer(r *chromiumtest.Raw, session, value string) error {
	if _, err := r.Call(session, "Debugger.evaluateOnCallFrame", params{"callFrameId": s.frame, "expression": "answer=" + value}); err != nil {
		return err
	}
	_, err := r.Call(session, "Debugger.resume", nil)
	return err
}

// Rule: the event that says that a page waits carries all there is to say, and
// whose frame it is; no question has to be asked before the dialog is told of.
func TestC47_APauseSaysWhatIsAskedAndWhere(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	site.Set("/holds", `<title>/holds</title><iframe id=f src="/plain"></iframe>`)
	p := pausingPage(c, site.URL("http://a.test/holds"))
	long := strings.Repeat("x", 1<<20)
	for expression, said := range map[string]string{"confirm('m')": "m", "f.contentWindow.confirm('below')": "below", "confirm('x'.repeat(1<<20))": long} {
		c.Start(p.Session, "window.got = "+expression)
		s := paused(c, p.Session)
		want(t, "this", s.said == "said "+said, true)
		// isolate.context.depth; and the context is that of our script in the frame.
		context := strings.Split(s.frame, ".")[1]
		found := false
		for _, e := range c.Events(on(p.Session, "Debugger.scriptParsed")) {
			aux := json.RawMessage(e.Param("executionContextAuxData"))
			if e.Param("url") == waiting && e.Param("executionContextId") == context {
				found = true
				want(t, "of the page itself", chromiumtest.Field(aux, "frameId") == p.Target, said != "below")
			}
		}
		want(t, "the context is known", found, true)
		succeed(t, "answer", s.answer(c, p.Session, "true"))
		want(t, "page got", string(p.Eval(p.Session, "got")), "true")
	}
}

// Rule: pages may be full of debugger statements; no event reports them.
func TestC47_ThePagesOwnDebuggerStatementsAreSilent(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	site.Set("/debugs", `<title>/debugs</title><script>debugger; window.ran = 1</script><script src="/debugs.js"></script>`)
	site.SetType("/debugs.js", "text/javascript", "debugger; window.ran++")
	p := pausingPage(c, site.URL("http://a.test/debugs"))
	want(t, "ran", string(p.Eval(p.Session, "ran")), "2")
	for _, s := range []string{"debugger", "eval('debugger')", "new Function('debugger')()", "eval('debugger;\\n//# sourceURL=x.js')"} {
		p.Eval(p.Session, s+"; 1")
	}
	want(t, "pauses", len(c.Events(on(p.Session, "Debugger.paused"))), 0)
}

// Rule: the anchor keeps the pauses that the primary leaves, and so does a client that
// comes later; a page resumes by itself only once the last client is gone.
func TestC47_APauseHoldsUntilTheLastDebuggerIsGone(t *testing.T) {
	t.Parallel()
	site, primary := stage(t)
	anchor, later := chromiumtest.Dial(t, chromiumtest.Shared(t).WS()), chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	witness := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	target := witness.NewPage(site.URL("http://a.test/plain"))
	session := primary.Attach(target.Target)
	for _, m := range []string{"Page.enable", "Runtime.enable"} {
		primary.Must(session, m, nil)
	}
	debugs(primary, session)
	primary.Must(session, "Page.addScriptToEvaluateOnNewDocument", params{"source": pausing, "runImmediately": true})
	second := anchor.Attach(target.Target)
	debugs(anchor, second)

	witness.Start(target.Session, "window.got = confirm('m')")
	a, b := paused(primary, session), paused(anchor, second)
	want(t, "both are told the same", a, b)
	primary.Close()
	third := later.Attach(target.Target)
	debugs(later, third)
	want(t, "who comes later is told as well", paused(later, third), a)
	succeed(t, "the anchor answers", b.answer(anchor, second, "'anchor'"))
	want(t, "page got", string(target.Eval(target.Session, "got")), `"anchor"`)

	witness.Start(target.Session, "window.got = confirm('m')")
	paused(anchor, second)
	anchor.Close()
	later.Close()
	want(t, "with nobody left", string(target.Eval(target.Session, "got")), `"nobody"`)
}

// Rule: a debugger holds a page that waits in any script, also where it would not stop
// there itself; a client that was notified by the other resumes it with one command.
func TestC47_WhatAnotherHasStoppedIsHeldUntilOneResume(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	other := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	witness := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	target := witness.NewPage(site.URL("http://a.test/plain"))
	session, theirs := c.Attach(target.Target), other.Attach(target.Target)
	for _, m := range []string{"Page.enable", "Runtime.enable"} {
		c.Must(session, m, nil)
	}
	debugs(c, session)
	c.Must(session, "Page.addScriptToEvaluateOnNewDocument", params{"source": pausing, "runImmediately": true})
	other.Must(theirs, "Debugger.setBlackboxPatterns", params{"patterns": []string{"^(?!theirs$)"}, "skipAnonymous": true})
	other.Must(theirs, "Debugger.enable", nil)
	witness.Start(target.Session, "window.got = confirm('m')")
	want(t, "who would not stop there is told", paused(other, theirs), paused(c, session))
	c.Close()
	other.Must(theirs, "Debugger.resume", nil)
	want(t, "page got", string(target.Eval(target.Session, "got")), `"nobody"`)
}

// Rule: a page that waits in the debugger can be inspected; and a client that resumes it
// without an answer, here another client, is asked again.
func TestC47_APageThatWaitsAnswersAndAsksAgain(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	p := pausingPage(c, site.URL("http://a.test/plain"))
	other := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	theirs := other.Attach(p.Target)
	other.Must(theirs, "Debugger.enable", nil)
	c.Start(p.Session, "window.got = confirm('m')")
	first := paused(c, p.Session)
	for _, m := range []string{"Runtime.evaluate", "Page.getFrameTree", "DOM.getDocument", "Accessibility.getFullAXTree"} {
		_, err := c.Call(p.Session, m, params{"expression": "1"})
		succeed(t, m, err)
	}
	other.Must(theirs, "Debugger.resume", nil)
	again := paused(c, p.Session)
	want(t, "the same call", again, first)
	succeed(t, "answer", again.answer(c, p.Session, "true"))
	want(t, "page got", string(p.Eval(p.Session, "got")), "true")

	// Its own pauses are told to us, and are not ours.
	other.Start(theirs, "debugger; window.got = 'theirs'")
	other.NextWhere("their third pause", func(e chromiumtest.Event) bool {
		return on(theirs, "Debugger.paused")(e) && !strings.Contains(string(e.Params), "said ")
	})
	want(t, "what is told of it", paused(c, p.Session).said, "")
	other.Must(theirs, "Debugger.resume", nil)
	want(t, "page got", string(p.Eval(p.Session, "got")), `"theirs"`)
}

// Rule: a client that gets no event, since it had one before, takes a step: the page stays
// within the call, and all clients get a new event. Where nothing waits the command fails.
func TestC47_AStepIsToldOfAnew(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	other := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	p := c.NewPage("")
	debugs(c, p.Session)
	c.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": stepping, "runImmediately": true})
	p.Navigate(site.URL("http://a.test/plain"))
	theirs := other.Attach(p.Target)
	debugs(other, theirs)
	_, err := c.Call(p.Session, "Debugger.stepOver", nil)
	wantCode(t, err, -32000)
	for _, steps := range []int{0, 1, 2, 12, 0} {
		c.Start(p.Session, "window.got = confirm('m')")
		first := paused(c, p.Session)
		want(t, "the other", paused(other, theirs), first)
		for range steps {
			c.Must(p.Session, "Debugger.stepOver", nil)
			want(t, "again", paused(c, p.Session), first)
			want(t, "the other again", paused(other, theirs), first)
		}
		if steps == 1 {
			other.Must(theirs, "Debugger.resume", nil)
			want(t, "resumed", paused(c, p.Session), first)
			want(t, "the other, resumed", paused(other, theirs), first)
		}
		succeed(t, "answer", first.answer(c, p.Session, "true"))
		want(t, "page got", string(p.Eval(p.Session, "got")), "true")
	}
}

// Rule: a document that goes takes its pause along without a Debugger.resumed;
// its frame's navigation or end has to be watched.
func TestC47_ANavigationEndsAPauseWithoutAWord(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	for _, end := range []command{{"Page.navigate", params{"url": site.URL("http://a.test/confirm")}}, {"Page.navigate", params{"url": site.URL("http://b.test/confirm")}}, {"Page.reload", nil}} {
		p := pausingPage(c, site.URL("http://a.test/plain"))
		c.Start(p.Session, "window.got = confirm('m')")
		paused(c, p.Session)
		navigated := len(c.Events(on(p.Session, "Page.frameNavigated")))
		c.Must(p.Session, end.method, end.params)
		until := func(e chromiumtest.Event) bool {
			if on(p.Session, "Page.frameNavigated")(e) {
				navigated--
			}
			return navigated < 0
		}
		want(t, "navigated", c.HasSeen(until, chromiumtest.Patience), true)
		want(t, "words of a resume", len(c.Events(on(p.Session, "Debugger.resumed"))), 0)
	}
}

// Rule: where a renderer takes a crashed one's place, the debugger of a session is on
// and stops nowhere, until it is turned on anew; that is done as soon as the session
// is told of the new renderer, which is in time for its document.
func TestC47_AfterACrashTheDebuggerIsTurnedOnAnew(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t) // its crashes reach no other test
	for _, anew := range []bool{false, true} {
		p := pausingPage(c, site.URL("http://a.test/plain"))
		c.Must(p.Session, "Inspector.enable", nil)
		c.Send(p.Session, "Page.crash", nil)
		c.NextWhere("the crash", on(p.Session, "Inspector.targetCrashed"))
		c.Send(p.Session, "Page.reload", nil)
		c.NextWhere("the new renderer", on(p.Session, "Inspector.targetReloadedAfterCrash"))
		if anew {
			c.Send(p.Session, "Debugger.disable", nil)
			c.Send(p.Session, "Debugger.setBlackboxPatterns", blackbox)
			c.Send(p.Session, "Debugger.enable", nil)
		}
		c.NextWhere("load", on(p.Session, "Page.loadEventFired"))
		if !anew {
			c.Must(p.Session, "Debugger.enable", nil) // is not enough
			want(t, "answered by nobody", string(p.Eval(p.Session, "confirm('m')")), `"nobody"`)
			continue
		}
		c.Start(p.Session, "window.got = confirm('m')")
		succeed(t, "answer", paused(c, p.Session).answer(c, p.Session, "true"))
		want(t, "page got", string(p.Eval(p.Session, "got")), "true")
	}
}

// Rule: what makes a sandbox can be read, though no script can tell its flags.
func TestTheMakersOfASandboxCanBeRead(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	site.SetType("/boxed", "text/html", `<title>/boxed</title>`, "Content-Security-Policy: sandbox allow-scripts")
	p := c.NewPage(site.URL("http://a.test/boxed"))
	status := string(c.Must(p.Session, "Network.getSecurityIsolationStatus", params{"frameId": p.Target}))
	want(t, "policy", strings.Contains(status, `"effectiveDirectives":"sandbox allow-scripts"`), true)
	p = c.NewPage(site.URL("http://a.test/sandbox"))
	for target := range p.AutoAttach(1) {
		var owner struct{ BackendNodeID int }
		_ = json.Unmarshal(c.Must(p.Session, "DOM.getFrameOwner", params{"frameId": target}), &owner)
		node := string(c.Must(p.Session, "DOM.describeNode", params{"backendNodeId": owner.BackendNodeID}))
		want(t, "attribute", strings.Contains(node, `"sandbox","allow-scripts"`), true)
	}
}
