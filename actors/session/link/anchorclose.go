package link

import (
	"encoding/json"
	"slices"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// freeing is a page that is freed before it is closed: see [BrowserMachine.free].
type freeing struct {
	tries  int
	helper messages.TargetID // the newest page that took the foreground
}

// leave ends the link in good order: see BrowserMachine.leave.
func (m *Anchor) leave() {
	if m.leaving {
		return
	}
	m.leaving, m.awaited = true, 1
	budget := LeaveBudget
	if len(m.freeing) > 0 {
		budget = FreeBudget
	}
	m.setTimer(timerLeave, budget)
	m.resumeAll()
	m.do(autoAttachPages(effect.TagCalm, false)) // attaches anew to what was left before
	m.giveBack()
	// Every session is ended by word: the browser notices the end of the link
	// later than the primary's next command, which may close a page (C15).
	m.leaveFrames("")
	for _, t := range slices.Sorted(m.pages.Keys()) {
		if p := m.pages.At(t); p.session != "" {
			m.do(detachFrom(effect.Tag{Kind: effect.TagNone}, p.session))
		}
	}
}

// maybeCloseOwned closes what the task made, where no primary is left to do it. It waits
// for what was attached anew in leaving: with a dialog in a frame of another process, a
// page that is closed while we are attached ends the browser (C15). And for the end of each
// page: up to then one may open the next.
func (m *Anchor) maybeCloseOwned() {
	if !m.calm || !m.alone || m.cfg.Scope != messages.ScopeOwn {
		return
	}
	if len(m.closing) == 0 {
		m.do(discoverPages())
	}
	for _, t := range slices.Sorted(m.owned.Keys()) {
		if !m.closing[t] {
			smallmap.Put(&m.closing, t, true)
			m.awaited++
			if m.freeing[t] != nil {
				m.free(t)
			} else {
				m.closeTarget(t)
			}
		}
	}
}

func (m *Anchor) closeTarget(t messages.TargetID) {
	m.do(effect.OnBrowser(effect.Tag{Kind: effect.TagClose, Page: t}, "Target.closeTarget", targetParam{t}, pageBudget))
}

// gone notes that a page that is to be closed is no more.
func (m *Anchor) gone(t messages.TargetID) {
	if m.closing[t] {
		delete(m.closing, t)
		m.oneLeft()
	}
}

// oneLeft notes that something leaving waits for is done.
func (m *Anchor) oneLeft() {
	if m.awaited--; m.awaited == 0 && !m.disposeLast() {
		m.do(effect.Exit{})
	}
}

// freeFirst notes a page that is to be freed, whether or not it has been left for the
// primary to release.
func (m *Anchor) freeFirst(t messages.TargetID) {
	smallmap.Put(&m.freeing, t, &freeing{})
	m.owned.Set(t, true)
}

// free begins, or begins anew, to free a page that nothing of ours is attached to.
func (m *Anchor) free(t messages.TargetID) {
	f := m.freeing[t]
	if f == nil || !m.closing[t] {
		return
	}
	if f.tries++; f.tries > freeTries {
		m.stays = true // another client stays, and so does the page
		m.gone(t)
		return
	}
	m.awaited++ // the helper's end
	m.do(effect.OnBrowser(effect.Tag{Kind: effect.TagNone}, "Target.activateTarget", targetParam{t}, pageBudget))
	m.do(createPage(effect.Tag{Kind: effect.TagCreate, Page: t}, true, m.cfg.Context))
}

// freed comes with the helper, which has ended the dialog if no client was attached.
func (m *Anchor) freed(r effect.Replied) {
	t := r.Tag.Page
	var res targetParam
	if r.Err != nil || json.Unmarshal(r.Result, &res) != nil {
		m.do(effect.Arm{Timer: effect.Timer{Name: timerFree, Page: t}, After: freeAgain})
		m.oneLeft()
		return
	}
	m.freeing[t].helper = res.TargetID
	m.do(effect.OnBrowser(effect.Tag{Kind: effect.TagAlone, Page: t}, "Target.getTargetInfo", targetParam{t}, pageBudget))
}

func (m *Anchor) maybeAlone(r effect.Replied) {
	t := r.Tag.Page
	// First: the end of the page may be the end of the link.
	m.do(effect.OnBrowser(effect.Tag{Kind: effect.TagNone}, "Target.closeTarget", targetParam{m.freeing[t].helper}, pageBudget))
	switch {
	case !m.closing[t]:
	case closable(r):
		m.closeTarget(t)
	default:
		m.do(effect.Arm{Timer: effect.Timer{Name: timerFree, Page: t}, After: freeAgain})
	}
	m.oneLeft()
}

// disposeLast is the same where the anchor closes what is the task's.
func (m *Anchor) disposeLast() bool {
	if !m.alone || !m.calm || m.cfg.Context == "" || m.disposing || m.stays {
		return false
	}
	m.disposing, m.awaited = true, 1
	m.do(disposeContext(effect.Tag{Kind: effect.TagDispose}, m.cfg.Context))
	return true
}
