package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/gateway"
	"holdfast/internal/node"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a node with two tasks on a fake browser, behind HTTP.
type rig struct {
	testing.TB
	ctx     context.Context
	browser *chaos.Browser
	cdp     messages.CDPURL
	node    *node.Node
	server  *httptest.Server
	admin   token.Admin

	gateway *gateway.Gateway
}

func setup(t testing.TB) *rig {
	t.Helper()
	return setupOn(t, chaos.Options{Load: func(url string) chaos.Document {
		if strings.HasSuffix(url, "/asks") {
			return chaos.Document{Title: "Asks", Script: `confirm('sure?')`}
		}
		return chaos.Document{Title: "Plain"}
	}})
}

// setupOn is setup on a fake browser of one's own.
func setupOn(t testing.TB, o chaos.Options) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	browser := chaos.New(o)
	t.Cleanup(browser.Close)
	listening := httptest.NewServer(browser)
	t.Cleanup(listening.Close)
	cdpURL, err := messages.ParseCDPURL(listening.URL)
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(ctx, node.Config{StateDir: t.TempDir(), AllowChaos: true, Log: slog.New(slog.DiscardHandler), Limits: messages.Limits{MemoryHigh: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	for _, id := range []messages.TaskID{"one", "two"} {
		if _, _, err := n.GetOrStart(ctx, id, messages.TaskSpec{CDPURL: cdpURL}); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{TB: t, ctx: ctx, browser: browser, cdp: cdpURL, node: n, admin: token.Generate()}
	entrance, err := gate.New(gate.Config{Token: r.admin})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Config{Node: n, Observer: n.Metrics()})
	r.gateway = g
	handler, err := api.New(api.Config{Node: n, Gate: entrance, Gateway: g})
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(handler)
	t.Cleanup(r.server.Close)
	t.Cleanup(func() { g.Drain(context.Background()) })
	t.Cleanup(handler.CloseStreams)
	return r
}

// client is a CDP client that knows no more than JSON.
type client struct {
	*rig
	conn   *websocket.Conn
	next   int
	events []message
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	SessionID string `json:"sessionId"`
}

func (r *rig) dial(ctx context.Context, path string) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, strings.Replace(r.server.URL, "http", "ws", 1)+path, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + r.admin.Reveal()}}})
	return conn, err
}

func (r *rig) connect(path string) *client {
	r.Helper()
	conn, err := r.dial(r.ctx, path)
	if err != nil {
		r.Fatalf("connect to %s: %v", path, err)
	}
	conn.SetReadLimit(-1)
	r.Cleanup(func() { _ = conn.CloseNow() })
	return &client{rig: r, conn: conn}
}

func (c *client) write(text string) {
	c.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.Fatal(err)
	}
}

// patience is how long a test waits for one thing to come about, on a loaded machine.
const patience = time.Minute

// waitFor watches until something has come about.
func waitFor(t testing.TB, what string, hasCome func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !hasCome(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

func (c *client) read() message {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	_, text, err := c.conn.Read(ctx)
	if err != nil {
		c.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		c.Fatalf("%s: %v", text, err)
	}
	return m
}

// call sends a command and returns its reply; events that come before it are kept.
func (c *client) call(session, method, params string) message {
	c.Helper()
	c.next++
	text := fmt.Sprintf(`{"id":%d,"method":%q,"params":%s`, c.next, method, params)
	if session != "" {
		text += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	c.write(text + "}")
	for {
		m := c.read()
		if m.ID == nil {
			c.events = append(c.events, m)
			continue
		}
		isGone := m.Error != nil && m.Error.Code == -32001 // of which Chrome names none
		if *m.ID != c.next || m.SessionID != session && !(isGone && m.SessionID == "") || isGone && m.SessionID != "" {
			c.Fatalf("the reply to %d on %q is to %d on %q", c.next, session, *m.ID, m.SessionID)
		}
		return m
	}
}

// field returns a string of a reply's result.
func (c *client) field(m message, name string) string {
	c.Helper()
	var all map[string]any
	if m.Error != nil || json.Unmarshal(m.Result, &all) != nil {
		c.Fatalf("no result: %+v %s", m.Error, m.Result)
	}
	s, _ := all[name].(string)
	return s
}

func (c *client) attach(target string) string {
	c.Helper()
	return c.field(c.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target)), "sessionId")
}

func TestAClientDrivesAPageOfItsTask(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page := c.field(c.call("", "Target.createTarget", `{"url":"https://a.test/"}`), "targetId")
	session := c.attach(page)
	if m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error != nil {
		t.Errorf("evaluate: %+v", m.Error)
	}
	c.call(session, "Page.enable", `{}`)
	if m := c.call(session, "Page.navigate", `{"url":"https://b.test/"}`); m.Error != nil {
		t.Errorf("navigate: %+v", m.Error)
	}
	navigated := false
	for !navigated {
		m := c.read()
		navigated = m.Method == "Page.frameNavigated" && m.SessionID == session && strings.Contains(string(m.Params), "https://b.test/")
	}
	if m := c.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, page)); string(m.Result) != `{"success":true}` {
		t.Errorf("close: %+v", m)
	}
}

