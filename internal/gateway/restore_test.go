package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/chaos"
	"holdfast/internal/gateway"
	"holdfast/messages"
)

// lost is what a client is told of a command that a lost link has taken along.
const lost = "upstream connection lost; the command was not repeated"

// await reads until an event comes that is looked for. Events before it are kept.
func (c *client) await(what string, is func(message) bool) message {
	c.Helper()
	for i, m := range c.events {
		if is(m) {
			c.events = c.events[i+1:]
			return m
		}
	}
	c.events = nil
	for {
		if m := c.read(); is(m) {
			return m
		}
	}
}

func is(method, session string) func(message) bool {
	return func(m message) bool { return m.Method == method && m.SessionID == session }
}

// ended reads to the end of the connection and returns what came before it.
func (c *client) ended() (before []message, code websocket.StatusCode) {
	c.Helper()
	for {
		_, text, err := c.conn.Read(c.ctx)
		if err != nil {
			return before, websocket.CloseStatus(err)
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			c.Fatal(err)
		}
		before = append(before, m)
	}
}

// cut breaks the links of both of a task's connections.
func (r *rig) cut() {
	r.Helper()
	r.browser.DropConnections()
}

// page opens a page and returns it with a session on it that has the usual domains.
func (c *client) page(url string) (page, session string) {
	c.Helper()
	page = c.field(c.call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, url)), "targetId")
	session = c.attach(page)
	for _, method := range []string{"Page.enable", "Runtime.enable", "Page.getFrameTree"} {
		if m := c.call(session, method, `{}`); m.Error != nil {
			c.Fatalf("%s: %+v", method, m.Error)
		}
	}
	return page, session
}

// TestASessionOutlivesTheLink: its id stays valid, what was set is set again, and the client
// is told what has died.
func TestASessionOutlivesTheLink(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page, session := c.page("https://a.test/")
	c.call(session, "Network.setExtraHTTPHeaders", `{"headers":{"x":"1"}}`)
	c.call(session, "Emulation.setDeviceMetricsOverride", `{"width":300,"height":200,"deviceScaleFactor":1,"mobile":false}`)
	script := c.field(c.call(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"mine()"}`), "identifier")
	before := r.browser.Settings(messages.TargetID(page))
	for range 2 {
		r.cut()
		c.await("the end of the contexts", is("Runtime.executionContextsCleared", session))
		c.await("the contexts", is("Runtime.executionContextCreated", session))
		if m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`); m.Error != nil {
			t.Fatalf("evaluate: %+v", m.Error)
		}
		after := r.browser.Settings(messages.TargetID(page))
		for method, params := range before {
			if after[method] != params {
				t.Errorf("%s is %s after a drop, and was %s", method, after[method], params)
			}
		}
		n := 0
		for _, s := range r.browser.Scripts(messages.TargetID(page)) {
			if s == "mine()" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the script is there %d times", n)
		}
	}
	if m := c.call(session, "Page.removeScriptToEvaluateOnNewDocument", fmt.Sprintf(`{"identifier":%q}`, script)); m.Error != nil {
		t.Errorf("remove the script: %+v", m.Error)
	}
	for _, s := range r.browser.Scripts(messages.TargetID(page)) {
		if s == "mine()" {
			t.Error("the script is there, and was removed")
		}
	}
}

// TestAFurtherBrowserSessionOutlivesTheLink: and so does what was attached by way of it.
func TestAFurtherBrowserSessionOutlivesTheLink(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page, first := c.page("https://a.test/")
	browser := c.field(c.call("", "Target.attachToBrowserTarget", `{}`), "sessionId")
	session := c.field(c.call(browser, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, page)), "sessionId")
	r.cut()
	c.await("the end of the contexts", is("Runtime.executionContextsCleared", first))
	c.comesBack(session)
	if m := c.call(browser, "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	for _, e := range c.events {
		if strings.HasPrefix(e.Method, "Target.detached") || strings.HasPrefix(e.Method, "Target.attached") && e.SessionID == "" && !strings.Contains(string(e.Params), browser) && !strings.Contains(string(e.Params), first) {
			t.Errorf("it is told %s %s", e.Method, e.Params)
		}
	}
}

