package facts_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
)

// The other way to make a page wait, a synchronous request that is answered by
// Fetch. What follows is what decided against it as the first choice.

const requesting = `(() => {
	const real = window.confirm;
	window.confirm = m => {
		const x = new XMLHttpRequest();
		x.open('POST', 'https://facts-5f2c.invalid/', false);
		try { x.send(m) } catch (e) { return e.name }
		return x.responseText;
	};
})()`

var bridgePattern = params{"patterns": []params{{"urlPattern": "https://facts-5f2c.invalid/*"}}}

func requestingPage(c *chromiumtest.Raw, url string) *chromiumtest.Page {
	p := c.NewPage("")
	c.Must(p.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": requesting, "runImmediately": true})
	p.Navigate(url)
	return p
}

func fulfil(c *chromiumtest.Raw, e chromiumtest.Event, body string) error {
	_, err := c.Call("", "Fetch.fulfillRequest", params{
		"requestId": e.Param("requestId"), "responseCode": 200, "body": body,
		"responseHeaders": []params{{"name": "Access-Control-Allow-Origin", "value": "*"}},
	})
	return err
}

// Rule: the request bridge cannot work everywhere; the debugger can.
func TestC37_WhereARequestDoesNotWork(t *testing.T) {
	t.Parallel()
	b, site, c := ownStage(t)
	site.SetType("/none", "text/html", "<title>/none</title>", "Content-Security-Policy: connect-src 'none'")
	site.SetType("/self", "text/html", "<title>/self</title>", "Content-Security-Policy: connect-src 'self'")
	site.SetType("/nosync", "text/html", "<title>/nosync</title>", "Permissions-Policy: sync-xhr=()")
	holder := chromiumtest.Dial(t, b.WS())
	holder.Must("", "Fetch.enable", bridgePattern)
	for _, path := range []string{"/none", "/self", "/nosync"} {
		p := requestingPage(c, site.URL("https://a.test"+path))
		want(t, path, string(p.Eval(p.Session, "confirm('m')")), `"NetworkError"`)
		p = pausingPage(c, site.URL("https://a.test"+path))
		c.Start(p.Session, "window.got = confirm('m')")
		succeed(t, path+" in the debugger", paused(c, p.Session).answer(c, p.Session, "true"))
		want(t, path+" in the debugger", string(p.Eval(p.Session, "got")), "true")
	}
}
