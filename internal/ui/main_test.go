package ui_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/api"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

var shots = flag.String("shots", "", "write the screenshots of the gallery into this folder")

// served is a node's HTTP interface, the page included.
type served struct {
	t     testing.TB
	node  api.Node
	addr  string
	url   string
	admin token.Admin
	down  func()
}

func serve(t testing.TB, node api.Node) *served {
	t.Helper()
	admin := token.Generate()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out := &served{t: t, node: node, addr: lis.Addr().String(), admin: admin}
	out.url = "http://" + out.addr
	out.up(lis)
	t.Cleanup(func() { out.down() })
	return out
}

// up serves on the listener; nil is one on the address from before.
func (s *served) up(lis net.Listener) {
	s.t.Helper()
	entrance, err := gate.New(gate.Config{Token: s.admin})
	if err != nil {
		s.t.Fatal(err)
	}
	clients, _ := s.node.(api.Gateway) // nil where it has none
	h, err := api.New(api.Config{Node: s.node, Gateway: clients, Gate: entrance, Version: "v1.4.0", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err == nil && lis == nil {
		lis, err = net.Listen("tcp", s.addr)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	server := &httptest.Server{Listener: lis, Config: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	server.Start()
	s.down = sync.OnceFunc(func() { h.CloseStreams(); server.CloseClientConnections(); server.Close() })
}

// code is one that opens a session by the token.
func (s *served) code(tok string) string {
	s.t.Helper()
	q, err := http.NewRequest(http.MethodPost, s.url+"/v1/codes", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+tok)
	q.Close = true
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var out messages.LoginCode
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Code == "" {
		s.t.Fatal(res.Status, err)
	}
	return out.Code
}

// screen is a tab that shows the page, and a record of all that it did.
type screen struct {
	*chromiumtest.Page
	t testing.TB
}

// open opens a window of the size and loads the address in it.
func open(t testing.TB, width, height int, scheme, url string) *screen {
	t.Helper()
	raw := chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
	s := &screen{raw.NewWindow(""), t}
	s.Must(s.Session, "Network.enable", nil)
	s.Must(s.Session, "Log.enable", nil)
	s.Must(s.Session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI));
		window.tasks50 = 0;
		new PerformanceObserver((l) => { for (const e of l.getEntries()) tasks50 = Math.max(tasks50, e.duration); }).observe({ type: "longtask", buffered: true });
	`})
	s.size(width, height, scheme)
	s.Navigate(url)
	return s
}

func (s *screen) size(width, height int, scheme string) {
	s.t.Helper()
	s.Must(s.Session, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	s.Must(s.Session, "Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
}

// until waits for a condition of the page, which is looked at in every frame.
func (s *screen) until(what, condition string) {
	s.t.Helper()
	raw := s.Eval(s.Session, fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + 20000;
		(function look() {
			let ok = false;
			try { ok = Boolean(%s); } catch {}
			if (ok) return done("");
			if (performance.now() > end) return done(document.body.innerText.slice(0, 3000) || "nothing");
			setTimeout(look, 20);
		})();
	})`, condition))
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || text != "" {
		for _, e := range s.Events(chromiumtest.On(s.Session, "Runtime.exceptionThrown")) {
			s.t.Logf("an exception: %.600s", e.Params)
		}
		s.t.Fatalf("%s: did not come; the page shows\n%s", what, text)
	}
}

// painted waits until what was asked for last is on the screen.
func (s *screen) painted() {
	s.t.Helper()
	s.Eval(s.Session, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))`)
}

// to goes to a view.
func (s *screen) to(hash string) {
	s.t.Helper()
	s.Eval(s.Session, fmt.Sprintf("void (location.hash = %q)", hash))
	s.painted()
}

// value is a string of the page.
func (s *screen) value(expression string) string {
	s.t.Helper()
	var out string
	if err := json.Unmarshal(s.Eval(s.Session, "String("+expression+")"), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// key presses one key; letters go by type_.
func (s *screen) key(names ...string) {
	s.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
	for _, name := range names {
		params := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
		if name == "Enter" {
			params["text"] = "\r"
		}
		s.Must(s.Session, "Input.dispatchKeyEvent", params)
		s.Must(s.Session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]})
	}
}

// types types where the focus is.
func (s *screen) types(text string) {
	s.t.Helper()
	s.Must(s.Session, "Input.insertText", map[string]any{"text": text})
}

// shot writes a screenshot, where they are wanted.
func (s *screen) shot(name string) {
	s.t.Helper()
	if *shots == "" {
		return
	}
	png, err := base64.StdEncoding.DecodeString(chromiumtest.Field(s.Must(s.Session, "Page.captureScreenshot", map[string]any{"format": "png"}), "data"))
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// clean fails the test for what no page of ours may do: an error in the console, a
// violation of the policy, a request to another origin.
func (s *screen) clean(origin string, expected ...string) {
	s.t.Helper()
	if v := s.value("JSON.stringify(violations)"); v != "[]" {
		s.t.Errorf("violations of the policy: %s", v)
	}
	for _, e := range s.Events(nil) {
		if e.Session != s.Session {
			continue
		}
		switch e.Method {
		case "Network.requestWillBeSent":
			var p struct {
				Request struct{ URL string }
			}
			e.Decode(s.t, &p)
			if !strings.HasPrefix(p.Request.URL, origin+"/") && !strings.HasPrefix(p.Request.URL, "data:") {
				s.t.Errorf("a request to %s", p.Request.URL)
			}
			if strings.Contains(p.Request.URL, "token") || strings.Contains(p.Request.URL, "hft.") {
				s.t.Errorf("a token in an address: %s", p.Request.URL)
			}
		case "Runtime.exceptionThrown":
			s.t.Errorf("an exception: %s", e.Params)
		case "Log.entryAdded", "Runtime.consoleAPICalled":
			text := string(e.Params)
			known := false
			for _, x := range expected {
				known = known || strings.Contains(text, x)
			}
			if !known && (strings.Contains(text, `"level":"error"`) || strings.Contains(text, `"type":"error"`)) {
				s.t.Errorf("in the console: %s", text)
			}
		}
	}
}

func otherToken() token.Admin { return token.Generate() }

func get(t testing.TB, url string, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}
