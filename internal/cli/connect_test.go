package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/api/apitest"
	"holdfast/internal/cli"
	"holdfast/internal/gate"
	"holdfast/messages"
)

// taskEndpoint is a gateway whose clients get back what they say.
type taskEndpoint struct {
	apitest.Gateway
	busy atomic.Int64 // how many clients are still refused
	last atomic.Pointer[http.Request]
	list messages.ClientList
	gone atomic.Pointer[messages.ClientID]
}

func (g *taskEndpoint) Serve(w http.ResponseWriter, r *http.Request, id messages.TaskID, rest string, _ gate.Caller) error {
	g.last.Store(r)
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		fmt.Fprintf(w, `{"path":%q,"webSocketDebuggerUrl":"ws://%s/cdp/%s/devtools/browser/x"}`, rest, r.Host, id)
		return nil
	}
	if g.busy.Add(-1) >= 0 {
		return messages.Errorf(messages.CodeClientBusy, "client c-1 is on the task")
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil //nolint:nilerr // the library has answered
	}
	defer conn.CloseNow()
	for {
		kind, text, err := conn.Read(r.Context())
		if err != nil || conn.Write(r.Context(), kind, text) != nil {
			return nil //nolint:nilerr // the client has gone
		}
	}
}

func (g *taskEndpoint) Clients(messages.TaskID) messages.ClientList { return g.list }

func (g *taskEndpoint) Disconnect(_ messages.TaskID, id messages.ClientID) error {
	g.gone.Store(&id)
	return nil
}

// connected is a machine with a node whose tasks are served to CDP clients.
func connected(t *testing.T) (*machine, *taskEndpoint) {
	t.Helper()
	m, g := newMachine(t), &taskEndpoint{}
	m.node.SnapshotFunc = func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		if id != "shop:1" {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
		}
		return apitest.Active(id), nil
	}
	m.started = func(n *cli.RunningNode) error { n.Gateway = g; return nil }
	m.serve()
	return m, g
}

// connect runs the command, and returns what it says first. It ends with the test.
func (m *machine) connect(args ...string) (first string, stop func() int) {
	m.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, said := io.Pipe()
	code, log := make(chan int, 1), &buffer{}
	go func() {
		defer said.Close()
		code <- m.program(said, log).Run(ctx, append([]string{"connect"}, args...))
	}()
	ended := false
	stop = func() int {
		if cancel(); ended {
			return 0
		}
		ended = true
		return <-code
	}
	m.Cleanup(func() { stop() })
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		m.Fatalf("connect ended with %d: %s", stop(), log)
	}
	return strings.TrimSpace(first), stop
}

