package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

func isolation(i messages.Isolation) func(*messages.TaskSpec) {
	return func(s *messages.TaskSpec) { s.Isolation = i }
}

// secure is a page of the site at an address that counts as secure without TLS.
func (r *rig) secure(path string) string {
	u, err := url.Parse(r.site.URL("http://a.test" + path))
	if err != nil {
		r.Fatal(err)
	}
	return "http://127.0.0.1:" + u.Port() + path
}

func (k *task) visit(address string) {
	k.Helper()
	if _, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: address}); err != nil {
		k.Fatalf("navigate to %s: %v", address, err)
	}
}

// awaited evaluates a promise.
func (k *task) awaited(expression string) string {
	k.Helper()
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		k.Fatal(err)
	}
	var res struct {
		Result struct{ Value any }
		Thrown json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(k.cdp("", "Runtime.evaluate", string(params)), &res); err != nil || res.Thrown != nil {
		k.Fatalf("%s: %v %s", expression, err, res.Thrown)
	}
	return fmt.Sprint(res.Result.Value)
}

func (k *task) try(method, params string) error {
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: method, Params: json.RawMessage(params)})
	return err
}

// X6: what one task leaves in the browser another one finds with isolation shared,
// and not with isolation context.
func TestX6_WhatTasksShare(t *testing.T) {
	t.Parallel()
	for _, how := range []messages.Isolation{messages.IsolationContext, messages.IsolationShared} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			r := setupOn(t, chromiumtest.Launch(t))
			r.site.SetType("/worker.js", "text/javascript", "self.onfetch = () => {}")
			r.site.Set("/secure", "<title>/secure</title>")
			cached := 0
			r.site.Handle("/cached", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				cached++
				w.Header().Set("Cache-Control", "max-age=3600")
				_, _ = fmt.Fprint(w, cached)
			}))
			a, b := r.task("a", isolation(how)), r.task("b", isolation(how))
			if s := a.snapshot(); s.Connection.Isolation != how {
				t.Fatalf("%+v", s.Connection)
			}
			for _, k := range []*task{a, b} {
				k.goTo("http://a.test/plain")
			}
			a.eval("", "document.cookie = 'who=a; max-age=3600'; localStorage.who = 'a'; 0")
			got := map[string]bool{
				"cookies":      b.eval("", "document.cookie") != `""`,
				"localStorage": b.eval("", "localStorage.who") != "undefined",
			}
			for _, k := range []*task{a, b} {
				k.visit(r.secure("/secure"))
			}
			a.awaited("fetch('/cached').then(r => r.text())")
			got["the HTTP cache"] = b.awaited("fetch('/cached').then(r => r.text())") == "1"
			a.awaited("caches.open('c').then(c => c.put('/x', new Response('a')))")
			got["caches"] = b.awaited("caches.has('c')") == "true"
			a.awaited("new Promise(f => { const o = indexedDB.open('d'); o.onsuccess = () => { o.result.close(); f() } })")
			got["indexedDB"] = b.awaited("indexedDB.databases().then(d => d.length)") != "0"
			a.awaited("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)")
			got["service workers"] = b.awaited("navigator.serviceWorker.getRegistrations().then(r => r.length)") != "0"
			for what, isShared := range got {
				if want := how == messages.IsolationShared; isShared != want {
					t.Errorf("%s: shared %t, want %t", what, isShared, want)
				}
			}

			const geolocation = "navigator.permissions.query({name: 'geolocation'}).then(p => p.state)"
			before := b.awaited(geolocation)
			err := a.try("Browser.grantPermissions", `{"permissions":["geolocation"]}`)
			downloads := a.try("Browser.setDownloadBehavior", `{"behavior":"deny"}`)
			cookies := a.try("Network.setCookie", `{"name":"x","value":"y","url":"http://bank.test/"}`)
			if how == messages.IsolationShared {
				for _, err := range []error{err, downloads, cookies, a.try("Network.getAllCookies", "{}"), a.try("Storage.clearCookies", "{}")} {
					wantCode(t, err, messages.CodeForbidden)
				}
				return
			}
			if err != nil || downloads != nil || cookies != nil {
				t.Fatal(err, downloads, cookies)
			}
			if mine, theirs := a.awaited(geolocation), b.awaited(geolocation); mine != "granted" || theirs != before || theirs == "granted" {
				t.Errorf("the permission is %s for the task that set it, and %s for the other", mine, theirs)
			}
			if all := string(b.cdp("", "Storage.getCookies", "{}")); strings.Contains(all, "who") || strings.Contains(all, "bank.test") {
				t.Errorf("the other task has %s", all)
			}
			// One denies downloads, and the other's come.
			dir := t.TempDir()
			b.cdp("", "Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":`+quoted(dir)+`}`)
			b.eval("", "Object.assign(document.createElement('a'), {download: 'f.txt', href: URL.createObjectURL(new Blob(['b']))}).click()")
			for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
				if text, err := os.ReadFile(filepath.Join(dir, "f.txt")); err == nil && string(text) == "b" {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the download did not come")
				}
			}
		})
	}
}

// A context goes with its task, and a popup is in it.
func TestX6_AContextLivesWithItsTask(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Launch(t))
	w := chromiumtest.Dial(t, r.chrome.WS())
	contexts := func() string {
		return chromiumtest.Field(w.Must("", "Target.getBrowserContexts", nil), "browserContextIds")
	}
	none := contexts()
	k := r.task("kept")
	k.goTo("http://a.test/popup")
	with := contexts()
	k.later("", "openChild()")
	d := k.dialog()
	info := func(page messages.TargetID) string {
		raw := w.Must("", "Target.getTargetInfo", map[string]any{"targetId": page})
		return chromiumtest.Field(json.RawMessage(chromiumtest.Field(raw, "targetInfo")), "browserContextId")
	}
	if id := info(d.TargetID); id == "" || !strings.Contains(with, id) {
		t.Errorf("the popup is in %q, of %s", id, with)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", DialogID: d.ID}); err != nil {
		t.Fatal(err)
	}
	if err := r.node.StopTask(r.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	if now := contexts(); now != none {
		t.Errorf("contexts %s, want %s as before", now, none)
	}
}

// A page in one context does not wait for the dialog of another context's page,
// though both show a frame of one site.
func TestX6_ADialogDoesNotHoldAnotherTask(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Launch(t))
	r.site.Set("/holds", `<title>/holds</title><iframe src="`+r.site.URL("http://c.test/plain")+`"></iframe>`)
	a, b := r.task("asks"), r.task("goes")
	a.goTo("http://a.test/holds")
	a.later(a.frame("/plain").FrameID, "confirm('sure?')")
	d := a.dialog()
	began := time.Now()
	b.goTo("http://b.test/holds")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the navigation took %s while another task's dialog was open", took)
	}
	if s := b.snapshot(); s.PageState != messages.PageOK {
		t.Errorf("the page is %s", s.PageState)
	}
	if _, err := a.node.Respond(a.ctx, a.id, messages.DialogAnswer{Action: "accept", DialogID: d.ID}); err != nil {
		t.Error(err)
	}
}

