package acceptance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestNoneHasIt4_WhatIsPromisedForAPageThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, ill := range ills {
		t.Run(ill.name, func(t *testing.T) {
			t.Parallel()
			b := chromiumtest.Launch(t)
			r := setupOn(t, b)
			for n, action := range ill.helps {
				p := r.patient(fmt.Sprintf("ill-%d", n))
				p.goTo(ill.path)
				p.eval("", "window.here = 'kept'")
				ill.befall(p)
				p.is(ill.state)
				if n == 0 {
					for refused, code := range ill.no {
						_, err := p.recover(refused)
						wantCode(t, err, code)
					}
				}
				begun := time.Now()
				res, err := p.recover(action)
				took := time.Since(begun)
				if err != nil {
					t.Fatalf("%s after %s: %v; %+v", action, took, err, p.snapshot().Pages)
				}
				t.Logf("%s took %s", action, took)
				if res.Page.TargetID != p.page {
					t.Errorf("%s: the page is %+v", action, res.Page)
				}
				p.hasRecovered(b, action, ill.keeps[action])
			}
		})
	}
}

func TestC20_AnOrphanedBeforeunloadCanOnlyBeClosed(t *testing.T) {
	t.Parallel()
	arm := "window.onbeforeunload = () => 'stay'; 1"
	refused := func(t *testing.T, p *patient, a messages.RecoverAction) {
		t.Helper()
		_, err := p.recover(a)
		if e := wantCode(t, err, messages.CodePageWedged); !strings.Contains(e.Message, "close") {
			t.Errorf("%s: %v does not point at close", a, err)
		}
		// What took too long on a slow machine is attaching to the page still.
		p.is(messages.PageDialogUnreachable)
	}
	t.Run("of the task's own", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		p := setupOn(t, b).patient("c20", func(s *messages.TaskSpec) { s.BeforeUnload = messages.BeforeUnloadAsk })
		p.goTo("http://a.test/plain")
		p.eval("", arm)
		_, err := p.node.Navigate(p.ctx, p.id, messages.NavigateRequest{URL: p.site.URL("http://b.test/plain")})
		wantCode(t, err, messages.CodeBlockedByDialog)
		p.loseBoth()
		p.is(messages.PageDialogUnreachable)
		for _, a := range []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverReattach} {
			refused(t, p, a)
		}
		if _, err := p.recover(messages.RecoverClose); err != nil {
			t.Fatal(err)
		}
		p.hasRecovered(b, messages.RecoverClose, false)
	})
	t.Run("that was there before the task", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		r := setupOn(t, b)
		before := chromiumtest.Dial(t, b.WS())
		target := chromiumtest.Field(before.Must("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
		session := before.Attach(target)
		before.Must(session, "Page.enable", nil)
		before.Must(session, "Page.navigate", map[string]any{"url": r.site.URL("http://a.test/plain")})
		before.NextWhere("load", chromiumtest.On(session, "Page.loadEventFired"))
		before.Must(session, "Runtime.evaluate", map[string]any{"expression": arm, "userGesture": true})
		before.Send(session, "Page.navigate", map[string]any{"url": r.site.URL("http://b.test/plain")})
		before.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
		before.Close()

		p := r.patient("c20", scoped(messages.ScopeTarget, target))
		p.is(messages.PageDialogUnreachable)
		refused(t, p, messages.RecoverRelease) // the cause is unknown before it has been tried
		refused(t, p, messages.RecoverReload)
		if _, err := p.recover(messages.RecoverClose); err != nil {
			t.Fatal(err)
		}
		select {
		case <-b.Exited():
			t.Fatalf("the browser is gone: %s", b.ExitReason())
		default:
		}
	})
}

func TestM3_ADialogThatWasThereBeforeTheTaskIsReleased(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	before := chromiumtest.Dial(t, b.WS())
	target := chromiumtest.Field(before.Must("", "Target.createTarget", map[string]any{"url": "about:blank", "background": true}), "targetId")
	session := before.Attach(target)
	before.Must(session, "Page.enable", nil)
	before.Must(session, "Page.navigate", map[string]any{"url": r.site.URL("http://a.test/confirm")})
	before.NextWhere("load", chromiumtest.On(session, "Page.loadEventFired"))
	before.Must(session, "Runtime.evaluate", map[string]any{"expression": "window.here = 'kept'"})
	before.Start(session, "ask()")
	before.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
	before.Close()

	p := r.patient("m3", scoped(messages.ScopeTarget, target))
	p.is(messages.PageDialogUnreachable)
	if _, err := p.recover(messages.RecoverRelease); err != nil {
		t.Fatal(err)
	}
	p.hasRecovered(b, messages.RecoverRelease, true)
	if got := p.eval("", "window.got"); got != "false" {
		t.Errorf("the dialog gave %s", got)
	}
}

