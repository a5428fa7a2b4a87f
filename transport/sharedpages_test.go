package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
	"holdfast/transport"
)

// pageTest is a fake browser whose links share a connection.
type pageTest struct {
	*testing.T
	browser *chaos.Browser
	client  *http.Client
	links   *transport.Connections
}

func onPages(t *testing.T, o chaos.Options, run func(*pageTest)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &pageTest{T: t, browser: chaos.New(o)}
		l := transport.NewPipeListener()
		p.client = l.HTTPClient()
		server := &http.Server{Handler: p.browser}
		var served sync.WaitGroup
		served.Go(func() { _ = server.Serve(l) })
		t.Cleanup(func() {
			_ = server.Close()
			p.browser.Close()
			served.Wait()
		})
		var stats transport.Stats
		p.links = transport.NewConnections(transport.NewRation(transport.RationLimits{}, &stats), 10*time.Second, transport.SharingAuto)
		p.link() // has a connection of its own
		run(p)
	})
}

// pageLink is a link and what it has been told of pages.
type pageLink struct {
	*transport.Mux
	t *pageTest

	mu       sync.Mutex
	sessions map[messages.TargetID]string // that it has been told of last
	held     map[messages.TargetID]bool
	told     []string // methods of events, with the page
}

func (p *pageTest) link() *pageLink {
	p.Helper()
	l := &pageLink{t: p, sessions: map[messages.TargetID]string{}, held: map[messages.TargetID]bool{}}
	at := transport.Address{URL: cdpURL(p.T, p.browser.URL("pages.test:9222"))}
	m, err := p.links.Open(p.Context(), messages.RolePrimary, at, transport.DialOptions{
		HTTPClient: p.client, KeepAlive: -1, Events: []string{"Target.attachedToTarget", "Target.detachedFromTarget", "Target.targetDestroyed", "Target.targetInfoChanged"},
	})
	if err != nil {
		p.Fatal(err)
	}
	l.Mux = m
	p.Cleanup(func() {
		m.Close()
		<-m.Closed()
	})
	m.Bind("", l.heard)
	return l
}

