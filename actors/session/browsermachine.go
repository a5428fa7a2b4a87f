package session

import (
	"fmt"
	"slices"
	"time"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// BrowserConfig is what a browser session is born with.
type BrowserConfig struct {
	Gen   mail.Generation
	Scope messages.Scope
	// Owned are the pages that were the task's on the link before, and the
	// spec's target.
	Owned []messages.TargetID
	// Target is the page a task of scope target cannot be without.
	Target messages.TargetID
	// Elsewhere says whether a page is another task's of this node. Nil is
	// no.
	Elsewhere func(messages.TargetID) bool
	// Foreign says which pages are left alone though the scope is browser. Nil is
	// none.
	Foreign func(mail.TargetInfo) bool
	// Claim is told of a browser context before anything is in it. Nil is allowed.
	Claim func(context string)
	// Isolation is what the spec says of browser contexts, and Context the one that
	// an earlier link has made for the task.
	Isolation messages.Isolation
	Context   string
	// Downloads is the directory for what the task downloads, known once the link
	// stands. Nil and "" leave it to the browser.
	Downloads func() string
	Bridge    Bridge
}

// The budgets of a browser session (requirement A10).
const (
	AttachBudget = 15 * time.Second
	pageBudget   = 10 * time.Second // to open or close a page
)

const (
	timerAttach  TimerName = "attach"
	timerRelease TimerName = "release"
	timerFree    TimerName = "free"
)

// BrowserMachine decides for the browser's own session: which pages are the
// task's, how they are opened, closed and freed.
//
// A page is the task's by scope: every page (browser), or the pages it made,
// the one it was given, and whatever they open (own, target). All others are
// let run and let go at once; this connection holds every new page of the
// browser for a moment, and a page held too long is a frozen page (C33).
type BrowserMachine struct {
	cfg BrowserConfig
	out []Effect

	attached  bool
	first     messages.TargetID // made for want of any other, not attached yet (A9)
	leaving   bool
	closing   int // what leaving still waits for
	pages     smallmap.Map[messages.TargetID, *browserPage]
	owned     smallmap.Map[messages.TargetID, bool]
	undecided []mail.TargetAttached
	creating  []*creation
	seq       uint32
	requests  requests
	isolation isolation
}

type browserPage struct {
	session    messages.SessionID
	isClosing  bool
	closeReply mail.Call
	releasing  bool
	returning  bool // left, to be attached to again
	tries      int  // to close it while nobody is attached
	awaited    bool // leaving waits for its end
}

// NewBrowserMachine returns the machine of a link that has just been dialled.
func NewBrowserMachine(cfg BrowserConfig) *BrowserMachine {
	m := &BrowserMachine{cfg: cfg}
	m.requests = newRequests(cfg.Bridge.Secret, m.do)
	for _, t := range cfg.Owned {
		m.owned.Set(t, true)
	}
	if cfg.Target != "" {
		m.owned.Set(cfg.Target, true)
	}
	return m
}

// Step takes one input and returns what is to be done, in order.
func (m *BrowserMachine) Step(_ time.Time, in any) []Effect {
	switch in := in.(type) {
	case Start:
		m.start()
	case Replied:
		m.replied(in)
	case TimerFired:
		m.timerFired(in.Timer)
	case mail.TargetAttached:
		m.targetAttached(in)
	case mail.TargetDetached:
		m.targetDetached(in)
	case TargetDestroyed:
		m.pageClosed(in.Target)
	case mail.PageInfoChanged:
		if m.pages.At(in.Info.ID) != nil {
			m.do(ToSupervisor{in})
		}
	case mail.SetBridge:
		m.setBridge(in)
	case requestPaused:
		if m.requests.heard(in) {
			m.do(ToSupervisor{in.RequestHeld})
		}
	case mail.EndRequest:
		if in.Gen == m.cfg.Gen {
			m.do(endRequest(m.cfg.Bridge.Secret, in))
		}
	case mail.OpenPage:
		m.create(&creation{reply: in.Reply}, in.NewWindow)
	case mail.ClosePage:
		m.closePage(in)
	case mail.ReleasePage:
		m.release(in.Page)
	case mail.ReattachPage:
		m.comeAgain(in.Page)
	case mail.Leave:
		m.leave()
	}
	return m.effects()
}

func (m *BrowserMachine) do(e Effect) { m.out = append(m.out, e) }

func (m *BrowserMachine) setTimer(name TimerName, after time.Duration) {
	m.do(Arm{Timer{Name: name}, after})
}

func (m *BrowserMachine) dropTimer(name TimerName) { m.do(Disarm{Timer{Name: name}}) }

// effects takes what is to be done: a machine that idles holds nothing of it.
func (m *BrowserMachine) effects() []Effect {
	out := m.out
	m.out = nil
	return out
}

func (m *BrowserMachine) root(tag Tag, method string, params any, timeout time.Duration) {
	m.do(rootCommand(tag, method, params, timeout))
}

// setBridge is told to a link that is being dialled as well. Whoever asks for what
// holds already has the answer at once.
func (m *BrowserMachine) setBridge(s mail.SetBridge) {
	m.cfg.Bridge.On, m.cfg.Bridge.By = s.On, s.By
	stood := m.requests.stands()
	if m.requests.hear(m.cfg.Bridge); stood && m.requests.isOn() {
		m.do(ToSupervisor{mail.RequestsHeard{Gen: m.cfg.Gen}})
	}
}

type targetFilter struct {
	Type string `json:"type"`
}

// pagesOnly keeps out browser_ui and the like (C27).
var pagesOnly = []targetFilter{{Type: "page"}}

func (m *BrowserMachine) start() {
	// Discovery is what tells titles and ends of pages: auto-attach alone
	// reports neither for top-level targets.
	m.do(discoverPages())
	m.download(m.cfg.Context)
	m.isolate()
	m.requests.begin(m.cfg.Bridge) // before any page is attached to
	m.autoAttach(TagRoot, true)
	m.setTimer(timerAttach, AttachBudget)
}

func discoverPages() Command {
	return rootCommand(Tag{Kind: TagNone}, "Target.setDiscoverTargets", struct {
		Discover bool           `json:"discover"`
		Filter   []targetFilter `json:"filter"`
	}{true, pagesOnly}, 0)
}

// autoAttach reports every page that exists and comes; hold makes new ones
// wait until they are told to run.
func (m *BrowserMachine) autoAttach(tag TagKind, hold bool) { m.do(autoAttachPages(tag, hold)) }

func autoAttachPages(tag TagKind, hold bool) Command {
	return rootCommand(Tag{Kind: tag}, "Target.setAutoAttach", struct {
		AutoAttach bool           `json:"autoAttach"`
		Hold       bool           `json:"waitForDebuggerOnStart"`
		Flatten    bool           `json:"flatten"`
		Filter     []targetFilter `json:"filter"`
	}{true, hold, true, pagesOnly}, 0)
}

func (m *BrowserMachine) replied(r Replied) {
	switch r.Tag.Kind {
	case TagRoot:
		if r.Err != nil {
			m.fail(fmt.Errorf("the browser refused to auto-attach: %w", r.Err))
			return
		}
		m.isolation.rooted = true
		m.maybeKnown()
	case TagPageLeft:
		m.do(ToSupervisor{PageLeft{r.Tag.Page}})
	case TagVersion:
		m.versionKnown(r)
	case TagContext:
		m.contextMade(r)
	case TagDispose:
		m.oneLeft()
	case TagRequests:
		m.requests.answered(r.Err)
		m.do(ToSupervisor{mail.RequestsHeard{Gen: m.cfg.Gen, Err: r.Err}})
	case TagCalm:
		// What was attached up to this reply has been resumed; the next reply
		// says that the browser has heard so.
		m.root(Tag{Kind: TagFlushed}, "Browser.getVersion", struct{}{}, 0)
	case TagFlushed:
		m.oneLeft()
	case TagCreate:
		m.created(r)
	case TagClose:
		m.closed(r)
	case TagAlone:
		m.alone(r)
	case TagCheck:
		m.checked(r)
	case TagReattach:
		m.reattached(r)
	}
}

// existingPagesKnown comes with the reply to setAutoAttach: every page that
// existed has been reported before it (C26).
func (m *BrowserMachine) existingPagesKnown() {
	m.attached = true
	m.decide()
	if m.cfg.Target != "" && m.pages.At(m.cfg.Target) == nil {
		m.fail(messages.Errorf(messages.CodeTargetNotFound, "the browser has no page %s", m.cfg.Target))
		return
	}
	if m.pages.Len() == 0 {
		m.create(&creation{first: true}, false)
		return
	}
	m.rootAttached()
}

func (m *BrowserMachine) rootAttached() {
	m.first = ""
	m.dropTimer(timerAttach)
	m.do(ToSupervisor{mail.RootAttached{Gen: m.cfg.Gen, Pages: m.sortedPages()}})
}

// sortedPages keeps the machine's effects free of map order.
func (m *BrowserMachine) sortedPages() []messages.TargetID { return slices.Sorted(m.pages.Keys()) }

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

type attachParams struct {
	TargetID messages.TargetID `json:"targetId"`
	Flatten  bool              `json:"flatten"`
}

// fail ends the session. What is held for us is let go, as far as the link
// still carries it: nobody may come back to do it (C33).
func (m *BrowserMachine) fail(err error) {
	for _, a := range m.undecided {
		m.letGo(a)
	}
	m.undecided = nil
	if m.isolation.made && !m.attached {
		m.do(disposeContext(Tag{Kind: TagNone}, m.isolation.context)) // nothing is in it
	}
	m.do(Exit{err})
}

func (m *BrowserMachine) timerFired(t Timer) {
	switch t.Name {
	case timerAttach:
		m.fail(messages.Errorf(messages.CodeDeadline, "the browser did not answer the attach within %s", AttachBudget))
	case timerLeave:
		m.do(Exit{})
	case timerFree:
		m.free(t.Page)
	case timerRelease:
		if p := m.pages.At(t.Page); p != nil && p.releasing && !m.leaving {
			m.root(Tag{Kind: TagNone}, "Target.activateTarget", targetParam{t.Page}, pageBudget)
			m.create(&creation{helper: t.Page}, true)
		}
	}
}
