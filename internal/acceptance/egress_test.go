package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// inside is what a page must not reach: a web server and a UDP port of loopback.
type inside struct {
	url, ws, port, udp string
	conns, packets     atomic.Int64
}

func newInside(t *testing.T) *inside {
	t.Helper()
	in := &inside{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "<title>inside</title>secret-of-the-inside")
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			in.conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	in.url = s.URL
	in.ws = strings.Replace(s.URL, "http", "ws", 1)
	_, in.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b := make([]byte, 2048)
		for {
			if _, _, err := u.ReadFrom(b); err != nil {
				return
			}
			in.packets.Add(1)
		}
	}()
	t.Cleanup(func() {
		_ = u.Close()
		<-ended
	})
	in.udp = u.LocalAddr().String()
	return in
}

// byScript are the ways of a page's own script into the node's network.
func (in *inside) byScript(away string) []string {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	wait := `.then(()=>0,()=>0)`
	return []string{
		`fetch(` + q(in.url) + `,{mode:"no-cors"})` + wait,
		`fetch(` + q("http://localhost.:"+in.port) + `,{mode:"no-cors"})` + wait,
		`fetch(` + q("http://0.0.0.0:"+in.port) + `,{mode:"no-cors"})` + wait,
		`fetch(` + q(away) + `,{mode:"no-cors"})` + wait,
		`new Promise(r=>{const i=new Image();i.onload=i.onerror=r;i.src=` + q(in.url+"/i") + `})` + wait,
		`new Promise(r=>{const f=document.createElement("iframe");f.onload=f.onerror=r;f.src=` + q(in.url+"/f") + `;document.body.append(f)})` + wait,
		`new Promise(r=>{const w=new WebSocket(` + q(in.ws) + `);w.onopen=w.onerror=r})` + wait,
		`new Promise(r=>{const e=new EventSource(` + q(in.url) + `);e.onopen=r;e.onerror=r})` + wait,
		`new Promise(r=>{const w=new Worker(URL.createObjectURL(new Blob([` +
			q(`fetch(`+q(in.url)+`,{mode:"no-cors"}).then(()=>postMessage(1),()=>postMessage(0))`) + `])));w.onmessage=r;w.onerror=r;setTimeout(r,1000)})` + wait,
		`(navigator.sendBeacon(` + q(in.url) + `),0)`,
		`(()=>{for(const rel of ["preconnect","prefetch","preload"]){const l=document.createElement("link");l.rel=rel;l.as="fetch";l.href=` + q(in.url) + `;document.head.append(l)}return 0})()`,
	}
}

// byUDP are those that do not go over TCP.
func (in *inside) byUDP() []string {
	b, _ := json.Marshal(in.udp)
	return []string{
		`(async()=>{const p=new RTCPeerConnection({iceServers:[{urls:"stun:"+` + string(b) + `}]});p.createDataChannel("x");await p.setLocalDescription();
			await new Promise(r=>{p.onicegatheringstatechange=()=>p.iceGatheringState=="complete"&&r();setTimeout(r,5000)});p.close();return 0})()`,
		`(async()=>{try{const t=new WebTransport("https://"+` + string(b) + `+"/x");t.closed.catch(()=>0);await Promise.race([t.ready,new Promise(r=>setTimeout(r,2000))]);t.close()}catch{}return 0})()`,
	}
}

// attack runs the scripts on the task's page, each to its end.
func attack(ctx context.Context, r *rig, id messages.TaskID, scripts []string) {
	r.Helper()
	for _, s := range scripts {
		params, _ := json.Marshal(map[string]any{"expression": s, "awaitPromise": true, "returnByValue": true, "userGesture": true})
		if _, err := r.node.CDP(ctx, id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params}); err != nil {
			r.Errorf("%s: %v", s, err)
		}
	}
}

func asScoped(ctx context.Context) context.Context {
	return messages.WithCaller(ctx, messages.Caller{IsScoped: true})
}

