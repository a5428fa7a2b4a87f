package acceptance_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// at once: what must not wait for a page. Generous, since the machine is shared;
// a page that holds something up holds it up for good.
const atOnce = 3 * time.Second

func (k *task) atOnce(what string, f func(ctx context.Context) error) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, atOnce)
	defer cancel()
	begin := time.Now()
	if err := f(ctx); err != nil {
		k.Fatalf("%s after %s: %v", what, time.Since(begin), err)
	}
}

func TestC15_ADialogOfARemovedFrameNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	for name, and := range map[string]func(t *testing.T, k *task){
		"answer": func(t *testing.T, k *task) {
			_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", DialogID: "d-1"})
			wantCode(t, err, messages.CodeDialogLost)
		},
		"stop": func(t *testing.T, k *task) {
			if err := k.node.StopTask(k.ctx, k.id); err != nil {
				t.Fatal(err)
			}
		},
		"navigate and ask again": func(t *testing.T, k *task) {
			k.await("the page to be freed", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
			k.goTo("http://a.test/confirm")
			k.later("", "ask()")
			k.dialog()
			if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
				t.Fatal(err)
			}
			if got := k.eval("", "window.got"); got != "true" {
				t.Fatalf("got %s", got)
			}
		},
		"a new dialog on the same page": func(t *testing.T, k *task) {
			k.await("the page to be freed", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
			k.later("", "window.again = confirm('again?')")
			k.dialog()
			if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
				t.Fatal(err)
			}
			if got := k.eval("", "window.again"); got != "true" {
				t.Fatalf("got %s", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chromiumtest.Launch(t)
			k := setupOn(t, b).task("c15")
			k.goTo("http://a.test/oopif-prompt")
			f := k.frame("/prompt")
			k.later(f.FrameID, "ask()")
			k.dialog()
			k.later("", "document.getElementById('f').remove()")
			c := k.closed("d-1")
			if c.ClosedBy != messages.ClosedByLost {
				t.Fatalf("closed by %s", c.ClosedBy)
			}
			and(t, k)
			select {
			case <-b.Exited():
				t.Fatalf("the browser is gone: %s", b.ExitReason())
			default:
			}
			raw := chromiumtest.Dial(t, b.WS())
			if _, err := raw.Call("", "Browser.getVersion", nil); err != nil {
				t.Fatalf("the browser does not answer: %v", err)
			}
		})
	}
}

func TestM13_ACrashedPageIsSaidSoAndRevived(t *testing.T) {
	t.Parallel()
	k := setup(t).task("m13")
	k.goTo("http://a.test/plain")
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.crash"})
	wantCode(t, err, messages.CodePageCrashed)
	k.await("crashed", func(s *messages.Snapshot) bool {
		return s.PageState == messages.PageCrashed && s.State == messages.StateWedged
	})
	_, err = k.tryEval("", "1")
	wantCode(t, err, messages.CodePageCrashed)
	k.goTo("http://a.test/confirm")
	k.await("ok", func(s *messages.Snapshot) bool {
		return s.PageState == messages.PageOK && s.State == messages.StateActive
	})
	k.later("", "ask()")
	k.dialog()
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "dismiss"}); err != nil {
		t.Fatal(err)
	}
}

func TestDemand17_ABusyPageHoldsNothingUp(t *testing.T) {
	t.Parallel()
	k := setup(t).task("busy")
	k.goTo("http://a.test/busy")
	k.later("", "spin()")
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"1"}`), TimeoutS: 4})
	wantCode(t, err, messages.CodePageWedged)
	k.atOnce("snapshot", func(context.Context) error {
		if s := k.snapshot(); s.PageState != messages.PageHung {
			t.Errorf("page state %s", s.PageState)
		}
		return nil
	})
	k.atOnce("evaluate", func(context.Context) error {
		_, err := k.tryEval("", "1")
		wantCode(t, err, messages.CodePageWedged)
		return nil
	})
	k.atOnce("another task", func(context.Context) error { k.rig.task("busy-2"); return nil })
	k.atOnce("terminate", func(context.Context) error { k.cdp("", "Runtime.terminateExecution", "{}"); return nil })
	k.await("ok again", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	k.later("", "spin()")
	k.atOnce("stop", func(ctx context.Context) error { return k.node.StopTask(ctx, k.id) })
}

func TestDemand1_ACallThatADialogHoldsUpSaysSo(t *testing.T) {
	t.Parallel()
	k := setup(t).task("demand1")
	k.goTo("http://a.test/confirm")
	_, err := k.tryEval("", "ask()")
	e := wantCode(t, err, messages.CodeBlockedByDialog)
	if ds, _ := e.Details["pending_dialogs"].([]messages.Dialog); len(ds) != 1 || ds[0].Message != "sure?" {
		t.Fatalf("details %v", e.Details)
	}
	_, err = k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/plain")})
	wantCode(t, err, messages.CodeBlockedByDialog)
	k.atOnce("cookies", func(context.Context) error { k.cdp("", "Network.getCookies", "{}"); return nil })
	k.atOnce("answer", func(ctx context.Context) error {
		_, err := k.node.Respond(ctx, k.id, messages.DialogAnswer{Action: "accept"})
		return err
	})
	if got := k.eval("", "window.got"); got != "true" {
		t.Fatalf("got %s", got)
	}
}

func TestDemand3_NavigateReturnsWhenADialogOpens(t *testing.T) {
	t.Parallel()
	k := setup(t).task("demand3")
	k.atOnce("navigate", func(ctx context.Context) error {
		_, err := k.node.Navigate(ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/alert-on-load")})
		wantCode(t, err, messages.CodeBlockedByDialog)
		return nil
	})
	k.atOnce("stop", func(ctx context.Context) error { return k.node.StopTask(ctx, k.id) })
}
