package link

import (
	"encoding/json"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// LeaveBudget bounds an orderly end of the link, and FreeBudget that of an anchor which
// has pages to free before it can close them: that takes a window of its own.
const (
	LeaveBudget = 1500 * time.Millisecond
	FreeBudget  = 3 * time.Second
)

const timerLeave effect.TimerName = "leave"

// leave ends the session in good order. Pages of scope own are closed, those
// that an attach or a creation under way still hides included. Whatever else
// is attached is resumed and, before the link goes, the browser stops holding
// new pages: one that is held when the link drops is frozen for good, and its
// opener with it (C33).
func (m *Primary) leave() {
	if m.isLeaving {
		return
	}
	m.first = ""
	if m.cfg.Lacks.HasTargets {
		m.leaveGiven()
		return
	}
	m.beginLeaving(LeaveBudget)
	m.closing = 1
	if m.isolation.isAsking {
		m.closing++ // it may have been made
	}
	for _, a := range m.undecided {
		m.letGo(a)
	}
	m.undecided = nil
	for _, c := range m.creating {
		switch {
		case c.mustClose:
			c.isAwaited = true
			m.closing++
		case c.target == "":
			m.closing++
		default: // a helper whose page is being reattached
			m.closeHelper(c.target)
		}
	}
	if m.cfg.Scope == messages.ScopeOwn {
		m.closeOwned()
		return
	}
	for _, t := range m.sortedPages() {
		if p := m.pages.At(t); p.isClosing {
			p.isAwaited = true
			m.closing++
		} else if p.session != "" {
			m.do(effect.Command{Session: p.session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
		}
	}
}

// closeOwned closes what the task made, also what this link has not attached
// to yet.
func (m *Primary) closeOwned() {
	for t := range m.owned.Keys() {
		if m.pages.At(t) == nil {
			m.pages.Set(t, &browserPage{})
		}
	}
	for _, t := range m.sortedPages() {
		p := m.pages.At(t)
		if !p.isClosing {
			m.closePage(mail.ClosePage{Page: t, MustFree: m.toFree[t]})
		}
		if !p.isAwaited {
			p.isAwaited = true
			m.closing++
		}
	}
}

// takeOver has this machine close the task's pages on a link that another has led, and that
// is attached to nothing any more. It exits once the browser has heard what was said before,
// which the next TagFlushed says, and every page has come to its end.
func (m *Primary) takeOver(toFree map[messages.TargetID]bool) {
	m.isAttached, m.isLeaving, m.closing = true, true, 1
	m.toFree, m.isolation.context = toFree, m.cfg.Context
	m.discover()
	m.closeOwned()
}

// createdLate is the end of a creation without a waiting caller.
func (m *Primary) createdLate(c *creation, r effect.Replied) {
	if c.reply != 0 {
		m.do(effect.Answer{To: c.reply, Err: effect.SessionEnded()})
	}
	var res targetParam
	if r.Err == nil && json.Unmarshal(r.Result, &res) == nil && (c.helper != "" || m.cfg.Scope == messages.ScopeOwn) {
		m.pages.Set(res.TargetID, &browserPage{isClosing: true, isAwaited: true})
		m.owned.Set(res.TargetID, c.helper == "")
		m.root(effect.Tag{Kind: TagClose, Page: res.TargetID}, "Target.closeTarget", res, pageBudget)
		return // its end counts
	}
	m.oneLeft()
}

// ended notes that the closing of a page has come to its end.
func (m *Primary) ended(p *browserPage) {
	if p.isAwaited {
		p.isAwaited = false
		m.oneLeft()
	}
}

// oneLeft notes that something leaving waits for is done.
func (m *Primary) oneLeft() {
	if !m.isLeaving {
		return
	}
	if m.closing--; m.closing == 0 && !m.disposeLast() {
		m.stopAttaching()
	}
}
