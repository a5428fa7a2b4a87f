package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

func TestD1_EveryTypeIsDetected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ                         messages.DialogType
		page, open, message, prompt string
	}{
		{"alert", "/alert", "ask()", "hello", ""},
		{"confirm", "/confirm", "ask()", "sure?", ""},
		{"prompt", "/prompt", "ask()", "name?", "dflt"},
		{"beforeunload", "/beforeunload", "location.href = '/plain'", "", ""},
	} {
		t.Run(string(c.typ), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("d1", leaving(messages.BeforeUnloadAsk))
			k.goTo("http://a.test" + c.page)
			k.later("", c.open)
			d := k.dialog()
			s := k.snapshot()
			if d.Type != c.typ || d.Message != c.message || d.DefaultPrompt != c.prompt || d.ID != "d-1" || d.Path != k.path(c.typ) {
				t.Errorf("dialog %+v", d)
			}
			if d.TargetID != s.PageTargetID || d.FrameID != s.FrameTree.Top.FrameID || d.SessionID != s.Pages[0].SessionID {
				t.Errorf("dialog %+v on page %+v", d, s.Pages[0])
			}
			now := float64(messages.SecondsOf(time.Now()))
			if o := float64(d.OpenedAt); o > now || o < now-patience.Seconds() {
				t.Errorf("opened at %f, now %f", o, now)
			}
			if got := float64(d.ExpiresAt - d.OpenedAt); got < 299.99 || got > 300.01 {
				t.Errorf("expires after %f s, want the default 300", got)
			}
			if s.PageState != messages.PageDialog {
				t.Errorf("page state %s", s.PageState)
			}
			var fields map[string]any
			b, _ := json.Marshal(d)
			if err := json.Unmarshal(b, &fields); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"id", "type", "message", "default_prompt", "session_id", "opened_at", "frame_id", "target_id", "path", "expires_at"} {
				if _, ok := fields[name]; !ok {
					t.Errorf("no %s in %s", name, b)
				}
			}
			k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
		})
	}
}

func TestD2_IDsGrow(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d2")
	k.goTo("http://a.test/confirm")
	for i := range 4 {
		k.later("", "ask()")
		if d, want := k.dialog(), messages.NewDialogID(uint64(i+1)); d.ID != want {
			t.Fatalf("id %s, want %s", d.ID, want)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	}
}

func TestD3_ADialogWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d3") // must_respond is the default
	k.goTo("http://a.test/confirm")
	w, session := k.witness(k.snapshot().PageTargetID)
	k.later("", "ask()")
	d := k.dialog()
	if hangs := w.DoesHang(session, "Runtime.evaluate", map[string]any{"expression": "1"}, time.Second); hangs == k.answersAsked() {
		t.Errorf("a question to the page hangs: %v", hangs)
	}
	if s := k.snapshot(); len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != d.ID || len(s.RecentDialogs) != 0 {
		t.Errorf("after a second: %+v", s)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}
}

func TestD8_TheFullLoopOnAPrompt(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d8")
	k.goTo("http://a.test/prompt")
	k.later("", "ask()")
	d := k.dialog()
	if d.Type != "prompt" || d.Message != "name?" || d.DefaultPrompt != "dflt" || d.ID != "d-1" {
		t.Fatalf("dialog %+v", d)
	}
	closed, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", PromptText: text("Ada")})
	if err != nil || closed.ClosedBy != messages.ClosedByAgent || closed.ID != d.ID {
		t.Fatalf("respond: %+v, %v", closed, err)
	}
	if got := k.eval("", "window.got"); got != `"Ada"` {
		t.Fatalf("the page received %s", got)
	}
	// Who has the answer reads a snapshot that knows of it.
	s := k.snapshot()
	if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.RecentDialogs[0] != closed || s.PageState != messages.PageOK {
		t.Errorf("afterwards %+v", s)
	}
}

