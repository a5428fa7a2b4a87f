package acceptance_test

import (
	"net/url"
	"slices"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// D20 speaks of a response to a request; what it is to bring about holds for either
// mechanism.
func TestD20_ThePageGetsTheAgentsText(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d20", bridged)
	k.goTo("http://a.test/prompt")
	for _, said := range []string{"", "plain", "quotes \" ' ` \\ and \u2028 lines\n", "\U0001f600", "</script>"} {
		k.later("", "ask()")
		k.dialog()
		k.accept(said)
		k.eval("", "window.want = decodeURIComponent('"+url.PathEscape(said)+"'); 0")
		if got := k.eval("", "window.got === want"); got != "true" {
			t.Errorf("%q: the page received %s", said, k.eval("", "window.got"))
		}
	}
}

// The bridge is there before the first script of every page, frame and popup.
func TestD22_TheFirstScriptOfEverySessionIsBridged(t *testing.T) {
	t.Parallel()
	// The other nodes of a shared browser let a popup run as soon as they see it.
	k := alone(t).task("d22", bridged)
	k.site.Set("/asks-first", `<title>/asks-first</title><script>window.got = prompt(location.host, 'd')</script>`)
	k.site.Set("/frames-first", `<title>/frames-first</title><script>window.got = prompt('top', 'd')</script><iframe src="/asks-first"></iframe><iframe src="http://b.test/asks-first"></iframe><iframe src="http://c.test/nest-first"></iframe>`)
	k.site.Set("/nest-first", `<title>/nest-first</title><iframe src="http://d.test/asks-first"></iframe>`)
	w, session := k.witness(k.snapshot().PageTargetID)
	_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/frames-first")})
	wantCode(t, err, messages.CodeBlockedByDialog)
	// The page itself, its frames, and one that it opens.
	for i := range 5 {
		if i == 4 {
			k.later("", "window.open('/asks-first')")
		}
		d := k.await("a dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) > 0 }).PendingDialogs[0]
		if d.Path != "bridge" || d.Type != "prompt" || d.DefaultPrompt != "d" {
			t.Errorf("dialog %+v", d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
	}
	k.await("all five", func(s *messages.Snapshot) bool {
		return len(s.RecentDialogs) == 5 && !slices.ContainsFunc(s.RecentDialogs, func(c messages.ClosedDialog) bool { return c.Path != "bridge" || c.ClosedBy != messages.ClosedByAgent })
	})
	if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 0 {
		t.Errorf("%d native dialogs", n)
	}
}

// Requests that another client has stopped are its own, also while a page waits.
func TestD23_WhatOthersInterceptIsTheirs(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d23", bridged)
	k.goTo("http://a.test/prompt")
	w, session := k.witness(k.snapshot().PageTargetID)
	w.Must(session, "Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*/plain*"}}})
	k.eval("", "window.fetched = 'waits'; fetch('/plain').then(r => r.text()).then(s => { fetched = s }); window.x = new XMLHttpRequest(); x.open('GET', '/plain?x'); x.send(); 0")
	var stopped []string
	for range 2 {
		e := w.NextWhere("their request", chromiumtest.On(session, "Fetch.requestPaused"))
		stopped = append(stopped, e.Param("requestId"))
	}
	k.later("", "ask()")
	k.dialog()
	k.accept("meanwhile")
	if got := k.eval("", "[got, fetched, x.readyState].join()"); got != `"meanwhile,waits,1"` {
		t.Errorf("while they are stopped: %s", got)
	}
	w.Must(session, "Fetch.fulfillRequest", map[string]any{"requestId": stopped[0], "responseCode": 200, "body": "dGhlaXJz"})
	w.Must(session, "Fetch.fulfillRequest", map[string]any{"requestId": stopped[1], "responseCode": 200, "body": "dGhlaXJz"})
	until(t, "their answers", func() bool { return k.eval("", "[fetched, x.responseText].join()") == `"theirs,theirs"` })
}

// What escapes the bridge is a native dialog like any other.
func TestD25_WhatEscapesTheBridgeIsNative(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("d25", func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
	k.goTo("http://a.test/prompt")
	k.eval("", "window.real = confirm; 0") // before the bridge
	spec := k.spec()
	spec.Bridge = messages.BridgeOn
	if _, _, err := r.node.GetOrStart(r.ctx, k.id, spec); err != nil {
		t.Fatal(err)
	}
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == "on" })
	for i, c := range []struct {
		call string
		path messages.DialogPath
	}{{"confirm('ours')", "bridge"}, {"real('theirs')", "native"}, {"confirm('ours')", "bridge"}} {
		k.later("", "window.got = "+c.call)
		want, by := "true", messages.ClosedByAgent
		if c.path == "native" && k.service != nil {
			want, by = "false", messages.ClosedByRemote // the service is faster
		} else {
			k.dialog()
			k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
		}
		if d := k.closed(messages.NewDialogID(uint64(i + 1))); d.Path != c.path || d.ClosedBy != by {
			t.Errorf("%s: %+v", c.call, d)
		}
		if got := k.eval("", "window.got"); got != want {
			t.Errorf("%s: the page received %s", c.call, got)
		}
		says := messages.BridgeOn
		if i > 0 { // once a document has opened a native one
			says = messages.BridgeUnavailable
		}
		if s := k.snapshot(); s.Pages[0].Bridge != says || s.Connection.Bridge != messages.BridgeOn {
			t.Errorf("behind %s: the page's bridge is %s, the task's %s", c.call, s.Pages[0].Bridge, s.Connection.Bridge)
		}
	}
	k.goTo("http://a.test/beforeunload")
	if s := k.snapshot(); s.Pages[0].Bridge != messages.BridgeOn {
		t.Errorf("the next document's page says %s", s.Pages[0].Bridge)
	}
	k.eval("", "0") // with a gesture, without which Chrome asks nothing (C10)
	_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/plain")})
	wantCode(t, err, messages.CodeBlockedByDialog)
	if d := k.dialog(); d.Path != "native" || d.Type != "beforeunload" {
		t.Errorf("dialog %+v", d)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
}