func TestC15_AFrameThatIsRemovedUnderALostDialogNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	p := setupOn(t, b).patient("c15")
	p.goTo("http://a.test/oopif-prompt")
	f := p.frame("/prompt")
	p.eval("", "window.here = 'kept'")
	p.later(f.FrameID, "ask()")
	p.dialog()
	p.loseBoth()
	p.is(messages.PageDialogUnreachable)
	// The page itself runs, as its timers may. Another client has a
	// session on it for the moment.
	w := chromiumtest.Dial(t, b.WS())
	session := w.Attach(string(p.page))
	w.Must(session, "Runtime.evaluate", map[string]any{"expression": "setTimeout(() => document.getElementById('f').remove(), 200)"})
	w.Close()
	p.await("the page to be freed", func(s *messages.Snapshot) bool {
		return s.PageState == messages.PageOK && s.FrameTree != nil && len(s.FrameTree.Children) == 0
	})
	p.hasRecovered(b, messages.RecoverRelease, true)
	p.goTo("http://a.test/plain")
}

func TestAPageComesBackByItself(t *testing.T) {
	t.Parallel()
	t.Run("a loop that ends", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("by-itself")
		k.goTo("http://a.test/busy")
		// The agent's own call is long: it is not failed for it.
		got := make(chan string, 1)
		go func() {
			v, err := k.tryEval("", "spin(4000)")
			got <- fmt.Sprint(v, err)
		}()
		k.await("hung", func(s *messages.Snapshot) bool {
			return s.PageState == messages.PageHung && s.State == messages.StateWedged
		})
		k.atOnceErr("a later call", messages.CodePageWedged, func() error {
			_, err := k.tryEval("", "1")
			return err
		})
		k.await("ok again", func(s *messages.Snapshot) bool {
			return s.PageState == messages.PageOK && s.State == messages.StateActive
		})
		if v := <-got; v != `"spun"<nil>` {
			t.Errorf("the long call got %s", v)
		}
	})
	t.Run("a dialog that somebody else answers", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		r := setupOn(t, b)
		other := chromiumtest.Dial(t, b.WS())
		page := other.NewPage(r.site.URL("http://a.test/confirm"))
		page.Start(page.Session, "ask()")
		page.Next("Page.javascriptDialogOpening")
		p := r.patient("by-itself", scoped(messages.ScopeTarget, page.Target))
		p.is(messages.PageDialogUnreachable)
		other.Must(page.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
		p.is(messages.PageOK)
		if got := p.eval("", "window.got"); got != "true" {
			t.Errorf("the page got %s", got)
		}
	})
}

func TestDemand3_APageThatSpinsAsItLoadsIsSaidToHang(t *testing.T) {
	t.Parallel()
	k := setup(t).task("spins-on-load")
	gone := make(chan error, 1)
	begun := time.Now()
	go func() {
		_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: "data:text/html,<script>for(;;);</script>", TimeoutS: 15})
		gone <- err
	}()
	k.await("hung", func(s *messages.Snapshot) bool { return s.PageState == messages.PageHung })
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("said after %s", took)
	}
	wantCode(t, <-gone, messages.CodePageWedged)
	k.atOnce("stop", func(ctx context.Context) error { return k.node.StopTask(ctx, k.id) })
}

func TestNoneHasIt4_APageInTheDebuggerIsNoHungOne(t *testing.T) {
	t.Parallel()
	p := setup(t).patient("paused")
	p.goTo("http://a.test/plain")
	p.cdp("", "Debugger.enable", "{}")
	p.later("", "debugger; window.went = 'on'")
	p.is(messages.PagePaused)
	_, err := p.recover(messages.RecoverRelease)
	if e := wantCode(t, err, messages.CodePageWedged); !strings.Contains(e.Message, "Debugger.resume") {
		t.Errorf("%v does not say what helps", err)
	}
	p.cdp("", "Debugger.resume", "{}")
	p.is(messages.PageOK)
	if got := p.eval("", "window.went"); got != `"on"` {
		t.Errorf("the page went %s", got)
	}
}

func TestNoneHasIt4_ADeadLinkIsNamedAndNoPageIsBlamed(t *testing.T) {
	t.Parallel()
	p := setup(t).patient("dead-link", oneLink)
	p.goTo("http://a.test/plain")
	w := p.watch()
	p.links.Stall()
	begun := time.Now()
	waiting := make(chan error, 1)
	go func() {
		_, err := evalOn(p.ctx, p.node, p.id, messages.CDPRequest{TimeoutS: 20}, "1")
		waiting <- err
	}()
	w.until("the end of the link", func(e messages.Event) bool {
		return e.Connection != nil && e.Connection.Primary != messages.LinkUp
	})
	// A suspicion has it pinged at once, and a pong gets four seconds; without one
	// it would be nine.
	took := time.Since(begun)
	if t.Logf("after %s", took); took > 8*time.Second {
		t.Errorf("after %s", took)
	}
	wantCode(t, <-waiting, messages.CodeUpstreamUnavailable)
	for _, e := range w.seen {
		if e.Page != nil && e.Page.PageState != messages.PageOK {
			t.Errorf("the page was blamed: %+v", e.Page)
		}
	}
	p.links.Resume()
	p.whole(1)
}

