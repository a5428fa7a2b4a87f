package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestF8_GrandchildrenAreReached(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f8")
	k.goTo("http://a.test/nested")
	for suffix, title := range map[string]string{"/nested-b": `"/nested-b"`, "/nested-c": `"/nested-c"`, "/prompt": `"/prompt"`} {
		if got := k.eval(k.fullFrame(suffix).FrameID, "document.title"); got != title {
			t.Errorf("%s: title %s", suffix, got)
		}
	}
	// One that comes later, below a frame that came later.
	c := k.fullFrame("/nested-c")
	k.eval(c.FrameID, "const late = document.createElement('iframe'); late.src = '"+k.site.URL("http://e.test/oopif-prompt")+"'; document.body.append(late); 0")
	mid := k.fullFrame("/oopif-prompt")
	low := k.frameWhere("below "+string(mid.FrameID), func(n messages.FrameNode) bool {
		return n.ParentFrameID == mid.FrameID && n.IsOOPIF && strings.HasSuffix(n.URL, "/prompt")
	})
	if got := k.eval(low.FrameID, "location.pathname"); got != `"/prompt"` {
		t.Errorf("the late grandchild says %s", got)
	}
}

func TestF9_RawCDPReachesTheFramesOwnSession(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f9")
	k.goTo("http://a.test/oopif-prompt")
	f := k.frame("/prompt")
	if inner, outer := k.eval(f.FrameID, "document.title"), k.eval("", "document.title"); inner != `"/prompt"` || outer != `"/oopif-prompt"` {
		t.Errorf("titles %s and %s", inner, outer)
	}
	status, body := k.door().call("POST", "/v1/tasks/f9/cdp",
		fmt.Sprintf(`{"method":"Runtime.evaluate","params":{"expression":"location.host"},"frame_id":%q}`, f.FrameID))
	if u, _ := url.Parse(k.site.URL("http://b.test")); status != http.StatusOK || !strings.Contains(fmt.Sprint(body), u.Host) {
		t.Errorf("over HTTP: %d %v", status, body)
	}
	// The page's own frame id is the page.
	if got := k.eval(k.snapshot().FrameTree.Top.FrameID, "document.title"); got != `"/oopif-prompt"` {
		t.Errorf("by the top frame's id: %s", got)
	}
}

func TestF10_ThreeDistinctErrors(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f10")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	req := messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"document.title"}`)}

	req.FrameID = f.FrameID
	_, err := k.node.CDP(k.ctx, "f10-nobody", req)
	wantCode(t, err, messages.CodeTaskNotFound)

	_, err = k.node.CDP(k.ctx, k.id, req)
	e := wantCode(t, err, messages.CodeFrameNotOOPIF)
	if !strings.Contains(e.Message, "contentDocument") || e.Details["parent_frame_id"] != k.snapshot().FrameTree.Top.FrameID {
		t.Errorf("%q %v", e.Message, e.Details)
	}
	if got := k.eval("", "document.getElementById('f').contentDocument.title"); got != `"/prompt"` {
		t.Errorf("the way it points at leads to %s", got)
	}

	req.FrameID = "0123456789ABCDEF0123456789ABCDEF"
	_, err = k.node.CDP(k.ctx, k.id, req)
	wantCode(t, err, messages.CodeFrameNotFound)

	t.Run("a frame that is gone", func(t *testing.T) {
		k.goTo("http://a.test/oopif")
		gone := k.frame("/plain")
		k.eval("", "document.getElementById('f').remove(); 0")
		k.awaitTree("no frame", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
		_, err := k.tryEval(gone.FrameID, "1")
		wantCode(t, err, messages.CodeFrameNotFound)
	})
	t.Run("another task's frame", func(t *testing.T) {
		other := k.rig.task("f10-other")
		other.goTo("http://a.test/oopif")
		_, err := k.tryEval(other.frame("/plain").FrameID, "1")
		wantCode(t, err, messages.CodeFrameNotFound)
	})
}

func TestF11_RawCDPWithoutAFrame(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f11")
	k.goTo("http://a.test/confirm")
	k.eval("", "document.cookie = 'planted=f11; path=/'; document.cookie") // read back: the write itself is not waited for
	cookies := func() string { return string(k.cdp("", "Network.getCookies", "{}")) }
	if got := cookies(); !strings.Contains(got, `"planted"`) || !strings.Contains(got, `"f11"`) {
		t.Errorf("cookies %s", got)
	}
	k.cdp("", "Emulation.setDeviceMetricsOverride", `{"width":321,"height":234,"deviceScaleFactor":2,"mobile":false}`)
	if got := k.eval("", "[innerWidth, innerHeight, devicePixelRatio]"); got != "[321,234,2]" {
		t.Errorf("viewport %s", got)
	}
	if got := string(k.cdp("", "Browser.getVersion", "{}")); !strings.Contains(got, "Chrome/") {
		t.Errorf("version %s", got)
	}
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "No.such"})
	e := wantCode(t, err, messages.CodeCDPError)
	if c, _ := e.Details["cdp"].(map[string]any); fmt.Sprint(c["code"]) != "-32601" {
		t.Errorf("Chrome's own error: %v", e.Details)
	}
	k.later("", "ask()")
	k.dialog()
	if got := cookies(); !strings.Contains(got, `"planted"`) {
		t.Errorf("cookies under a dialog %s", got)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
}

func TestF12_IframeCallsDialNothing(t *testing.T) {
	t.Parallel()
	r := setup(t)
	proxy := chromiumtest.Proxy(t, r.chrome.Addr())
	through, err := messages.ParseCDPURL(proxy.URL(r.chrome.WS()))
	if err != nil {
		t.Fatal(err)
	}
	k := r.task("f12", func(s *messages.TaskSpec) { s.CDPURL = through })
	defer func() { _ = k.node.StopTask(k.ctx, k.id) }() // while the proxy is there
	k.goTo("http://a.test/oopif")
	f := k.frame("/plain")
	before := proxy.Dials()
	for range 20 {
		if got := k.eval(f.FrameID, "document.title"); got != `"/plain"` {
			t.Fatalf("title %s", got)
		}
	}
	if n := proxy.Dials() - before; n != 0 || before == 0 {
		t.Errorf("%d dials during 20 calls, %d before", n, before)
	}
}
