package facts_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

func attachedOver(t *testing.T, b *chromiumtest.Browser, target string) (*chromiumtest.Raw, string) {
	t.Helper()
	r := chromiumtest.Dial(t, b.WS())
	return r, r.Attach(target)
}

// consoleOf lists what a session heard of the console: the texts, and how often
// a document came out of the back-forward cache.
func consoleOf(c *chromiumtest.Raw, session string) (heard []string, times []string) {
	for _, e := range c.Events(func(e chromiumtest.Event) bool { return e.Session == session }) {
		switch {
		case e.Method == "Runtime.consoleAPICalled":
			var args []struct{ Value string }
			_ = json.Unmarshal([]byte(e.Param("args")), &args)
			heard, times = append(heard, args[0].Value), append(times, e.Param("timestamp"))
		case e.Method == "Page.frameNavigated" && e.Param("type") == "BackForwardCacheRestore":
			heard = append(heard, "(restored)")
		}
	}
	return heard, times
}

// Rule: an entry of the console is told from its replay by the time the browser
// gave it, whatever session it comes on.
func TestConsoleIsReplayed(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/plain"))
	p.Eval(p.Session, "window.kept = 1; console.error('one'); console.error('two'); 0")
	other, session := attachedOver(t, b, p.Target)
	other.Must(session, "Runtime.enable", nil)
	heard, times := consoleOf(c, p.Session)
	again, timesAgain := consoleOf(other, session)
	want(t, "to a new session", strings.Join(again, ","), strings.Join(heard, ","))
	want(t, "times", strings.Join(timesAgain, ","), strings.Join(times, ","))
	other.Close()

	p.Navigate(site.URL("http://b.test/plain"))
	p.Eval(p.Session, "console.error('three'); 0")
	c.Start(p.Session, "history.back()") // the page may be gone before it answers
	p.NextWhere("the restored page", func(e chromiumtest.Event) bool {
		return on(p.Session, "Page.frameNavigated")(e) && e.Param("type") == "BackForwardCacheRestore"
	})
	want(t, "kept", string(p.Eval(p.Session, "window.kept")), "1")
	heard, _ = consoleOf(c, p.Session)
	want(t, "to the same session", strings.Join(heard, ","), "one,two,three,one,two,(restored)")
}

// soon waits for what no event tells.
func soon(p *chromiumtest.Page, patience time.Duration, ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			return false
		}
		p.HasSeen(func(chromiumtest.Event) bool { return false }, 10*time.Millisecond)
	}
	return true
}

// Rule: what a command sets is given to the next session of the page, by us.
func TestWhatDiesWithTheSession(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	site.Handle("/file", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename="+r.URL.Query().Get("name"))
	}))
	const zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
	w := chromiumtest.Dial(t, b.WS())
	p := w.NewPage(site.URL("https://a.test/plain"))
	permission := func() string {
		return string(p.Eval(p.Session, "navigator.permissions.query({name: 'geolocation'}).then(s => s.state)"))
	}
	dir := t.TempDir()
	download := func(name string) bool {
		p.Eval(p.Session, "location.href = '/file?name="+name+"'; 0")
		return soon(p, within, func() bool {
			_, err := os.Stat(dir + "/" + name)
			return err == nil
		})
	}
	before := []string{string(p.Eval(p.Session, zone)), permission()}

	session := c.Attach(p.Target)
	c.Must(session, "Emulation.setTimezoneOverride", params{"timezoneId": "Pacific/Auckland"})
	c.Must("", "Browser.grantPermissions", params{"permissions": []string{"geolocation"}})
	c.Must("", "Browser.setDownloadBehavior", params{"behavior": "allow", "downloadPath": dir})
	kept := chromiumtest.Field(c.Must("", "Target.createBrowserContext", nil), "browserContextId")
	gone := chromiumtest.Field(c.Must("", "Target.createBrowserContext", params{"disposeOnDetach": true}), "browserContextId")
	want(t, "zone", string(p.Eval(p.Session, zone)), `"Pacific/Auckland"`)
	want(t, "permission", permission(), `"granted"`)
	want(t, "download", download("with"), true)

	c.Close()
	w.Must("", "Browser.getVersion", nil)
	if !soon(p, chromiumtest.Patience, func() bool { return permission() == before[1] }) {
		t.Error("the permission outlives its connection")
	}
	want(t, "zone", string(p.Eval(p.Session, zone)), before[0])
	want(t, "download", download("without"), false)
	contexts := string(w.Must("", "Target.getBrowserContexts", nil))
	want(t, "a context", strings.Contains(contexts, kept), true)
	want(t, "one that is to go", strings.Contains(contexts, gone), false)
}

