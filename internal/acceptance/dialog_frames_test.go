package acceptance_test

import (
	"strconv"
	"strings"
	"testing"

	"holdfast/messages"
)

func TestD18_ADialogOfAnOOPIF(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d18")
	k.goTo("http://a.test/oopif-prompt")
	f := k.frame("/prompt")
	if !f.IsOOPIF {
		t.Fatalf("not out of process: %+v", f)
	}
	k.later(f.FrameID, "ask()")
	d := k.dialog()
	if d.FrameID != f.FrameID || d.TargetID != k.snapshot().PageTargetID {
		t.Fatalf("dialog %+v of frame %+v", d, f)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", PromptText: text("x")}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval(f.FrameID, "window.got"); got != `"x"` {
		t.Fatalf("the frame received %s", got)
	}
}

// asker opens its dialog when told to and tells its top page what it got, so
// that frames of any origin can be driven alike.
const asker = `<title>asker</title><script>
addEventListener('message', e => { if (e.data === 'ask') setTimeout(() => top.postMessage({got: prompt('from below', 'dflt')}, '*')); })
</script>`

// askers embeds frame and keeps what its innermost frame says it got.
func askers(frame string) string {
	return `<title>askers</title><script>addEventListener('message', e => { if (e.data.got !== undefined) window.got = e.data.got })
function askBelow() { frames[0].postMessage('ask', '*') }</script>` + frame
}

func TestD18_EveryKindOfFrame(t *testing.T) {
	t.Parallel()
	inner := func(src string) string { return `<iframe src="` + src + `"></iframe>` }
	relay := func(src string) string {
		return `<script>addEventListener('message', e => frames[0].postMessage(e.data, '*'))</script>` + inner(src)
	}
	for name, c := range map[string]struct {
		frame  string
		mid    string // served as /mid
		oopif  bool   // the frame that asks
		suffix string
	}{
		"same origin":            {frame: inner("/asker"), suffix: "/asker"},
		"out of process":         {frame: inner("http://b.test/asker"), oopif: true, suffix: "/asker"},
		"nested out of process":  {frame: inner("http://b.test/mid"), mid: relay("http://c.test/asker"), oopif: true, suffix: "/asker"},
		"below one, same site":   {frame: inner("http://b.test/mid"), mid: relay("http://b.test/asker"), suffix: "/asker"},
		"A-B-A":                  {frame: inner("http://b.test/mid"), mid: relay("http://a.test/asker"), oopif: true, suffix: "/asker"},
		"sandboxed, with modals": {frame: `<iframe sandbox="allow-scripts allow-modals" src="/asker"></iframe>`, oopif: true, suffix: "/asker"},
		"srcdoc":                 {frame: `<iframe srcdoc="` + strings.ReplaceAll(asker, `"`, `&quot;`) + `"></iframe>`, suffix: "about:srcdoc"},
		"data":                   {frame: `<script>const f = document.createElement('iframe'); f.src = 'data:text/html,' + encodeURIComponent(` + "`" + strings.ReplaceAll(asker, "</script>", `<\/script>`) + "`" + `); document.documentElement.append(f)</script>`, suffix: "data:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("d18")
			k.site.Set("/asker", asker)
			k.site.Set("/mid", c.mid)
			k.site.Set("/askers", askers(c.frame))
			k.goTo("http://a.test/askers")
			f := k.frameWhere(c.suffix, func(n messages.FrameNode) bool {
				return strings.HasSuffix(n.URL, c.suffix) || c.suffix == "data:" && strings.HasPrefix(n.URL, "data:")
			})
			if f.IsOOPIF != c.oopif {
				t.Errorf("out of process: %v, want %v", f.IsOOPIF, c.oopif)
			}
			k.later("", "askBelow()")
			d := k.dialog()
			s := k.snapshot()
			if d.FrameID != f.FrameID || d.TargetID != s.PageTargetID || d.SessionID != s.Pages[0].SessionID || d.Message != "from below" {
				t.Errorf("dialog %+v of frame %+v", d, f)
			}
			if c.oopif && !k.answersAsked() {
				// In the process of the frame that asks nothing runs any more.
				_, err := k.tryEval(f.FrameID, "1")
				wantCode(t, err, messages.CodeBlockedByDialog)
			}
			if name == "A-B-A" && !k.answersAsked() {
				// Nor does the page's own script: it shares that process. Each call
				// is told so, not only the one that found it out.
				for range 2 {
					k.atOnceErr("evaluate in the page", messages.CodeBlockedByDialog, func() error {
						_, err := k.tryEval("", "1")
						return err
					})
				}
			}
			k.accept("text for " + name)
			// The frame's word to its top page may still be on the way.
			got := k.evalPromise("", "new Promise(r => { const look = () => window.got !== undefined ? r(window.got) : setTimeout(look, 5); look() })")
			if want := strconv.Quote("text for " + name); got != want {
				t.Errorf("the frame received %s, want %s", got, want)
			}
		})
	}
	t.Run("sandboxed, without modals: none", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("d18")
		k.goTo("http://a.test/sandbox")
		f := k.frame("/prompt")
		if got := k.eval(f.FrameID, "ask(); window.got"); got != "null" {
			t.Errorf("the frame received %s", got)
		}
		k.later("", "confirm('next')")
		if d := k.dialog(); d.ID != "d-1" || d.Message != "next" {
			t.Errorf("the first dialog is %+v", d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	})
}

func TestC7_AFramesDialogIsAnsweredWhileItsPageRuns(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c7")
	k.goTo("http://a.test/nested")
	f := k.fullFrame("/prompt")
	k.later(f.FrameID, "ask()")
	d := k.dialog()
	if d.FrameID != f.FrameID {
		t.Errorf("dialog %+v of frame %+v", d, f)
	}
	// Only its own process stands still.
	if got := k.eval("", "1 + 1"); got != "2" {
		t.Errorf("the page says %s", got)
	}
	if got := k.eval(k.frame("/nested-b").FrameID, "1 + 1"); got != "2" {
		t.Errorf("the frame between says %s", got)
	}
	if !k.answersAsked() {
		_, err := k.tryEval(f.FrameID, "1")
		wantCode(t, err, messages.CodeBlockedByDialog)
	}
	k.accept("deep")
	if got := k.eval(f.FrameID, "window.got"); got != `"deep"` {
		t.Errorf("the frame received %s", got)
	}
}
