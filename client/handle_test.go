package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"holdfast"
	"holdfast/client"
	"holdfast/holdfasttest"
	"holdfast/messages"
)

// errDone ends what waits for an event.
var errDone = errors.New("the test is over")

// TestBothHandles: what a program does with a task is the same in the node's process and
// over HTTP.
func TestBothHandles(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) (messages.Handle, *holdfasttest.Browser){
		"in the process": func(t *testing.T) (messages.Handle, *holdfasttest.Browser) {
			node, browser := holdfasttest.Start(t)
			task, err := node.Task(t.Context(), "one", messages.WithLabel("a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			return task, browser
		},
		"over HTTP": func(t *testing.T) (messages.Handle, *holdfasttest.Browser) {
			s := holdfasttest.Serve(t)
			task, err := to(t, s.URL, client.Options{Token: s.Token}).Task(t.Context(), "one", messages.WithLabel("a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			return task, s.Browser
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task, browser := start(t)
			agent(t, task, browser)
		})
	}
}

// agent is a program that knows a task by its interface alone.
func agent(t *testing.T, task messages.Handle, browser *holdfasttest.Browser) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(errDone)
	if _, err := task.Navigate(ctx, "http://shop.test/", messages.Until(messages.WaitLoad)); err != nil {
		t.Fatal(err)
	}
	res, err := cdp.Call(ctx, task.Executor(""), page.GetFrameTree, cdp.Empty{})
	if err != nil || res.FrameTree.Frame.URL != "http://shop.test/" {
		t.Fatalf("%+v, %v", res, err)
	}
	snap, err := task.Snapshot(ctx, messages.FullTree())
	if err != nil || snap.TaskID != task.ID() || snap.Labels["a"] != "b" {
		t.Fatalf("%+v, %v", snap, err)
	}
	asked := browser.OpenDialog(browser.MainFrame(snap.PageTargetID), messages.DialogPrompt, "Your name?", "")
	for e, err := range task.Events(ctx, messages.AfterVersion(snap.Version)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != messages.EventDialogOpened {
			continue
		}
		if _, err := task.CDP(ctx, "Runtime.evaluate", map[string]any{"expression": "1"}); holdfast.CodeOf(err) != messages.CodeBlockedByDialog {
			t.Errorf("under the dialog: %v", err)
		}
		d, err := task.Answer(ctx, messages.ActionAccept, messages.WithPromptText("Ada"), messages.ToDialog(e.Dialog.ID))
		if err != nil || d.Action != messages.ActionAccept {
			t.Fatalf("%+v, %v", d, err)
		}
		break
	}
	if isAccepted, text, err := asked.Wait(ctx); err != nil || !isAccepted || text != "Ada" {
		t.Errorf("the page received %t, %q, %v", isAccepted, text, err)
	}
	if _, err := task.Answer(ctx, messages.ActionAccept, messages.FullTree()); holdfast.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("an option that does not fit: %v", err)
	}
	if _, err := task.Answer(ctx, messages.ActionAccept); holdfast.CodeOf(err) != messages.CodeNoDialog {
		t.Errorf("no dialog: %v", err)
	}
	if r, err := task.Recover(ctx, messages.RecoverReattach); err != nil || r.Page.TargetID != snap.PageTargetID {
		t.Errorf("%+v, %v", r, err)
	}
	if err := task.Renew(ctx); err != nil {
		t.Error(err)
	}
	if err := task.Stop(ctx); err != nil {
		t.Error(err)
	}
	if _, err := task.Restart(ctx); err != nil {
		t.Error(err)
	}
	cancel(errDone)
	var last error
	for _, err := range task.Events(ctx) {
		last = err
	}
	if last == nil {
		t.Error("the events do not honour their context")
	}
}
