package acceptance_test

import (
	"encoding/json"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// gesture evaluates as if a person had clicked, so that popups open.
func gesture(p *chromiumtest.Page, expression string) json.RawMessage {
	return p.Must(p.Session, "Runtime.evaluate", map[string]any{"expression": expression, "userGesture": true, "returnByValue": true})
}

func TestDemand20_NothingStealsFocus(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t) // who is in front is the browser's business as a whole
	r, p := proxied(t, b)
	witness := chromiumtest.Dial(t, b.WS())
	// The person's tab, in front in the only window.
	var user chromiumtest.Page
	for _, i := range targets(t, witness) {
		if i.Type == "page" {
			user = chromiumtest.Page{Raw: witness, Target: i.ID, Session: witness.Attach(i.ID)}
		}
	}
	user.Must(user.Session, "Page.enable", nil)
	user.Navigate(r.site.URL("http://a.test/plain"))
	user.Eval(user.Session, "window.hidden = 0; document.addEventListener('visibilitychange', () => window.hidden++); 0")

	k := r.task("demand20", r.through(p))
	k.goTo("http://a.test/popup")
	if got := k.eval("", "document.hasFocus()"); got != "true" {
		t.Errorf("the task's page believes to be out of focus: %s", got)
	}
	k.cdp("", "Target.createTarget", `{"url":"`+r.site.URL("http://a.test/plain")+`"}`)
	k.cdp("", "Target.createTarget", `{"url":"about:blank","background":false}`)
	p.KillAll()
	k.whole(1)
	k.later("", "confirm('one')")
	k.dialog()
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	other := r.task("demand20-2", r.through(p))
	other.goTo("http://b.test/plain")
	if err := r.node.StopTask(r.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	if got := string(user.Eval(user.Session, "document.visibilityState + ' ' + window.hidden")); got != `"visible 0"` {
		t.Errorf("the person's tab is %s", got)
	}
	for _, m := range p.Messages() {
		switch method := chromiumtest.Field(m.Payload, "method"); {
		case !m.IsFromClient:
		case method == "Target.activateTarget", method == "Page.bringToFront", method == "Browser.setWindowBounds":
			t.Errorf("%s was sent", method)
		case method == "Target.createTarget":
			if params := json.RawMessage(chromiumtest.Field(m.Payload, "params")); chromiumtest.Field(params, "background") != "true" {
				t.Errorf("a tab was opened with %s", params)
			}
		}
	}
	// The witness would have seen it.
	witness.Must("", "Target.createTarget", map[string]any{"url": "about:blank"})
	until(t, "a tab in front hides the person's", func() bool {
		return string(user.Eval(user.Session, "document.visibilityState + ' ' + window.hidden")) == `"hidden 1"`
	})
}
