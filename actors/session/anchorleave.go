package session

import (
	"maps"
	"slices"

	"holdfast/messages"
)

// leavePage gives up a page's session: nobody may be attached to a page that is
// to be released (C19), or closed with the dialog of a removed frame (C15).
func (m *AnchorMachine) leavePage(t messages.TargetID) {
	p := m.pages[t]
	delete(m.pages, t)
	delete(m.owned, t)
	if !m.attached || p != nil && p.session == "" {
		m.left[t] = true
	}
	if !m.attached && p != nil && p.session != "" {
		m.seen[t] = true
	}
	m.leaveFrames(t)
	if p == nil || p.session == "" {
		m.do(ToSupervisor{messages.PageLeft{Gen: m.cfg.Gen, Page: t}})
		return
	}
	m.sessionGone(p.session)
	if p.held {
		m.resume(p) // a page that is left while held stays frozen (C33)
	}
	m.do(detachFrom(Tag{Kind: TagLeft, Page: t}, p.session))
	m.maybeSettled()
}

// leave ends the link in good order: see BrowserMachine.leave.
func (m *AnchorMachine) leave() {
	if m.leaving {
		return
	}
	m.leaving, m.awaited = true, 1
	m.do(Arm{timerLeave, LeaveBudget})
	m.resumeAll()
	m.do(autoAttachPages(TagCalm, false)) // attaches anew to what was left before
	// Every session is ended by word: the browser notices the end of the link
	// later than the primary's next command, which may close a page (C15).
	m.leaveFrames("")
	for _, t := range slices.Sorted(maps.Keys(m.pages)) {
		if p := m.pages[t]; p.session != "" {
			m.do(detachFrom(Tag{Kind: TagNone}, p.session))
		}
	}
	if m.alone {
		m.closeOwned()
	}
}

// closeOwned closes what the task made, where there is nobody else to do it. It
// waits for the end of each page: up to then one may open the next.
func (m *AnchorMachine) closeOwned() {
	if m.cfg.Scope != messages.ScopeOwn {
		return
	}
	if len(m.closing) == 0 {
		m.do(discoverPages())
	}
	for _, t := range slices.Sorted(maps.Keys(m.owned)) {
		if !m.closing[t] {
			m.closing[t] = true
			m.awaited++
			m.do(rootCommand(Tag{Kind: TagClose, Page: t}, "Target.closeTarget", targetParam{t}, pageBudget))
		}
	}
}