func TestC3_AnAcceptedPromptWithoutTextReturnsItsDefault(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c3")
	k.goTo("http://a.test/prompt")
	for _, c := range []struct {
		name string
		do   func() error
		want string
	}{
		{"without text", func() error {
			_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept})
			return err
		}, `"dflt"`},
		{"with an empty one", func() error {
			_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: text("")})
			return err
		}, `""`},
		{"dismissed with one", func() error {
			_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: text("x")})
			return err
		}, "null"},
		{"over HTTP", func() error {
			if status, body := k.door().call("POST", "/v1/tasks/c3/dialog", `{"action":"accept"}`); status != http.StatusOK {
				return fmt.Errorf("%d %v", status, body)
			}
			return nil
		}, `"dflt"`},
		{"through raw CDP", func() error {
			_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.handleJavaScriptDialog", Params: json.RawMessage(`{"accept":true}`)})
			return err
		}, `"dflt"`},
	} {
		k.later("", "ask()")
		k.dialog()
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := k.eval("", "window.got"); got != c.want {
			t.Errorf("%s: the page received %s, want %s", c.name, got, c.want)
		}
	}
}

func TestC10_Beforeunload(t *testing.T) {
	t.Parallel()
	at := func(path string) func(*messages.Snapshot) bool {
		return func(s *messages.Snapshot) bool {
			return strings.HasSuffix(s.Pages[0].URL, path) && len(s.PendingDialogs) == 0 && s.PageState == messages.PageOK
		}
	}
	start := func(t *testing.T, b messages.BeforeUnload) *task {
		k := setup(t).task("c10", leaving(b))
		k.goTo("http://a.test/beforeunload")
		k.eval("", "1") // with a user's gesture, without which there is no dialog
		return k
	}
	leave := func(k *task) error {
		_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/plain")})
		return err
	}
	for action, want := range map[messages.Action]string{messages.ActionAccept: "/plain", messages.ActionDismiss: "/beforeunload"} {
		t.Run("ask, "+string(action), func(t *testing.T) {
			t.Parallel()
			k := start(t, messages.BeforeUnloadAsk)
			k.atOnceErr("navigate", messages.CodeBlockedByDialog, func() error { return leave(k) })
			if d := k.dialog(); d.Type != "beforeunload" {
				t.Errorf("dialog %+v", d)
			}
			k.respond(messages.DialogAnswer{Action: action})
			k.await("the page at "+want, at(want))
			if got := k.evalPromise("", "new Promise(r => document.readyState === 'complete' ? r(document.title) : addEventListener('load', () => r(document.title)))"); got != strconv.Quote(want) {
				t.Errorf("title %s", got)
			}
		})
	}
	t.Run("accept", func(t *testing.T) {
		t.Parallel()
		k := start(t, messages.BeforeUnloadAccept)
		if err := leave(k); err != nil {
			t.Errorf("navigate: %v", err)
		}
		k.await("the page gone on", at("/plain"))
		if c := k.closed("d-1"); c.Type != "beforeunload" || c.ClosedBy != messages.ClosedByAutoPolicy || c.Action != messages.ActionAccept {
			t.Errorf("record %+v", c)
		}
	})
	t.Run("dismiss", func(t *testing.T) {
		t.Parallel()
		k := start(t, messages.BeforeUnloadDismiss)
		e := wantCode(t, leave(k), messages.CodeCDPError)
		if e.Details["error_text"] != "net::ERR_ABORTED" {
			t.Errorf("details %v", e.Details)
		}
		k.await("the page stayed", at("/beforeunload"))
		if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByAutoPolicy || c.Action != messages.ActionDismiss {
			t.Errorf("record %+v", c)
		}
	})
	t.Run("the default without an anchor is accept, whatever the dialog policy", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c10", policy(messages.PolicyAutoDismiss), func(s *messages.TaskSpec) { s.Anchor = "off" })
		k.goTo("http://a.test/beforeunload")
		k.eval("", "1")
		if err := leave(k); err != nil {
			t.Errorf("navigate: %v", err)
		}
		k.await("the page gone on", at("/plain"))
	})
	t.Run("of an out-of-process frame", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c10", leaving(messages.BeforeUnloadAsk))
		k.site.Set("/holds-back", `<title>/holds-back</title><iframe src="http://b.test/beforeunload"></iframe>`)
		k.goTo("http://a.test/holds-back")
		f := k.frame("/beforeunload")
		k.eval(f.FrameID, "1")
		wantCode(t, leave(k), messages.CodeBlockedByDialog)
		if d := k.dialog(); d.Type != "beforeunload" || d.FrameID != f.FrameID {
			t.Errorf("dialog %+v of frame %+v", d, f)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
		k.await("the page gone on", at("/plain"))
	})
}

