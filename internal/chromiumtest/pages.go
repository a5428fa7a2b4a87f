package chromiumtest

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
)

// builtin are the pages every Site has. Each is titled with its path.
// Dialog pages keep what the dialog returned in window.got.
var builtin = map[string]string{
	"/plain": `<title>/plain</title><p>plain`,

	// Dialogs that a test opens by calling ask() (beforeunload: by leaving).
	"/alert":        `<title>/alert</title><script>function ask(){ window.got = 'open'; alert('hello'); window.got = 'returned' }</script>`,
	"/confirm":      `<title>/confirm</title><script>function ask(){ window.got = 'open'; window.got = confirm('sure?') }</script>`,
	"/prompt":       `<title>/prompt</title><script>function ask(){ window.got = 'open'; window.got = prompt('name?', 'dflt') }</script>`,
	"/beforeunload": `<title>/beforeunload</title><script>addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'stay' })</script>`,

	// Dialogs that open by themselves.
	"/alert-on-load":  `<title>/alert-on-load</title><script>alert('loading'); window.got = 'returned'</script>`,
	"/prompt-on-load": `<title>/prompt-on-load</title><script>window.got = prompt('who?', 'unknown')</script>`,

	// Frames.
	"/oopif":                `<title>/oopif</title><iframe id=f src="http://b.test/plain"></iframe>`,
	"/oopif-prompt":         `<title>/oopif-prompt</title><iframe id=f src="http://b.test/prompt"></iframe>`,
	"/oopif-prompt-on-load": `<title>/oopif-prompt-on-load</title><iframe id=f src="http://b.test/prompt-on-load"></iframe>`,
	"/two-oopifs":           `<title>/two-oopifs</title><iframe id=f src="http://b.test/confirm"></iframe><iframe id=g src="http://c.test/confirm"></iframe>`,
	"/nested":               `<title>/nested</title><iframe id=f src="http://b.test/nested-b"></iframe>`,
	"/nested-b":             `<title>/nested-b</title><iframe id=f src="http://c.test/nested-c"></iframe>`,
	"/nested-c":             `<title>/nested-c</title><iframe id=f src="http://d.test/prompt"></iframe>`,
	"/same-origin":          `<title>/same-origin</title><iframe id=f src="/prompt"></iframe>`,
	"/a-b-a":                `<title>/a-b-a</title><iframe id=f src="http://b.test/a-b-a-b"></iframe>`,
	"/a-b-a-b":              `<title>/a-b-a-b</title><iframe id=f src="http://a.test/prompt"></iframe>`,
	"/sandbox":              `<title>/sandbox</title><iframe id=f sandbox="allow-scripts" src="/prompt"></iframe>`,
	"/sandbox-modals":       `<title>/sandbox-modals</title><iframe id=f sandbox="allow-scripts allow-modals" src="/prompt"></iframe>`,

	// Popups: openChild() opens one whose first script raises a dialog.
	"/popup": `<title>/popup</title><script>function openChild(url){ window.child = window.open(url || '/prompt-on-load'); return window.child !== null }</script>`,

	// Trouble.
	"/busy":          `<title>/busy</title><script>function spin(ms){ const end = performance.now() + (ms || 1e12); while (performance.now() < end); return 'spun' }</script>`,
	"/console-error": `<title>/console-error</title><script>console.error('planted error'); setTimeout(() => { throw new Error('planted exception') })</script>`,
	"/slow-image":    `<title>/slow-image</title><img src="/slow.png">`,
	"/download":      `<title>/download</title><a id=link href="/file.bin" download>file</a>`,
}

// addSpecials adds the resources that are not fixed text.
func (s *Site) addSpecials() {
	s.SetType("/csp", "text/html; charset=utf-8", `<title>/csp</title><p>nothing may connect`,
		"Content-Security-Policy: default-src 'none'; connect-src 'none'")
	s.SetType("/file.bin", "application/octet-stream", strings.Repeat("holdfast", 128),
		`Content-Disposition: attachment; filename="file.bin"`)
	// /slow.png is answered when the test calls Release.
	s.Handle("/slow.png", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.released:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	// /many?n=60 has n cross-site iframes, from a handful of sites in turn.
	s.Handle("/many", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil || n < 0 || n > 1000 {
			n = 60
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<title>/many</title>")
		for i := range n {
			_, _ = fmt.Fprintf(w, "<iframe src=\"%s\"></iframe>", s.URL(fmt.Sprintf("http://%c.test/plain?i=%d", 'b'+rune(i%5), i)))
		}
	}))
}

// silent is for servers whose clients hang up at will.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
