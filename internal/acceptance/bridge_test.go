package acceptance_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func bridged(s *messages.TaskSpec) { s.Bridge = messages.BridgeOn }

func TestD19_TheBridgeAnswersWithoutANativeDialog(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d19", bridged)
	for _, c := range []struct {
		typ                                        messages.DialogType
		page, message, prompt, accepted, dismissed string
	}{
		{"alert", "/alert", "hello", "", `"returned"`, `"returned"`},
		{"confirm", "/confirm", "sure?", "", "true", "false"},
		{"prompt", "/prompt", "name?", "dflt", `"dflt"`, "null"},
	} {
		k.goTo("http://a.test" + c.page)
		for action, want := range map[messages.Action]string{"accept": c.accepted, "dismiss": c.dismissed} {
			k.later("", "ask()")
			d := k.dialog()
			s := k.snapshot()
			if d.Type != c.typ || d.Message != c.message || d.DefaultPrompt != c.prompt || d.Path != "bridge" {
				t.Errorf("dialog %+v", d)
			}
			if d.TargetID != s.PageTargetID || d.FrameID != s.FrameTree.Top.FrameID || d.SessionID != s.Pages[0].SessionID || s.PageState != messages.PageDialog {
				t.Errorf("dialog %+v on page %+v, %s", d, s.Pages[0], s.PageState)
			}
			if !k.byRequests() {
				if got := k.eval("", "1+1"); got != "2" {
					t.Errorf("a page that waits says %s", got)
				}
			}
			k.respond(messages.DialogAnswer{Action: action})
			if got := k.eval("", "window.got"); got != want {
				t.Errorf("%s, %s: the page received %s, want %s", c.typ, action, got, want)
			}
		}
	}
}

