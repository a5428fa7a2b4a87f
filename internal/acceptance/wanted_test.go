package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// script has source run in every new document of a frame ("": the page).
func (k *task) script(frame messages.FrameID, source string) (id string) {
	k.Helper()
	return chromiumtest.Field(k.cdp(frame, "Page.addScriptToEvaluateOnNewDocument", fmt.Sprintf(`{"source":%q}`, source)), "identifier")
}

func (k *task) unscript(frame messages.FrameID, id string) error {
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
		Method: "Page.removeScriptToEvaluateOnNewDocument", Params: fmt.Appendf(nil, `{"identifier":%q}`, id), FrameID: frame,
	})
	return err
}

// echo is a page that says which headers it was asked for with.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title>", r.Header.Get("X-Agent"))
})

const zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"

func TestA13_WhatTheTaskWantedSurvivesTwentyKills(t *testing.T) {
	t.Parallel()
	const kills = 20
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("a13-wanted", r.through(p))
	k.site.Handle("/echo", echo)
	k.goTo("http://a.test/oopif")
	frame := k.frame("/plain").FrameID
	k.cdp("", "Emulation.setDeviceMetricsOverride", `{"width":321,"height":234,"deviceScaleFactor":2,"mobile":false}`)
	k.cdp("", "Emulation.setTimezoneOverride", `{"timezoneId":"Pacific/Auckland"}`)
	k.cdp("", "Emulation.setLocaleOverride", `{"locale":"de-DE"}`)
	k.cdp(frame, "Emulation.setTimezoneOverride", `{"timezoneId":"Asia/Tokyo"}`)
	k.cdp("", "Network.enable", `{}`)
	k.cdp("", "Network.setExtraHTTPHeaders", `{"headers":{"X-Agent":"still me"}}`)
	first := k.script("", "window.first = (window.first || 0) + 1")
	k.script("", "window.second = (window.second || 0) + 1")
	for i := range uint64(kills) {
		p.KillAll()
		k.whole(i + 1)
		const state = "[innerWidth, devicePixelRatio, " + zone + ", Intl.NumberFormat().resolvedOptions().locale]"
		if got := k.eval("", state); got != `[321,2,"Pacific/Auckland","de-DE"]` {
			t.Fatalf("kill %d: the page has %s", i+1, got)
		}
		if got := k.eval(frame, zone); got != `"Asia/Tokyo"` {
			t.Fatalf("kill %d: the frame has %s", i+1, got)
		}
		if got := k.eval("", "[window.first, window.second]"); got != `[null,null]` {
			t.Fatalf("kill %d: the scripts ran in a document that was there before: %s", i+1, got)
		}
	}
	k.goTo("http://a.test/echo")
	if got := k.eval("", "[document.title, window.first, window.second]"); got != `["still me",1,1]` {
		t.Fatalf("a new document has %s", got)
	}
	if err := k.unscript("", first); err != nil {
		t.Fatalf("the identifier from before the kills: %v", err)
	}
	p.KillAll()
	k.whole(kills + 1)
	if third := k.script("", "window.third = 1"); third == first || third == "" {
		t.Errorf("identifier %q was given before", third)
	}
	k.cdp("", "Emulation.clearDeviceMetricsOverride", `{}`)
	k.cdp("", "Network.disable", `{}`)
	p.KillAll()
	k.whole(kills + 2)
	k.goTo("http://a.test/echo")
	if got := k.eval("", "[document.title, window.first, window.second, window.third, innerWidth === 321]"); got != `["",null,1,1,false]` {
		t.Errorf("after taking back: %s", got)
	}
	wantCode(t, k.unscript("", first), messages.CodeCDPError)
}

