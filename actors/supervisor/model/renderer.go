package model

import (
	"slices"

	"holdfast/messages"
)

// SiteOfDialog is the site of the frame that asks; "" is not known.
func (m *Task) SiteOfDialog(d *messages.Dialog) string {
	if site := m.siteOfFrame(d.TargetID, d.FrameID); site != "" {
		return site
	}
	return messages.SiteOf(d.FrameURL)
}

func (m *Task) siteOfFrame(t messages.TargetID, f messages.FrameID) string {
	tree := m.Trees.At(t)
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
func (m *Task) siteOf(e *Session) string {
	if site := m.siteOfFrame(e.Cfg.Page, messages.FrameID(e.Cfg.Target)); site != "" {
		return site
	}
	if p := m.Pages.At(e.Cfg.Page); e.Cfg.IsPage && p != nil {
		return messages.SiteOf(p.Info.URL)
	}
	return messages.SiteOf(e.Info.URL)
}

// sharedWith are the task's dialogs on other pages that may hold the session's
// renderer as well: of its site, or of its opener's or popups where that is not known.
func (m *Task) sharedWith(e *Session) (dialogs []messages.Dialog) {
	site := m.siteOf(e)
	for i := range m.Pending {
		d := &m.Pending[i]
		if d.TargetID == e.Cfg.Page || !IsBlocking(d) {
			continue
		}
		its := m.SiteOfDialog(d)
		if site != "" && its == site || (site == "" || its == "") && m.opener(d.TargetID) == m.opener(e.Cfg.Page) {
			dialogs = append(dialogs, *d)
		}
	}
	return dialogs
}

// opener is the first of the pages that have opened a page, one the other.
func (m *Task) opener(t messages.TargetID) messages.TargetID {
	for range m.Order {
		p := m.Pages.At(t)
		if p == nil || p.Info.Opener == "" || m.Pages.At(p.Info.Opener) == nil {
			break
		}
		t = p.Info.Opener
	}
	return t
}

// isAskedElsewhere reports whether another task of the browser has a dialog that may hold
// the session's renderer. In doubt it has.
func (m *Task) isAskedElsewhere(e *Session) bool {
	if len(m.Elsewhere) == 0 {
		return false
	}
	site := m.siteOf(e)
	return site == "" || slices.Contains(m.Elsewhere, site) || slices.Contains(m.Elsewhere, "")
}

// Holding is what holds a renderer by a dialog that its session was not told of: the
// dialogs of another page of the task, or some dialog elsewhere. Neither is one of
// the page's own.
func (m *Task) Holding(e *Session) (shared []messages.Dialog, elsewhere bool) {
	p := m.Pages.At(e.Cfg.Page)
	_, lost := m.Orphaned[e.Cfg.Page]
	if e.Health != messages.PageDialogUnreachable || lost || p == nil || p.IsStuck {
		return nil, false
	}
	if shared = m.sharedWith(e); len(shared) > 0 {
		return shared, false
	}
	// A page that answers tells of each dialog that opens from then on.
	return nil, e.IsTelling || m.isAskedElsewhere(e)
}

// heldState is the state of a page some renderer of which is held by a dialog; "" is
// of one that has none.
func (m *Task) heldState(t messages.TargetID) (state messages.PageState) {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page != t || e.Health != messages.PageDialogUnreachable {
			continue
		}
		switch shared, elsewhere := m.Holding(e); {
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
func (m *Task) sharedDialogs(t messages.TargetID) (dialogs []messages.Dialog) {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page != t {
			continue
		}
		shared, _ := m.Holding(e)
		for i := range shared {
			if !slices.ContainsFunc(dialogs, func(d messages.Dialog) bool { return d.ID == shared[i].ID }) {
				dialogs = append(dialogs, shared[i])
			}
		}
	}
	return dialogs
}

// MayShare reports whether a silent renderer of a page may wait for a dialog of another
// page after all: one that opened after its key was pressed.
func (m *Task) MayShare(t messages.TargetID) bool {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page == t && (e.Health == messages.PageHung || e.Health == messages.PageDialogUnreachable) &&
			(len(m.sharedWith(e)) > 0 || m.isAskedElsewhere(e)) {
			return true
		}
	}
	return false
}

// viewState is a session's state as callers meet it.
func (m *Task) viewState(e *Session) (state messages.PageState, shared []messages.Dialog) {
	if e.Health != messages.PageDialogUnreachable {
		return e.Health, nil
	}
	switch shared, elsewhere := m.Holding(e); {
	case len(shared) > 0:
		return messages.PageDialog, shared
	case elsewhere:
		return messages.PageBlockedElsewhere, nil
	}
	return e.Health, nil
}
