package chromiumtest_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/chromiumtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

func TestSiteServesEveryOrigin(t *testing.T) {
	t.Parallel()
	site, c := chromiumtest.Serve(t), chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	site.Set("/mine", `<title>mine</title><iframe src="https://c.test/plain"></iframe>`)
	for _, address := range []string{"http://a.test/mine", "https://b.test/mine"} {
		p := c.NewPage(site.URL(address))
		if got := string(p.Eval(p.Session, "document.title")); got != `"mine"` {
			t.Errorf("title of %s = %s", address, got)
		}
		sessions := p.AutoAttach(1)
		if _, session := p.Frame(sessions, site.URL("https://c.test/plain")); session == "" {
			t.Error("no frame from the third origin")
		}
		var href string
		if err := json.Unmarshal(p.Eval(p.Session, "location.href"), &href); err != nil || site.Written(href) != address {
			t.Errorf("page is at %s (%v), written %s", href, err, address)
		}
	}
	if got := site.Hits("/mine"); got != 2 {
		t.Errorf("hits = %d, want 2", got)
	}
}

func TestBuiltinPagesHaveTheirFrames(t *testing.T) {
	t.Parallel()
	site, c := chromiumtest.Serve(t), chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	for path, frames := range map[string]int{
		"/plain": 0, "/oopif": 1, "/two-oopifs": 2, "/nested": 3, "/sandbox": 1, "/same-origin": 0, "/a-b-a": 2, "/many?n=12": 12,
	} {
		p := c.NewPage(site.URL("http://a.test" + path))
		if got := len(p.AutoAttach(frames)); got != frames {
			t.Errorf("%s has %d attached frames, want %d", path, got, frames)
		}
		p.CloseTarget()
	}
}

func TestRawKnowsWhatHangs(t *testing.T) {
	t.Parallel()
	site, c := chromiumtest.Serve(t), chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	p := c.NewPage(site.URL("http://a.test/prompt"))
	p.Start(p.Session, "ask()")
	opening := p.Next("Page.javascriptDialogOpening")
	if got := opening.Param("defaultPrompt"); got != "dflt" {
		t.Errorf("default = %q", got)
	}
	if !p.DoesHang(p.Session, "Runtime.evaluate", map[string]any{"expression": "1"}, 300*time.Millisecond) {
		t.Error("evaluate answers under a dialog")
	}
	if p.DoesHang("", "Browser.getVersion", nil, chromiumtest.Patience) {
		t.Error("the browser does not answer")
	}
	var refused *chromiumtest.CDPError
	if _, err := p.Call("", "No.such", nil); !errors.As(err, &refused) || refused.Code != -32601 {
		t.Errorf("unknown method: %v", err)
	}
	p.Must(p.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": "ann"})
	if got := string(p.Eval(p.Session, "window.got")); got != `"ann"` {
		t.Errorf("page got %s", got)
	}
}

func TestBrowserOfItsOwnDies(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	c := chromiumtest.Dial(t, b.WS())
	b.Kill(t)
	<-c.Done()
	if _, err := c.Call("", "Browser.getVersion", nil); !errors.Is(err, chromiumtest.ErrGone) {
		t.Errorf("call after death: %v", err)
	}
	b.Kill(t) // again is fine
}