// TestANewPageTakesNoOthersPlace: it is opened in the background, also by way of discovery.
func TestANewPageTakesNoOthersPlace(t *testing.T) {
	t.Parallel()
	r := setup(t)
	front := func() (id messages.TargetID) {
		for _, p := range r.browser.Pages() {
			if p.IsFront {
				id = p.Target
			}
		}
		return id
	}
	c := r.connect("/cdp/one")
	first := c.field(c.call("", "Target.createTarget", `{"url":"https://a.test/"}`), "targetId")
	c.call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, first))
	before := front()
	page := c.field(c.call("", "Target.createTarget", `{"url":"https://a.test/"}`), "targetId")
	req, _ := http.NewRequestWithContext(r.ctx, http.MethodPut, r.server.URL+"/cdp/one/json/new?https://b.test/", nil)
	req.Header.Set("Authorization", "Bearer "+r.admin.Reveal())
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("json/new: %v, %v", res, err)
	}
	_ = res.Body.Close()
	if after := front(); page == first || string(before) != first || after != before {
		t.Errorf("of %s and %s, %s was in front, and %s is", first, page, before, after)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestTasksOfOneBrowserDoNotMeet(t *testing.T) {
	t.Parallel()
	r := setup(t)
	one, two := r.connect("/cdp/one"), r.connect("/cdp/two")
	page := one.field(one.call("", "Target.createTarget", `{"url":"about:blank"}`), "targetId")
	session := one.attach(page)
	two.call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`)
	two.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	for what, m := range map[string]message{
		"attach":   two.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, page)),
		"info":     two.call("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, page)),
		"close":    two.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, page)),
		"activate": two.call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, page)),
	} {
		if m.Error == nil || m.Error.Code != -32602 || m.Error.Message != "No target with given id found" {
			t.Errorf("%s: %+v %s", what, m.Error, m.Result)
		}
	}
	if m := two.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("a session of another client: %+v", m)
	}
	list := two.call("", "Target.getTargets", `{"filter":[{}]}`)
	if strings.Contains(string(list.Result), page) {
		t.Errorf("the list shows the other task's page: %s", list.Result)
	}
	one.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, page))
	two.call("", "Target.getTargets", `{}`)
	for _, e := range two.events {
		if strings.Contains(string(e.Params), page) {
			t.Errorf("an event tells of the other task's page: %s %s", e.Method, e.Params)
		}
	}
}

// TestEveryCommandIsReplied: whatever a client sends has an answer, and the link lives.
func TestEveryCommandIsReplied(t *testing.T) {
	t.Parallel()
	c := setup(t).connect("/cdp/one")
	for sent, want := range map[string]int{
		`{`:  -32700,
		`[]`: -32700,
		`{"id":1,"method":"A.b","params":{"a":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}}`: -32700,
		`{"id":1,"method":"Runtime.evaluate","params":{"a":tru}}`:                                            -32700,
		`{"method":"Browser.getVersion"}`:                                                                    -32600,
		`{"id":"1","method":"Browser.getVersion"}`:                                                           -32600,
		`{"id":2147483648,"method":"Browser.getVersion"}`:                                                    -32600,
		`{"id":1.5,"method":"Browser.getVersion"}`:                                                           -32600,
		`{"id":-3}`: -32600,
		`{"id":1,"method":"Browser.getVersion","params":[]}`:     -32600,
		`{"id":1,"method":"Browser.getVersion","sessionId":"X"}`: -32001,
		`{"id":1,"method":"Runtime.evaluate","params":{}}`:       -32601,
		`{"id":1,"method":"Target.setAutoAttach","params":{}}`:   -32602,
	} {
		c.write(sent)
		if m := c.read(); m.Error == nil || m.Error.Code != want {
			t.Errorf("%.80s: %+v, want %d", sent, m.Error, want)
		}
	}
	if m := c.call("", "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("afterwards: %+v", m.Error)
	}
}

// TestAFurtherBrowserSessionReachesTheTaskAlone: what acts on one page of a page's session would
// act on all tasks there.
func TestAFurtherBrowserSessionReachesTheTaskAlone(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c, other := r.connect("/cdp/one"), r.connect("/cdp/two")
	foreign := other.field(other.call("", "Target.createTarget", `{"url":"about:blank"}`), "targetId")
	browser := c.field(c.call("", "Target.attachToBrowserTarget", `{}`), "sessionId")
	if m := c.call(browser, "Fetch.enable", `{}`); m.Error == nil {
		t.Error("it intercepts the requests of every task")
	}
	page := c.field(c.call(browser, "Target.createTarget", `{"url":"about:blank"}`), "targetId")
	if m := c.call(browser, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, foreign)); m.Error == nil {
		t.Error("it attaches to another task's page")
	}
	session := c.field(c.call(browser, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, page)), "sessionId")
	if m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error != nil {
		t.Errorf("evaluate: %+v", m.Error)
	}
	if m := c.call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, browser)); m.Error != nil {
		t.Errorf("detach: %+v", m.Error)
	}
	if m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("a session below it: %+v", m)
	}
}

func TestBrowserCloseEndsTheClientAlone(t *testing.T) {
	t.Parallel()
	r := setup(t)
	one, other := r.connect("/cdp/one"), r.connect("/cdp/one")
	if m := one.call("", "Browser.close", `{}`); m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	if _, _, err := one.conn.Read(r.ctx); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("the client reads %v", err)
	}
	if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("the other client: %+v", m.Error)
	}
}

// TestRodIsServed: rod sends a key that is none, checks the answer to exactly that, and
// panics at a close frame.
func TestRodIsServed(t *testing.T) {
	t.Parallel()
	r := setup(t)
	host := strings.TrimPrefix(r.server.URL, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "GET /cdp/one?token=%s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: nil\r\n\r\n", r.admin.Reveal(), host)
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got := answer.Header.Get("Sec-WebSocket-Accept"); answer.StatusCode != 101 || got != "Q67D9eATKx531lK8F7u2rqQNnNI=" {
		t.Fatalf("%s, accept %q", answer.Status, got)
	}
	list, err := r.clients()
	if err != nil || len(list.Clients) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	req, _ := http.NewRequestWithContext(r.ctx, http.MethodDelete, r.server.URL+"/v1/tasks/one/clients/"+string(list.Clients[0].ClientID), nil)
	req.Header.Set("Authorization", "Bearer "+r.admin.Reveal())
	gone, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || gone.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", gone, err)
	}
	_ = gone.Body.Close()
	if b, err := in.ReadByte(); err == nil {
		t.Errorf("it is told %#x before the end", b)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func (r *rig) clients() (list messages.ClientList, err error) {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.server.URL+"/v1/tasks/one/clients", nil)
	if err != nil {
		return list, err
	}
	req.Header.Set("Authorization", "Bearer "+r.admin.Reveal())
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return list, err
	}
	defer res.Body.Close()
	return list, json.NewDecoder(res.Body).Decode(&list)
}

// TestAHubLeavesNothing: what a task's clients have in common ends with the last of them.
func TestAHubLeavesNothing(t *testing.T) {
	r := setup(t)
	connect := func() {
		c := r.connect("/cdp/one")
		c.call("", "Browser.getVersion", `{}`)
		_ = c.conn.CloseNow()
		waitFor(t, "the client is not listed any more", func() bool {
			list, err := r.clients()
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Clients) == 0
		})
	}
	connect()
	before := runtime.NumGoroutine()
	for range 50 {
		connect()
	}
	waitFor(t, "50 clients leave no more goroutines than the first", func() bool { return runtime.NumGoroutine() <= before+10 })
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestAnIdleClientHasOneGoroutine: it reads.
func TestAnIdleClientHasOneGoroutine(t *testing.T) {
	r := setup(t)
	const clients = 20
	for range clients {
		c := r.connect("/cdp/one")
		c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	}
	var count int
	waitFor(t, "the clients are idle", func() bool {
		stacks := make([]byte, 4<<20)
		count = 0
		for _, stack := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(stack, "gateway.(*client).") && !strings.Contains(stack, "gateway_test.") {
				count++
			}
		}
		return count <= clients
	})
	if count != clients {
		t.Errorf("%d clients have %d goroutines", clients, count)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