// What an agent has emulated on its page stands while other tasks of the node start,
// reconnect and end on the same browser.
func TestD2_OtherTasksChangeNothingOnAPage(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Launch(t), func(c *node.Config) { c.AllowChaos = true })
	a := r.task("set")
	a.goTo("http://a.test/plain")
	a.cdp("", "Emulation.setEmulatedMedia", `{"media":"print"}`)
	a.cdp("", "Network.enable", `{}`)
	a.cdp("", "Network.emulateNetworkConditions", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`)
	stands := func(after string) {
		t.Helper()
		const now = "matchMedia('print').matches && !navigator.onLine"
		// What is taken back is set again a moment later: it has to be so, and to stay so.
		var since time.Time
		deadline := time.Now().Add(patience)
		for since.IsZero() || time.Since(since) < 500*time.Millisecond {
			switch isSet := a.eval("", now) == "true"; {
			case isSet && since.IsZero():
				since = time.Now()
			case !isSet:
				since = time.Time{}
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %s the page is not as its agent has set it", after)
			}
		}
	}
	stands("nothing")
	b := r.task("other")
	stands("the start of another task")
	for _, link := range []messages.Links{messages.LinksPrimary, messages.LinksAnchor} {
		b.await("both links", func(s *messages.Snapshot) bool {
			return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
		})
		if _, err := r.node.Kill(r.ctx, b.id, link); err != nil {
			t.Fatal(err)
		}
		stands("its reconnect")
	}
	if err := r.node.StopTask(r.ctx, b.id); err != nil {
		t.Fatal(err)
	}
	stands("its end")
	if _, err := r.node.Kill(r.ctx, a.id, messages.LinksAnchor); err != nil {
		t.Fatal(err)
	}
	stands("the loss of its own anchor")
}

// TestC68_CookiesByTheStorageDomainAreTheTasksOwn: the three commands that Chrome answers for the
// default context on a page's session reach the task's own, by raw CDP and
// over the gateway.
func TestC68_CookiesByTheStorageDomainAreTheTasksOwn(t *testing.T) {
	t.Parallel()
	r := setup(t)
	one := r.task("c67-one", func(s *messages.TaskSpec) { s.Isolation = messages.IsolationContext })
	two := r.task("c67-two", func(s *messages.TaskSpec) { s.Isolation = messages.IsolationContext })
	cdp := func(k *task, method, params string) string {
		t.Helper()
		k.goTo("http://a.test/plain")
		res, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: method, Params: []byte(params)})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Result)
	}
	cdp(one, "Storage.setCookies", `{"cookies":[{"name":"c67","value":"v","domain":"c67.test","path":"/"}]}`)
	for _, method := range []string{"Storage.getCookies", "Network.getAllCookies"} {
		if got := cdp(one, method, ""); !strings.Contains(got, `"c67"`) {
			t.Errorf("its own by %s: %s", method, got)
		}
		if got := cdp(two, method, ""); strings.Contains(got, `"c67"`) {
			t.Errorf("another's by %s: %s", method, got)
		}
	}
	// A client of the gateway, on its page's session.
	const read = `return (await (await page.createCDPSession()).send("Storage.getCookies")).cookies.map(c => c.name).join()`
	table := one.scripts()
	if res := one.runScript(table, read); res.Text != "c67" {
		t.Errorf("its own over the gateway: %s %s", res.Code, res.Text)
	}
	if res := two.runScript(table, read); !res.OK || strings.Contains(res.Text, "c67") {
		t.Errorf("another's over the gateway: %s %s", res.Code, res.Text)
	}
	cdp(one, "Storage.clearCookies", "")
	if got := cdp(one, "Network.getAllCookies", ""); strings.Contains(got, `"c67"`) {
		t.Errorf("cleared: %s", got)
	}
}
