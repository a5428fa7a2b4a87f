package acceptance_test

import (
	"encoding/json"
	"strconv"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func leaving(b messages.BeforeUnload) func(*messages.TaskSpec) {
	return func(s *messages.TaskSpec) { s.BeforeUnload = b }
}

// respond answers a dialog, which must succeed.
func (k *task) respond(a messages.DialogAnswer) messages.ClosedDialog {
	k.Helper()
	c, err := k.node.Respond(k.ctx, k.id, a)
	if err != nil {
		k.Fatalf("respond %+v: %v", a, err)
	}
	return c
}

func (k *task) accept(s string) messages.ClosedDialog {
	k.Helper()
	return k.respond(messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &s})
}

// openTab opens another page of the task and waits until it has loaded.
func (k *task) openTab(url string) messages.TargetID {
	k.Helper()
	var r struct {
		TargetID messages.TargetID `json:"targetId"`
	}
	if err := json.Unmarshal(k.cdp("", "Target.createTarget", `{"url":"about:blank"}`), &r); err != nil {
		k.Fatal(err)
	}
	if _, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL(url), TargetID: r.TargetID}); err != nil {
		k.Fatalf("navigate to %s: %v", url, err)
	}
	return r.TargetID
}

// laterOn is later on a page that is not the current one.
func (k *task) laterOn(page messages.TargetID, script string) {
	k.Helper()
	if _, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: page}, "setTimeout(() => {"+script+"}, 0); 0"); err != nil {
		k.Fatalf("on %s: %v", page, err)
	}
}

func (k *task) evalOn(page messages.TargetID, expression string) string {
	k.Helper()
	v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: page, TimeoutS: patience.Seconds()}, expression)
	if err != nil {
		k.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// evalOnFrame evaluates where the dialog came from.
func (k *task) evalOnFrame(d messages.Dialog, expression string) string {
	k.Helper()
	v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: d.FrameID, TimeoutS: patience.Seconds()}, expression)
	if err != nil {
		k.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// evalPromise evaluates and awaits the promise.
func (k *task) evalPromise(frame messages.FrameID, expression string) string {
	k.Helper()
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		k.Fatal(err)
	}
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	// What is waited for takes longer on a slow machine than a command should.
	res, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params, FrameID: frame, TimeoutS: 60})
	if err != nil {
		k.Fatalf("%s: %v", expression, err)
	}
	if err := json.Unmarshal(res.Result, &r); err != nil || r.Exception != nil {
		k.Fatalf("%s: %v %s", expression, err, r.Exception)
	}
	return string(r.Result.Value)
}

// awaitPending waits until n dialogs are pending and returns them.
func (k *task) awaitPending(n int) []messages.Dialog {
	k.Helper()
	return k.await(strconv.Itoa(n)+" pending dialogs", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == n }).PendingDialogs
}

// witness is a second CDP client with a Page-enabled session on the page.
func (k *task) witness(page messages.TargetID) (*chromiumtest.Raw, string) {
	k.Helper()
	c := chromiumtest.Dial(k.T, k.chrome.WS())
	session := c.Attach(string(page))
	c.Must(session, "Page.enable", nil)
	return c, session
}

// wedged says that a page or frame stands still: the first call finds out
// within its own time, for the next one it is known.
func (k *task) wedged(where messages.CDPRequest) {
	k.Helper()
	where.TimeoutS = 4
	_, err := evalOn(k.ctx, k.node, k.id, where, "1")
	wantCode(k.T, err, messages.CodePageWedged)
	where.TimeoutS = 0
	k.atOnceErr("the next call", messages.CodePageWedged, func() error {
		_, err := evalOn(k.ctx, k.node, k.id, where, "1")
		return err
	})
}

// atOnceErr is atOnce for what has to fail.
func (k *task) atOnceErr(what string, code messages.Code, f func() error) {
	k.Helper()
	begun := time.Now()
	wantCode(k.T, f(), code)
	if took := time.Since(begun); took > atOnce {
		k.Errorf("%s took %s", what, took)
	}
}
