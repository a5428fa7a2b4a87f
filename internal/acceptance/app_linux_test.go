package acceptance_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/api"
	"holdfast/internal/browser"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// fakeApp is an application made from Chromium: a program of its own that opens a page, and takes
// arguments.
func fakeApp(t *testing.T, page string) string {
	t.Helper()
	chromium, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fake-app")
	script := fmt.Sprintf("#!/bin/sh\nexec %s --headless=new --no-first-run --disable-gpu --disable-popup-blocking --host-resolver-rules='MAP *.test 127.0.0.1' \"$@\" %s\n", chromium, page)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil { //nolint:gosec // a program has to be executable
		t.Fatal(err)
	}
	return path
}

// running are the processes whose command line has a word.
func running(t *testing.T, word string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), word) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// TestT10_AnApplicationIsLaunchedAndEnded: its arguments reach it, the tab that is asked for is
// main, helper pages are not (T12), and its processes end with the task, those of the browser that
// was only connected do not (T7, T11, T15, W30).
func TestT10_AnApplicationIsLaunchedAndEnded(t *testing.T) {
	t.Parallel()
	site := chromiumtest.Serve(t)
	site.Set("/helper", `<title>Request Handler</title><script>open('/work')</script>`)
	site.Set("/work", `<title>My Work</title><button>Save</button>`)
	mark := fmt.Sprintf("--mark-of-the-test=%d", time.Now().UnixNano())
	app := fakeApp(t, site.URL("http://a.test/helper"))
	b := chromiumtest.Shared(t)
	r := setupOn(t, b, func(c *node.Config) { c.Apps = []string{filepath.Dir(app) + "/"} })
	h := (&task{r, "app"}).hands()
	if res := h.use("browser_task_open", `{"app":"`+app+`","app_args":["`+mark+`"],"match":"my work"}`); !strings.Contains(res.Text, "Opened") {
		t.Fatal(res.Text)
	}
	if got := h.use("browser_evaluate", `{"expression":"document.title"}`).Text; got != `"My Work"` {
		t.Errorf("main is %s", got)
	}
	h.look(`{}`)
	if len(running(t, mark)) == 0 {
		t.Error("the argument did not reach the application")
	}
	if res := h.try("browser_tabs", `{"action":"select","match":"nothing like it"}`); res.Code != messages.CodeTargetNotFound || !strings.Contains(fmt.Sprint(res.Error.Details["tabs"]), "My Work") {
		t.Errorf("%+v", res)
	}
	// Another argument is another application: the running one ends.
	if res := h.use("browser_task_open", `{"app":"`+app+`","app_args":["`+mark+`","--lang=de"]}`); !strings.Contains(res.Text, "Opened") {
		t.Error(res.Text)
	}
	h.await("its page", func(s *messages.Snapshot) bool {
		return slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.Title == "My Work" })
	})
	// Without a choice the helper, though the oldest, is not main.
	if got := h.use("browser_evaluate", `{"expression":"document.title"}`).Text; got != `"My Work"` {
		t.Errorf("main is %s", got)
	}
	h.use("browser_task_stop", `{}`)
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("processes %v run on", left)
	}
	connected := r.task("connected")
	if err := r.node.StopTask(r.ctx, connected.id); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Exited():
		t.Error("a browser that was connected has ended")
	default:
	}
}

// TestW30_ApplicationsAreTheOperatorsToAllow: none is launched unless a setting has it, denial wins,
// and a scoped token launches none.
func TestW30_ApplicationsAreTheOperatorsToAllow(t *testing.T) {
	t.Parallel()
	app := fakeApp(t, "about:blank")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	spec := func(path string, args ...string) messages.TaskSpec {
		return messages.TaskSpec{Launch: &messages.LaunchSpec{App: path, Args: args}}
	}
	plain := setup(t)
	_, _, err := plain.node.GetOrStart(plain.ctx, "no", spec(app))
	wantCode(t, err, messages.CodeForbidden)
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		c.Apps, c.AppsDenied = []string{filepath.Dir(app) + "/", link}, []string{"/bin/sh", filepath.Join(filepath.Dir(app), "other")}
	})
	for path, code := range map[string]messages.Code{
		"/bin/true": messages.CodeForbidden, link: messages.CodeForbidden, filepath.Join(filepath.Dir(app), "other"): messages.CodeForbidden,
		filepath.Join(filepath.Dir(app), "none"): messages.CodeInvalidArgument, "relative": messages.CodeInvalidArgument,
	} {
		_, _, err := r.node.GetOrStart(r.ctx, "no", spec(path))
		wantCode(t, err, code)
	}
	_, _, err = r.node.GetOrStart(messages.WithCaller(r.ctx, messages.Caller{IsScoped: true}), "no", spec(app))
	wantCode(t, err, messages.CodeForbidden)
	_, _, err = r.node.GetOrStart(r.ctx, "no", spec(app, "--remote-debugging-port=9222"))
	wantCode(t, err, messages.CodeInvalidArgument)
}

