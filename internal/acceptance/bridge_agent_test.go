package acceptance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"holdfast/chaos/hosted"
	"holdfast/messages"
)

// What an agent does to the debugger of its session, which is the bridge's as well, has
// no page answer itself. No anchor is there to stop in its place.
func TestBridge_AnAgentTurnsNoDialogIntoADismissal(t *testing.T) {
	t.Parallel()
	k := setup(t).task("careless", bridged, oneLink)
	k.goTo("http://a.test/confirm")
	for _, c := range [][2]string{
		{"Debugger.disable", `{}`},
		{"Debugger.setBlackboxPatterns", `{"patterns":[".*"]}`},
		{"Debugger.setSkipAllPauses", `{"skip":true}`},
		{"Debugger.setBreakpointsActive", `{"active":false}`},
	} {
		k.cdp("", c[0], c[1])
		k.later("", "ask()")
		if d := k.dialog(); d.Path != "bridge" {
			t.Errorf("%s: dialog %+v", c[0], d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
		if got := k.eval("", "window.got"); got != "true" {
			t.Errorf("%s: the page received %s", c[0], got)
		}
	}
}

// What an agent intercepts on its page stays intercepted when the bridge is turned on by
// requests, for which the page's session is borrowed a moment; and the other way round.
func TestD23_AnAgentThatInterceptsGoesOnWhateverTheBridgeDoes(t *testing.T) {
	t.Parallel()
	h := host(t, hosted.Options{Refuse: []string{"Debugger"}})
	r := setupOn(t, h.chrome)
	r.entry = h.open()
	k := r.task("intercepts", func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
	turn := func(how messages.Bridge) {
		spec := r.spec()
		spec.Bridge = how
		if _, _, err := r.node.GetOrStart(r.ctx, k.id, spec); err != nil {
			t.Fatal(err)
		}
		want := map[messages.Bridge]messages.Bridge{messages.BridgeOn: "on", messages.BridgeOff: "native"}[how]
		k.await(string(want), func(s *messages.Snapshot) bool { return s.Connection.Bridge == want })
	}
	k.goTo("http://a.test/plain")
	k.cdp("", "Fetch.enable", `{"patterns":[{"urlPattern":"*held*"}]}`)
	for i, how := range []messages.Bridge{messages.BridgeOn, messages.BridgeOff, messages.BridgeOn} {
		held := fmt.Sprintf("/held-%d", i)
		k.site.Set(held, "came")
		k.later("", "fetch('"+held+"').then(r => r.text()).then(s => { window.got"+held[6:]+" = s })")
		turn(how)
		for range 3 { // each goes to the site and back, long after a request that was continued
			k.evalPromise("", "fetch('/plain?'+Math.random()).then(r => r.text())")
		}
		if n := k.site.Hits(held); n != 0 {
			t.Errorf("bridge %s: what the agent had stopped went on", how)
		}
		if i < 2 {
			continue
		}
		k.cdp("", "Fetch.disable", `{}`)
		k.evalPromise("", "new Promise(done => { const t = setInterval(() => { if (['0', '1', '2'].every(i => window['got' + i] === 'came')) { clearInterval(t); done() } }, 5) })")
	}
}

// The name of our script is in every stack trace. It is no secret: a page that gives it to
// a script of its own stops at its own debugger statements, and is resumed.
func TestBridge_APageThatTakesOurScriptsNameGainsNothing(t *testing.T) {
	t.Parallel()
	k := setup(t).task("namesake", bridged)
	k.site.Set("/namesake", `<title>/namesake</title><iframe src="http://b.test/plain"></iframe><script>
		function ask() { window.got = confirm({ toString() { window.stack = new Error().stack; return 'asked' } }) }
		addEventListener('error', e => { window.thrown = e.filename })
	</script>`)
	k.goTo("http://a.test/namesake")
	k.frame("/plain")
	k.later("", "ask()")
	k.dialog()
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	stack := k.eval("", "window.stack")
	names := regexp.MustCompile(`[0-9a-f]{16,}`).FindAllString(stack, -1)
	if len(names) == 0 {
		t.Fatalf("no name in %s: what is tested here is not so any more", stack)
	}
	for _, n := range names {
		if n != names[0] || len(n) != 16 {
			t.Errorf("the stack has %q besides the script's name %q", n, names[0])
		}
	}
	for _, forged := range []string{
		"(function stop(id) { 'use strict'; let answer; debugger })('x.1')",
		"(function stop(id) { 'use strict'; let answer; debugger }).call('0123456789abcdefx.1 confirm 0 6 forged', 'x.1')",
		"(function stop(id) { 'use strict'; let answer; debugger }).call('" + names[0] + "x.1 confirm 0 6 forged', 'x.1')",
	} {
		k.later("", `window.went = undefined; (0, eval)("`+forged+`\n//# sourceURL=`+names[0]+`"); window.went = 'on'`)
		k.evalPromise("", "new Promise(done => { const t = setInterval(() => { if (window.went === 'on') { clearInterval(t); done() } }, 5) })")
		k.await("the page at work", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	}
	if s := k.snapshot(); len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 {
		t.Errorf("after forgeries: %+v, %+v", s.PendingDialogs, s.RecentDialogs)
	}
}

// No text that a page can make as long as it likes is kept for the sake of a part of it,
// and who accepts without a text gives the page its default, whole.
func TestD21_ADefaultOfAnyLengthIsThePagesOwn(t *testing.T) {
	t.Parallel()
	k := setup(t).task("long", bridged)
	k.goTo("http://a.test/plain")
	k.eval("", "window.value = 'v'.repeat(3e6) + 'end'; setTimeout(() => { window.got = prompt('long', value) }); 0")
	if d := k.dialog(); len(d.DefaultPrompt) > 64<<10 || !strings.HasPrefix(d.DefaultPrompt, "vvvv") {
		t.Errorf("the dialog shows a default of %d bytes", len(d.DefaultPrompt))
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if got := k.eval("", "got === value"); got != "true" {
		t.Error("the page received another default than its own")
	}
}

// Chrome opens no dialog in a frame of a sandbox without allow-modals, nor in one that
// stands in such a frame.
func TestBridge_ASandboxHoldsForTheFramesWithin(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Set("/boxed", `<title>/boxed</title><iframe id="f" sandbox="allow-scripts allow-same-origin" src="/within"></iframe>`)
	r.site.Set("/within", `<title>/within</title><iframe id="f" src="/innermost"></iframe>`)
	r.site.Set("/innermost", `<title>/innermost</title>`)
	for _, how := range []messages.Bridge{messages.BridgeOff, messages.BridgeOn} {
		k := r.task(messages.TaskID("boxed-"+how), func(s *messages.TaskSpec) { s.Bridge = how }, policy(messages.PolicyAutoAccept))
		k.goTo("http://a.test/boxed")
		k.frame("/innermost")
		for _, in := range []string{"f.contentWindow.", "f.contentWindow.f.contentWindow."} {
			if got := k.eval("", in+"confirm('boxed')"); got != "false" {
				t.Errorf("bridge %s: %sconfirm() is %s", how, in, got)
			}
		}
		if s := k.snapshot(); len(s.RecentDialogs) != 0 {
			t.Errorf("bridge %s: dialogs %+v", how, s.RecentDialogs)
		}
	}
}

// A document that was there before the bridge may have changed what our script uses, and
// so come to the token of its calls. It asks in its own frame's name with it, as it may
// without.
func TestBridge_ADocumentFromBeforeAsksInNoOthersName(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("before", func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
	k.site.Set("/before", `<title>/before</title><iframe src="http://b.test/prompt"></iframe><script>
		const apply = Reflect.apply;
		Reflect.apply = (f, self, args) => { if (typeof self === 'string') window.leaked = self; return apply(f, self, args) };
		function ask() { window.got = confirm({ toString() { window.stack = new Error().stack; return 'asked' } }) }
	</script>`)
	k.goTo("http://a.test/before")
	f := k.frame("/prompt")
	spec := r.spec()
	spec.Bridge = messages.BridgeOn
	if _, _, err := r.node.GetOrStart(r.ctx, k.id, spec); err != nil {
		t.Fatal(err)
	}
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == "on" })
	k.later("", "ask()")
	k.dialog()
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	name := regexp.MustCompile(`[0-9a-f]{16}`).FindString(k.eval("", "window.stack"))
	token := strings.Trim(k.eval("", "window.leaked.slice(0, 16)"), `"`)
	if name == "" || len(token) != 16 || token == name {
		t.Fatalf("name %q, token %q: what is tested here is not so any more", name, token)
	}
	k.later(f.FrameID, "ask()")
	theirs := k.dialog()
	k.later("", `window.went = undefined; (0, eval)("(function stop(id) { 'use strict'; let answer; debugger }).call('`+token+`x.1 confirm 0 6 forged', 'x.1')\n//# sourceURL=`+name+`"); window.went = 'on'`)
	for _, d := range k.awaitPending(2) {
		switch {
		case d.ID == theirs.ID && d.FrameID == f.FrameID:
		case d.Message == "forged" && string(d.FrameID) == string(d.TargetID):
			k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
		default:
			t.Errorf("dialog %+v", d)
		}
	}
	k.evalPromise("", "new Promise(done => { const t = setInterval(() => { if (window.went === 'on') { clearInterval(t); done() } }, 5) })")
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept, PromptText: text("theirs"), DialogID: theirs.ID})
	if got := k.eval(f.FrameID, "window.got"); got != `"theirs"` {
		t.Errorf("the frame received %s", got)
	}
}

// A popup begins with an empty document, in which no debugger stops if another is to take
// its place. What the opener asks there is asked natively, and not dismissed.
func TestBridge_WhatAnOpenerAsksAtOnceIsAsked(t *testing.T) {
	t.Parallel()
	for name, links := range map[string]func(*messages.TaskSpec){"both links": func(*messages.TaskSpec) {}, "one link": oneLink} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("opens", bridged, links)
			k.goTo("http://a.test/plain")
			opener := k.snapshot().PageTargetID
			for _, address := range []string{"/plain", "", "about:blank"} {
				k.laterOn(opener, "window.got = undefined; const w = window.open('"+address+"'); window.got = w.prompt('at once')")
				// One that stays empty mostly has the bridge.
				if d := k.dialog(); d.Message != "at once" || d.TargetID == opener || address == "/plain" && d.Path != messages.PathNative {
					t.Errorf("%q: dialog %+v", address, d)
				}
				k.accept("asked")
				if got := k.evalOn(opener, "window.got"); got != `"asked"` {
					t.Errorf("%q: the opener received %s", address, got)
				}
				k.closesPopups()
			}
		})
	}
}

// Both links give a call of a shut sandbox back to Chrome. The second resume may let the
// next call go, which then asks again.
func TestBridge_ASandboxIsShutForEveryCall(t *testing.T) {
	t.Parallel()
	r := setup(t)
	matrixPages(r)
	k := r.task("sandbox", bridged, policy(messages.PolicyAutoAccept))
	k.await("the anchor", func(s *messages.Snapshot) bool { return s.Connection.Anchor == messages.LinkUp })
	for _, open := range []func(*task) spot{below("https://a.test/matrix-holds-sandbox", "/matrix"), visit("https://a.test/matrix-csp-sandbox")} {
		for i := range 20 {
			s := open(k)
			got, err := evalOn(k.ctx, k.node, k.id, s.where, "[alert('m'), confirm('m'), prompt('m', 'd'), confirm('m')].map(String).join()")
			if err != nil || got != `"undefined,false,null,false"` {
				t.Errorf("%d: %s, %v", i, got, err)
			}
		}
	}
	if n := len(k.snapshot().RecentDialogs); n != 0 {
		t.Errorf("%d dialogs", n)
	}
}
