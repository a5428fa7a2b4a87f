package facts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// BenchmarkC42 is what each bridge costs a page of 150 scripts on its way, and what
// an answer costs. Read ratios; both share a machine with the browser.
//
//	go test ./internal/facts -run '^$' -bench C42 -benchtime 20x
func BenchmarkC42_Load(b *testing.B) {
	site := chromiumtest.Serve(b)
	var html strings.Builder
	for i := range 150 {
		path := fmt.Sprintf("/script-%d.js", i)
		site.SetType(path, "text/javascript", fmt.Sprintf("window.n = (window.n || 0) + 1; function f%d() { return %d }", i, i))
		fmt.Fprintf(&html, `<script src="%s"></script>`, path)
	}
	site.Set("/scripts", "<title>/scripts</title>"+html.String())
	type way struct {
		name string
		page *chromiumtest.Page
	}
	browser := chromiumtest.Launch(b)
	c := chromiumtest.Dial(b, browser.WS())
	plain := way{"native", c.NewWindow("")}
	debugger := way{"debugger", c.NewWindow("")}
	debugs(c, debugger.page.Session)
	c.Must(debugger.page.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": pausing})
	// A browser of its own: the request bridge is on for all of its pages.
	other := chromiumtest.Launch(b)
	oc := chromiumtest.Dial(b, other.WS())
	oc.Must("", "Fetch.enable", bridgePattern)
	request := way{"request", oc.NewWindow("")}
	oc.Must(request.page.Session, "Page.addScriptToEvaluateOnNewDocument", params{"source": requesting})

	took := map[string][]float64{}
	for b.Loop() {
		for _, w := range []way{plain, debugger, request} {
			begun := time.Now()
			w.page.Navigate(site.URL("http://a.test/scripts"))
			took[w.name] = append(took[w.name], float64(time.Since(begun).Microseconds())/1000)
		}
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-ms")
	}
}

func BenchmarkC42_Answer(b *testing.B) {
	site := chromiumtest.Serve(b)
	browser := chromiumtest.Launch(b)
	c := chromiumtest.Dial(b, browser.WS())
	c.Must("", "Fetch.enable", bridgePattern)
	ask := `(() => { const t = performance.now(); confirm('m'); return performance.now() - t })()`
	took := map[string][]float64{}
	run := func(name string, p *chromiumtest.Page, answer func()) {
		reply := c.Send(p.Session, "Runtime.evaluate", params{"expression": ask, "returnByValue": true})
		answer()
		raw, err := reply.Wait(chromiumtest.Patience)
		if err != nil {
			b.Fatal(err)
		}
		var ms float64
		_, _ = fmt.Sscan(chromiumtest.Field([]byte(chromiumtest.Field(raw, "result")), "value"), &ms)
		took[name] = append(took[name], ms)
	}
	native, debugger, request := c.NewWindow(site.URL("https://a.test/plain")), pausingPage(c, site.URL("https://a.test/plain")), requestingPage(c, site.URL("https://a.test/plain"))
	for b.Loop() {
		run("native", native, func() {
			opening(native)
			_ = handle(c, native.Session, params{"accept": true})
		})
		run("debugger", debugger, func() { _ = paused(c, debugger.Session).answer(c, debugger.Session, "true") })
		run("request", request, func() { _ = fulfil(c, c.NextWhere("the request", on("", "Fetch.requestPaused")), "eWVz") })
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-ms")
	}
}
