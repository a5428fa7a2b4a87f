package link

import (
	"slices"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// leave ends the link in good order: see [Primary.leave].
func (m *Anchor) leave() {
	if m.isLeaving {
		return
	}
	budget := LeaveBudget
	if len(m.toFree) > 0 {
		budget = FreeBudget
	}
	m.resumeAll()
	m.beginLeaving(budget) // attaches anew to what was left before
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

// maybeCloseOwned closes what the task made, where the primary is away and cannot: the
// machine of a primary does it, on this link. It waits for what was attached anew in
// leaving: with a dialog in a frame of another process, a page that is closed while we are
// attached ends the browser (C15).
func (m *Anchor) maybeCloseOwned() {
	switch {
	case !m.isCalm || !m.isAlone || m.cfg.Scope != messages.ScopeOwn:
		return
	case m.closer == nil:
		m.closer = NewPrimary(Config{
			Gen: m.cfg.Gen, Scope: m.cfg.Scope, Owned: slices.Sorted(m.owned.Keys()), Context: m.cfg.Context, Contexts: m.cfg.Contexts, Lacks: m.cfg.Lacks,
		})
		m.closer.takeOver(m.toFree)
	default:
		m.closer.closeOwned()
	}
	m.closerDid(m.closer.effects())
}

// toCloser gives an input to the machine that closes the task's pages, if there is one.
func (m *Anchor) toCloser(in any) {
	if m.closer != nil {
		m.closer.Know(m.owned.others)
		m.closerDid(m.closer.Step(time.Time{}, in))
	}
}

// closerDid takes what that machine wants done. The supervisor follows the primary's link,
// and hears nothing of this one's pages.
func (m *Anchor) closerDid(effects []effect.Effect) {
	for _, e := range effects {
		switch e.(type) {
		case effect.ToSupervisor, effect.Answer:
		default:
			m.do(e)
		}
	}
}

// flushed says that the browser has heard all that leaving had to say.
func (m *Anchor) flushed(r effect.Replied) {
	if m.closer != nil {
		m.toCloser(r)
	} else {
		m.stopAttaching()
	}
}

// freeFirst notes a page that is to be freed before it is closed, whether or not it has
// been left for the primary to release.
func (m *Anchor) freeFirst(t messages.TargetID) {
	smallmap.Put(&m.toFree, t, true)
	m.owned.Set(t, true)
}
