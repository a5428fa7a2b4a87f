package acceptance_test

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"holdfast/messages"
)

// asksInAPipe is a piped task with a confirm open, and a call that waits for its answer.
func asksInAPipe(t *testing.T, id messages.TaskID) (k *task, d messages.Dialog, call <-chan given, told messages.EventStream, browser int) {
	t.Helper()
	k, _ = piped(t, id)
	browser = k.mainProcess()
	k.goTo("http://a.test/popup")
	told, err := k.node.Watch(k.ctx, k.id, k.snapshot().Version, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(told.Close)
	call = k.waiting("", "confirm('Pay?')")
	return k, k.dialog(), call, told, browser
}

// tells waits for an event.
func (k *task) tells(of messages.EventStream, what string, is func(messages.Event) bool) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	for {
		events, err := of.Next(ctx)
		if err != nil {
			k.Fatalf("%s was not told: %v", what, err)
		}
		for _, e := range events {
			if is(e) {
				return
			}
		}
	}
}

// TestBothLinksOfAPipeFallUnderADialog: nothing that stands can answer it (C17), so it is
// lost at once and by event, the page is dialog_unreachable, and release frees it.
func TestBothLinksOfAPipeFallUnderADialog(t *testing.T) {
	t.Parallel()
	k, d, call, told, _ := asksInAPipe(t, "pipe-both")
	if _, err := k.node.Kill(k.ctx, k.id, messages.LinksBoth); err != nil {
		t.Fatal(err)
	}
	k.tells(told, "the dialog's end", func(e messages.Event) bool {
		return e.Closed != nil && e.Closed.ID == d.ID && e.Closed.ClosedBy == messages.ClosedByLost
	})
	if g := <-call; g.err == nil {
		t.Errorf("the call that waited came to %s", g.text)
	}
	if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost {
		t.Errorf("closed by %s", c.ClosedBy)
	}
	k.becomes(messages.PageDialogUnreachable)
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
	wantCode(t, err, messages.CodeDialogLost)
	if _, err := k.node.Recover(k.ctx, k.id, messages.RecoverRequest{Action: messages.RecoverRelease}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval("", "1 + 1"); got != "2" {
		t.Errorf("the page says %s", got)
	}
}

// TestABrowserDiesWithItsPipeUnderADialog: the task is lost with the reason, its dialog
// too, by state and by event; a call that waited ends, and so does an answer.
func TestABrowserDiesWithItsPipeUnderADialog(t *testing.T) {
	t.Parallel()
	k, d, call, told, browser := asksInAPipe(t, "pipe-death")
	if err := syscall.Kill(browser, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.tells(told, "the dialog's end", func(e messages.Event) bool {
		return e.Closed != nil && e.Closed.ID == d.ID && e.Closed.ClosedBy == messages.ClosedByLost
	})
	s := k.await("the task's end", func(s *messages.Snapshot) bool { return s.State == messages.StateLost })
	if !strings.Contains(s.Reason, "browser") || len(s.PendingDialogs) > 0 {
		t.Errorf("reason %q, dialogs %v", s.Reason, s.PendingDialogs)
	}
	if g := <-call; g.err == nil {
		t.Errorf("the call that waited came to %s", g.text)
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
	if err == nil {
		t.Error("a dialog of a dead browser was answered")
	}
	// Another start has a browser and a page again, also while the old one is cleared away.
	if _, isNew, err := k.node.GetOrStart(k.ctx, k.id, messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil || !isNew {
		t.Fatalf("started %v, %v", isNew, err)
	}
	k.bothLinks()
	if got := k.eval("", "1 + 1"); got != "2" {
		t.Errorf("the new page says %s", got)
	}
}

// mainProcess is the process of the task's browser that its pipe belongs to.
func (k *task) mainProcess() int {
	k.Helper()
	var info struct {
		ProcessInfo []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	if err := json.Unmarshal(k.cdp("", "SystemInfo.getProcessInfo", "{}"), &info); err != nil {
		k.Fatal(err)
	}
	for _, p := range info.ProcessInfo {
		if p.Type == "browser" {
			return p.ID
		}
	}
	k.Fatalf("no browser among %+v", info.ProcessInfo)
	return 0
}
