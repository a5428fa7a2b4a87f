package acceptance_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// away lets the world go on while the task has no link, and waits until it is
// whole again.
func (k *task) away(p *chromiumtest.FaultProxy, meanwhile func(other *chromiumtest.Raw)) *messages.Snapshot {
	k.Helper()
	n := k.snapshot().Connection.Reconnects
	p.HoldDials()
	p.KillAll()
	k.await("the loss", func(s *messages.Snapshot) bool { return s.Connection.Primary != messages.LinkUp })
	other := chromiumtest.Dial(k.T, k.chrome.WS())
	meanwhile(other)
	other.Close()
	p.ReleaseDials()
	return k.whole(n + 1)
}

func TestA13_FramesThatMovedWhileTheLinkWasDown(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("a13-frames", r.through(p))
	k.goTo("http://a.test/oopif")
	child := k.frame("/plain").FrameID
	page := string(k.snapshot().PageTargetID)
	inPage := func(other *chromiumtest.Raw, script string) {
		session := other.Attach(page)
		other.Eval(session, script)
	}
	const strays = "window.strays = (window.strays || 0) + 1"
	moved := k.away(p, func(other *chromiumtest.Raw) {
		_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: child, WaitS: new(float64)}, strays)
		if e := wantCode(t, err, messages.CodeUpstreamUnavailable); e.Sent != messages.SentNo {
			t.Errorf("details %v", e.Details)
		}
		inPage(other, "new Promise(r => { const f = document.getElementById('f'); f.onload = () => r(0); f.src = '/plain' })")
	})
	if f := moved.FrameTree.Children; len(f) != 1 || f[0].FrameID != child || f[0].IsOOPIF {
		t.Fatalf("frames %+v", f)
	}
	_, err := k.tryEval(child, strays)
	wantCode(t, err, messages.CodeFrameNotOOPIF)

	back := k.away(p, func(other *chromiumtest.Raw) {
		inPage(other, "new Promise(r => { const f = document.getElementById('f'); f.onload = () => r(0); f.src = '"+k.site.URL("http://c.test/plain")+"' })")
	})
	if f := back.FrameTree.Children; len(f) != 1 || f[0].FrameID != child || !f[0].IsOOPIF || f[0].SessionID == "" {
		t.Fatalf("frames %+v", f)
	}
	if got := k.eval(child, strays); got != "1" {
		t.Errorf("the frame was given it %s times", got)
	}

	k.away(p, func(other *chromiumtest.Raw) { inPage(other, "document.getElementById('f').remove(); 0") })
	_, err = k.tryEval(child, strays)
	wantCode(t, err, messages.CodeFrameNotFound)
	if got := k.eval("", "String(window.strays)"); got != `"undefined"` {
		t.Errorf("the page was given it %s times", got)
	}
}

func TestA13_PopupsOfTheTimeWithoutALink(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Launch(t))
	k := r.task("a13-popups", r.through(p))
	k.goTo("http://a.test/popup")
	page := k.snapshot().PageTargetID
	k.laterOn(page, "openChild('/plain')")
	closed := k.popup(page).TargetID
	k.await("the popup to run", func(*messages.Snapshot) bool { // held no more, nor is its opener
		return k.evalOn(closed, "document.title") == `"/plain"` && k.evalOn(page, "window.child !== null") == "true"
	})
	var opened, foreign string
	s := k.away(p, func(other *chromiumtest.Raw) {
		other.Must("", "Target.closeTarget", map[string]any{"targetId": closed})
		foreign = chromiumtest.Field(other.Must("", "Target.createTarget", map[string]any{"url": "about:blank", "background": true}), "targetId")
		session := other.Attach(string(page))
		other.Eval(session, "window.child = window.open('/confirm'); 0")
		until(t, "the popup", func() bool {
			for _, target := range targets(t, other) {
				if target.Opener == string(page) && target.ID != string(closed) {
					opened = target.ID
				}
			}
			return opened != ""
		})
	})
	if len(s.Pages) != 2 || s.Connection.BrowserRestarts != 0 {
		t.Fatalf("pages %+v (closed %s, foreign %s)", s.Pages, closed, foreign)
	}
	if q := s.Pages[1]; string(q.TargetID) != opened || q.OpenerID == nil || *q.OpenerID != page || q.SessionID == "" {
		t.Errorf("popup %+v", q)
	}
	// What it asks is heard.
	k.laterOn(messages.TargetID(opened), "ask()")
	if d := k.dialog(); string(d.TargetID) != opened {
		t.Errorf("dialog %+v", d)
	}
	k.accept("")
}