// The bridge holds as many dialogs as there are frames that ask; natively Chrome
// closes the first and loses the second (C14).
func TestM7_TwoBridgedDialogsAtOnceAreBothAnswerable(t *testing.T) {
	t.Parallel()
	k := setup(t).task("m7", bridged)
	k.site.Set("/three", `<title>/three</title><iframe src="http://b.test/prompt"></iframe><iframe src="http://c.test/prompt"></iframe><script>function ask(){ window.got = prompt('top') }</script>`)
	k.goTo("http://a.test/three")
	var frames [2]messages.FrameNode
	k.await("both frames", func(s *messages.Snapshot) bool {
		if s.FrameTree == nil || len(s.FrameTree.Children) != 2 {
			return false
		}
		frames = [2]messages.FrameNode(s.FrameTree.Children)
		return frames[0].SessionID != "" && frames[1].SessionID != "" && strings.HasSuffix(frames[0].URL, "/prompt") && strings.HasSuffix(frames[1].URL, "/prompt")
	})
	where := []messages.FrameID{frames[0].FrameID, frames[1].FrameID, ""}
	for i, f := range where {
		k.later(f, "ask()")
		k.awaitPending(i + 1)
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"})
	wantCode(t, err, messages.CodeDialogAmbiguous) // D11
	for _, i := range []int{1, 2, 0} {
		id := messages.NewDialogID(uint64(i + 1))
		k.respond(messages.DialogAnswer{Action: "accept", PromptText: text(string(id)), DialogID: id})
		if got := k.eval(where[i], "window.got"); got != strconv.Quote(string(id)) {
			t.Errorf("%d: the frame received %s", i, got)
		}
	}
}

func TestBridge_WithNobodyLeftThePageGetsWhatDismissingGives(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	for name, links := range map[string]func(*messages.TaskSpec){"with an anchor": func(*messages.TaskSpec) {}, "without": oneLink} {
		t.Run(name, func(t *testing.T) {
			askingPages(r)
			k := &task{r, r.task("nobody", r.through(p), bridged, links).id}
			l := places["a frame of another process"](k)
			if name == "with an anchor" {
				k.links(p)
			}
			k.runs(l, "setTimeout(() => ask('prompt')); 0")
			d := k.dialog()
			p.KillAll()
			if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost || c.Path != "bridge" {
				t.Errorf("record %+v", c)
			}
			k.reconnected(1)
			k.await("the frame", func(s *messages.Snapshot) bool { return l.grown(s.FrameTree) })
			k.wantGot(l, "null")
			if s := k.snapshot(); s.PageState != messages.PageOK {
				t.Errorf("page state %s", s.PageState)
			}
			if err := r.node.StopTask(r.ctx, k.id); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A client that comes while a page waits is told of it: a bridged dialog is not
// lost with an anchor that came late (natively it is).
func TestBridge_AnAnchorThatCameLateHasTheDialogToo(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	askingPages(r)
	k := r.task("late", r.through(p), bridged)
	l := places["the page"](k)
	_, anchor := k.links(p)
	k.later("", "ask('prompt')")
	d := k.dialog()
	k.fells(p, anchor)
	primary, _ := k.links(p)
	k.fells(p, primary)
	k.reconnected(1)
	if c := k.accept("late"); c.ID != d.ID {
		t.Errorf("record %+v", c)
	}
	k.wantGot(l, `"late"`)
}

func TestBridge_AutoTurnsToItWhenDialogsAreClosedUnasked(t *testing.T) {
	t.Parallel()
	r := setup(t)
	for way, accept := range map[string]bool{"dismissed": false, "accepted": true} {
		t.Run(way, func(t *testing.T) {
			// The witness of a loaded machine may take more than the default.
			k := r.task(messages.TaskID("auto-"+way), func(s *messages.TaskSpec) {
				s.BridgeThresholdMS = messages.MaxBridgeThreshold.Milliseconds()
			})
			k.goTo("http://a.test/oopif-prompt")
			k.frame("/prompt")
			if s := k.snapshot(); s.Connection.Bridge != "native" || s.Pages[0].Bridge != "native" {
				t.Errorf("at first %+v, %+v", s.Connection, s.Pages)
			}
			w, session := k.witness(k.snapshot().PageTargetID)
			k.later("", "window.got = confirm('eaten')")
			w.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
			w.Must(session, "Page.handleJavaScriptDialog", map[string]any{"accept": accept})
			k.await("the bridge", func(s *messages.Snapshot) bool { return s.Connection.Bridge == "on" && s.Pages[0].Bridge == "on" })
			f := k.frame("/prompt").FrameID
			for i, where := range []messages.FrameID{"", f} {
				// In the documents that were there before.
				k.later(where, "window.got = prompt('kept', 'd')")
				if d := k.dialog(); d.Path != "bridge" {
					t.Errorf("%d: %+v", i, d)
				}
				k.accept("yes")
				if got := k.eval(where, "window.got"); got != `"yes"` {
					t.Errorf("%d: received %s", i, got)
				}
			}
			if n := k.log.lines("level=WARN", "bridge", "task="+string(k.id), "dialog=d-1"); n != 1 {
				t.Errorf("%d lines of it", n)
			}
			if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 1 {
				t.Errorf("%d native dialogs", n)
			}
		})
	}
}

// What a page can see of the functions is what it sees of the real ones.
func TestD21_TheFunctionsLookAndConvertLikeTheRealOnes(t *testing.T) {
	t.Parallel()
	const look = `JSON.stringify(['alert', 'confirm', 'prompt'].map(name => {
		const f = window[name], d = Object.getOwnPropertyDescriptor(window, name), thrown = f => { try { f(); return 'none' } catch (e) { return e.constructor.name } };
		return [f.name, f.length, String(f), f.toString(), Function.prototype.toString.call(f), 'prototype' in f, Object.keys(f), Reflect.ownKeys(f).map(String),
			d.writable, d.enumerable, d.configurable, typeof f, Object.prototype.toString.call(f), Object.getPrototypeOf(f) === Function.prototype,
			thrown(() => new f()), thrown(() => f.call({})), thrown(() => f.call(1)), thrown(() => f(Symbol())), thrown(() => f({toString() { throw new RangeError() }})),
			Function.prototype.toString + '', Function.prototype.toString.name, Function.prototype.toString.length]
	}))`
	// Said in turn, what of it arrives, and what comes back of each default (D6: its own).
	const say = `(async () => {
		window.back = [];
		const asks = (...args) => { const v = prompt(...args); back.push(typeof v + ' ' + v) }, said = [[], [undefined], [null], [{}], [['a', 1]], [{toString: () => 'str', valueOf: () => 1}], [1.5], [true], ['a\u0000b\u2028c'], ['\ud800x'], ['x'.repeat(1 << 20)], ['y'.repeat(20000)]];
		for (const args of said) { alert(...args); confirm(...args); asks(...args) }
		for (const value of [undefined, null, '', {}, 7, ['a', 1], {toString: () => 'str', valueOf: () => 1}, 'a\u0000b\u2028c', '\ud800x', ' \r\n\t', '\u{1f600}</script>', 'z'.repeat(20000)]) asks('m', value);
		window.types = [typeof alert(), typeof confirm(), typeof prompt()]; window.said = true })(); 0`
	type seen struct {
		look    string
		back    []string
		dialogs [][3]string
	}
	var native, bridge seen
	// A service that closes native dialogs is no measure of them.
	for way, s := range map[messages.Bridge]*seen{messages.BridgeOff: &native, messages.BridgeOn: &bridge} {
		r := setupOn(t, chromiumtest.Shared(t))
		if way == messages.BridgeOn {
			r = setup(t)
		}
		k := r.task(messages.TaskID("d21-"+way), func(s *messages.TaskSpec) { s.Bridge = way }, policy(messages.PolicyAutoAccept))
		k.goTo("http://a.test/plain")
		s.look = k.eval("", look)
		stream := k.watch()
		k.eval("", say)
		stream.until("the last dialog", func(e messages.Event) bool { return e.Closed != nil && e.Closed.ID == "d-51" })
		for _, e := range stream.seen {
			if e.Dialog != nil {
				s.dialogs = append(s.dialogs, [3]string{string(e.Dialog.Type), e.Dialog.Message, e.Dialog.DefaultPrompt})
			}
		}
		// A page that asks without end may be taken for one that hangs, until it rests.
		k.await("the page at rest", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
		if got := k.eval("", "window.types"); got != `["undefined","boolean","string"]` {
			t.Errorf("%s: types %s", way, got)
		}
		if err := json.Unmarshal([]byte(k.eval("", "back")), &s.back); err != nil {
			t.Fatal(err)
		}
	}
	if native.look != bridge.look {
		t.Errorf("native\n%s\nbridge\n%s", native.look, bridge.look)
	}
	for i, n := range native.back {
		if b := bridge.back[i]; n != b {
			t.Errorf("prompt %d returns natively %d bytes %.40q, over the bridge %d bytes %.40q", i, len(n), n, len(b), b)
		}
	}
	if len(native.dialogs) != len(bridge.dialogs) {
		t.Fatalf("%d and %d dialogs", len(native.dialogs), len(bridge.dialogs))
	}
	for i := range native.dialogs {
		for j := range 3 {
			if n, b := native.dialogs[i][j], bridge.dialogs[i][j]; n != b {
				t.Errorf("dialog %d (%s): native %d bytes %.40q, bridge %d bytes %.40q", i, native.dialogs[i][0], len(n), n, len(b), b)
			}
		}
	}
}

// A page may see that it is bridged. It can neither answer itself, nor ask in
// another's name, nor get hold of what tells the bridge from itself.
func TestBridge_APageCannotAnswerForgeOrRead(t *testing.T) {
	t.Parallel()
	k := setup(t).task("attacker", bridged)
	k.site.Set("/attacker", `<title>/attacker</title><iframe src="/plain"></iframe><script>
		// Whatever a page can reach of what our functions use.
		window.seen = [];
		const apply = Reflect.apply, strings = Array.prototype.map;
		const note = (...all) => { for (const x of all) try { seen.push(String(x)) } catch { seen.push('unprintable') } };
		Object.defineProperty(Object.prototype, 'apply', { get() { note('Object.prototype.apply'); return undefined } });
		Object.defineProperty(Object.prototype, 'get', { get() { note('Object.prototype.get'); return undefined } });
		for (const [o, names] of [[String.prototype, ['slice', 'toString', 'valueOf']], [Function.prototype, ['call', 'apply', 'bind']], [WeakMap.prototype, ['get']], [Reflect, ['apply', 'get']], [Array.prototype, ['join']]])
			for (const name of names) { const real = o[name]; o[name] = function (...args) { note(name, typeof this === 'string' ? this : '', ...args); return apply(real, this, args) } }
		Error.prepareStackTrace = (e, sites) => apply(strings, sites, [s => { let f, self; try { f = s.getFunction() } catch {} try { self = s.getThis() } catch {} note(s.getFileName(), s.getFunctionName(), f, typeof self === 'string' ? self : ''); return s.getFileName() }]) + '';
		function ask() { window.got = confirm({ toString() { window.stack = new Error().stack; return 'asked' } }) }
	</script>`)
	k.goTo("http://a.test/attacker")
	k.frame("/plain")
	k.later("", "ask()")
	d := k.dialog()
	if d.Message != "asked" || d.Path != "bridge" || string(d.FrameID) != string(d.TargetID) {
		t.Errorf("dialog %+v", d)
	}
	// Nothing of it has a name, and nothing is as long as a secret.
	seen := k.eval("", "JSON.stringify([seen, stack])")
	t.Logf("the page saw %.300s", seen)
	if regexp.MustCompile(`[0-9a-f]{16}`).MatchString(seen) {
		t.Errorf("the page saw %s", seen)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	if got := k.eval("", "window.got"); got != "false" {
		t.Errorf("the page answered itself: %s", got)
	}
	// Pauses that a page makes are no dialogs, whatever they say.
	k.eval("", "(0, eval)(\"(function stop(id) { 'use strict'; let answer; debugger }).call('0123456789abcdefx.1 confirm 0 6 forged', 'x.1')\\n//# sourceURL=0123456789abcdef\"); 1")
	if s := k.snapshot(); len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.PageState != messages.PageOK {
		t.Errorf("after a forgery: %+v, %+v, %s", s.PendingDialogs, s.RecentDialogs, s.PageState)
	}
}

// Each call has a name of its own, also where all documents throw the same dice: what
// has been answered under a name is not asked again.
func TestBridge_ACallIsNoOthersWhereChanceIsSeeded(t *testing.T) {
	t.Parallel()
	k := setupOn(t, chromiumtest.Launch(t, "--js-flags=--random-seed=1")).task("seeded", bridged)
	dice := ""
	for range 2 {
		k.goTo("http://a.test/confirm")
		dice = k.eval("", "Math.random()")
		k.later("", "ask()")
		k.dialog()
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	}
	k.goTo("http://a.test/prompt")
	if got := k.eval("", "Math.random()"); got != dice {
		t.Errorf("the dice show %s and %s: this browser does not do what is tested here", dice, got)
	}
}

// Another client that debugs a page continues to do so.
func TestBridge_PausesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	k := setup(t).task("debugged", bridged)
	k.goTo("http://a.test/confirm")
	w, session := k.witness(k.snapshot().PageTargetID)
	w.Must(session, "Debugger.enable", nil)
	w.Start(session, "debugger; window.theirs = 'went on'")
	w.NextWhere("their pause", chromiumtest.On(session, "Debugger.paused"))
	k.await("the page paused", func(s *messages.Snapshot) bool { return s.PageState == messages.PagePaused })
	if n := len(w.Events(chromiumtest.On(session, "Debugger.resumed"))); n != 0 {
		t.Errorf("resumed %d times", n)
	}
	w.Must(session, "Debugger.resume", nil)
	k.await("the page at work", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	if got := k.eval("", "window.theirs"); got != `"went on"` {
		t.Errorf("theirs %s", got)
	}
	// One that resumes a dialog of ours has it asked again.
	k.later("", "ask()")
	d := k.dialog()
	w.NextWhere("our pause", chromiumtest.On(session, "Debugger.paused"))
	w.Must(session, "Debugger.resume", nil)
	w.NextWhere("our pause again", chromiumtest.On(session, "Debugger.paused"))
	if c := k.respond(messages.DialogAnswer{Action: messages.ActionAccept}); c.ID != d.ID {
		t.Errorf("record %+v", c)
	}
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}
}

func TestBridge_IsTurnedOffAgain(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("off", bridged)
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	spec := k.spec()
	spec.Bridge = messages.BridgeOff
	if _, _, err := r.node.GetOrStart(r.ctx, k.id, spec); err != nil {
		t.Fatal(err)
	}
	k.await("native", func(s *messages.Snapshot) bool {
		return s.Connection.Bridge == "native" && s.Pages[0].Bridge == "native"
	})
	for _, in := range []string{"", "f.contentWindow."} {
		k.later("", "window.got = "+in+"confirm('after')")
		if d := k.dialog(); d.Path != "native" || in != "" && d.FrameID != f.FrameID {
			t.Errorf("%q: dialog %+v", in, d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	}
}

// A page that outlives its task has its own functions back.
func TestBridge_PagesAreGivenBack(t *testing.T) {
	t.Parallel()
	r := setup(t)
	w := chromiumtest.Dial(t, r.chrome.WS())
	p := w.NewPage(r.site.URL("http://a.test/confirm"))
	k := r.task("guest", bridged, func(s *messages.TaskSpec) { s.TargetID = messages.TargetID(p.Target) })
	k.later("", "ask()")
	k.dialog()
	if err := r.node.StopTask(r.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	if got := string(p.Eval(p.Session, "window.got")); got != "false" {
		t.Errorf("what was asked at the end got %s", got)
	}
	w.Start(p.Session, "ask()")
	w.NextWhere("a native dialog", chromiumtest.On(p.Session, "Page.javascriptDialogOpening"))
	w.Must(p.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
	if got := string(p.Eval(p.Session, "window.got")); got != "true" {
		t.Errorf("received %s", got)
	}
}

// An answer and a document that is being unloaded do not meet (C11).
func TestBridge_NoDialogWhileADocumentLeaves(t *testing.T) {
	t.Parallel()
	k := setup(t).task("leaving", bridged, leaving(messages.BeforeUnloadAccept))
	k.site.Set("/leaves", `<title>/leaves</title><script>
		for (const type of ['beforeunload', 'pagehide', 'unload', 'visibilitychange'])
			addEventListener(type, () => { localStorage.setItem(type, confirm(type)) })
		addEventListener('synthetic', () => { window.got = confirm('synthetic') })
	</script>`)
	k.goTo("http://a.test/leaves")
	k.later("", "dispatchEvent(new Event('synthetic'))")
	if d := k.dialog(); d.Message != "synthetic" {
		t.Errorf("dialog %+v", d)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	k.goTo("http://a.test/plain")
	if got := k.eval("", "['beforeunload', 'pagehide'].map(t => localStorage.getItem(t)).join()"); got != `"false,false"` {
		t.Errorf("what a document received on its way out: %s", got)
	}
	if n := len(k.snapshot().RecentDialogs); n != 1 {
		t.Errorf("%d dialogs", n)
	}
}

// An agent that uses the debugger of its session shares it with the bridge.
func TestBridge_AnAgentMayDebugAsWell(t *testing.T) {
	t.Parallel()
	k := setup(t).task("debugs", bridged)
	k.goTo("http://a.test/confirm")
	k.cdp("", "Debugger.enable", "{}")
	k.cdp("", "Debugger.disable", "{}")
	k.later("", "ask()")
	d := k.dialog()
	if d.Path != "bridge" {
		t.Errorf("dialog %+v", d)
	}
	for _, m := range []string{"Debugger.resume", "Debugger.disable", "Debugger.stepOver"} {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: m})
		wantCode(t, err, messages.CodeBlockedByDialog)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}
}

// A page that asks again and again comes to nothing else in between. It lives.
func TestBridge_APageThatAsksAndAsksIsNoWedge(t *testing.T) {
	t.Parallel()
	k := setup(t).task("asks", bridged, policy(messages.PolicyAutoAccept))
	k.goTo("http://a.test/plain")
	stream := k.watch()
	k.later("", "window.said = 0; for (let i = 0; i < 240; i++) said += confirm(i)") // two events each, of the 512 that a watcher may be behind
	// A call that has to wait looks into the silence of the page.
	if got := k.evalPromise("", "new Promise(r => setTimeout(() => r(said)))"); got != "240" {
		t.Errorf("%s were accepted", got)
	}
	stream.until("the last dialog", func(e messages.Event) bool { return e.Closed != nil && e.Closed.ID == "d-240" })
	for _, e := range stream.seen {
		if e.Page != nil && e.Page.PageState != messages.PageOK && e.Page.PageState != messages.PageDialog {
			t.Errorf("version %d: the page is %s", e.Version, e.Page.PageState)
		}
	}
}

// Chrome compiles a function that is called often enough, and then what is set in its
// frame is not what it reads.
func TestBridge_ACompiledCallHearsItsAnswer(t *testing.T) {
	t.Parallel()
	k := setup(t).task("often", bridged, policy(messages.PolicyAutoAccept))
	k.goTo("http://a.test/plain")
	k.later("", "window.said = 0; for (let i = 0; i < 600; i++) said += confirm(i)")
	if got := k.evalPromise("", "new Promise(r => setTimeout(() => r(said)))"); got != "600" {
		t.Errorf("%s were accepted", got)
	}
}

// Frames of other processes, and theirs, load while both links attach: a link must not take
// them from the client that holds them (C33).
func TestBridge_FramesOfOtherProcessesLoad(t *testing.T) {
	t.Parallel()
	k := setup(t).task("frames", bridged)
	k.site.Set("/forest", `<title>/forest</title><iframe src="http://b.test/oopif-prompt"></iframe><iframe src="http://c.test/nested"></iframe><iframe src="http://d.test/plain"></iframe>`)
	for range 4 {
		k.goTo("http://a.test/forest")
		k.goTo("http://e.test/forest")
	}
}