func egressRig(t *testing.T, change ...func(*node.Config)) (r *rig, in *inside, home, away string) {
	t.Helper()
	change = append([]func(*node.Config){func(c *node.Config) { c.Egress.Allow = []string{"localhost"} }}, change...)
	r = setupOn(t, chromiumtest.Shared(t), change...)
	in = newInside(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if to := q.URL.Query().Get("to"); to != "" {
			http.Redirect(w, q, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>home</title><body>home")
	}))
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	home = "http://localhost:" + port + "/"
	return r, in, home, home + "?to=" + url.QueryEscape(in.url)
}

func start(ctx context.Context, r *rig, id messages.TaskID, home string) {
	r.Helper()
	if _, _, err := r.node.GetOrStart(ctx, id, messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil {
		r.Fatal(err)
	}
	if _, err := r.node.Navigate(ctx, id, messages.NavigateRequest{URL: home}); err != nil {
		r.Fatalf("to an allowed page: %v", err)
	}
}

// TestX15_APageHasNoWayInside: the same scripts reach the node's network from an
// admin's browser, and nothing of it from one that a scoped token has launched.
func TestX15_APageHasNoWayInside(t *testing.T) {
	t.Parallel()
	r, in, home, away := egressRig(t)
	start(r.ctx, r, "free", home)
	attack(r.ctx, r, "free", in.byScript(away))
	attack(r.ctx, r, "free", in.byUDP())
	if tcp, udp := in.conns.Load(), in.packets.Load(); tcp < 5 || udp < 2 {
		t.Fatalf("the scripts attack nothing: %d connections and %d packets by the admin's own browser", tcp, udp)
	}
	if _, err := r.node.Navigate(r.ctx, "free", messages.NavigateRequest{URL: in.url}); err != nil {
		t.Errorf("the admin's own task is bounded: %v", err)
	}
	if err := r.node.StopTask(r.ctx, "free"); err != nil {
		t.Fatal(err)
	}
	tcp, udp := in.conns.Load(), in.packets.Load()

	ctx := asScoped(r.ctx)
	start(ctx, r, "bound", home)
	attack(ctx, r, "bound", in.byScript(away))
	attack(ctx, r, "bound", in.byUDP())
	for _, script := range []string{"location=" + quoted(in.url), "location=" + quoted(away), "open(" + quoted(in.url) + ")", "location='file:///etc/passwd'"} {
		attack(ctx, r, "bound", []string{"setTimeout(()=>{" + script + "},0),0"})
		stays(t, "inside", 300*time.Millisecond, func() bool { return in.conns.Load() == tcp })
	}
	if got := in.conns.Load() - tcp; got != 0 {
		t.Errorf("%d connections came through", got)
	}
	if got := in.packets.Load() - udp; got != 0 {
		t.Errorf("%d packets came through", got)
	}
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// TestSecurity1_NoFileReachesAScopedToken: the ways by which a scoped token names an
// address itself.
func TestSecurity1_NoFileReachesAScopedToken(t *testing.T) {
	t.Parallel()
	var state string
	r, in, home, away := egressRig(t, func(c *node.Config) { state = c.StateDir })
	ctx := asScoped(r.ctx)
	for _, k := range []struct {
		id      messages.TaskID
		started context.Context
	}{{"its-own", ctx}, {"the-admins", r.ctx}} {
		start(k.started, r, k.id, home)
		for _, u := range []string{
			"file://" + filepath.Join(state, "leases"), "file:///etc/passwd", "FILE:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version", "about:version",
			"devtools://devtools/bundled/inspector.html", "chrome-untrusted://x", "filesystem:file:///x",
			in.url, "http://localhost.localhost:" + in.port, "http://[::1]:" + in.port, "http://0.0.0.0:" + in.port, "http://2130706433:" + in.port,
			"http://169.254.169.254/latest/meta-data",
		} {
			_, err := r.node.Navigate(ctx, k.id, messages.NavigateRequest{URL: u, TimeoutS: 5})
			if code := messages.CodeOf(err); code != messages.CodeForbidden && code != messages.CodeInvalidArgument {
				t.Errorf("%s: navigate to %s: %v", k.id, u, err)
			}
			for _, method := range []string{"Page.navigate", "Target.createTarget"} {
				_, err := r.node.CDP(ctx, k.id, messages.CDPRequest{Method: method, Params: json.RawMessage(`{"url":` + quoted(u) + `}`)})
				if code := messages.CodeOf(err); code != messages.CodeForbidden && code != messages.CodeInvalidArgument {
					t.Errorf("%s: %s of %s: %v", k.id, method, u, err)
				}
			}
		}
		for _, params := range []string{
			`{"url":"` + home + `","url":"file:///etc/passwd"}`, `{"url":"file:///etc/passwd","url":"` + home + `"}`, `{"\u0075rl":"file:///etc/passwd"}`,
		} {
			if _, err := r.node.CDP(ctx, k.id, messages.CDPRequest{Method: "Page.navigate", Params: json.RawMessage(params)}); err == nil {
				t.Errorf("%s: Page.navigate took %s", k.id, params)
			}
		}
		wantCode(t, second(r.node.CDP(ctx, k.id, messages.CDPRequest{Method: "Target.createBrowserContext", Params: json.RawMessage(`{"proxyServer":"direct://"}`)})), messages.CodeForbidden)
		if s, err := r.node.Snapshot(k.id, messages.SnapshotOptions{}); err != nil || slices.ContainsFunc(s.Pages, func(p messages.Page) bool {
			return !strings.HasPrefix(p.URL, "about:blank") && !strings.HasPrefix(p.URL, home)
		}) {
			t.Errorf("%s: %+v, %v", k.id, s.Pages, err)
		}
	}
	// A redirect of an allowed page is the proxy's to deny.
	tcp := in.conns.Load()
	if _, err := r.node.Navigate(ctx, "its-own", messages.NavigateRequest{URL: away}); err != nil {
		t.Log(err)
	}
	if got, err := evalOn(ctx, r.node, "its-own", messages.CDPRequest{}, "document.documentElement.innerText"); err != nil || strings.Contains(got, "secret") || in.conns.Load() != tcp {
		t.Errorf("by a redirect: %s, %v", got, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestX15_TheProxyIsStrictFromTheFirstScopedCallerOn: with a proxy for every browser
// the admin's task is free until a scoped token drives it.
func TestX15_TheProxyIsStrictFromTheFirstScopedCallerOn(t *testing.T) {
	t.Parallel()
	r, in, home, away := egressRig(t, func(c *node.Config) { c.Egress.MustProxyAll = true })
	start(r.ctx, r, "task", home)
	attack(r.ctx, r, "task", in.byScript(away))
	free := in.conns.Load()
	if free == 0 {
		t.Fatal("the scripts attack nothing")
	}
	ctx := asScoped(r.ctx)
	attack(ctx, r, "task", in.byScript(away))
	if got := in.conns.Load() - free; got != 0 {
		t.Errorf("%d connections came through", got)
	}
}

// TestX15_AnAttachedBrowserIsHeldToWhatIsNamed: there the node makes no connections;
// it judges what callers name.
func TestX15_AnAttachedBrowserIsHeldToWhatIsNamed(t *testing.T) {
	t.Parallel()
	r, in, home, _ := egressRig(t, func(c *node.Config) { c.Egress.CDPHosts = []string{"127.0.0.0/8"} })
	ctx := asScoped(r.ctx)
	if _, _, err := r.node.GetOrStart(ctx, "attached", r.spec()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.node.Navigate(ctx, "attached", messages.NavigateRequest{URL: home}); err != nil {
		t.Fatal(err)
	}
	for _, u := range []string{in.url, "file:///etc/passwd", "http://no-such-host.invalid/"} {
		wantCode(t, second(r.node.Navigate(ctx, "attached", messages.NavigateRequest{URL: u})), messages.CodeForbidden)
		wantCode(t, second(r.node.CDP(ctx, "attached", messages.CDPRequest{Method: "Page.navigate", Params: json.RawMessage(`{"url":` + quoted(u) + `}`)})), messages.CodeForbidden)
	}
}

// TestSecurity5_CDPURLIsNoScanner: every cdp_url that is not allowed gets the same
// answer, and what is there gets no connection.
func TestSecurity5_CDPURLIsNoScanner(t *testing.T) {
	t.Parallel()
	var hosts []string
	none := setupOn(t, chromiumtest.Shared(t))
	in := newInside(t)
	endpoint, err := url.Parse(none.chrome.Endpoint().Reveal())
	if err != nil {
		t.Fatal(err)
	}
	hosts = append(hosts, "127.0.0.1:1", "127.0.0.1:"+in.port, endpoint.Host, "0.0.0.0:1", "[::ffff:127.0.0.1]:"+in.port, "169.254.169.254", "no-such-host.invalid", "localhost:"+in.port)
	some := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) { c.Egress.CDPHosts = []string{"10.255.255.1", "192.0.2.0/24"} })
	for name, r := range map[string]*rig{"none": none, "some": some} {
		said := map[string]bool{}
		for _, h := range hosts {
			for _, scheme := range []string{"http", "https", "ws"} {
				u, err := messages.ParseCDPURL(scheme + "://" + h)
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = r.node.GetOrStart(asScoped(r.ctx), "scan", messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser})
				if err == nil {
					t.Fatalf("%s: attached to %s", name, h)
				}
				said[err.Error()] = true
			}
		}
		if len(said) > 2 { // what the text tells, and what dialling does
			t.Errorf("%s: the answers differ: %v", name, said)
		}
	}
	if in.conns.Load() != 0 {
		t.Errorf("%d connections were made", in.conns.Load())
	}
	// The log has the reason.
	if some.log.lines("could not be attached") == 0 {
		t.Error("the log has no word of it")
	}
	// A browser that is allowed cannot aim the node elsewhere.
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/red") {
			http.Redirect(w, q, in.url, http.StatusFound)
			return
		}
		fmt.Fprintf(w, `{"webSocketDebuggerUrl":"ws://localhost.localdomain.invalid:%s/devtools/browser/x"}`, in.port)
	}))
	t.Cleanup(hostile.Close)
	at, err := url.Parse(hostile.URL)
	if err != nil {
		t.Fatal(err)
	}
	aimed := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) { c.Egress.CDPHosts = []string{"localhost:" + at.Port()} })
	for _, path := range []string{"", "/red"} {
		u, err := messages.ParseCDPURL("http://localhost:" + at.Port() + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = aimed.node.GetOrStart(asScoped(aimed.ctx), "aimed", messages.TaskSpec{CDPURL: u})
		wantCode(t, err, messages.CodeUpstreamUnavailable)
	}
	if in.conns.Load() != 0 {
		t.Errorf("%d connections were made", in.conns.Load())
	}
}

