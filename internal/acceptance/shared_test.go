package acceptance_test

import (
	"errors"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// onPage starts a task on a page of the browser that is at path, with on_wedge close.
func (r *rig) onPage(id messages.TaskID, raw *chromiumtest.Raw, url string) *task {
	r.Helper()
	p := raw.NewPage(r.site.URL(url))
	k := r.task(id, func(s *messages.TaskSpec) {
		s.Scope, s.TargetID = messages.ScopeTarget, messages.TargetID(p.Target)
		s.OnWedge, s.OnWedgeAfterS = messages.OnWedgeClose, messages.MinOnWedgeAfter.Seconds()
	})
	k.becomes(messages.PageOK) // its document may still be loading
	return k
}

func (k *task) becomes(state messages.PageState) {
	k.Helper()
	k.await(string(state), func(s *messages.Snapshot) bool { return s.PageState == state })
}

// Two pages of different sites show frames of one third site, which Chrome puts into
// one process. A dialog of one silences the other's.
func TestC59_ADialogOfAnotherTaskIsElsewhere(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	raw := chromiumtest.Dial(t, b.WS())
	asks, silent := r.onPage("asks", raw, "http://a.test/oopif-prompt"), r.onPage("silent", raw, "http://c.test/plain")
	silent.eval("", "window.mine = 'typed'")
	silent.eval("", "new Promise(done => { const f = document.createElement('iframe'); f.src = '"+r.site.URL("http://b.test/prompt")+"'; f.onload = () => done('1'); document.body.append(f) })")
	frame := silent.frame("/prompt").FrameID
	asks.later(asks.frame("/prompt").FrameID, "ask()")
	asks.dialog()
	_, err := silent.node.CDP(silent.ctx, silent.id, messages.CDPRequest{
		Method: "Runtime.evaluate", Params: []byte(`{"expression":"1"}`), FrameID: frame, TimeoutS: messages.MinOnWedgeAfter.Seconds() + 2,
	})
	wantCode(t, err, messages.CodePageWedged)
	var e *messages.Error
	if !errors.As(err, &e) || e.Details["page_state"] != messages.PageBlockedElsewhere {
		t.Errorf("the call says %v, %v", err, e.Details)
	}
	silent.becomes(messages.PageBlockedElsewhere)
	if s := silent.snapshot(); len(s.PendingDialogs) > 0 || len(s.Pages) != 1 {
		t.Errorf("the silent task has %+v and %+v", s.Pages, s.PendingDialogs)
	}
	// A page that begins to show such a frame does not load, and says what for.
	goes := r.task("goes", scoped(messages.ScopeOwn), func(s *messages.TaskSpec) { s.Isolation = messages.IsolationShared })
	_, err = goes.node.Navigate(goes.ctx, goes.id, messages.NavigateRequest{URL: r.site.URL("http://d.test/oopif-prompt"), TimeoutS: 2})
	if e := wantCode(t, err, messages.CodeDeadline); e.Details["page_state"] != messages.PageBlockedElsewhere || e.Details["pending_dialogs"] != nil {
		t.Errorf("the navigation says %v, %v", e, e.Details)
	}
	if _, err := asks.node.Respond(asks.ctx, asks.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	goes.frame("/prompt")
	silent.becomes(messages.PageOK)
	if got := silent.eval("", "window.mine"); got != `"typed"` {
		t.Errorf("the page kept %s", got)
	}
	if got := silent.eval(frame, "1 + 1"); got != "2" {
		t.Errorf("the frame says %s", got)
	}
}

// A popup of the same site lives in its opener's process.
func TestC59_ADialogOfAPopupBlocksItsOpenerByName(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	k := r.onPage("opener", chromiumtest.Dial(t, b.WS()), "http://a.test/popup")
	opener := k.snapshot().PageTargetID
	k.eval("", "window.mine = 'typed'")
	if _, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"openChild('/confirm')","userGesture":true}`)}); err != nil {
		t.Fatal(err)
	}
	k.await("the popup", func(s *messages.Snapshot) bool { return len(s.Pages) == 2 && s.PageTargetID != opener })
	popup := k.snapshot().PageTargetID
	k.await("its document", func(*messages.Snapshot) bool {
		v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: popup}, "typeof ask")
		return err == nil && v == `"function"`
	})
	k.later("", "ask()")
	d := k.dialog()
	_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: opener, TimeoutS: 20}, "1")
	e := wantCode(t, err, messages.CodeBlockedByDialog)
	if ds, _ := e.Details["pending_dialogs"].([]messages.Dialog); len(ds) != 1 || ds[0].ID != d.ID || ds[0].TargetID != popup {
		t.Errorf("details %v", e.Details)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	k.await("both answer", func(s *messages.Snapshot) bool {
		return len(s.Pages) == 2 && s.Pages[0].PageState == messages.PageOK && s.Pages[1].PageState == messages.PageOK
	})
	if v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: opener}, "window.mine"); err != nil || v != `"typed"` {
		t.Errorf("the opener kept %s, %v", v, err)
	}
}
