package facts_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// doomed is a page whose next document is ready when it opens a dialog.
func doomed(t *testing.T, site *chromiumtest.Site, c *chromiumtest.Raw, asks string, before ...func(target string)) *chromiumtest.Page {
	t.Helper()
	gate := make(chan struct{})
	site.Set("/doomed", `<title>/doomed</title><script>function go() {
		location.href = '/plain';
		const x = new XMLHttpRequest(); x.open('GET', '/gate', false); x.send();
		`+asks+` }</script>`)
	site.Handle("/gate", http.HandlerFunc(func(_ http.ResponseWriter, asked *http.Request) {
		select {
		case <-gate:
		case <-asked.Context().Done():
		}
	}))
	p := c.NewPage(site.URL("http://a.test/doomed"))
	for _, do := range before {
		do(p.Target)
	}
	want(t, "a page is taken for active", isActive(t, p), true)
	p.Start(p.Session, "go()")
	for limit := time.Now().Add(chromiumtest.Patience); isActive(t, p); {
		if time.Now().After(limit) {
			t.Fatal("the next document does not come")
		}
	}
	close(gate)
	opening(p)
	return p
}

// isActive asks, without any effect, whether the page takes commands to its document: no
// history has an entry of that number.
func isActive(t *testing.T, p *chromiumtest.Page) bool {
	t.Helper()
	_, err := p.Call(p.Session, "Page.navigateToHistoryEntry", params{"entryId": -1})
	var e *chromiumtest.CDPError
	if !errors.As(err, &e) || e.Code != -32602 && !isInactive(err) {
		t.Fatalf("probe: %v", err)
	}
	return e.Code == -32602
}

func isInactive(err error) bool {
	var e *chromiumtest.CDPError
	return errors.As(err, &e) && e.Code == -32000 && strings.Contains(e.Message, "Not attached to an active page")
}

// Rule: a dialog that opens while the next document of its site takes the place of its own
// is lost; it is found out by a probe as it opens, and closed by a navigation that leads
// nowhere, on which the next document comes.
func TestC58_ADialogOfADocumentThatIsReplacedTakesNoAnswer(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := doomed(t, site, c, "window.r = confirm('Saved!')")
	want(t, "the probe finds it out", isActive(t, p), false)
	for method, ps := range map[string]params{"Page.handleJavaScriptDialog": {"accept": true}, "Page.reload": nil, "Page.stopLoading": nil, "Page.close": nil} {
		if _, err := c.Call(p.Session, method, ps); !isInactive(err) {
			t.Errorf("%s: %v", method, err)
		}
	}
	want(t, "Target.getTargetInfo", chromiumtest.Field([]byte(chromiumtest.Field(c.Must("", "Target.getTargetInfo", params{"targetId": p.Target}), "targetInfo")), "url"), "")
	want(t, "requests before", site.Hits("/plain"), 1)
	result := c.Must(p.Session, "Page.navigate", params{"url": "hcp:nowhere"})
	want(t, "the navigation", chromiumtest.Field(result, "errorText"), "net::ERR_ABORTED")
	want(t, "the dialog", closed(p).Param("result"), "false")
	p.NextWhere("the next document", func(e chromiumtest.Event) bool {
		return on(p.Session, "Page.frameNavigated")(e) && strings.Contains(e.Param("frame"), "/plain")
	})
	want(t, "path", string(p.Eval(p.Session, "location.pathname")), `"/plain"`)
	want(t, "requests", site.Hits("/plain"), 1)
	want(t, "the page is active", isActive(t, p), true)
	c.Must("", "Target.detachFromTarget", params{"sessionId": p.Session})
	c.NewPage(site.URL("http://a.test/plain"))
}

