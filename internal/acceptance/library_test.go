package acceptance_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	cdptarget "github.com/chromedp/cdproto/target"

	"holdfast"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// library is a task of a node as a Go program has it, on the shared browser.
func library(t *testing.T, id messages.TaskID) (*holdfast.Task, *chromiumtest.Site) {
	t.Helper()
	b, site := chromiumtest.Shared(t), chromiumtest.Serve(t)
	n, err := holdfast.Start(t.Context(), holdfast.WithStateDir(t.TempDir()), holdfast.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	k, err := n.Task(ctx, id, messages.WithCDPURL(b.Endpoint().Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	return k, site
}

// TestLibrary is the Go API on a real browser: a handle, its events, and the typed
// commands of cdproto on its executor.
func TestLibrary(t *testing.T) {
	t.Parallel()
	k, site := library(t, "library")
	site.Set("/asks", `<title>asks</title><script>function ask() { window.got = prompt("Your name?", "none") }</script>`)
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	exec := k.Executor("")
	to := site.URL("http://a.test/asks")
	if _, err := cdp.Call(ctx, exec, page.Enable, page.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if res, err := cdp.Call(ctx, exec, page.Navigate, page.NavigateParams{URL: to}); err != nil || res.FrameID == "" || res.ErrorText != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := k.Navigate(ctx, to, messages.Until(messages.WaitLoad), messages.Within(patience)); err != nil {
		t.Fatal(err)
	}
	evaluate := func(expression string) string {
		t.Helper()
		res, err := cdp.Call(ctx, exec, runtime.Evaluate, runtime.EvaluateParams{Expression: expression})
		if err != nil || res.Result == nil {
			t.Fatalf("%s: %+v, %v", expression, res, err)
		}
		return string(res.Result.Value)
	}
	if got := evaluate("document.title"); got != `"asks"` {
		t.Errorf("the title is %s", got)
	}
	snap, err := k.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	evaluate("void setTimeout(ask, 0)")
	for e, err := range k.Events(ctx, messages.AfterVersion(snap.Version)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == messages.EventDialogOpened {
			break
		}
	}
	if _, err := cdp.Call(ctx, exec, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}); holdfast.CodeOf(err) != messages.CodeBlockedByDialog {
		t.Errorf("under the dialog: %v", err)
	}
	if d, err := k.Answer(ctx, messages.ActionAccept, messages.WithPromptText("Ada")); err != nil || d.ClosedBy != messages.ClosedByAgent {
		t.Fatalf("%+v, %v", d, err)
	}
	if got := evaluate("window.got"); got != `"Ada"` {
		t.Errorf("the page received %s", got)
	}
	// What is for the browser: its answer names the task's own pages alone.
	made, err := cdp.Call(ctx, exec, cdptarget.CreateTarget, cdptarget.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := cdp.Call(ctx, exec, cdptarget.GetTargets, cdptarget.GetTargetsParams{})
	if err != nil || !slices.ContainsFunc(list.TargetInfos, func(i *cdptarget.Info) bool { return i.TargetID == made.TargetID }) {
		t.Errorf("%+v, %v", list, err)
	}
	other := k.Executor(messages.TargetID(made.TargetID))
	res, err := cdp.Call(ctx, other, runtime.Evaluate, runtime.EvaluateParams{Expression: "location.href"})
	if err != nil || string(res.Result.Value) != `"about:blank"` {
		t.Errorf("%+v, %v", res, err)
	}
	if err := k.Stop(ctx); err != nil {
		t.Error(err)
	}
	if _, err := k.CDP(ctx, "Page.enable", nil); holdfast.CodeOf(err) != messages.CodeTaskNotFound {
		t.Errorf("a task that has stopped: %v", err)
	}
}
