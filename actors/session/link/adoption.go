package link

import (
	"slices"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Primary) targetAttached(a mail.TargetAttached) {
	if a.Info.Type == "browser" {
		return // a browser session of the gateway's, which is told of it beside
	}
	switch {
	case m.cfg.Lacks.HasTargets:
		m.given(a)
		return
	case m.last.isBegun && (m.cfg.Scope != messages.ScopeOwn || !m.isOurs(a)): // else it is closed
		m.heldLate(a)
		return
	}
	if a.Info.Type != "page" || m.isLeaving {
		m.letGo(a)
		if m.isLeaving && m.cfg.Scope == messages.ScopeOwn && m.isOurs(a) && m.pages.At(a.Info.ID) == nil {
			m.owned.Set(a.Info.ID, true)
			m.closeOwned() // opened by one that is being closed
		}
		return
	}
	if len(m.undecided) >= effect.MaxSessions {
		m.letGo(a)
		m.do(effect.ToSupervisor{Msg: effect.TooMany{IsPages: true}})
		return
	}
	m.undecided = append(m.undecided, a)
	m.decide()
}

func (m *Primary) isOurs(a mail.TargetAttached) bool {
	if m.hasHelperURL(a.Info) { // in the task's context as well, since a release needs it there (C19)
		return false
	}
	return m.owned.At(a.Info.ID) || m.owned.hasOpened(a.Info) || m.isInContext(a)
}

// isOwnerUnknown says that whose a page is cannot be said yet: the link is new
// and openers may follow, or a page of ours is being made, whose id comes
// only after its attach.
func (m *Primary) isOwnerUnknown() bool {
	if !m.isAttached {
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
func (m *Primary) decide() {
	for again := true; again; {
		again = false
		rest := m.undecided[:0:0]
		for _, a := range m.undecided {
			if m.isOurs(a) {
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
		case m.isOwnerUnknown():
			m.undecided = append(m.undecided, a)
		case m.hasHelperURL(a.Info):
			m.letGo(a)
			m.helperLeft(a.Info.ID)
		case m.owned.hasAll(a.Info):
			m.adopt(a)
		default:
			m.letGo(a)
		}
	}
}

func (m *Primary) adopt(a mail.TargetAttached) {
	p := m.pages.At(a.Info.ID)
	if p != nil && (p.session != "" || p.isClosing) {
		m.letGo(a) // a second session of a page we have, or one that is to have none (C15)
		return
	}
	if p == nil && m.pages.Len() >= effect.MaxPages {
		m.letGo(a)
		m.do(effect.ToSupervisor{Msg: effect.TooMany{IsPages: true}})
		return
	}
	if p == nil {
		p = &browserPage{}
		m.pages.Set(a.Info.ID, p)
	}
	p.session, p.opener = a.Session, a.Info.Opener
	m.owned.Set(a.Info.ID, true)
	a.Page = a.Info.ID
	m.do(effect.ToSupervisor{Msg: a})
	if a.Info.ID == m.first {
		m.rootAttached()
	}
}

func (m *Primary) detach(s messages.SessionID) { m.do(detachFrom(effect.Tag{Kind: effect.TagNone}, s)) }

func detachFrom(tag effect.Tag, s messages.SessionID) effect.Command {
	return effect.OnBrowser(tag, "Target.detachFromTarget", effect.SessionParam{SessionID: s}, 0)
}

func (m *Primary) targetDetached(d mail.TargetDetached) {
	m.undecided = slices.DeleteFunc(m.undecided, func(a mail.TargetAttached) bool { return a.Session == d.Session })
	for t, p := range m.pages.All() {
		if p.session != d.Session {
			continue
		}
		p.session = ""
		m.do(effect.ToSupervisor{Msg: d})
		if m.cfg.Lacks.HasTargets {
			m.pageClosed(t) // the backend has taken it back
			return
		}
		if !p.isClosing && !p.isReleasing && !p.isReturning && !m.isLeaving {
			// Closed, or torn from us? Ask before believing either.
			m.root(effect.Tag{Kind: TagCheck, Page: t}, "Target.getTargetInfo", targetParam{t}, pageBudget)
		}
		return
	}
}

func (m *Primary) checked(r effect.Replied) {
	p := m.pages.At(r.Tag.Page)
	if p == nil || p.session != "" || p.isReleasing || p.isReturning || p.isClosing {
		return // the party that left it comes back by itself, or is not to
	}
	if r.Err != nil {
		m.pageClosed(r.Tag.Page)
		return
	}
	m.root(effect.Tag{Kind: TagReattach, Page: r.Tag.Page}, "Target.attachToTarget", attachParams{r.Tag.Page, true}, pageBudget)
}

// PageLeft says that a session on the page has ended, which may be another task's.
// The browser then takes back what is common to all sessions of the page, whichever
// of them has set it: the emulated media and the network's conditions.
type PageLeft struct{ Page messages.TargetID }