// Rule: a renderer that comes after a crash gets from the browser what was set on the
// session. Commands that were being sent to the dead one fail, and scripts among them are
// in force all the same, under the numbers they would have had.
func TestWhatACrashLeavesOfASession(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/plain"))
	script := func(name string) params {
		return params{"source": "window." + name + " = (window." + name + " || 0) + 1"}
	}
	stood := p.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", script("stood"))
	want(t, "the first number", chromiumtest.Field(stood, "identifier"), "1")
	p.Must(p.Session, "Emulation.setTimezoneOverride", params{"timezoneId": "Pacific/Auckland"})
	p.Must(p.Session, "Inspector.enable", nil)
	p.Send(p.Session, "Page.crash", nil)
	p.NextWhere("the crash", on(p.Session, "Inspector.targetCrashed"))

	other, late := attachedOver(t, b, p.Target)
	other.Must(late, "Inspector.enable", nil)
	other.Send(late, "Page.enable", nil)
	added := other.Send(late, "Page.addScriptToEvaluateOnNewDocument", script("late"))
	locale := other.Send(late, "Emulation.setLocaleOverride", params{"locale": "de-DE"})
	p.Must(p.Session, "Page.reload", nil)
	other.NextWhere("the revival", on(late, "Inspector.targetReloadedAfterCrash"))
	for _, c := range []*chromiumtest.Pending{added, locale} {
		_, err := c.Wait(chromiumtest.Patience)
		wantCode(t, err, -32000)
	}
	other.Must(late, "Page.enable", nil)
	p.Navigate(site.URL("http://a.test/plain"))
	const state = "String([window.stood, window.late, Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.NumberFormat().resolvedOptions().locale])"
	want(t, "after the crash", string(p.Eval(p.Session, state)), `"1,1,Pacific/Auckland,en-US"`)
	other.Must(late, "Page.removeScriptToEvaluateOnNewDocument", params{"identifier": "1"})
	again := other.Must(late, "Page.addScriptToEvaluateOnNewDocument", script("late"))
	want(t, "the number after that", chromiumtest.Field(again, "identifier"), "1")
}

// Rule: the emulated media and the network conditions of a page are taken back by the
// end of any client's session on it, one that has enabled nothing included; the end of
// a session on its tab takes nothing back.
func TestD2_TheEndOfAnySessionTakesBackWhatIsCommon(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://d.test/plain"))
	p.Must(p.Session, "Network.enable", nil)
	set := func() {
		p.Must(p.Session, "Emulation.setEmulatedMedia", params{"media": "print"})
		p.Must(p.Session, "Network.emulateNetworkConditions", params{"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
	}
	const both = "matchMedia('print').matches + ' ' + navigator.onLine"
	other := chromiumtest.Dial(t, b.WS())
	set()
	session := other.Attach(p.Target)
	want(t, "while another is attached", string(p.Eval(p.Session, both)), `"true false"`)
	other.Must("", "Target.detachFromTarget", params{"sessionId": session})
	want(t, "once it has left", string(p.Eval(p.Session, both)), `"false true"`)
	set()
	other.Must("", "Target.setAutoAttach", params{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []params{{"type": "tab"}},
	})
	tabs := other.Events(func(e chromiumtest.Event) bool {
		return e.Method == "Target.attachedToTarget" && info(e, "type") == "tab"
	})
	for _, e := range tabs {
		other.Must("", "Target.detachFromTarget", params{"sessionId": e.Param("sessionId")})
	}
	if len(tabs) == 0 {
		t.Error("no tab was attached to")
	}
	want(t, "once another has left its tab", string(p.Eval(p.Session, both)), `"true false"`)
}

// Rule: a stream's handle is good on its own page alone, so reading streams reaches no
// other task.
func TestStreamsAreOfTheirPage(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	one, other := c.NewPage(site.URL("http://d.test/plain")), c.NewPage(site.URL("http://d.test/plain"))
	handle := chromiumtest.Field(one.Must(one.Session, "Page.printToPDF", params{"transferMode": "ReturnAsStream"}), "stream")
	if result, err := c.Call(other.Session, "IO.read", params{"handle": handle}); err == nil {
		t.Errorf("another page reads %.40s", result)
	}
	one.Must(one.Session, "IO.read", params{"handle": handle, "size": 16})
}
