package model

import (
	"cmp"
	"slices"

	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// IsAttachedWhole says that every session of a page has answered or been
// classified, and so that the tree is all it can be.
func (m *Task) IsAttachedWhole(t messages.TargetID) bool {
	if m.Pages.At(t).Session == "" {
		return false
	}
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page == t && (!e.IsReady || e.IsRetelling) {
			return false
		}
	}
	return true
}

// IsHeardWhole says that every session of a page has answered.
func (m *Task) IsHeardWhole(t messages.TargetID) bool {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page == t && !e.HasAnswered {
			return false
		}
	}
	return true
}

// HasFrame reports whether the page has the frame, as far as its tree is known.
func (m *Task) HasFrame(t messages.TargetID, f messages.FrameID) bool {
	tree := m.Trees.At(t)
	if tree == nil || f == messages.FrameID(t) {
		return true
	}
	for _, c := range tree.Children {
		if c.FrameID == f {
			return true
		}
	}
	return false
}

// IsLeftByItsSession says that a frame has a process of its own by the tree, and
// no session.
func (m *Task) IsLeftByItsSession(t messages.TargetID, f messages.FrameID) bool {
	for _, e := range m.Sessions.All() {
		if messages.FrameID(e.Cfg.Target) == f {
			return false
		}
	}
	if tree := m.Trees.At(t); tree != nil {
		for _, c := range tree.Children {
			if c.FrameID == f {
				return c.IsOOPIF
			}
		}
	}
	return false
}

// HoldsDialog says that a frame of the page with a session of its own holds a dialog that
// no link has reported.
func (m *Task) HoldsDialog(t messages.TargetID) bool {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page == t && !e.Cfg.IsPage && e.Health == messages.PageDialogUnreachable {
			return true
		}
	}
	return false
}

// IsBetweenSessions says that the dialog's frame, or one above it, lives in a process that no
// session is attached to at the moment: no session can report on it.
func (m *Task) IsBetweenSessions(d messages.Dialog) bool {
	tree := m.Trees.At(d.TargetID)
	if tree == nil {
		return d.FrameID != messages.FrameID(d.TargetID)
	}
	frame := d.FrameID
	for i := len(tree.Children) - 1; i >= 0; i-- { // parents stand before their children
		c := tree.Children[i]
		if c.FrameID != frame {
			continue
		}
		if c.IsOOPIF {
			return c.SessionID == ""
		}
		frame = c.ParentFrameID
	}
	return frame != tree.Top.FrameID
}

// FrameAndAbove are a frame of a page and those around it, as far as they are known.
func (m *Task) FrameAndAbove(page messages.TargetID, f messages.FrameID) []messages.FrameID {
	list := []messages.FrameID{f}
	if t := m.Trees.At(page); t != nil {
		for i := len(t.Children) - 1; i >= 0; i-- { // parents stand before their children
			if c := t.Children[i]; c.FrameID == f {
				f = c.ParentFrameID
				list = append(list, f)
			}
		}
	}
	return append(list, messages.FrameID(page))
}

// SessionOrder lists the sessions as they were attached.
func (m *Task) SessionOrder() []messages.SessionID {
	order := make([]messages.SessionID, 0, m.Sessions.Len())
	for s := range m.Sessions.Keys() {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b messages.SessionID) int { return cmp.Compare(m.Sessions.At(a).Seq, m.Sessions.At(b).Seq) })
	return order
}

// NextSeq is the place of the next session in the order of their attaches.
func (m *Task) NextSeq() uint64 {
	var last uint64
	for _, s := range m.Sessions.All() {
		last = max(last, s.Seq)
	}
	return last + 1
}

// UnlinkTrees keeps what is known of the frames, without the sessions they had.
func (m *Task) UnlinkTrees() {
	var trees smallmap.Map[messages.TargetID, *messages.FrameTree] // the published ones are not written
	for t, tree := range m.Trees.All() {
		unlinked := *tree
		unlinked.Children = slices.Clone(tree.Children)
		for i := range unlinked.Children {
			unlinked.Children[i].SessionID = ""
		}
		trees.Set(t, &unlinked)
	}
	m.Trees = trees
}