// TestT9_AConnectedBrowserMayStillBeStarting: its port is waited for, and not for ever.
func TestT9_AConnectedBrowserMayStillBeStarting(t *testing.T) {
	t.Parallel()
	r := setup(t)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gone.Addr().String()
	_ = gone.Close()
	h := (&task{r, "t9"}).hands()
	open := `{"cdp_url":"http://` + address + `/"}`
	start := time.Now()
	if res := h.try("browser_task_open", open); res.Code != messages.CodeUpstreamUnavailable || time.Since(start) < 4*time.Second || time.Since(start) > patience {
		t.Errorf("%+v after %s", res, time.Since(start))
	}
	target, err := url.Parse(r.chrome.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(target)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.Host = target.Host
		through.ServeHTTP(w, q)
	}), ReadHeaderTimeout: patience}
	served := make(chan error, 1)
	late := time.AfterFunc(2*time.Second, func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			served <- err
			return
		}
		served <- server.Serve(l)
	})
	t.Cleanup(func() {
		if !late.Stop() {
			_ = server.Close()
			<-served
		}
	})
	if res := h.try("browser_task_open", open); !res.OK {
		t.Errorf("%+v", res)
	}
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	if err := r.node.StopTask(ctx, "t9"); err != nil {
		t.Error(err)
	}
}

// TestT8_ABrowserOfEachKind drives the three kinds of browser by the one tool of oh-my-pi: a name is
// of one kind until it is closed (T7, T8), and what was launched ends with its last tab (T14), or
// when it is killed (T15).
func TestT8_ABrowserOfEachKind(t *testing.T) {
	t.Parallel()
	site := chromiumtest.Serve(t)
	site.Set("/work", `<title>My Work</title>`)
	mark := fmt.Sprintf("--mark-of-the-kinds=%d", time.Now().UnixNano())
	app := fakeApp(t, site.URL("http://a.test/work"))
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) { c.Apps = []string{app} })
	r.site = site
	id := r.task("kinds").id
	table := r.task("kinds").scripts()
	_, over := r.inside(func(c *api.Config) { c.Tools = table })
	over.Endpoint = "http://localhost/mcp?profile=omp&task=" + string(id)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "omp", Version: "1"}, nil).Connect(r.ctx, over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	a := agent{t, c}
	open := func(fields map[string]any) map[string]any {
		fields["action"] = "open"
		return fields
	}
	where := func(name string) string {
		t.Helper()
		return a.does("browser", map[string]any{"action": "run", "name": name, "code": "return page.url() + ' ' + await page.title()"})
	}
	launched := map[string]any{"path": app, "args": []string{mark}}
	a.does("browser", open(map[string]any{"name": "own", "url": site.URL("http://a.test/plain")}))
	a.does("browser", open(map[string]any{"name": "app", "app": launched}))
	a.does("browser", open(map[string]any{"name": "far", "app": map[string]any{"cdp_url": r.chrome.HTTP()}, "url": site.URL("http://b.test/plain")}))
	for name, want := range map[string]string{"own": "http://a", "app": "/work", "far": "http://b"} {
		if got := where(name); !strings.Contains(got, want) {
			t.Errorf("%s is at %s", name, got)
		}
	}
	for _, of := range []map[string]any{{"name": "app"}, {"name": "own", "app": launched}} {
		if text, res, err := a.call(r.ctx, "browser", open(of)); err != nil || res.Code != messages.CodeInvalidArgument || !strings.Contains(text, "close it first") {
			t.Errorf("another kind: %v %s", err, text)
		}
	}
	a.does("browser", map[string]any{"action": "close", "name": "app"})
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("processes %v run on", left)
	}
	a.does("browser", open(map[string]any{"name": "app", "url": site.URL("http://a.test/plain")})) // the name is free again
	a.does("browser", open(map[string]any{"app": launched}))                                       // main, of the application
	if got := where("main"); !strings.Contains(got, "/work") {
		t.Errorf("main is at %s", got)
	}
	a.does("browser", map[string]any{"action": "close", "kill": true})
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("processes %v run on", left)
	}
	a.does("browser", open(map[string]any{"name": "taken", "app": map[string]any{"cdp_url": r.chrome.HTTP(), "target": site.URL("http://b.test/plain")}}))
	a.does("browser", map[string]any{"action": "close", "name": "taken"})
	if got := where("far"); !strings.Contains(got, "http://b") {
		t.Errorf("a page that was taken has gone with its task: %s", got)
	}
	a.does("browser", map[string]any{"action": "close", "all": true})
	for _, s := range r.node.Tasks() {
		if s.Active {
			t.Errorf("%s runs on", s.TaskID)
		}
	}
}
