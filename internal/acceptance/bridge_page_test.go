package acceptance_test

import (
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// Pages dispatch events of their own: only the browser's says that a document goes.
func TestBridge_ASyntheticPagehideChangesNothing(t *testing.T) {
	t.Parallel()
	k := setup(t).task("pagehide", bridged)
	k.goTo("http://a.test/confirm")
	for _, event := range []string{"pagehide", "pageshow", "unload", "beforeunload"} {
		k.eval("", "window.dispatchEvent(new Event('"+event+"')); 0")
		k.later("", "ask()")
		if d := k.dialog(); d.Path != messages.PathBridge {
			t.Errorf("behind a %s of the page's own: %+v", event, d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	}
	if s := k.snapshot(); s.Pages[0].Bridge != messages.BridgeOn {
		t.Errorf("page %+v", s.Pages[0])
	}
}

// Windows that reach each other see each other's functions, by their own toString.
func TestD21_TheFunctionsLookRealFromOtherWindows(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Set("/around", `<title>/around</title><iframe id="f" src="/within"></iframe><iframe id="e"></iframe>`)
	r.site.Set("/within", `<title>/within</title>`)
	const look = `JSON.stringify([[window, f.contentWindow], [f.contentWindow, window], [e.contentWindow, window], [window, e.contentWindow], [e.contentWindow, f.contentWindow], [pop, window], [window, pop]].map(([theirs, ours]) =>
		['alert', 'confirm', 'prompt'].map(name => theirs.Function.prototype.toString.call(ours[name])).concat(theirs.Function.prototype.toString.call(ours.Function.prototype.toString))))`
	seen := map[messages.Bridge]string{}
	for _, how := range []messages.Bridge{messages.BridgeOff, messages.BridgeOn} {
		k := r.task(messages.TaskID("realms-"+how), func(s *messages.TaskSpec) { s.Bridge = how })
		k.goTo("http://a.test/around")
		k.frame("/within")
		opener := k.snapshot().PageTargetID
		k.evalOn(opener, "window.pop = window.open('/within'); 0")
		k.await("the popup", func(s *messages.Snapshot) bool {
			return len(s.Pages) > 1 && strings.HasSuffix(s.Pages[len(s.Pages)-1].URL, "/within")
		})
		until(t, "the popup's document", func() bool { return k.evalOn(opener, "pop.document.title") == `"/within"` })
		seen[how] = k.evalOn(opener, look)
		k.closesPopups()
	}
	if seen[messages.BridgeOff] != seen[messages.BridgeOn] || !strings.Contains(seen[messages.BridgeOn], "function confirm()") {
		t.Errorf("natively\n%s\nbridged\n%s", seen[messages.BridgeOff], seen[messages.BridgeOn])
	}
}

// What a page puts before its functions hears the words of the next link. It can do
// nothing with them that has not been done.
func TestBridge_APageThatOverhearsALinkGainsNothing(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("overhears", r.through(p), bridged)
	k.site.Set("/overhears", `<title>/overhears</title><script>
		window.heard = new Set();
		const real = { alert, confirm, prompt };
		for (const name of Object.keys(real)) window[name] = new Proxy(real[name], { get(f, key, self) { heard.add(key); return Reflect.get(f, key, self) } });
		function tries() {
			for (const key of heard) for (const f of Object.values(real)) {
				const got = f[key];
				if (typeof got !== 'function') continue;
				for (const args of [[], [1e15, false], [0, false], [1e15, false, false], [false], [true]]) try { got(...args) } catch {}
			}
		}
		function ask() { tries(); window.got = (0, real.confirm)('asked') }
	</script>`)
	k.goTo("http://a.test/overhears")
	k.links(p)
	p.KillAll()
	k.reconnected(1)
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == messages.BridgeOn })
	k.links(p)
	if got := k.eval("", "[...heard].some(key => /^[0-9a-f]{16}$/.test(String(key)))"); got != "true" {
		t.Fatal("the page has overheard nothing: what is tested here is not so any more")
	}
	k.later("", "ask()")
	if d := k.dialog(); d.Path != messages.PathBridge {
		t.Errorf("dialog %+v", d)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}
}

// Chrome's own command names no dialog: of several none is guessed, not even the newest.
func TestM7_ARawAnswerIsForNoneOfSeveral(t *testing.T) {
	t.Parallel()
	k := setup(t).task("several", bridged)
	k.goTo("http://a.test/oopif-prompt")
	f := k.frame("/prompt").FrameID
	k.later("", "window.got = confirm('TOP: delete the account?')")
	k.awaitPending(1)
	k.later(f, "window.got = confirm('FRAME: cookies?')")
	k.awaitPending(2)
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.handleJavaScriptDialog", Params: []byte(`{"accept":true}`)})
	if e := wantCode(t, err, messages.CodeDialogAmbiguous); len(e.Details["candidates"].([]messages.Dialog)) != 2 {
		t.Errorf("details %+v", e.Details)
	}
	k.cdp(f, "Page.handleJavaScriptDialog", `{"accept":true}`)
	k.awaitPending(1)
	k.cdp("", "Page.handleJavaScriptDialog", `{"accept":false}`)
	k.awaitPending(0)
	if top, frame := k.eval("", "window.got"), k.eval(f, "window.got"); top != "false" || frame != "true" {
		t.Errorf("the page received %s, its frame %s", top, frame)
	}
}

// An expression that runs past debugger statements runs past no dialog (C62).
func TestC62_DisableBreaksAnswersNoDialog(t *testing.T) {
	t.Parallel()
	k := setup(t).task("unbroken", bridged)
	k.goTo("http://a.test/plain")
	done := make(chan string, 1)
	go func() {
		r, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"window.got = String(confirm('x'))","disableBreaks":true}`)})
		if err != nil {
			done <- err.Error()
			return
		}
		done <- string(r.Result)
	}()
	if d := k.dialog(); d.Message != "x" || d.Path != messages.PathBridge {
		t.Errorf("dialog %+v", d)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if got := k.eval("", "window.got"); got != `"true"` {
		t.Errorf("the page received %s", got)
	}
	t.Log(<-done)
}

// A page that navigates by itself has closed its dialog; no client has.
func TestBridge_AutoDoesNotTurnForAPageThatNavigates(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Shared(t))
	for name, goes := range map[string]string{
		"the page":  "location.href = '/plain'",
		"its frame": "document.querySelector('iframe').src = 'about:blank'",
	} {
		t.Run(name, func(t *testing.T) {
			k := r.task(messages.TaskID("impatient-"+strings.ReplaceAll(name, " ", "-")), func(s *messages.TaskSpec) { s.BridgeThresholdMS = 10_000 })
			k.goTo("http://a.test/oopif-prompt")
			f := k.frame("/prompt").FrameID
			k.later(f, "confirm('sure?')")
			d := k.dialog()
			k.eval("", "setTimeout(() => { "+goes+" }); 0")
			if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByRemote && c.ClosedBy != messages.ClosedByLost {
				t.Errorf("record %+v", c)
			}
			k.await("where it went", func(s *messages.Snapshot) bool {
				return s.FrameTree != nil && (len(s.FrameTree.Children) == 0 || s.FrameTree.Children[0].URL == "about:blank")
			})
			k.evalPromise("", "new Promise(done => setTimeout(() => done(1), 300))") // longer than the task waits for such an end
			if s := k.snapshot(); s.Connection.Bridge != messages.BridgeNative {
				t.Errorf("bridge %s: %+v", s.Connection.Bridge, s.RecentDialogs)
			}
		})
	}
}

// Chromium cuts a prompt's message, and not its default: one that is longer than a message
// may be is a dialog all the same.
func TestD1_APromptWhoseDefaultIsTooLongIsSeen(t *testing.T) {
	t.Parallel()
	k := alone(t).task("long-default")
	k.goTo("http://a.test/plain")
	k.eval("", "setTimeout(() => { window.got = prompt('q', 'B'.repeat(55e6)) }); 0")
	if d := k.dialog(); d.Type != "prompt" || d.Message != "q" || len(d.DefaultPrompt) > 64<<10 {
		t.Errorf("dialog %s %q, a default of %d bytes", d.Type, d.Message, len(d.DefaultPrompt))
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	if got := k.eval("", "window.got"); got != "null" {
		t.Errorf("the page received %.40s", got)
	}
}

// A page that asks while its next document is ready has no debugger left to stop in: its
// call is answered as dismissed, and it goes there. No native dialog opens, which would be
// doomed (C58), and the next document asks over the bridge.
func TestBridge_ADocumentThatIsReplacedDoesNotHang(t *testing.T) {
	t.Parallel()
	for name, links := range map[string]func(*messages.TaskSpec){"two links": func(*messages.TaskSpec) {}, "one link": oneLink} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := doomedSetup(t, doomedPages["by a link"], bridged, links)
			d.goes(t)
			d.moved()
			for _, c := range d.snapshot().RecentDialogs {
				if c.Path != messages.PathBridge || c.ClosedBy != messages.ClosedByRemote {
					t.Errorf("record %+v", c)
				}
			}
			d.later("", "window.r = confirm('there?')")
			if asked := d.dialog(); asked.Path != messages.PathBridge || asked.Message != "there?" {
				t.Errorf("dialog %+v", asked)
			}
			d.respond(messages.DialogAnswer{Action: messages.ActionAccept})
			d.unharmed(t)
		})
	}
}