func TestA13_WhatTheTaskWantedAcrossCrashAndRelease(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r, p := proxied(t, b)
	k := r.task("wanted-crash", r.through(p))
	k.goTo("http://a.test/plain")
	k.cdp("", "Emulation.setTimezoneOverride", `{"timezoneId":"Pacific/Auckland"}`)
	id := k.script("", "window.runs = (window.runs || 0) + 1")
	check := func(when string) {
		t.Helper()
		if got := k.eval("", "[window.runs, "+zone+"]"); got != `[1,"Pacific/Auckland"]` {
			t.Errorf("%s: %s", when, got)
		}
	}
	crash := func() {
		t.Helper()
		k.eval("", "0") // whatever was set is set
		other := chromiumtest.Dial(t, b.WS())
		other.Send(other.Attach(string(k.snapshot().PageTargetID)), "Page.crash", nil)
		k.await("the crash", func(s *messages.Snapshot) bool { return s.PageState == messages.PageCrashed })
		other.Close()
	}
	revive := func() {
		t.Helper()
		k.cdp("", "Page.reload", "{}")
		k.await("the page", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
		k.goTo("http://a.test/plain")
	}
	crash()
	revive()
	check("after a crash on the session")

	crash()
	p.KillAll()
	k.reconnected(1)
	revive()
	check("after a link that came back to a crashed page")
	if err := k.unscript("", id); err != nil {
		t.Errorf("the identifier: %v", err)
	}
}

func TestA13_PermissionsOfTheConnection(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r, p := proxied(t, b)
	k := r.task("wanted-permissions", r.through(p))
	u := k.site.URL("https://a.test/plain")
	k.goTo("https://a.test/plain")
	k.cdp("", "Browser.grantPermissions", `{"permissions":["geolocation"]}`)
	k.cdp("", "Browser.setPermission", fmt.Sprintf(`{"permission":{"name":"notifications"},"setting":"denied","origin":%q}`, strings.TrimSuffix(u, "/plain")))
	for i := range uint64(5) {
		p.KillAll()
		k.whole(i + 1)
		params, _ := json.Marshal(map[string]any{
			"expression":   "Promise.all(['geolocation', 'notifications'].map(n => navigator.permissions.query({name: n}).then(s => s.state))).then(String)",
			"awaitPromise": true,
		})
		res := k.cdp("", "Runtime.evaluate", string(params))
		if got := chromiumtest.Field(json.RawMessage(chromiumtest.Field(res, "result")), "value"); got != "granted,denied" {
			t.Errorf("kill %d: %s", i+1, got)
		}
	}
}

// TestC61: the browser hears three seconds late that the old link is gone, and drops what
// that had emulated. The page has it again, and says so until it has.
func TestC61_AnOldLinkThatEndsLateTakesNothingAlong(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Launch(t))
	k := r.task("c61", r.through(p), oneLink)
	k.goTo("http://a.test/plain")
	k.cdp("", "Emulation.setDeviceMetricsOverride", `{"width":333,"height":234,"deviceScaleFactor":2,"mobile":false}`)
	k.cdp("", "Emulation.setTimezoneOverride", `{"timezoneId":"Asia/Tokyo"}`)
	k.cdp("", "Emulation.setLocaleOverride", `{"locale":"de-DE"}`)
	k.cdp("", "Emulation.setUserAgentOverride", `{"userAgent":"agentsmith/1"}`)
	const state = "[innerWidth, " + zone + ", Intl.NumberFormat().resolvedOptions().locale, navigator.userAgent]"
	const want = `[333,"Asia/Tokyo","de-DE","agentsmith/1"]`
	if got := k.eval("", state); got != want {
		t.Fatalf("set: %s", got)
	}
	old := p.Connections()[0]
	if !p.CutClient(old) {
		t.Fatal("no connection")
	}
	k.await("the new link, and what it was refused", func(s *messages.Snapshot) bool {
		return s.Connection.Reconnects == 1 && len(s.Pages) == 1 && slices.Contains(s.Pages[0].Restoring, "Emulation.setLocaleOverride")
	})
	<-time.After(3 * time.Second)
	p.Release(old)
	k.await("all of it again", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 && s.Pages[0].Restoring == nil })
	// The settings that the browser took at once are given again at the same moment as
	// the refused one.
	until(t, "the page to have it", func() bool { return k.eval("", state) == want })
}

// TestAFramesHeadersReachNoOtherSite: headers that an agent has set for a bank's frame are
// not given to the document that the page shows there next.
func TestAFramesHeadersReachNoOtherSite(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("frame-headers", r.through(p))
	k.site.Handle("/echo", echo)
	k.goTo("http://a.test/oopif")
	frame := k.frame("/plain").FrameID
	k.cdp(frame, "Network.enable", `{}`)
	k.cdp(frame, "Network.setExtraHTTPHeaders", `{"headers":{"X-Agent":"Bearer bank"}}`)
	asked := func(frame messages.FrameID) string {
		t.Helper()
		params := `{"expression":"fetch('/echo').then(r => r.text())","awaitPromise":true,"returnByValue":true}`
		return string(k.cdp(frame, "Runtime.evaluate", params))
	}
	if got := asked(frame); !strings.Contains(got, "Bearer bank") {
		t.Fatalf("the bank's own requests have %s", got)
	}
	move := func(url, suffix string, oopif bool) {
		t.Helper()
		k.eval("", fmt.Sprintf("document.getElementById('f').src = %q; 0", url))
		k.await("the frame at "+url, func(s *messages.Snapshot) bool {
			return s.FrameTree != nil && slices.ContainsFunc(s.FrameTree.Children, func(n messages.FrameNode) bool {
				return strings.HasSuffix(n.URL, suffix) && n.IsOOPIF == oopif && (n.SessionID != "") == oopif
			})
		})
	}
	away := func(when string) {
		t.Helper()
		for range 3 {
			if got := asked(frame); strings.Contains(got, "Bearer bank") {
				t.Fatalf("%s: another site was given the bank's header: %s", when, got)
			}
		}
	}
	move(k.site.URL("http://c.test/confirm"), "/confirm", true) // on the same session
	until(t, "the header to be taken back", func() bool { return !strings.Contains(asked(frame), "Bearer bank") })
	away("on the same session")
	move(k.site.URL("http://b.test/plain"), "/plain", true)
	until(t, "the bank's frame to have it again", func() bool { return strings.Contains(asked(frame), "Bearer bank") })
	move(k.site.URL("http://a.test/confirm"), "/confirm", false)
	move(k.site.URL("http://c.test/prompt"), "/prompt", true)
	away("behind the page's own site")
	p.KillAll()
	k.whole(1)
	<-time.After(1500 * time.Millisecond) // what is given again comes a second behind the attach
	away("behind a reconnect")
	move(k.site.URL("http://a.test/confirm"), "/confirm", false)
	move(k.site.URL("http://b.test/plain"), "/plain", true)
	until(t, "the bank's frame to have it again", func() bool { return strings.Contains(asked(frame), "Bearer bank") })
}
