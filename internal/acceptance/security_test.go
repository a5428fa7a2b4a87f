package acceptance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/cli"
	"holdfast/internal/node"
	"holdfast/messages"
)

func TestX7_ATaskNobodyUsesEnds(t *testing.T) {
	t.Parallel()
	var state string
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) { state = c.StateDir })
	f := r.front()
	if status, body := f.ask("PUT", "/v1/tasks/x7", `{"launch":true,"idle_timeout_s":2}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	// A client that holds an event stream holds the lease.
	ctx, kill := context.WithCancel(r.ctx)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/v1/tasks/x7/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+f.token.Reveal())
	res, err := http.DefaultTransport.RoundTrip(q)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	running := func() bool {
		for _, s := range r.node.Tasks() { // asking for the task itself would renew its lease
			if s.TaskID == "x7" {
				return s.Active
			}
		}
		return false
	}
	stays(t, "a task with a client", 4*time.Second, running)
	if len(browsers(state)) == 0 {
		t.Fatal("no browser was launched")
	}
	kill() // the client is gone, without a word
	left := time.Now()
	until(t, "the task ended", func() bool { return !running() && len(browsers(state)) == 0 })
	if took := time.Since(left); took < 2*time.Second {
		t.Errorf("it ended %v after its client, before its time", took)
	}
	if s, err := r.node.Snapshot("x7", messages.SnapshotOptions{}); err != nil || s.State != messages.StateStopped || !strings.Contains(s.Reason, "not used") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestX7_EveryTaskHasAnEnd(t *testing.T) {
	t.Parallel()
	r := setup(t)
	witness := chromiumtest.Dial(t, r.chrome.WS())
	k := r.task("x7-life", func(s *messages.TaskSpec) { s.MaxLifeS = 2 })
	page := k.snapshot().PageTargetID
	// Using it all the time puts nothing off.
	until(t, "the end of its life", func() bool {
		_, err := k.tryEval("", "1")
		return err != nil
	})
	k.await("stopped", func(s *messages.Snapshot) bool { return s.State == messages.StateStopped })
	if s := k.snapshot(); !strings.Contains(s.Reason, "maximum life") {
		t.Errorf("reason %q", s.Reason)
	}
	gone(t, witness, page)
}

// everyRoute is the contract's list, with bodies that would work.
func everyRoute(id string) [][3]string {
	task := "/v1/tasks/" + id
	return [][3]string{
		{"GET", "/v1/tasks"},
		{"GET", "/v1/tree?task_id=" + id},
		{"GET", "/v1/live?task_id=" + id},
		{"PUT", task, "{}"},
		{"GET", task},
		{"DELETE", task},
		{"GET", task + "/snapshot"},
		{"GET", task + "/events"},
		{"POST", task + "/dialog", `{"action":"accept"}`},
		{"POST", task + "/navigate", `{"url":"about:blank"}`},
		{"POST", task + "/cdp", `{"method":"Page.reload"}`},
		{"POST", task + "/recover", `{"action":"reload"}`},
	}
}

func TestX13_X14_NothingPassesTheDoorOfARealNode(t *testing.T) {
	t.Parallel()
	r := setup(t)
	f := r.front()
	k := r.task("one")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	k.dialog()
	before := k.snapshot()
	bearer := func(value string) func(*http.Request) {
		return func(q *http.Request) { q.Header["Authorization"] = []string{value} }
	}
	good := f.token.Reveal()
	for _, route := range everyRoute("one") {
		for name, change := range map[string]func(*http.Request){
			"no token":         func(q *http.Request) { q.Header.Del("Authorization") },
			"empty":            bearer("Bearer "),
			"wrong":            bearer("Bearer " + strings.Repeat("A", len(good))),
			"one letter short": bearer("Bearer " + good[:len(good)-1]),
			"one letter more":  bearer("Bearer " + good + "A"),
			"other scheme":     bearer("Basic " + good),
			"as a query":       func(q *http.Request) { q.Header.Del("Authorization"); q.URL.RawQuery = "token=" + good },
		} {
			status, body := f.ask(route[0], route[1], route[2], change)
			if status != http.StatusUnauthorized || !strings.Contains(body, `"unauthorized"`) || strings.Contains(body, good) {
				t.Errorf("%s %s with %s: %d %s", route[0], route[1], name, status, body)
			}
		}
		f.refused(403, messages.CodeForbidden, route[0], route[1], route[2], bearer("Bearer "+f.token.ForTask("two")), func(q *http.Request) {
			if route[1] == "/v1/tasks" { // lists what the token covers
				q.Host = "evil.test"
			}
			if strings.HasSuffix(route[1], "/recover") { // no route yet
				q.Host = "evil.test"
			}
		})
		for _, host := range []string{"evil.test", "evil.test:80", "127.0.0.1.evil.test"} {
			f.refused(403, messages.CodeForbidden, route[0], route[1], route[2], func(q *http.Request) { q.Host = host })
		}
		for _, origin := range []string{"http://evil.test", "null", "https://127.0.0.1"} {
			f.refused(403, messages.CodeForbidden, route[0], route[1], route[2], func(q *http.Request) { q.Header.Set("Origin", origin) })
		}
	}
	after := k.snapshot()
	if after.Version != before.Version || len(after.PendingDialogs) != 1 || len(r.node.Tasks()) != 1 {
		t.Errorf("a refused request had an effect: version %d, before %d", after.Version, before.Version)
	}
	if status, metrics := f.ask("GET", "/metrics", "", func(q *http.Request) { q.Header.Del("Authorization") }); status != http.StatusOK || !strings.Contains(metrics, "holdfast_auth_failures_total") || strings.Contains(metrics, good) {
		t.Errorf("metrics: %d", status)
	}
}

// The parts of a planted CDP URL. All look like what they are.
const (
	plantedUser  = "u-4b1d9d550123"
	plantedPass  = "hunter2-9c1e5f0a77aa"
	plantedPath  = "9c1e5f0a-77aa-4b1d-9d55-0123456789ab"
	plantedQuery = "tok-777-aaaabbbbccccdddd"
)

// gateway is a browser behind a key: only a URL with every planted part gets
// through to Chromium. It returns the URL.
func gateway(t *testing.T, b *chromiumtest.Browser) string {
	t.Helper()
	_, real, _ := strings.Cut(b.WS(), b.Addr())
	addr := listener(t, func(c net.Conn) {
		defer c.Close()
		q, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		user, pass, _ := q.BasicAuth()
		if user != plantedUser || pass != plantedPass || !strings.Contains(q.URL.Path, plantedPath) || q.URL.Query().Get("token") != plantedQuery {
			_, _ = io.WriteString(c, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		up, err := net.Dial("tcp", b.Addr())
		if err != nil {
			return
		}
		defer up.Close()
		head := "GET " + real + " HTTP/1.1\r\nHost: " + b.Addr() + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + q.Header.Get("Sec-WebSocket-Key") + "\r\n\r\n"
		if _, err := io.WriteString(up, head); err != nil {
			return
		}
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(up, c); _ = up.Close() })
		both.Go(func() { _, _ = io.Copy(c, up); _ = c.Close() })
		both.Wait()
	})
	return "ws://" + plantedUser + ":" + plantedPass + "@" + addr + "/devtools/browser/" + plantedPath + "?token=" + plantedQuery
}

// sinks collects everything that leaves the program, by where it left.
type sinks struct {
	mu    sync.Mutex
	texts map[string]*bytes.Buffer
}

func (s *sinks) add(where, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[where] == nil {
		s.texts[where] = &bytes.Buffer{}
	}
	s.texts[where].WriteString(text)
}

type sink struct {
	to    *sinks
	where string
	said  chan struct{} // closed with the first line
	once  *sync.Once
}

func (s sink) Write(b []byte) (int, error) {
	s.to.add(s.where, string(b))
	if bytes.IndexByte(b, '\n') >= 0 {
		s.once.Do(func() { close(s.said) })
	}
	return len(b), nil
}

func (s *sinks) writer(where string) sink {
	return sink{s, where, make(chan struct{}), &sync.Once{}}
}

// TestX13_ACDPURLNeverShows runs the whole program, attaches it to browsers
// whose URLs hold secrets, well and badly, and looks for those everywhere.
func TestX13_ACDPURLNeverShows(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	good := gateway(t, b)
	state := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out := &sinks{texts: map[string]*bytes.Buffer{}}
	env := map[string]string{"HOLDFAST_STATE_DIR": state}
	program := func(where string) (*cli.Program, sink) {
		stdout := out.writer(where + " stdout")
		return &cli.Program{
			Stdin: strings.NewReader(""), Stdout: stdout, Stderr: out.writer(where + " stderr"),
			Getenv: func(k string) string { return env[k] },
			Start: func(ctx context.Context, c cli.NodeConfig) (*cli.RunningNode, error) {
				n, err := node.Start(ctx, node.Config{StateDir: c.StateDir, Log: c.Logger})
				if err != nil {
					return nil, err
				}
				return &cli.RunningNode{Node: n, Metrics: n.MetricsHandler(), Stop: n.Stop}, nil
			},
		}, stdout
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan int, 1)
	p, started := program("serve")
	go func() {
		ended <- p.Run(serving, []string{"serve", "--json", "--listen", "127.0.0.1:0", "--log-level", "debug"})
	}()
	select {
	case <-started.said:
	case <-ctx.Done():
		t.Fatal("serve did not start")
	}
	run := func(code int, args ...string) string {
		t.Helper()
		p, o := program(strings.Join(args[:2], " "))
		if got := p.Run(ctx, args); got != code {
			out.mu.Lock()
			defer out.mu.Unlock()
			t.Fatalf("%q: exit %d, want %d\n%s%s", args[:2], got, code, out.texts[o.where], out.texts[args[0]+" "+args[1]+" stderr"])
		}
		out.mu.Lock()
		defer out.mu.Unlock()
		if text := out.texts[o.where]; text != nil {
			return text.String()
		}
		return ""
	}

	run(0, "task", "start", "one", "--cdp-url", good)
	run(0, "task", "start", "child") // launched: a child process
	// Wrong in one part each, so that each of the others is in a failing dial.
	for _, part := range []string{plantedUser, plantedPass, plantedPath, plantedQuery} {
		run(1, "task", "start", "bad", "--cdp-url", strings.Replace(good, part, "x", 1))
	}
	for _, u := range []string{
		strings.Replace(good, "ws://", "wss://", 1), strings.Replace(good, "ws://", "http://", 1),
		strings.Replace(good, "@127.0.0.1", "@no-such-host.invalid", 1),
	} {
		run(1, "task", "start", "bad", "--cdp-url", u)
	}
	run(0, "navigate", "one", "data:text/html,<body>")
	run(0, "cdp", "one", "Runtime.evaluate", `{"expression":"setTimeout(() => prompt('name?')); 0"}`)
	run(1, "cdp", "one", "Bogus.method")
	for _, args := range [][]string{{"task", "ls"}, {"task", "ls", "--json"}, {"task", "show", "one"}, {"task", "show", "one", "--json"}, {"snapshot", "one"}, {"snapshot", "one", "--json"}, {"dialog", "ls"}} {
		run(0, args...)
	}

	// Over the wire, past the command line.
	raw, err := os.ReadFile(filepath.Join(state, "token"))
	if err != nil {
		t.Fatal(err)
	}
	tok := strings.TrimSpace(string(raw))
	out.mu.Lock()
	var said struct {
		URL     string `json:"url"`
		Metrics string `json:"metrics_url"`
	}
	err = json.Unmarshal(bytes.SplitN(out.texts["serve stdout"].Bytes(), []byte("\n"), 2)[0], &said)
	out.mu.Unlock()
	if err != nil || said.URL == "" {
		t.Fatalf("serve said %v", err)
	}
	get := func(where, method, path, body string, until string) {
		t.Helper()
		q, err := http.NewRequestWithContext(ctx, method, said.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+tok)
		q.Header.Set("Content-Type", "application/json")
		q.Close = true
		res, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			out.add(where, s.Text()+"\n")
			if until != "" && strings.Contains(s.Text(), until) {
				return
			}
		}
	}
	get("metrics", "GET", "/metrics", "", "")
	get("events", "GET", "/v1/tasks/one/events", "", "endpoint")
	get("snapshot", "GET", "/v1/tasks/one/snapshot?full=true", "", "")
	quoted, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	get("put", "PUT", "/v1/tasks/one", `{"cdp_url":`+string(quoted)+`}`, "")
	get("put wrong", "PUT", "/v1/tasks/one", `{"cdp_url":`+string(quoted)+`,"scope":1}`, "")
	get("put scope", "PUT", "/v1/tasks/bad", `{"cdp_url":`+string(quoted)+`,"scope":"target","target_id":"NONE"}`, "")
	files := func(when string) {
		t.Helper()
		err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // Chromium's own files come and go
			}
			if err != nil || !d.Type().IsRegular() || d.Name() == "token" {
				return err
			}
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			out.add("file, "+when, path+"\n"+string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	files("running")
	children := browsers(state)
	if len(children) == 0 {
		t.Fatal("no browser was launched")
	}
	for _, pid := range children {
		for _, name := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
			if err == nil { // some end meanwhile
				out.add("process "+name, string(text))
			}
		}
	}
	run(0, "task", "stop", "one")
	stop()
	select {
	case code := <-ended:
		if code != 0 {
			t.Errorf("serve: exit %d", code)
		}
	case <-time.After(patience):
		t.Fatal("serve did not end")
	}
	files("ended")

	out.mu.Lock()
	defer out.mu.Unlock()
	for where, text := range out.texts {
		for _, secret := range []string{plantedUser, plantedPass, plantedPath, plantedQuery, tok} {
			if i := strings.Index(text.String(), secret); i >= 0 {
				t.Errorf("%q is in %s: …%s…", secret, where, text.String()[max(0, i-120):min(text.Len(), i+120)])
			}
		}
	}
	// The looking was in the right places.
	for where, want := range map[string]string{
		"serve stderr": "task=one", "metrics": "holdfast_", "events": "127.0.0.1", "snapshot": `"endpoint"`, "put": `"one"`, "put scope": "target_not_found",
		"task start stderr": "upstream_unavailable", "snapshot one stdout": "one", "process cmdline": "--remote-debugging", "process environ": "=", "file, running": "endpoint.json",
	} {
		if text := out.texts[where]; text == nil || !strings.Contains(text.String(), want) {
			t.Errorf("%s holds no %q: %v", where, want, text)
		}
	}
}
