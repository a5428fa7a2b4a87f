package acceptance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/api"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

// bystander uses another task of the node all the time, on a browser of its
// own: what a browser's tasks do to each other is not the question. The
// returned function ends that and fails the test if the task felt anything.
func (r *rig) bystander() (check func()) {
	r.Helper()
	b := chromiumtest.Launch(r.T)
	k := r.task("bystander", at(r.T, b.WS()))
	k.goTo("data:text/html,<title>by</title>")
	ctx, cancel := context.WithCancel(r.ctx)
	var slowest time.Duration
	calls, bad := 0, error(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pace := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				pace.Stop()
				return
			case <-pace.C:
			}
			begin := time.Now()
			// Answered by the browser's main process: a renderer that gets no
			// processor time for seconds would be called hung, and rightly.
			_, err := r.node.CDP(r.ctx, k.id, messages.CDPRequest{Method: "Page.getNavigationHistory"})
			slowest = max(slowest, time.Since(begin))
			calls++
			if err != nil {
				bad = errors.Join(bad, fmt.Errorf("call %d: %w", calls, err))
			}
		}
	}()
	return func() {
		r.Helper()
		cancel()
		<-done
		if bad != nil {
			r.Errorf("another task failed meanwhile: %v", bad)
		}
		// Half of a call's default budget, since other tests take the
		// processor away at will.
		if calls < 10 || slowest > messages.DefaultCDPTimeout/2 {
			r.Errorf("another task made %d calls, the slowest took %v", calls, slowest)
		}
		s := k.await("the other task's page", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
		if s.State != messages.StateActive || s.Connection.Reconnects != 0 || k.eval("", "document.title") != `"by"` {
			r.Errorf("another task is %s after %d reconnects", s.State, s.Connection.Reconnects)
		}
	}
}

// listener accepts connections and gives them to serve; it returns its
// address.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			running.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return l.Addr().String()
}

