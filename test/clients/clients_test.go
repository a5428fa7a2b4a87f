package clients

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/chromiumtest"
)

// binaries is the folder of what the tests build.
var binaries string

func TestMain(m *testing.M) {
	RunNamed()
	if _, err := os.Stat("programs/node_modules"); err != nil {
		println("the clients are not installed; .ci/clients installs them")
		os.Exit(1)
	}
	goleak.VerifyTestMain(building{chromiumtest.Main(m)})
}

// building gives the tests a folder to build into.
type building struct{ chromiumtest.Runner }

// Run implements chromiumtest.Runner.
func (b building) Run() int {
	var err error
	if binaries, err = os.MkdirTemp("", "holdfast-clients-"); err != nil {
		println(err.Error())
		return 1
	}
	defer os.RemoveAll(binaries)
	return b.Runner.Run()
}

// serve is the site that the steps are about.
func serve(t *testing.T) *chromiumtest.Site {
	t.Helper()
	site := chromiumtest.Serve(t)
	site.Set("/client", `<title>client</title>
		<button id=press onclick="window.pressed = event.isTrusted">press</button>
		<input id=name aria-label=name>
		<button id=popup onclick="window.child = window.open('/client-popup')">popup</button>
		<button id=ask onclick="window.answer = prompt('name?', '')">ask</button>
		<button id=say onclick="console.log('said by the page')">say</button>
		<a id=file href="/file.bin" download>file</a>
		<iframe id=frame src="http://b.test/client-frame"></iframe>`)
	site.Set("/client-frame", `<title>frame</title><p id=word>frame word</p>`)
	site.Set("/client-popup", `<title>popup</title><p id=popup-body>popup</p>`)
	site.SetType("/client-data", "text/plain", "from the site")
	return site
}

// TestDirectly is the floor: what a client cannot do with Chromium itself proves nothing
// about a task.
func TestDirectly(t *testing.T) {
	site, chrome := serve(t), chromiumtest.Shared(t)
	for _, p := range Programs {
		t.Run(p.Client, func(t *testing.T) { // one by one: a browser has one download folder and each client sets it
			begun := time.Now()
			check(t, p, Place{WS: chrome.WS(), HTTP: chrome.HTTP(), Page: site.URL("http://a.test/client"), Dir: t.TempDir()})
			t.Logf("%v", time.Since(begun).Round(time.Millisecond))
		})
	}
}

// check runs a program and reports each step that is wrong.
func check(t *testing.T, p Program, place Place) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	for _, w := range p.Run(ctx, place) {
		t.Error(w)
	}
}