// get asks the port, as curl does.
func (m *machine) get(method, address string, change func(*http.Request)) (int, string) {
	m.Helper()
	r, err := http.NewRequestWithContext(m.Context(), method, address, nil)
	if err != nil {
		m.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	over := &http.Transport{}
	defer over.CloseIdleConnections()
	res, err := over.RoundTrip(r)
	if err != nil {
		m.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		m.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	t.Run("is the debugging port of the task's browser", func(t *testing.T) {
		t.Parallel()
		m, g := connected(t)
		first, stop := m.connect("shop:1", "--name", "scraper", "--dialogs", "client", "--mode", "exclusive")
		address, ok := strings.CutPrefix(first, "DevTools listening on ws://")
		host, _, _ := strings.Cut(address, "/")
		if !ok || address != host+"/devtools/browser/shop:1" || !strings.HasPrefix(host, "127.0.0.1:") {
			t.Fatalf("it says %q", first)
		}
		for _, p := range []string{"/json/version", "/json/version/"} {
			if code, body := m.get("GET", "http://"+host+p, nil); code != 200 || body != `{"path":"json/version","webSocketDebuggerUrl":"ws://`+host+`/devtools/browser/x"}` {
				t.Errorf("%s: %d %s", p, code, body)
			}
		}
		if code, _ := m.get("PUT", "http://"+host+"/json/new?http://a.test/?x=1&y", nil); code != 200 || g.last.Load().URL.RawQuery != "http://a.test/?x=1&y" {
			t.Errorf("json/new: %d, the node is asked for %q", code, g.last.Load().URL.RawQuery)
		}
		conn, _, err := websocket.Dial(t.Context(), "ws://"+address+"?dialogs=observe", &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{}}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		q := g.last.Load().URL.Query()
		if q.Get("client") != "scraper" || q.Get("mode") != "exclusive" || q.Get("dialogs") != "observe" {
			t.Errorf("the node is asked for %v", q)
		}
		if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, text, err := conn.Read(t.Context()); err != nil || string(text) != "hello" {
			t.Fatalf("%s, %v", text, err)
		}
		if code := stop(); code != 0 {
			t.Errorf("it ends with %d", code)
		}
		if _, _, err := conn.Read(t.Context()); err == nil {
			t.Error("its client's connection has not ended")
		}
	})
	t.Run("is for programs of this machine alone", func(t *testing.T) {
		t.Parallel()
		m, g := connected(t)
		first, _ := m.connect("shop:1", "--json")
		var said struct {
			URL string `json:"url"`
			WS  string `json:"web_socket_debugger_url"`
		}
		if err := json.Unmarshal([]byte(first), &said); err != nil || said.WS == "" {
			t.Fatalf("%s: %v", first, err)
		}
		for what, change := range map[string]func(*http.Request){
			"a page's script":      func(r *http.Request) { r.Header.Set("Origin", "http://evil.test") },
			"a page's image":       func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"a name that rebounds": func(r *http.Request) { r.Host = "evil.test:9222" },
		} {
			if code, _ := m.get("GET", said.URL+"/json/version", change); code != 403 || g.last.Load() != nil {
				t.Errorf("%s: %d", what, code)
			}
		}
		for _, p := range []string{"/v1/tasks", "/json/../v1/tasks", "/metrics"} {
			if code, _ := m.get("GET", said.URL+p, nil); code != 404 {
				t.Errorf("%s: %d", p, code)
			}
		}
		if code, _ := m.get("POST", said.URL+"/json/new", nil); code != 405 {
			t.Errorf("POST: %d", code)
		}
	})
	t.Run("a client waits for its turn", func(t *testing.T) {
		t.Parallel()
		m, g := connected(t)
		g.busy.Store(2)
		first, _ := m.connect("shop:1", "--wait", "60s")
		began := time.Now()
		conn, _, err := websocket.Dial(t.Context(), strings.TrimPrefix(first, "DevTools listening on "), &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{}}})
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.CloseNow()
		if took := time.Since(began); took < 400*time.Millisecond {
			t.Errorf("two pauses took %v", took)
		}
	})
	t.Run("without patience it is told who has the task", func(t *testing.T) {
		t.Parallel()
		m, g := connected(t)
		g.busy.Store(1)
		first, _ := m.connect("shop:1")
		code, body := m.get("GET", strings.Replace(strings.TrimPrefix(first, "DevTools listening on "), "ws", "http", 1), func(r *http.Request) {
			for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} {
				r.Header.Set(name, value)
			}
		})
		if code != 409 || !strings.Contains(body, "client_busy") {
			t.Errorf("%d %s", code, body)
		}
	})
	t.Run("what cannot be is said at once", func(t *testing.T) {
		t.Parallel()
		m, _ := connected(t)
		if _, errs := m.want(1, "connect", "other", "--wait", "60s"); !strings.Contains(errs, "task_not_found") {
			t.Error(errs)
		}
		m.want(2, "connect", "shop:1", "--dialogs", "none")
		m.want(2, "connect", "shop:1", "--wait", "2h")
		m.want(2, "connect", "shop:1", "--port", "70000")
		first, _ := m.connect("shop:1")
		port := first[strings.LastIndex(strings.TrimSuffix(first, "/devtools/browser/shop:1"), ":")+1:]
		port, _, _ = strings.Cut(port, "/")
		if _, errs := m.want(1, "connect", "shop:1", "--port", port); !strings.Contains(errs, "address_in_use") {
			t.Error(errs)
		}
	})
}

func TestClients(t *testing.T) {
	t.Parallel()
	m, g := connected(t)
	g.list = messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
	if out, _ := m.want(0, "clients", "shop:1"); !strings.Contains(out, "no CDP client is connected") {
		t.Error(out)
	}
	g.list = messages.ClientList{Mode: messages.ClientsExclusive, Busy: true, ActiveClientID: "c-4", Clients: []messages.Client{
		{ClientID: "c-4", Name: "play\x1b[2Jwright", Dialogs: "client", Sessions: 3, Commands: 12, Events: 77, Dropped: 1, StalledS: 1.5},
	}}
	out, _ := m.want(0, "clients", "shop:1")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "CLIENT") ||
		!strings.HasPrefix(lines[1], "c-4") || !strings.Contains(lines[1], "(exclusive)") || !strings.Contains(lines[1], "1.5s") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	if out, _ := m.want(0, "clients", "shop:1", "--json"); !strings.HasPrefix(out, `{"mode":"exclusive","busy":true,`) {
		t.Error(out)
	}
	if out, _ := m.want(0, "clients", "shop:1", "--disconnect", "c-4"); !strings.Contains(out, "c-4 is disconnected") || *g.gone.Load() != "c-4" {
		t.Error(out)
	}
}