// TestSecurity1_OverHTTP: the finding as it was made, by a task's token.
func TestSecurity1_OverHTTP(t *testing.T) {
	t.Parallel()
	var state string
	r, in, home, _ := egressRig(t, func(c *node.Config) { state = c.StateDir })
	f := r.front()
	own := func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+f.token.ForTask("a1")) }
	if status, body := f.ask("PUT", "/v1/tasks/a1", `{}`, own); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	address := func(u string) string { return `{"url":` + quoted(u) + `}` }
	if status, body := f.ask("POST", "/v1/tasks/a1/navigate", address(home), own); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	for _, u := range []string{"file://" + state + "/token", "view-source:file:///etc/passwd", "chrome://version", in.url, f.url + "/v1/tasks"} {
		f.refused(http.StatusForbidden, messages.CodeForbidden, "POST", "/v1/tasks/a1/navigate", address(u), own)
		f.refused(http.StatusForbidden, messages.CodeForbidden, "POST", "/v1/tasks/a1/cdp", `{"method":"Page.navigate","params":`+address(u)+`}`, own)
	}
	f.refused(http.StatusForbidden, messages.CodeForbidden, "PUT", "/v1/tasks/a1", `{"cdp_url":`+quoted(r.chrome.Endpoint().Reveal())+`}`, own)
	if status, _ := f.ask("GET", "/v1/tasks/a1", "", own); status != http.StatusOK {
		t.Errorf("the task is gone by a start that was refused: %d", status)
	}
	// The admin token is free.
	if status, body := f.ask("POST", "/v1/tasks/free/navigate", address(in.url)); status != http.StatusNotFound {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := f.ask("PUT", "/v1/tasks/free", `{}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := f.ask("POST", "/v1/tasks/free/navigate", address(in.url)); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}