// TestWhatIsGoneIsReported: pages that close while there is no link end as Chrome tells it.
func TestWhatIsGoneIsReported(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	page, session := c.page("https://a.test/")
	other, kept := c.page("https://b.test/")
	r.browser.RefuseConnections(true)
	r.cut()
	c.await("the end of the contexts", is("Runtime.executionContextsCleared", session))
	r.browser.ClosePage(messages.TargetID(page))
	c.write(fmt.Sprintf(`{"id":7001,"method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":%q}`, session))
	c.write(fmt.Sprintf(`{"id":7002,"method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":%q}`, kept))
	r.browser.RefuseConnections(false)
	left := map[string]bool{"detached": true, "destroyed": true, "refused": true, "answered": true}
	for len(left) > 0 {
		switch m := c.read(); {
		case m.Method == "Target.detachedFromTarget" && strings.Contains(string(m.Params), session):
			delete(left, "detached")
		case m.Method == "Target.targetDestroyed" && strings.Contains(string(m.Params), page):
			delete(left, "destroyed")
		case m.Method == "Target.targetDestroyed" && strings.Contains(string(m.Params), other), m.Method == "Target.detachedFromTarget" && strings.Contains(string(m.Params), kept):
			t.Errorf("the page that is there has gone: %s %s", m.Method, m.Params)
		case m.ID != nil && *m.ID == 7001:
			if m.Error == nil || m.Error.Code != -32001 {
				t.Errorf("a command to a session that is gone: %+v %s", m.Error, m.Result)
			}
			delete(left, "refused")
		case m.ID != nil && *m.ID == 7002:
			if m.Error != nil {
				t.Errorf("a command that waited: %+v", m.Error)
			}
			delete(left, "answered")
		}
	}
}

// TestDocumentsThatWereMissedAreTold: a page that has moved on while there was no link.
func TestDocumentsThatWereMissedAreTold(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chaos.Options{Load: func(url string) chaos.Document {
		if url == "https://b.test/" {
			return chaos.Document{Frames: []string{"https://b.test/inner"}}
		}
		return chaos.Document{}
	}})
	c := r.connect("/cdp/one")
	page, session := c.page("https://a.test/")
	r.browser.RefuseConnections(true)
	r.cut()
	c.await("the end of the contexts", is("Runtime.executionContextsCleared", session))
	r.browser.Navigate(messages.TargetID(page), "https://b.test/")
	r.browser.RefuseConnections(false)
	m := c.await("the document", is("Page.frameNavigated", session))
	if !strings.Contains(string(m.Params), `"https://b.test/"`) {
		t.Errorf("the document is %s", m.Params)
	}
	c.await("its frame", is("Page.frameAttached", session))
	c.await("the contexts", is("Runtime.executionContextCreated", session))
}

// TestTheEndOfTheTaskIsToldWhole: every session and target ends before the connection does.
func TestTheEndOfTheTaskIsToldWhole(t *testing.T) {
	t.Parallel()
	ends := map[string]func(r *rig){
		"the task": func(r *rig) {
			if err := r.node.StopTask(r.ctx, "one"); err != nil {
				t.Error(err)
			}
		},
		"the browser": func(r *rig) { r.browser.Restart() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			c := r.connect("/cdp/one")
			c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
			page, session := c.page("https://a.test/")
			end(r)
			before, code := c.ended()
			if code != gateway.CloseEnded {
				t.Errorf("it is closed with %d", code)
			}
			var got []string
			for _, m := range before {
				if strings.HasPrefix(m.Method, "Target.detached") && strings.Contains(string(m.Params), session) || m.Method == "Target.targetDestroyed" && strings.Contains(string(m.Params), page) {
					got = append(got, m.Method)
				}
			}
			if len(got) != 2 {
				t.Errorf("before the end it is told %v of the page", got)
			}
		})
	}
}