func TestC13_WhatElseEndsADialog(t *testing.T) {
	t.Parallel()
	open := func(r *rig) *task {
		k := r.task("c13")
		k.goTo("http://a.test/confirm")
		k.later("", "ask()")
		k.dialog()
		return k
	}
	t.Run("another client navigates", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c13")
		k.goTo("http://a.test/confirm")
		w, session := k.witness(k.snapshot().PageTargetID)
		k.later("", "ask()")
		k.dialog()
		w.Must(session, "Page.navigate", map[string]any{"url": k.site.URL("http://a.test/plain")})
		if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByRemote {
			t.Errorf("record %+v", c)
		}
		k.await("the other page", func(s *messages.Snapshot) bool {
			return strings.HasSuffix(s.Pages[0].URL, "/plain") && s.PageState == messages.PageOK
		})
	})
	t.Run("the page is closed", func(t *testing.T) {
		t.Parallel()
		k := open(setup(t))
		page := k.snapshot().PageTargetID
		k.atOnce("close", func(ctx context.Context) error {
			_, err := k.node.CDP(ctx, k.id, messages.CDPRequest{Method: "Target.closeTarget", Params: json.RawMessage(`{"targetId":"` + string(page) + `"}`)})
			return err
		})
		if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByRemote {
			t.Errorf("record %+v", c)
		}
		k.await("no page", func(s *messages.Snapshot) bool { return len(s.Pages) == 0 && len(s.PendingDialogs) == 0 })
	})
	t.Run("the renderer crashes", func(t *testing.T) {
		t.Parallel()
		k := open(alone(t))
		killRenderers(t, k.chrome)
		if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByRemote {
			t.Errorf("record %+v", c)
		}
		k.await("crashed", func(s *messages.Snapshot) bool {
			return s.PageState == messages.PageCrashed && len(s.PendingDialogs) == 0
		})
		k.goTo("http://a.test/confirm")
		k.later("", "ask()")
		k.dialog()
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
		if got := k.eval("", "window.got"); got != "true" {
			t.Errorf("the page received %s", got)
		}
	})
}

func TestC14_TwoDialogsAtOnce(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c14")
	k.goTo("http://a.test/two-oopifs")
	var f, g messages.FrameNode
	k.await("both frames", func(s *messages.Snapshot) bool {
		if s.FrameTree == nil || len(s.FrameTree.Children) != 2 {
			return false
		}
		f, g = s.FrameTree.Children[0], s.FrameTree.Children[1]
		return f.SessionID != "" && g.SessionID != ""
	})
	k.later(f.FrameID, "ask()")
	k.dialog()
	k.later(g.FrameID, "ask()")
	if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByRemote || c.FrameID != f.FrameID {
		t.Errorf("the first: %+v", c)
	}
	if c := k.closed("d-2"); c.ClosedBy != messages.ClosedByLost || c.FrameID != g.FrameID {
		t.Errorf("the second: %+v", c)
	}
	s := k.await("unreachable", func(s *messages.Snapshot) bool { return s.PageState == messages.PageDialogUnreachable })
	if s.State != messages.StateWedged || len(s.PendingDialogs) != 0 {
		t.Errorf("state %s, pending %+v", s.State, s.PendingDialogs)
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-2"})
	wantCode(t, err, messages.CodeDialogLost)
	_, err = k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept})
	wantCode(t, err, messages.CodeNoDialog)
	// The frame of the first was told "no" by Chrome and continues; that of the second
	// stands still, and a caller of it gets an error that says so.
	if got := k.eval(f.FrameID, "window.got"); got != "false" {
		t.Errorf("the first frame received %s", got)
	}
	k.wedged(messages.CDPRequest{FrameID: g.FrameID})

	k.cdp("", "Page.reload", "{}")
	var again messages.FrameNode
	k.await("freed, with new frames", func(s *messages.Snapshot) bool {
		if s.PageState != messages.PageOK || s.State != messages.StateActive || len(s.FrameTree.Children) != 2 {
			return false
		}
		again = s.FrameTree.Children[0]
		return again.FrameID != f.FrameID && again.FrameID != g.FrameID && again.SessionID != "" && strings.HasSuffix(again.URL, "/confirm")
	})
	// Not by another dialog: Chromium takes the frozen frame away when it gets
	// round to it, and cancels whatever dialog the page has by then.
	if got := k.eval(again.FrameID, "1+1"); got != "2" {
		t.Errorf("after the reload the frame says %s", got)
	}
}