func TestReattach(t *testing.T) {
	t.Parallel()
	t.Run("a page that is well", func(t *testing.T) {
		t.Parallel()
		p := setup(t).patient("reattach")
		p.goTo("http://a.test/oopif")
		p.frame("/plain")
		p.eval("", "window.here = 'kept'")
		before := p.snapshot().Pages[0].SessionID
		res, err := p.recover(messages.RecoverReattach)
		if err != nil {
			t.Fatal(err)
		}
		if res.Page.SessionID == before || res.Page.SessionID == "" {
			t.Errorf("the session is %s, and was %s", res.Page.SessionID, before)
		}
		if got := p.eval("", "window.here"); got != `"kept"` {
			t.Errorf("the page has %s", got)
		}
		p.frame("/plain")
	})
	t.Run("a dialog stays answerable, by the anchor", func(t *testing.T) {
		t.Parallel()
		p := setup(t).patient("reattach-dialog")
		p.goTo("http://a.test/prompt")
		p.both()
		p.later("", "ask()")
		d := p.dialog()
		if _, err := p.recover(messages.RecoverReattach); err != nil {
			t.Fatal(err)
		}
		if s := p.snapshot(); len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != d.ID || s.PageState != messages.PageDialog {
			t.Fatalf("afterwards: %+v", s)
		}
		p.accept("through")
		if got := p.eval("", "window.got"); got != `"through"` {
			t.Errorf("the page got %s", got)
		}
	})
	t.Run("a dialog with one link only is not risked", func(t *testing.T) {
		t.Parallel()
		p := setup(t).patient("reattach-alone", oneLink)
		p.goTo("http://a.test/confirm")
		p.later("", "ask()")
		p.dialog()
		_, err := p.recover(messages.RecoverReattach)
		wantCode(t, err, messages.CodeBlockedByDialog)
		p.respond(messages.DialogAnswer{Action: "accept"})
		if got := p.eval("", "window.got"); got != "true" {
			t.Errorf("the page got %s", got)
		}
	})
}

func TestOnWedge(t *testing.T) {
	t.Parallel()
	does := func(w messages.OnWedge) func(*messages.TaskSpec) {
		return func(s *messages.TaskSpec) { s.OnWedge, s.OnWedgeAfterS = w, messages.MinOnWedgeAfter.Seconds() }
	}
	t.Run("release", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		p := setupOn(t, b).patient("on-wedge", does(messages.OnWedgeRelease))
		p.goTo("http://a.test/confirm")
		p.eval("", "window.here = 'kept'")
		p.later("", "ask()")
		d := p.dialog()
		p.loseBoth()
		if c := p.closed(d.ID); c.ClosedBy != messages.ClosedByLost {
			t.Errorf("closed by %s", c.ClosedBy)
		}
		p.reconnected(1)
		p.is(messages.PageDialogUnreachable) // and on_wedge waits from then on
		p.is(messages.PageOK)
		p.hasRecovered(b, messages.RecoverRelease, true)
	})
	t.Run("reload", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		p := setupOn(t, b).patient("on-wedge", does(messages.OnWedgeReload))
		p.goTo("http://a.test/busy")
		p.eval("", "window.here = 'lost'")
		p.later("", "spin()")
		go func() { _, _ = p.tryEval("", "1") }() // ends with the test
		p.await("hung", func(s *messages.Snapshot) bool { return s.PageState == messages.PageHung })
		p.is(messages.PageOK)
		p.hasRecovered(b, messages.RecoverReload, false)
	})
	t.Run("a page that only works keeps its document", func(t *testing.T) {
		t.Parallel()
		p := setupOn(t, chromiumtest.Launch(t)).patient("on-wedge", does(messages.OnWedgeReload))
		p.goTo("http://a.test/busy")
		p.eval("", "window.mine = 'typed'")
		p.later("", "spin(1500)")
		if got := p.eval("", "1 + 1"); got != "2" {
			t.Errorf("the call behind the work gave %s", got)
		}
		if got := p.eval("", "window.mine"); got != `"typed"` {
			t.Errorf("the page kept %s", got)
		}
	})
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		p := setupOn(t, b).patient("on-wedge", does(messages.OnWedgeClose))
		p.goTo("http://a.test/plain")
		_, err := p.node.CDP(p.ctx, p.id, messages.CDPRequest{Method: "Page.crash"})
		wantCode(t, err, messages.CodePageCrashed)
		p.await("no page", func(s *messages.Snapshot) bool { return len(s.Pages) == 0 })
	})
}
