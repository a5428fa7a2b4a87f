package holdfasttest_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"go.uber.org/goleak"

	"holdfast"
	"holdfast/holdfasttest"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestANodeOnAFakeBrowser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node, browser := holdfasttest.Start(t)
		task, err := node.Task(t.Context(), "checkout-7", messages.WithLabel("team", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Navigate(t.Context(), "http://shop.test/"); err != nil {
			t.Fatal(err)
		}
		snap, err := task.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		frame := browser.AddFrame(browser.MainFrame(snap.PageTargetID), "http://bank.test/")
		asked := browser.OpenDialog(frame, messages.DialogPrompt, "Your name?", "")
		synctest.Wait()
		if _, err := task.Answer(t.Context(), messages.ActionAccept, messages.WithPromptText("Ada")); err != nil {
			t.Fatal(err)
		}
		isAccepted, text, err := asked.Wait(t.Context())
		if err != nil || !isAccepted || text != "Ada" {
			t.Errorf("the page received %t, %q, %v", isAccepted, text, err)
		}
		if browser.Disconnect() == 0 {
			t.Error("nothing was connected")
		}
		synctest.Wait() // the node knows it: a call waits for the link
		res, err := cdp.Call(t.Context(), task.Executor(""), page.GetFrameTree, cdp.Empty{})
		if err != nil || res.FrameTree.Frame.URL != "http://shop.test/" {
			t.Errorf("%+v, %v", res, err)
		}
		if err := task.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := task.Snapshot(t.Context(), messages.OnFrame("F")); holdfast.CodeOf(err) != messages.CodeInvalidArgument {
			t.Errorf("an option that does not fit: %v", err)
		}
	})
}

func TestWhatABrowserDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node, browser := holdfasttest.Start(t)
		task, err := node.Task(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		snap, err := task.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p := snap.PageTargetID
		hung, free := browser.Hang(p), browser.Unhang(p)
		if err := errors.Join(hung, free, browser.ConsoleError(browser.MainFrame(p), "broken")); err != nil {
			t.Error(err)
		}
		popup := browser.OpenPopup(browser.MainFrame(p), "http://popup.test/")
		synctest.Wait()
		if err := browser.Crash(p); err != nil {
			t.Error(err)
		}
		if browser.Crash("none") == nil || browser.RemoveFrame("none") == nil || browser.OpenDialog("none", messages.DialogAlert, "", "") != nil {
			t.Error("what is not there does something")
		}
		for e, err := range task.Events(t.Context(), messages.AfterVersion(snap.Version)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == messages.EventPageChanged && e.Page.TargetID == p && e.Page.PageState == messages.PageCrashed {
				break
			}
		}
		snap, err = task.Snapshot(t.Context(), messages.OnPage(popup))
		if err != nil || snap.PageTargetID != popup || len(snap.ConsoleErrors) != 1 {
			t.Errorf("%+v, %v", snap, err)
		}
		browser.Kill()
	})
}