// hold keeps a connection and says nothing.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func TestBadInput_Endpoints(t *testing.T) {
	t.Parallel()
	r := setup(t)
	check := r.bystander()
	noise := make([]byte, 64<<10)
	_, _ = rand.Read(noise)
	site := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	closed := chromiumtest.Proxy(t, r.chrome.Addr())
	closed.Refuse()
	mute := listener(t, hold)
	// Not before it is asked: net/http writes what comes too early to the log of
	// the whole process.
	noisy := listener(t, func(c net.Conn) {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			_, _ = c.Write(noise)
			hold(c)
		}
	})
	curt := listener(t, func(c net.Conn) { _ = c.Close() })
	junk := site(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(noise) })
	page := site(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<title>It works!</title>") })
	empty := site(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	endless := site(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Browser":"`)
		for range 1 << 10 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
				return
			}
		}
	})
	dripping := site(func(w http.ResponseWriter, q *http.Request) {
		drip := time.NewTicker(100 * time.Millisecond)
		defer drip.Stop()
		for {
			select {
			case <-drip.C:
				if _, err := io.WriteString(w, " "); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			case <-q.Context().Done():
				return
			}
		}
	})
	missing := site(http.NotFound)
	loop := site(func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, q.URL.Path, http.StatusFound) })
	lies := site(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, `{"webSocketDebuggerUrl":"file:///etc/passwd"}`)
	})
	says := func(kind websocket.MessageType, messages ...string) string {
		return peer(t, func(ctx context.Context, c *wsConn) {
			for _, m := range messages {
				if c.Write(ctx, kind, []byte(m)) != nil {
					return
				}
			}
			c.drain(ctx)
		})
	}
	replies := func(with func(id string) string) string {
		return peer(t, func(ctx context.Context, c *wsConn) {
			for {
				_, m, err := c.Read(ctx)
				if err != nil || c.Write(ctx, websocket.MessageText, []byte(with(chromiumtest.Field(m, "id")))) != nil {
					return
				}
			}
		})
	}
	const (
		now    = atOnce
		dial   = 10*time.Second + atOnce
		attach = 15*time.Second + atOnce
	)
	const (
		gone = messages.CodeUpstreamUnavailable
		late = messages.CodeDeadline
	)
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		url   string
		code  messages.Code
		limit time.Duration
	}{
		"closed port, ws":          {closed.URL(r.chrome.WS()), gone, now},
		"closed port, http":        {"http://" + closed.Addr(), gone, now},
		"no such host":             {"ws://no-such-host.invalid/devtools/browser/x", gone, dial},
		"wrong path":               {"ws://" + r.chrome.Addr() + "/devtools/browser/none", gone, now},
		"a page's endpoint":        {"ws://" + r.chrome.Addr() + "/devtools/page/none", messages.CodeInvalidArgument, now},
		"TLS where there is none":  {"wss://" + r.chrome.Addr() + "/devtools/browser/x", gone, now},
		"accepts, silent, ws":      {"ws://" + mute + "/x", late, dial},
		"accepts, silent, http":    {"http://" + mute, late, dial},
		"accepts, silent, wss":     {"wss://" + mute + "/x", late, dial},
		"hangs up":                 {"ws://" + curt + "/x", gone, now},
		"TCP noise, ws":            {"ws://" + noisy + "/x", gone, now},
		"TCP noise, http":          {"http://" + noisy, gone, now},
		"HTTP junk, ws":            {"ws://" + junk + "/x", gone, now},
		"HTTP junk, http":          {"http://" + junk, gone, now},
		"a web site, ws":           {"ws://" + page + "/x", gone, now},
		"a web site, http":         {"http://" + page, gone, now},
		"JSON without the URL":     {"http://" + empty, gone, now},
		"64 MiB of /json/version":  {"http://" + endless, gone, now},
		"drips for ever":           {"http://" + dripping, late, dial},
		"404":                      {"http://" + missing, gone, now},
		"redirects for ever":       {"http://" + loop, gone, now},
		"a URL of another kind":    {"http://" + lies, gone, now},
		"WebSocket, text junk":     {says(websocket.MessageText, "hello", "{", "null"), gone, now},
		"WebSocket, binary junk":   {says(websocket.MessageBinary, string(noise)), gone, now},
		"WebSocket, silent":        {says(websocket.MessageText), late, attach},
		"WebSocket, strange JSON":  {says(websocket.MessageText, `{"id":99}`, `{"method":"Target.attachedToTarget"}`, `{"method":"Target.attachedToTarget","params":{"sessionId":7}}`, `{}`), late, attach},
		"WebSocket, 64 MiB":        {says(websocket.MessageText, `{"method":"A.b","params":{"x":"`+strings.Repeat("x", 64<<20)+`"}}`), late, attach},
		"WebSocket, errors only":   {replies(func(id string) string { return `{"id":` + id + `,"error":{"code":-32601,"message":"no"}}` }), messages.CodeCDPError, now},
		"WebSocket, empty results": {replies(func(id string) string { return `{"id":` + id + `,"result":{}}` }), late, attach},
	} {
		all.Go(func() {
			id := messages.TaskID("bad-" + strings.Map(func(c rune) rune {
				if c >= 'a' && c <= 'z' {
					return c
				}
				return '-'
			}, name))
			u, err := messages.ParseCDPURL(c.url)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			begin := time.Now()
			_, _, err = r.node.GetOrStart(r.ctx, id, messages.TaskSpec{CDPURL: u})
			took := time.Since(begin)
			if got := messages.CodeOf(err); got != c.code {
				t.Errorf("%s: %v, want code %s", name, err, c.code)
			}
			if took > c.limit {
				t.Errorf("%s: took %v, want at most %v", name, took, c.limit)
			}
			if _, err := r.node.Snapshot(id, messages.SnapshotOptions{}); messages.CodeOf(err) != messages.CodeTaskNotFound {
				t.Errorf("%s: the task is left: %v", name, err)
			}
		})
	}
	all.Wait()
	check()
	if n := len(r.node.Tasks()); n != 1 {
		t.Errorf("%d tasks are left", n)
	}
}

// front is the HTTP interface of a rig's node.
type front struct {
	*rig
	url   string
	token token.Admin
}

func (r *rig) front() *front {
	r.Helper()
	f := &front{rig: r, token: token.Generate()}
	entrance, err := gate.New(gate.Config{Token: f.token})
	if err != nil {
		r.Fatal(err)
	}
	h, err := api.New(api.Config{Node: r.node, Gate: entrance, Metrics: r.node.MetricsHandler()})
	if err != nil {
		r.Fatal(err)
	}
	s := httptest.NewServer(h)
	r.Cleanup(s.Close)
	r.Cleanup(h.CloseStreams) // before the server waits for them
	f.url = s.URL
	return f
}

// ask makes a request with the node's token, or as change says.
func (f *front) ask(method, path, body string, change ...func(*http.Request)) (int, string) {
	f.Helper()
	q, err := http.NewRequestWithContext(f.ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+f.token.Reveal())
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	q.Close = true
	for _, c := range change {
		c(q)
	}
	res, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		f.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		f.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// refused makes a request that has to fail in this way, at once.
func (f *front) refused(status int, code messages.Code, method, path, body string, change ...func(*http.Request)) {
	f.Helper()
	begin := time.Now()
	got, text := f.ask(method, path, body, change...)
	var e struct {
		Error messages.Error `json:"error"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil || got != status || e.Error.Code != code || e.Error.Message == "" {
		f.Errorf("%s %s: %d %.300s, want %d %s", method, path, got, text, status, code)
	}
	// Fifty megabytes take their time on the way alone.
	if took := time.Since(begin); took > atOnce && len(body) <= 2<<20 {
		f.Errorf("%s %s: took %v", method, path, took)
	}
}

func TestBadInput_Requests(t *testing.T) {
	t.Parallel()
	r := setup(t)
	f := r.front()
	check := r.bystander()
	k := r.task("one")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	d := k.dialog()
	if status, body := f.ask("POST", "/v1/tasks/one/dialog", `{"action":"accept"}`); status != http.StatusOK || !strings.Contains(body, `"closed_by":"agent"`) {
		t.Fatalf("answer: %d %s", status, body)
	}
	const (
		bad     = messages.CodeInvalidArgument
		noTask  = messages.CodeTaskNotFound
		one     = "/v1/tasks/one"
		version = `{"method":"Browser.getVersion"}`
	)
	f.refused(409, messages.CodeDialogAlreadyAnswered, "POST", one+"/dialog", `{"action":"accept","dialog_id":"`+string(d.ID)+`"}`)
	f.refused(409, messages.CodeNoDialog, "POST", one+"/dialog", `{"action":"accept"}`)
	f.refused(404, messages.CodeDialogNotFound, "POST", one+"/dialog", `{"action":"accept","dialog_id":"d-999"}`)
	f.refused(400, bad, "POST", one+"/dialog", `{"action":"maybe"}`)
	f.refused(404, messages.CodeFrameNotFound, "POST", one+"/cdp", `{"method":"Runtime.evaluate","frame_id":"NONE"}`)
	f.refused(404, messages.CodeTargetNotFound, "POST", one+"/cdp", `{"method":"Runtime.evaluate","target_id":"NONE"}`)
	f.refused(404, messages.CodeTargetNotFound, "POST", one+"/navigate", `{"url":"about:blank","target_id":"NONE"}`)
	f.refused(404, messages.CodeTargetNotFound, "GET", one+"/snapshot?target_id=NONE", "")
	f.refused(502, messages.CodeCDPError, "POST", one+"/cdp", `{"method":"No.such"}`)
	f.refused(400, bad, "POST", one+"/cdp", `{"method":"nonsense"}`)
	for _, path := range []string{"", "/snapshot", "/events"} {
		f.refused(404, noTask, "GET", "/v1/tasks/never"+path, "")
	}
	f.refused(404, noTask, "POST", "/v1/tasks/never/cdp", version)
	f.refused(404, noTask, "POST", "/v1/tasks/never/dialog", `{"action":"accept"}`)
	f.refused(404, noTask, "POST", "/v1/tasks/never/navigate", `{"url":"about:blank"}`)
	f.refused(404, noTask, "POST", "/v1/tasks/never/renew", "")
	for _, id := range []string{"a%20b", "a%2Fb", "%00", "%2E%2E", "%F0%9F%A6%80", strings.Repeat("x", 129)} {
		f.refused(400, bad, "PUT", "/v1/tasks/"+id, "{}")
		f.refused(400, bad, "DELETE", "/v1/tasks/"+id, "")
	}
	for _, spec := range []string{
		`{"cdp_url":"nonsense"}`, `{"cdp_url":"ftp://h/"}`, `{"cdp_url":"ws://"}`, `{"scope":"all"}`, `{"scope":"target"}`, `{"dialog_policy":"x"}`,
		`{"dialog_timeout_s":-1}`, `{"dialog_timeout_s":1e300}`, `{"no_such":1}`, `[]`, `{`, "\x00",
	} {
		f.refused(400, bad, "PUT", "/v1/tasks/two", spec)
	}
	f.refused(413, messages.CodeMessageTooLarge, "PUT", "/v1/tasks/two", `{"labels":{"k":"`+strings.Repeat("x", 1<<20)+`"}}`)
	f.refused(413, messages.CodeMessageTooLarge, "POST", one+"/cdp", `{"method":"A.b","params":{"x":"`+strings.Repeat("x", messages.MaxCDPMessage)+`"}}`)
	// A reply over the limit ends in its own call.
	status, body := f.ask("POST", one+"/cdp", `{"method":"Runtime.evaluate","params":{"expression":"'x'.repeat(67108864)","returnByValue":true},"timeout_s":60}`)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(body, "message_too_large") {
		t.Errorf("a reply of 64 MiB: %d %.300s", status, body)
	}
	if s := k.snapshot(); s.State == messages.StateLost || s.Connection.Reconnects != 0 || len(r.node.Tasks()) != 2 {
		t.Errorf("the task is %s after %d reconnects; %d tasks", s.State, s.Connection.Reconnects, len(r.node.Tasks()))
	}
	check()
}