// TestACommandWaitsSoLong: without a link a command fails in the end, and says that it was
// not sent.
func TestACommandWaitsSoLong(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	_, session := c.page("https://a.test/")
	r.browser.RefuseConnections(true)
	r.cut()
	c.await("the end of the contexts", is("Runtime.executionContextsCleared", session))
	m := c.call(session, "Runtime.callFunctionOn", `{"objectId":"1.2.3","functionDeclaration":"f"}`)
	if m.Error == nil || m.Error.Message != lost {
		t.Errorf("an object that died with the link: %+v", m.Error)
	}
	began := time.Now()
	m = c.call(session, "Runtime.evaluate", `{"expression":"1"}`)
	if m.Error == nil || m.Error.Code != -32000 || m.Error.Message != lost || m.Error.Data["code"] != "upstream_unavailable" || m.Error.Data["sent"] != false {
		t.Errorf("%+v", m.Error)
	}
	if took := time.Since(began); took < 9*time.Second || took > 20*time.Second {
		t.Errorf("it waited for %s", took)
	}
	if list, err := r.clients(); err != nil || len(list.Clients) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// effects counts what the pages of a fake browser have done, by the number in effect(n).
type effects struct {
	mu   sync.Mutex
	done map[int]int
}

func (e *effects) evaluate(v chaos.Evaluation) (chaos.Value, bool) {
	var n int
	if _, err := fmt.Sscanf(v.Expression, "effect(%d)", &n); err != nil {
		return chaos.Value{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done[n]++
	return chaos.Value{JSON: n}, true
}

// TestCommandsAcrossCuts: while the links are cut at random moments, two clients of one task
// send commands that act. Each gets one reply, its own; none acts twice; one that was not
// sent has not acted; and when the cuts end both sessions work.
func TestCommandsAcrossCuts(t *testing.T) {
	t.Parallel()
	done := &effects{done: map[int]int{}}
	r := setupOn(t, chaos.Options{Evaluate: done.evaluate})
	const commands = 60
	stop := make(chan struct{})
	var running sync.WaitGroup
	results := make([]map[int]message, 2)
	for i := range results {
		c := r.connect("/cdp/one")
		_, session := c.page(fmt.Sprintf("https://%d.test/", i))
		running.Go(func() { results[i] = c.act(session, 1000*(i+1), commands) })
	}
	moments := rand.New(rand.NewPCG(1, 2))
	go func() {
		running.Wait()
		close(stop)
	}()
	for range 20 { // and then the link stays: under load it may not come up between two cuts
		select {
		case <-stop:
		case <-time.After(time.Duration(moments.IntN(40)) * time.Millisecond):
			r.cut()
		}
	}
	<-stop
	done.mu.Lock()
	defer done.mu.Unlock()
	for i, replies := range results {
		for n := 1000 * (i + 1); n < 1000*(i+1)+commands; n++ {
			m, acted := replies[n], done.done[n]
			switch {
			case m.ID == nil:
				t.Errorf("%d has no reply", n)
			case acted > 1:
				t.Errorf("%d acted %d times", n, acted)
			case m.Error == nil && (acted != 1 || !strings.Contains(string(m.Result), fmt.Sprint(n))):
				t.Errorf("%d acted %d times, and the reply is %s", n, acted, m.Result)
			case m.Error != nil && m.Error.Message != lost:
				t.Errorf("%d: %+v", n, m.Error)
			case m.Error != nil && m.Error.Data["sent"] == false && acted != 0:
				t.Errorf("%d acted, and is said not to be sent", n)
			}
		}
	}
}

// act sends commands that act, some at a time, and returns the replies.
func (c *client) act(session string, first, n int) map[int]message {
	replies := map[int]message{}
	for i := first; i < first+n; i++ {
		c.write(fmt.Sprintf(`{"id":%d,"method":"Runtime.evaluate","params":{"expression":"effect(%d)"},"sessionId":%q}`, i, i, session))
		for len(replies) < i-first-1 {
			m := c.read()
			if m.ID == nil {
				continue
			}
			if _, again := replies[*m.ID]; again || m.SessionID != session {
				c.Errorf("a second reply to %d, on %q", *m.ID, m.SessionID)
			}
			replies[*m.ID] = m
		}
	}
	for len(replies) < n {
		if m := c.read(); m.ID != nil {
			replies[*m.ID] = m
		}
	}
	return replies
}

// TestAReplyThatIsLost: the command has acted, its reply is lost with the link, and the client
// is told so.
func TestAReplyThatIsLost(t *testing.T) {
	t.Parallel()
	done := &effects{done: map[int]int{}}
	r := setupOn(t, chaos.Options{Evaluate: done.evaluate})
	c := r.connect("/cdp/one")
	_, session := c.page("https://a.test/")
	for _, conn := range r.browser.Connections() {
		conn.SwallowNextReply("Runtime.evaluate")
	}
	c.write(fmt.Sprintf(`{"id":7001,"method":"Runtime.evaluate","params":{"expression":"effect(1)"},"sessionId":%q}`, session))
	waitFor(t, "the command acts", func() bool {
		done.mu.Lock()
		defer done.mu.Unlock()
		return done.done[1] > 0
	})
	r.cut()
	m := c.await("the outcome", func(m message) bool { return m.ID != nil && *m.ID == 7001 })
	if m.Error == nil || m.Error.Message != lost || m.Error.Data["sent"] != true {
		t.Errorf("%+v %s", m.Error, m.Result)
	}
	if m := c.call(session, "Runtime.evaluate", `{"expression":"effect(2)"}`); m.Error != nil || done.done[1] != 1 {
		t.Errorf("%+v, and the first acted %d times", m.Error, done.done[1])
	}
}

// comesBack evaluates until no cut takes the command along any more.
func (c *client) comesBack(session string) {
	c.Helper()
	waitFor(c, "a command is replied to", func() bool {
		m := c.call(session, "Runtime.evaluate", `{"expression":"1"}`)
		if m.Error != nil && m.Error.Message != lost {
			c.Fatalf("%+v", m.Error)
		}
		return m.Error == nil
	})
}

// TestADropDuringARestore: however far a restore has come when the next link is lost as well,
// the one after that restores all of it.
func TestADropDuringARestore(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page, session := c.page("https://a.test/")
	c.call(session, "Network.setExtraHTTPHeaders", `{"headers":{"x":"1"}}`)
	for n := 1; n <= 40; n += 6 {
		first := r.browser.Dials()
		r.cut()
		waitFor(t, "the next connection is that far", func() bool {
			return slices.ContainsFunc(r.browser.Connections(), func(conn *chaos.Conn) bool {
				return conn.Number() > first && len(conn.Commands()) >= n
			})
		})
		r.cut()
		c.comesBack(session)
		if got := r.browser.Settings(messages.TargetID(page))["Network.setExtraHTTPHeaders"]; got != `{"headers":{"x":"1"}}` {
			t.Errorf("after %d commands the headers are %s", n, got)
		}
	}
}

// TestADeadClientLeavesNothing: whether it dies before a drop, without a link, or during a
// restore, no session of its own is left on the page.
func TestADeadClientLeavesNothing(t *testing.T) {
	t.Parallel()
	r := setup(t)
	// An anchor comes and goes with the cuts, and its session with it.
	if _, _, err := r.node.GetOrStart(r.ctx, "alone", messages.TaskSpec{CDPURL: r.cdp, Anchor: messages.AnchorNone}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []messages.TaskID{"one", "two"} { // a connection that tasks share keeps sessions for a while
		if err := r.node.StopTask(r.ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	other := r.connect("/cdp/alone")
	page, session := other.page("https://a.test/")
	sessions := func() int { return len(r.browser.Sessions(messages.TargetID(page))) }
	usual := sessions()
	for n := range 8 {
		c := r.connect("/cdp/alone")
		c.attach(page)
		r.cut()
		if n%2 == 0 {
			other.await("the contexts", is("Runtime.executionContextCreated", session))
		}
		_ = c.conn.CloseNow()
		other.comesBack(session)
	}
	waitFor(t, fmt.Sprintf("%d sessions are on the page, as there were", usual), func() bool { return sessions() == usual })
}

// TestACrashedPageIsRestoredOnceItLives: the connection comes back while the page is crashed, and
// its next renderer is given what the client has set.
func TestACrashedPageIsRestoredOnceItLives(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one")
	page, session := c.page("https://a.test/")
	c.call(session, "Runtime.enable", `{}`)
	c.call(session, "Runtime.addBinding", `{"name":"b"}`)
	dials := r.browser.Dials()
	r.browser.Crash(messages.TargetID(page))
	r.cut()
	waitFor(t, "the client is on the page again", func() bool {
		return slices.ContainsFunc(r.browser.Connections(), func(conn *chaos.Conn) bool {
			return conn.Number() > dials && slices.ContainsFunc(conn.Commands(), func(x chaos.Command) bool { return x.Method == "Runtime.addBinding" })
		})
	})
	if m := c.call(session, "Page.navigate", `{"url":"https://b.test/"}`); m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	c.comesBack(session)
	r.browser.LogError(messages.FrameID(page), "hello")
	c.await("what the page says", func(m message) bool {
		return m.Method == "Runtime.consoleAPICalled" && m.SessionID == session && strings.Contains(string(m.Params), "hello")
	})
}