// Rule: no session leaves such a page, by whatever way; it is closed with all of them.
func TestC58_LeavingAPageWithADoomedDialogKillsTheBrowser(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(p *chromiumtest.Page, second *chromiumtest.Raw){
		"detach": func(p *chromiumtest.Page, _ *chromiumtest.Raw) {
			p.Send("", "Target.detachFromTarget", params{"sessionId": p.Session})
		},
		"the end of the other connection": func(_ *chromiumtest.Page, second *chromiumtest.Raw) {
			second.Close()
		},
		"Page.disable": func(p *chromiumtest.Page, _ *chromiumtest.Raw) {
			p.Send(p.Session, "Page.disable", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, site, c := ownStage(t)
			second := chromiumtest.Dial(t, b.WS())
			p := doomed(t, site, c, "confirm('Saved!')", func(target string) {
				second.Must(second.Attach(target), "Page.enable", nil)
			})
			leave(p, second)
			select {
			case <-b.Exited():
				t.Log(b.ExitReason())
			case <-time.After(10 * time.Second):
				t.Error("the browser survived")
			}
		})
	}
	t.Run("Target.closeTarget does not, with every session attached", func(t *testing.T) {
		t.Parallel()
		b, site, c := ownStage(t)
		p := doomed(t, site, c, "confirm('Saved!')")
		second := chromiumtest.Dial(t, b.WS())
		second.Attach(p.Target)
		p.CloseTarget()
		c.NewPage(site.URL("http://a.test/plain"))
	})
	t.Run("nor a stranger without Page.enable that comes and goes", func(t *testing.T) {
		t.Parallel()
		b, site, c := ownStage(t)
		p := doomed(t, site, c, "confirm('Saved!')")
		second := chromiumtest.Dial(t, b.WS())
		second.Must("", "Target.detachFromTarget", params{"sessionId": second.Attach(p.Target)})
		c.Must(p.Session, "Page.navigate", params{"url": "hcp:nowhere"})
		closed(p)
		c.NewPage(site.URL("http://a.test/plain"))
	})
}

// Rule: a page that asks without end in that state comes to no document, wherever it is
// sent; it is closed.
func TestC58_ADoomedPageThatAsksWithoutEndGoesNowhere(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := doomed(t, site, c, "for (;;) alert('x')")
	for _, url := range []string{"hcp:nowhere", "hcp:nowhere", "http://b.test/plain"} {
		p.Send(p.Session, "Page.navigate", params{"url": site.URL(url)})
		closed(p)
		opening(p)
		want(t, "active after "+url, isActive(t, p), false)
	}
	p.CloseTarget()
	c.NewPage(site.URL("http://a.test/plain"))
}

// Rule: script of a document whose next one is ready stops at no debugger statement, and
// no session is told: a bridge that stops in them (C47) has no word of the call there. The
// same document stops before.
func TestC65_ADocumentThatIsReplacedStopsInNoDebugger(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	gate, said := make(chan struct{}), make(chan string, 1)
	site.Set("/bridged", `<title>/bridged</title><script>
		function sync(path) { const x = new XMLHttpRequest(); x.open('GET', path, false); x.send() }
		function go() { location.href = '/plain'; sync('/gate'); sync('/said?' + confirm('Saved!')) }</script>`)
	site.Handle("/gate", http.HandlerFunc(func(_ http.ResponseWriter, asked *http.Request) {
		select {
		case <-gate:
		case <-asked.Context().Done():
		}
	}))
	site.Handle("/said", http.HandlerFunc(func(_ http.ResponseWriter, asked *http.Request) { said <- asked.URL.RawQuery }))
	p := pausingPage(c, site.URL("http://a.test/bridged"))
	c.Start(p.Session, "confirm('before')")
	succeed(t, "answer", paused(c, p.Session).answer(c, p.Session, "true"))
	p.Start(p.Session, "go()")
	for limit := time.Now().Add(chromiumtest.Patience); isActive(t, p); {
		if time.Now().After(limit) {
			t.Fatal("the next document does not come")
		}
	}
	close(gate)
	select {
	case got := <-said:
		want(t, "who answered", got, "nobody")
	case <-time.After(chromiumtest.Patience):
		t.Error("the call has not returned")
	}
	p.NextWhere("the next document", func(e chromiumtest.Event) bool {
		return on(p.Session, "Page.frameNavigated")(e) && strings.Contains(e.Param("frame"), "/plain")
	})
	want(t, "pauses", len(c.Events(on(p.Session, "Debugger.paused"))), 1)
}

// Rule: away from an endless storm of dialogs a page is sent by a blank one, which is of
// another process.
func TestC58_AStormOfDialogsIsLeftByABlankPage(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/alert"))
	p.Start(p.Session, "for (;;) alert('x')")
	for range 3 {
		opening(p)
		succeed(t, "answer", handle(c, p.Session, params{"accept": true}))
	}
	opening(p)
	p.Navigate("about:blank")
	p.Navigate(site.URL("http://a.test/plain"))
	want(t, "title", string(p.Eval(p.Session, "document.title")), `"/plain"`)
}

// Rule: Page.close and Page.crash are not sent under the dialog of a frame of another
// process.
func TestC60_CloseAndCrashUnderAFramesDialogKillTheBrowser(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Page.close", "Page.crash"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			b, site, c := ownStage(t)
			p := c.NewPage(site.URL("http://a.test/oopif-prompt"))
			_, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
			p.Start(session, "ask()")
			opening(p)
			p.Send(p.Session, method, nil)
			select {
			case <-b.Exited():
				t.Log(b.ExitReason())
			case <-time.After(10 * time.Second):
				t.Error("the browser survived")
			}
		})
	}
}
