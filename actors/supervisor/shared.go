package supervisor

import (
	"slices"
	"strings"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Chrome puts frames of one site into one process, also those of different tabs, and a
// popup into its opener's (C9, C59). A dialog of one silences all, and the browser
// process takes the keys of all: a renderer that is held by a dialog may not be held
// by one of its own page.

const (
	timerElsewhere = "elsewhere"
	// elsewhereAgain is how often it is looked whether the dialog of another task, for
	// which a page is said to wait, is still there.
	elsewhereAgain = 2 * time.Second
)

// ask tells the node in which sites the task's dialogs hold renderers.
func (m *Machine) ask() {
	var sites []string
	for i := range m.pending {
		if d := &m.pending[i]; blocks(d) {
			sites = append(sites, m.siteOfDialog(d))
		}
	}
	if len(sites) > 0 || m.asks {
		m.asks = len(sites) > 0
		m.do(Asks{m.process.now, sites})
	}
}

// elsewhereIs notes the sites that wait in dialogs of other tasks of the browser.
func (m *Machine) elsewhereIs(sites []string) {
	if slices.Equal(m.elsewhere, sites) {
		return
	}
	m.elsewhere = sites
	m.sharesChanged()
}

// watchElsewhere has the node asked again while a page waits for another task.
func (m *Machine) watchElsewhere() {
	for _, t := range m.order {
		if m.pages.At(t).shown == messages.PageBlockedElsewhere {
			m.do(Arm{timerElsewhere, elsewhereAgain})
			return
		}
	}
}

// asksElsewhere reports whether in needs to know what other tasks wait for.
func asksElsewhere(in any) bool {
	switch in := in.(type) {
	case mail.SessionHealth:
		return in.State == messages.PageHung || in.State == messages.PageDialogUnreachable
	case TimerFired:
		return in.Name == timerElsewhere || strings.HasPrefix(in.Name, timerWedge)
	}
	return false
}

// siteOfDialog is the site of the frame that asks; "" is not known.
func (m *Machine) siteOfDialog(d *messages.Dialog) string {
	if site := m.siteOfFrame(d.TargetID, d.FrameID); site != "" {
		return site
	}
	return messages.SiteOf(d.FrameURL)
}

func (m *Machine) siteOfFrame(t messages.TargetID, f messages.FrameID) string {
	tree := m.trees.At(t)
	switch {
	case tree == nil:
		return ""
	case f == tree.Top.FrameID:
		return messages.SiteOf(tree.Top.Origin)
	}
	for _, c := range tree.Children {
		if c.FrameID == f {
			return messages.SiteOf(c.Origin)
		}
	}
	return ""
}

// siteOf is the site of what a session runs; "" is not known.
func (m *Machine) siteOf(e *sessionEntry) string {
	if site := m.siteOfFrame(e.cfg.Page, messages.FrameID(e.cfg.Target)); site != "" {
		return site
	}
	if p := m.pages.At(e.cfg.Page); e.cfg.IsPage && p != nil {
		return messages.SiteOf(p.info.URL)
	}
	return messages.SiteOf(e.info.URL)
}

// sharedWith are the task's dialogs on other pages that may hold the session's
// renderer as well: of its site, or of its opener's or popups where that is not known.
func (m *Machine) sharedWith(e *sessionEntry) (dialogs []messages.Dialog) {
	site := m.siteOf(e)
	for i := range m.pending {
		d := &m.pending[i]
		if d.TargetID == e.cfg.Page || !blocks(d) {
			continue
		}
		its := m.siteOfDialog(d)
		if site != "" && its == site || (site == "" || its == "") && m.opener(d.TargetID) == m.opener(e.cfg.Page) {
			dialogs = append(dialogs, *d)
		}
	}
	return dialogs
}

// opener is the first of the pages that have opened a page, one the other.
func (m *Machine) opener(t messages.TargetID) messages.TargetID {
	for range m.order {
		p := m.pages.At(t)
		if p == nil || p.info.Opener == "" || m.pages.At(p.info.Opener) == nil {
			break
		}
		t = p.info.Opener
	}
	return t
}

// isAskedElsewhere reports whether another task of the browser has a dialog that may hold
// the session's renderer. In doubt it has.
func (m *Machine) isAskedElsewhere(e *sessionEntry) bool {
	if len(m.elsewhere) == 0 {
		return false
	}
	site := m.siteOf(e)
	return site == "" || slices.Contains(m.elsewhere, site) || slices.Contains(m.elsewhere, "")
}

// holding is what holds a renderer by a dialog that its session was not told of: the
// dialogs of another page of the task, or some dialog elsewhere. Neither is one of
// the page's own.
func (m *Machine) holding(e *sessionEntry) (shared []messages.Dialog, elsewhere bool) {
	p := m.pages.At(e.cfg.Page)
	_, lost := m.orphaned[e.cfg.Page]
	if e.health != messages.PageDialogUnreachable || lost || p == nil || p.stuck {
		return nil, false
	}
	if shared = m.sharedWith(e); len(shared) > 0 {
		return shared, false
	}
	// A page that answers tells of each dialog that opens from then on.
	return nil, e.tells || m.isAskedElsewhere(e)
}

// heldState is the state of a page some renderer of which is held by a dialog; "" is
// of one that has none.
func (m *Machine) heldState(t messages.TargetID) (state messages.PageState) {
	for _, e := range m.sessions.All() {
		if e.cfg.Page != t || e.health != messages.PageDialogUnreachable {
			continue
		}
		switch shared, elsewhere := m.holding(e); {
		case len(shared) > 0:
			state = messages.PageDialog
		case !elsewhere:
			return messages.PageDialogUnreachable
		case state == "":
			state = messages.PageBlockedElsewhere
		}
	}
	return state
}

// sharedDialogs are the dialogs of other pages that hold a page.
func (m *Machine) sharedDialogs(t messages.TargetID) (dialogs []messages.Dialog) {
	for _, e := range m.sessions.All() {
		if e.cfg.Page != t {
			continue
		}
		shared, _ := m.holding(e)
		for i := range shared {
			if !slices.ContainsFunc(dialogs, func(d messages.Dialog) bool { return d.ID == shared[i].ID }) {
				dialogs = append(dialogs, shared[i])
			}
		}
	}
	return dialogs
}

// mayShare reports whether a silent renderer of a page may wait for a dialog of another
// page after all: one that opened after its key was pressed.
func (m *Machine) mayShare(t messages.TargetID) bool {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && (e.health == messages.PageHung || e.health == messages.PageDialogUnreachable) &&
			(len(m.sharedWith(e)) > 0 || m.isAskedElsewhere(e)) {
			return true
		}
	}
	return false
}

// viewState is a session's state as callers meet it.
func (m *Machine) viewState(e *sessionEntry) (state messages.PageState, shared []messages.Dialog) {
	if e.health != messages.PageDialogUnreachable {
		return e.health, nil
	}
	switch shared, elsewhere := m.holding(e); {
	case len(shared) > 0:
		return messages.PageDialog, shared
	case elsewhere:
		return messages.PageBlockedElsewhere, nil
	}
	return e.health, nil
}

// sharesChanged tells of the pages that a dialog of another page has begun to hold, or
// does so no more.
func (m *Machine) sharesChanged() {
	for _, t := range m.order {
		if p := m.pages.At(t); (p.held || p.health == messages.PageDialogUnreachable) && p.shown != m.pageState(t) {
			m.pageChanged(t)
		}
	}
}

// tellShared has the calls ended that a dialog of another page of the task holds up.
func (m *Machine) tellShared(s messages.SessionID, e *sessionEntry) {
	if shared, _ := m.holding(e); len(shared) > 0 {
		m.do(ToSession{s, mail.SharedDialogs{Dialogs: shared}})
	}
}
