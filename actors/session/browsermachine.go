package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

// BrowserConfig is what a browser session is born with.
type BrowserConfig struct {
	Gen   messages.Generation
	Scope messages.Scope
	// Owned are the pages that were the task's on the link before, and the
	// spec's target.
	Owned []messages.TargetID
	// Target is the page a task of scope target cannot be without.
	Target messages.TargetID
	// Elsewhere says whether a page is another task's of this node. Nil is
	// no.
	Elsewhere func(messages.TargetID) bool
}

// The budgets of a browser session (requirement A10).
const (
	AttachBudget = 15 * time.Second
	pageBudget   = 10 * time.Second // to open or close a page
)

const (
	timerAttach  = "attach"
	timerRelease = "release:"
)

// releaseAgain is how soon a release is begun anew that found no helper.
const releaseAgain = time.Second

// resume lets a page run that the browser holds for us.
const resume = "Runtime.runIfWaitingForDebugger"

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
	pages     map[messages.TargetID]*browserPage
	owned     map[messages.TargetID]bool
	undecided []messages.TargetAttached
	creating  []*creation
	seq       uint32
}

type browserPage struct {
	session   messages.SessionID
	closing   messages.ReplyTo // not nil while being closed
	releasing bool
}

// creation is a page being made.
type creation struct {
	seq    uint32
	reply  messages.ReplyTo
	first  bool              // the page without which there is nothing to attach (A9)
	helper messages.TargetID // not a page of the task but the one that frees this page
	target messages.TargetID // known once the reply has come
}

// NewBrowserMachine returns the machine of a link that has just been dialled.
func NewBrowserMachine(cfg BrowserConfig) *BrowserMachine {
	m := &BrowserMachine{cfg: cfg, pages: map[messages.TargetID]*browserPage{}, owned: map[messages.TargetID]bool{}}
	for _, t := range cfg.Owned {
		m.owned[t] = true
	}
	if cfg.Target != "" {
		m.owned[cfg.Target] = true
	}
	return m
}

// Step takes one input and returns what is to be done, in order.
func (m *BrowserMachine) Step(_ time.Time, in any) []Effect {
	m.out = nil
	switch in := in.(type) {
	case Start:
		m.start()
	case Replied:
		m.replied(in)
	case TimerFired:
		m.timerFired(in.Name)
	case messages.TargetAttached:
		m.targetAttached(in)
	case messages.TargetDetached:
		m.targetDetached(in)
	case targetDestroyed:
		m.pageClosed(in.Target)
	case messages.PageInfoChanged:
		if m.pages[in.Info.ID] != nil {
			m.do(ToSupervisor{in})
		}
	case messages.OpenPage:
		m.create(&creation{reply: in.Reply}, in.NewWindow)
	case messages.ClosePage:
		m.closePage(in)
	case messages.ReleasePage:
		m.release(in.Page)
	case messages.Leave:
		m.leave()
	}
	return m.out
}

func (m *BrowserMachine) do(e Effect) { m.out = append(m.out, e) }

func (m *BrowserMachine) root(tag Tag, method string, params any, timeout time.Duration) {
	m.do(Command{Tag: tag, Method: method, Params: mustJSON(params), Timeout: timeout})
}

type targetFilter struct {
	Type string `json:"type"`
}

// pagesOnly keeps out browser_ui and the like (C27).
var pagesOnly = []targetFilter{{Type: "page"}}

func (m *BrowserMachine) start() {
	// Discovery is what tells titles and ends of pages: auto-attach alone
	// reports neither for top-level targets.
	m.root(Tag{Kind: TagNone}, "Target.setDiscoverTargets", struct {
		Discover bool           `json:"discover"`
		Filter   []targetFilter `json:"filter"`
	}{true, pagesOnly}, 0)
	m.autoAttach(TagRoot, true)
	m.do(Arm{timerAttach, AttachBudget})
}