// attached is a link that auto-attaches to pages.
func (p *pageTest) attached() *pageLink {
	l := p.link()
	l.must("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{"type":"page"}]}`)
	l.must("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}`)
	return l
}

func (l *pageLink) heard(e transport.Event) {
	var params struct {
		SessionID          string
		TargetID           messages.TargetID
		TargetInfo         struct{ TargetID messages.TargetID }
		WaitingForDebugger bool
	}
	_ = json.Unmarshal(e.Params, &params)
	l.mu.Lock()
	defer l.mu.Unlock()
	page := params.TargetInfo.TargetID
	if page == "" {
		page = params.TargetID
	}
	if e.Method == "Target.attachedToTarget" {
		l.sessions[page], l.held[page] = params.SessionID, params.WaitingForDebugger
	}
	l.told = append(l.told, fmt.Sprintf("%s %s", strings.TrimPrefix(e.Method, "Target."), page))
}

func (l *pageLink) must(session, method, params string) {
	l.t.Helper()
	if _, err := l.Do(within(l.t), messages.SessionID(session), method, []byte(params)); err != nil {
		l.t.Errorf("%s: %v", method, err)
	}
}

func (l *pageLink) session(page messages.TargetID) string {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions[page] == "" {
		l.t.Errorf("a link has not been told of page %s", page)
	}
	return l.sessions[page]
}

func (l *pageLink) count(event string, page messages.TargetID) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, told := range l.told {
		if told == event+" "+string(page) {
			n++
		}
	}
	return n
}

func (l *pageLink) take(page messages.TargetID) { l.must(l.session(page), "Page.enable", "{}") }

func (l *pageLink) resume(page messages.TargetID) {
	l.must(l.session(page), "Runtime.runIfWaitingForDebugger", "{}")
}

func (l *pageLink) leave(page messages.TargetID) {
	l.Start(transport.Call{Method: "Target.detachFromTarget", Params: fmt.Appendf(nil, `{"sessionId":%q}`, l.session(page))})
	synctest.Wait()
}

func (p *pageTest) page(id messages.TargetID) chaos.Page {
	p.Helper()
	synctest.Wait()
	for _, page := range p.browser.Pages() {
		if page.Target == id {
			return page
		}
	}
	p.Fatalf("there is no page %s", id)
	return chaos.Page{}
}

func (p *pageTest) wantSessions(id messages.TargetID, n int) {
	p.Helper()
	if got := len(p.page(id).Sessions); got != n {
		p.Errorf("page %s has %d sessions, want %d", id, got, n)
	}
}

// TestLinksOfAConnectionShareOneAttachAPage: whatever the links do with pages, the browser
// sees one session for each link that has the page.
func TestLinksOfAConnectionShareOneAttachAPage(t *testing.T) {
	onPages(t, chaos.Options{Pages: 3}, func(p *pageTest) {
		pages := p.browser.Pages()
		one, two := p.attached(), p.attached()
		for _, page := range pages {
			p.wantSessions(page.Target, 1)
		}
		one.take(pages[0].Target)
		two.leave(pages[0].Target)
		one.leave(pages[1].Target) // declined, and kept for those who come
		two.take(pages[1].Target)
		if got := two.count("attachedToTarget", pages[1].Target); got != 1 {
			p.Errorf("the second link was told %d times of its page", got)
		}
		one.leave(pages[2].Target)
		two.leave(pages[2].Target)
		time.Sleep(10 * time.Second)
		p.wantSessions(pages[0].Target, 1)
		p.wantSessions(pages[1].Target, 1)
		p.wantSessions(pages[2].Target, 0)
		three := p.attached() // touches no page
		for i, page := range pages {
			p.wantSessions(page.Target, []int{1, 1, 0}[i])
		}
		three.take(pages[2].Target) // by a session of its own
		three.take(pages[0].Target) // beside the first link's
		p.wantSessions(pages[2].Target, 1)
		p.wantSessions(pages[0].Target, 2)
		three.leave(pages[0].Target)
		p.wantSessions(pages[0].Target, 1)
		if got := three.count("detachedFromTarget", pages[0].Target); got != 1 {
			p.Errorf("the link was told %d times that it had left", got)
		}
		if _, err := three.Do(within(p), messages.SessionID(three.session(pages[0].Target)), "Page.enable", nil); err == nil {
			p.Error("a command on a session that was left succeeded")
		}
		one.Close()
		<-one.Closed()
		p.wantSessions(pages[0].Target, 0)
		p.wantSessions(pages[1].Target, 1)
		p.browser.ClosePage(pages[1].Target)
		synctest.Wait()
		if two.count("targetDestroyed", pages[1].Target) != 1 || two.count("detachedFromTarget", pages[1].Target) != 1 {
			p.Error("a link was not told of the end of its page")
		}
		if three.count("targetDestroyed", pages[1].Target) != 1 {
			p.Error("a link that has not decided about a page was not told of its end")
		}
	})
}

func TestAHeldPageIsResumedByTheLinkThatTakesIt(t *testing.T) {
	onPages(t, chaos.Options{Pages: 1}, func(p *pageTest) {
		one, two, three := p.attached(), p.attached(), p.attached()
		opener := p.browser.Pages()[0].Target
		one.take(opener)
		popup := p.browser.OpenPopup(p.browser.MainFrame(opener), "http://a.test/pop")
		synctest.Wait()
		for _, l := range []*pageLink{one, two, three} {
			if l.session(popup); !l.held[popup] {
				p.Error("a link is told that the popup is not held")
			}
		}
		two.resume(popup)
		two.leave(popup)
		if !p.page(popup).IsHeld {
			p.Fatal("a link that declined it has resumed the popup of another one")
		}
		one.take(popup)
		one.resume(popup)
		if p.page(popup).IsHeld {
			p.Error("the popup is held after its own link has resumed it")
		}
		p.wantSessions(popup, 1)
		three.resume(popup)
		three.leave(popup)
		p.wantSessions(popup, 1)
	})
}

func TestAHeldPageThatNoLinkTakesIsResumed(t *testing.T) {
	onPages(t, chaos.Options{Pages: 1}, func(p *pageTest) {
		one, two := p.attached(), p.attached()
		opener := p.browser.Pages()[0].Target
		popup := p.browser.OpenPopup(p.browser.MainFrame(opener), "http://a.test/pop")
		synctest.Wait()
		one.resume(popup)
		one.leave(popup)
		if !p.page(popup).IsHeld {
			p.Error("the popup runs before the last link has decided")
		}
		two.Close() // decides nothing any more
		<-two.Closed()
		if page := p.page(popup); page.IsHeld || page.IsFrozen || len(page.Sessions) > 0 {
			p.Errorf("a popup that no link has: %+v", page)
		}
	})
}

// Both links of a page see its popup before the popup's first script.
func TestAPopupOfTwoLinksIsHeldForBoth(t *testing.T) {
	onPages(t, chaos.Options{Pages: 1}, func(p *pageTest) {
		one, two := p.attached(), p.attached()
		opener := p.browser.Pages()[0].Target
		one.take(opener)
		two.take(opener)
		popup := p.browser.OpenPopup(p.browser.MainFrame(opener), "http://a.test/pop")
		synctest.Wait()
		one.take(popup)
		one.Start(transport.Call{SessionID: messages.SessionID(one.session(popup)), Method: "Runtime.runIfWaitingForDebugger"})
		if !p.page(popup).IsHeld {
			p.Fatal("the popup runs before the second link is attached")
		}
		two.take(popup)
		if p.page(popup).IsHeld {
			p.Error("the popup is held although both links are attached")
		}
		enabled := 0
		for _, s := range p.page(popup).Sessions {
			if s.IsPageEnabled {
				enabled++
			}
		}
		if enabled != 2 {
			p.Errorf("%d sessions see dialogs of the popup", enabled)
		}
	})
}

// A browser that refuses an attach on the connection's own session has each link attach for
// itself.
func TestEachLinkAttachesWhereTheConnectionCannot(t *testing.T) {
	var refused sync.Map
	onPages(t, chaos.Options{Pages: 2, Refuse: func(conn int, method string) bool {
		if method != "Target.setAutoAttach" {
			return false
		}
		_, isKnown := refused.LoadOrStore(conn, true)
		return !isKnown
	}}, func(p *pageTest) {
		one, two := p.attached(), p.attached()
		for _, page := range p.browser.Pages() {
			p.wantSessions(page.Target, 2)
			one.take(page.Target)
			two.leave(page.Target)
			p.wantSessions(page.Target, 1)
		}
	})
}
