package link

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// releaseAgain is how soon a release is begun anew that found no helper.
const releaseAgain = time.Second

// release is recovery R1 (C19): leave the page, make another one foremost,
// which dismisses the dialog, come back, and take the helper away. The page has
// to have been in front for that, which one in the background is not.
func (m *Primary) release(t messages.TargetID) {
	p := m.pages.At(t)
	if p == nil || p.isReleasing || p.isReturning || p.isClosing || m.cfg.Lacks.HasTargets {
		return
	}
	p.isReleasing = true
	m.leavePage(p)
	m.root(effect.Tag{Kind: effect.TagNone}, "Target.activateTarget", targetParam{t}, pageBudget)
	m.create(&creation{helper: t}, true)
}

// comeAgain leaves a page and attaches to it anew.
func (m *Primary) comeAgain(t messages.TargetID) {
	p := m.pages.At(t)
	if p == nil || p.isReleasing || p.isReturning || p.isClosing || m.cfg.Lacks.HasTargets {
		return
	}
	p.isReturning = true
	m.leavePage(p)
	m.reattach(t)
}

// leavePage has the page's session leave it.
func (m *Primary) leavePage(p *browserPage) {
	if p.session != "" {
		p.left = p.session
		m.detach(p.session)
	}
}

func (m *Primary) reattach(t messages.TargetID) {
	if m.pages.At(t) == nil {
		m.dropHelper(t, false)
		return
	}
	m.root(effect.Tag{Kind: TagReattach, Page: t}, "Target.attachToTarget", attachParams{t, true}, pageBudget)
}

func (m *Primary) reattached(r effect.Replied) {
	m.dropHelper(r.Tag.Page, false)
	p := m.pages.At(r.Tag.Page)
	if p == nil {
		return
	}
	p.isReturning = false
	if p.isReleasing {
		p.isReleasing = false
		m.do(effect.ToSupervisor{Msg: mail.PageReleased{Gen: m.cfg.Gen, Page: r.Tag.Page}})
	}
	if r.Err != nil && p.session == "" && !p.isClosing {
		m.pageClosed(r.Tag.Page)
	}
}