// autoAttach reports every page that exists and comes; hold makes new ones
// wait until they are told to run.
func (m *BrowserMachine) autoAttach(tag TagKind, hold bool) {
	m.root(Tag{Kind: tag}, "Target.setAutoAttach", struct {
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
		if !m.leaving {
			m.existingPagesKnown()
		}
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
	if m.cfg.Target != "" && m.pages[m.cfg.Target] == nil {
		m.fail(messages.Errorf(messages.CodeTargetNotFound, "the browser has no page %s", m.cfg.Target))
		return
	}
	if len(m.pages) == 0 {
		m.create(&creation{first: true}, false)
		return
	}
	m.rootAttached()
}

func (m *BrowserMachine) rootAttached() {
	m.first = ""
	m.do(Disarm{timerAttach})
	m.do(ToSupervisor{messages.RootAttached{Gen: m.cfg.Gen, Pages: m.sortedPages()}})
}

// sortedPages keeps the machine's effects free of map order.
func (m *BrowserMachine) sortedPages() []messages.TargetID { return slices.Sorted(maps.Keys(m.pages)) }

func (m *BrowserMachine) targetAttached(a messages.TargetAttached) {
	switch {
	case a.Info.Type != "page" || m.leaving:
		m.letGo(a)
	case m.ours(a):
		m.adopt(a)
	case m.stillOpen(a):
		m.undecided = append(m.undecided, a)
	case m.cfg.Scope == messages.ScopeBrowser:
		m.adopt(a)
	default:
		m.letGo(a)
	}
}

func (m *BrowserMachine) ours(a messages.TargetAttached) bool {
	return m.owned[a.Info.ID] || a.Info.Opener != "" && m.owned[a.Info.Opener]
}

// stillOpen says that whose page this is cannot be said yet: the link is new
// and openers may follow, or a page of ours is being made, whose id comes
// only after its attach.
func (m *BrowserMachine) stillOpen(a messages.TargetAttached) bool {
	if !m.attached {
		return m.cfg.Scope != messages.ScopeBrowser
	}
	for _, c := range m.creating {
		if c.target == "" {
			return true
		}
	}
	return false
}

// decide settles the undecided pages: first what is ours, again and again
// because one page may have opened the next, then the rest.
func (m *BrowserMachine) decide() {
	for again := true; again; {
		again = false
		rest := m.undecided[:0:0]
		for _, a := range m.undecided {
			if m.ours(a) {
				m.adopt(a)
				again = true
			} else {
				rest = append(rest, a)
			}
		}
		m.undecided = rest
	}
	rest := m.undecided
	m.undecided = nil
	for _, a := range rest {
		switch {
		case m.isHelper(a.Info.ID):
			m.letGo(a)
		case m.stillOpen(a):
			m.undecided = append(m.undecided, a)
		case m.cfg.Scope == messages.ScopeBrowser:
			m.adopt(a)
		default:
			m.letGo(a)
		}
	}
}

func (m *BrowserMachine) isHelper(t messages.TargetID) bool {
	for _, c := range m.creating {
		if c.helper != "" && c.target == t {
			return true
		}
	}
	return false
}

func (m *BrowserMachine) adopt(a messages.TargetAttached) {
	p := m.pages[a.Info.ID]
	if p != nil && p.session != "" {
		m.letGo(a) // a second session of a page we have
		return
	}
	if p == nil {
		p = &browserPage{}
		m.pages[a.Info.ID] = p
	}
	p.session = a.Session
	m.owned[a.Info.ID] = true
	a.Page = a.Info.ID
	m.do(ToSupervisor{a})
	if a.Info.ID == m.first {
		m.rootAttached()
	}
}

// letGo resumes a page that is none of our business and leaves it, in this
// order: a page that is left while held stays frozen (C33).
//
// A popup runs as soon as the first of the clients that hold it resumes it. One
// that another task's page opened is therefore left to that task to resume,
// once it can see the popup's dialogs.
func (m *BrowserMachine) letGo(a messages.TargetAttached) {
	if !a.Waiting || a.Info.Opener == "" || m.cfg.Elsewhere == nil || !m.cfg.Elsewhere(a.Info.Opener) {
		m.do(Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: resume})
	}
	m.detach(a.Session)
}

func (m *BrowserMachine) detach(s messages.SessionID) {
	m.root(Tag{Kind: TagNone}, "Target.detachFromTarget", struct {
		SessionID messages.SessionID `json:"sessionId"`
	}{s}, 0)
}

func (m *BrowserMachine) targetDetached(d messages.TargetDetached) {
	m.undecided = slices.DeleteFunc(m.undecided, func(a messages.TargetAttached) bool { return a.Session == d.Session })
	for t, p := range m.pages {
		if p.session != d.Session {
			continue
		}
		p.session = ""
		m.do(ToSupervisor{d})
		if p.closing == nil && !p.releasing && !m.leaving {
			// Closed, or torn from us? Ask before believing either.
			m.root(Tag{Kind: TagCheck, Page: t}, "Target.getTargetInfo", targetParam{t}, pageBudget)
		}
		return
	}
}

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

type attachParams struct {
	TargetID messages.TargetID `json:"targetId"`
	Flatten  bool              `json:"flatten"`
}

func (m *BrowserMachine) checked(r Replied) {
	p := m.pages[r.Tag.Page]
	if p == nil || p.session != "" {
		return
	}
	if r.Err != nil {
		m.pageClosed(r.Tag.Page)
		return
	}
	m.root(Tag{Kind: TagReattach, Page: r.Tag.Page}, "Target.attachToTarget", attachParams{r.Tag.Page, true}, pageBudget)
}

func (m *BrowserMachine) pageClosed(t messages.TargetID) {
	m.undecided = slices.DeleteFunc(m.undecided, func(a messages.TargetAttached) bool { return a.Info.ID == t })
	p := m.pages[t]
	if p == nil {
		return
	}
	delete(m.pages, t)
	delete(m.owned, t)
	m.do(ToSupervisor{messages.PageClosed{Gen: m.cfg.Gen, Page: t}})
	if p.closing != nil {
		m.do(Answer{To: p.closing})
		m.oneLeft()
	}
}

func (m *BrowserMachine) create(c *creation, newWindow bool) {
	m.seq++
	c.seq = m.seq
	m.creating = append(m.creating, c)
	// In the background: no agent's tab may come between a person and theirs
	// (demand 20). A release needs the opposite (C19).
	m.root(Tag{Kind: TagCreate, Seq: c.seq}, "Target.createTarget", struct {
		URL        string `json:"url"`
		Background bool   `json:"background,omitempty"`
		NewWindow  bool   `json:"newWindow,omitempty"`
	}{"about:blank", !newWindow, newWindow}, pageBudget)
}

func (m *BrowserMachine) created(r Replied) {
	c := m.takeCreation(r.Tag.Seq)
	if c == nil {
		return
	}
	if m.leaving {
		m.createdLate(c, r)
		return
	}
	var res struct {
		TargetID messages.TargetID `json:"targetId"`
	}
	err := r.Err
	if err == nil {
		err = json.Unmarshal(r.Result, &res)
	}
	if err != nil {
		m.decide()
		switch {
		case c.first:
			m.fail(fmt.Errorf("no page could be opened: %w", err))
		case c.helper != "":
			// Without another page in front the dialog stands, and the page is
			// not to be touched while it does.
			m.do(Arm{timerRelease + string(c.helper), releaseAgain})
		default:
			m.do(Answer{To: c.reply, Err: err})
		}
		return
	}
	c.target = res.TargetID
	if c.helper != "" {
		m.creating = append(m.creating, c) // known now, and no page of ours
		m.decide()
		m.reattach(c.helper)
		return
	}
	m.owned[c.target] = true
	m.decide()
	if c.first {
		if m.pages[c.target] == nil {
			m.first = c.target // its attach is on the way
		} else {
			m.rootAttached()
		}
		return
	}
	m.do(Answer{To: c.reply, Value: c.target})
}

func (m *BrowserMachine) takeCreation(seq uint32) *creation {
	for i, c := range m.creating {
		if c.seq == seq {
			m.creating = append(m.creating[:i:i], m.creating[i+1:]...)
			return c
		}
	}
	return nil
}

// closePage leaves the page's session first: closing a page that holds the
// dialog of a removed frame with a session attached ends the browser (C15).
func (m *BrowserMachine) closePage(o messages.ClosePage) {
	p := m.pages[o.Page]
	if p == nil || p.closing != nil {
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", o.Page)})
		return
	}
	p.closing = o.Reply
	if p.session != "" {
		m.detach(p.session)
	}
	m.root(Tag{Kind: TagClose, Page: o.Page}, "Target.closeTarget", targetParam{o.Page}, pageBudget)
}

func (m *BrowserMachine) closed(r Replied) {
	p := m.pages[r.Tag.Page]
	if p == nil || p.closing == nil {
		return // targetDestroyed was faster
	}
	if r.Err == nil {
		m.pageClosed(r.Tag.Page)
		return
	}
	m.do(Answer{To: p.closing, Err: r.Err})
	p.closing = nil
	m.oneLeft()
	if !m.leaving {
		m.root(Tag{Kind: TagCheck, Page: r.Tag.Page}, "Target.getTargetInfo", targetParam{r.Tag.Page}, pageBudget)
	}
}

// release is recovery R1 (C19): leave the page, make another one foremost,
// which dismisses the dialog, come back, and take the helper away.
func (m *BrowserMachine) release(t messages.TargetID) {
	p := m.pages[t]
	if p == nil || p.releasing || p.closing != nil {
		return
	}
	p.releasing = true
	if p.session != "" {
		m.detach(p.session)
	}
	m.create(&creation{helper: t}, true)
}

func (m *BrowserMachine) reattach(t messages.TargetID) {
	if m.pages[t] == nil {
		m.dropHelper(t)
		return
	}
	m.root(Tag{Kind: TagReattach, Page: t}, "Target.attachToTarget", attachParams{t, true}, pageBudget)
}

func (m *BrowserMachine) reattached(r Replied) {
	m.dropHelper(r.Tag.Page)
	p := m.pages[r.Tag.Page]
	if p == nil {
		return
	}
	if p.releasing {
		p.releasing = false
		m.do(ToSupervisor{messages.PageReleased{Gen: m.cfg.Gen, Page: r.Tag.Page}})
	}
	if r.Err != nil {
		m.pageClosed(r.Tag.Page)
	}
}

func (m *BrowserMachine) dropHelper(t messages.TargetID) {
	for i, c := range m.creating {
		if c.helper == t && c.target != "" {
			m.creating = append(m.creating[:i:i], m.creating[i+1:]...)
			m.root(Tag{Kind: TagNone}, "Target.closeTarget", targetParam{c.target}, pageBudget)
			return
		}
	}
}

// fail ends the session. What is held for us is let go, as far as the link
// still carries it: nobody may come back to do it (C33).
func (m *BrowserMachine) fail(err error) {
	for _, a := range m.undecided {
		m.letGo(a)
	}
	m.undecided = nil
	m.do(Exit{err})
}

func (m *BrowserMachine) timerFired(name string) {
	switch name {
	case timerAttach:
		m.fail(messages.Errorf(messages.CodeDeadline, "the browser did not answer the attach within %s", AttachBudget))
	case timerLeave:
		m.do(Exit{})
	default:
		page, _ := strings.CutPrefix(name, timerRelease)
		if p := m.pages[messages.TargetID(page)]; p != nil && p.releasing && !m.leaving {
			m.create(&creation{helper: messages.TargetID(page)}, true)
		}
	}
}
