package link

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Lacks says what the browser is known not to have, and is not asked for.
type Lacks struct {
	HasTargets   bool // the Target domain on the browser's own session: the backend gives the task its pages
	HasDiscovery bool // Target.setDiscoverTargets
	HasWindows   bool // pages in windows of their own
}

// startGiven waits for the pages that the backend gives the task. All of them are the task's.
func (m *Primary) startGiven() {
	m.requests.Begin(m.cfg.Bridge)
	m.setTimer(timerAttach, effect.AttachBudget)
	if m.cfg.Scope == messages.ScopeOwn && m.cfg.Isolation != messages.IsolationShared {
		m.share(messages.IsolationOffRefused)
	}
}

// The backend has reported all pages that there are once it has passed on the answer to a
// command. A page that hangs gives none.
const (
	timerGiven effect.TimerName = "given"
	givenGrace                  = 250 * time.Millisecond
)

// given takes a page. Behind the first it is asked whether there are more.
func (m *Primary) given(a mail.TargetAttached) {
	if p := m.pages.At(a.Info.ID); a.Info.Type != "page" || m.isLeaving || p != nil || m.pages.Len() >= effect.MaxPages {
		return
	}
	isFirst := m.pages.Len() == 0 && !m.isAttached
	m.adopt(a)
	if isFirst {
		m.do(effect.Command{Session: a.Session, Tag: effect.Tag{Kind: TagGiven}, Method: effect.Resume})
		m.setTimer(timerGiven, givenGrace)
	}
}

// allGiven attaches the link to the pages that there are.
func (m *Primary) allGiven() {
	m.dropTimer(timerGiven)
	m.isolation.isRooted = true
	m.maybeKnown()
}

// closeGiven closes a page by its own session.
func (m *Primary) closeGiven(o mail.ClosePage, p *browserPage) {
	if o.MustFree || p.session == "" {
		m.do(effect.Answer{To: o.Reply, Err: messages.Errorf(messages.CodePageWedged, "the browser cannot free the page of its dialog, which closing it needs").WithSent(messages.SentNo)})
		m.do(effect.ToSupervisor{Msg: mail.PageKept{Gen: m.cfg.Gen, Page: o.Page}})
		return
	}
	p.isClosing, p.closeReply = true, o.Reply
	m.do(effect.Command{Session: p.session, Tag: effect.Tag{Kind: TagClose, Page: o.Page}, Method: "Page.close", Timeout: pageBudget})
}

// leaveGiven ends the link, whose end takes every session along. The pages stay.
func (m *Primary) leaveGiven() {
	m.isLeaving = true
	for _, t := range m.sortedPages() {
		if p := m.pages.At(t); p.session != "" {
			m.do(effect.Command{Session: p.session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
		}
	}
	m.do(effect.Exit{})
}
