package supervisor

import (
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// doubt is for the dialogs of a page, or of all when it is "", whose end may have been
// reported to a failed actor alone: what was in its mailbox is lost. Chrome cannot be asked
// whether a dialog is open; but a frame that waits for one answers nothing, so once it
// answers, its dialog is over.
func (m *Machine) doubt(page messages.TargetID) {
	for _, d := range m.pending {
		if page != "" && d.TargetID != page || d.Path == messages.PathBridge {
			continue // a page that waits in a debugger answers meanwhile, and is reported anew
		}
		smallmap.Put(&m.doubted, d.ID, true)
		s := m.holder(d)
		if e := m.sessions.At(s); e != nil && e.ready {
			e.heard = false
			m.askDoubted(s)
		}
	}
}

// askDoubted has a session report when its renderer answers, if that would
// settle a doubt.
func (m *Machine) askDoubted(s messages.SessionID) {
	for _, d := range m.pending {
		if m.doubted[d.ID] && m.holder(d) == s {
			m.do(ToSession{s, mail.ProbeSession{Report: true}})
			return
		}
	}
}

// betweenSessions says that the dialog's frame, or one above it, lives in a process that no
// session is attached to at the moment: no session can report on it.
func (m *Machine) betweenSessions(d messages.Dialog) bool {
	tree := m.trees.At(d.TargetID)
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

// resolve ends the doubted dialogs of a session that has just answered. One that
// opened since is not among them.
func (m *Machine) resolve(s messages.SessionID) {
	e := m.sessions.At(s)
	if e == nil || !e.heard {
		return
	}
	m.resolveRemoved(e.cfg.Page)
	for _, d := range m.pending {
		if m.doubted[d.ID] && m.holder(d) == s && !m.betweenSessions(d) {
			delete(m.doubted, d.ID)
			m.do(ToDialog{mail.DialogOver{Dialog: d.ID}})
		}
	}
}

// resolveRemoved ends the doubted dialogs of a page whose frames it has no more.
// With its document a frame's dialog ends as well (C13). Where the document is the
// same, the frame was removed under its dialog, which poisons the page (C15); that
// the dialog had ended before may be what was lost, and then freeing the page does
// no harm.
func (m *Machine) resolveRemoved(t messages.TargetID) {
	if len(m.doubted)+len(m.unframed) == 0 || m.pages.At(t) == nil || !m.attachedWhole(t) || !m.heardWhole(t) {
		return
	}
	for _, d := range m.pending {
		if !m.doubted[d.ID] && !m.unframed[d.ID] || d.TargetID != t || m.hasFrame(t, d.FrameID) {
			continue
		}
		delete(m.doubted, d.ID)
		delete(m.unframed, d.ID)
		if m.outlived[d.ID] {
			m.do(ToDialog{mail.DialogOver{Dialog: d.ID}})
		} else {
			m.do(ToDialog{mail.FramesRemoved{Gen: m.gen, Page: t, Frames: []messages.FrameID{d.FrameID}}})
		}
	}
}
