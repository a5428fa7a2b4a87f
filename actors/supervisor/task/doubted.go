package task

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
	for _, d := range m.Pending {
		if page != "" && d.TargetID != page || d.Path == messages.PathBridge {
			continue // a page that waits in a debugger answers meanwhile, and is reported anew
		}
		smallmap.Put(&m.doubted, d.ID, true)
		s := m.Holder(d)
		if e := m.Sessions.At(s); e != nil && e.IsReady {
			e.HasAnswered = false
			m.askDoubted(s)
		}
	}
}

// askDoubted has a session report when its renderer answers, if that would
// settle a doubt.
func (m *Machine) askDoubted(s messages.SessionID) {
	for _, d := range m.Pending {
		if m.doubted[d.ID] && m.Holder(d) == s {
			m.ToSession(s, mail.ProbeSession{MustReport: true})
			return
		}
	}
}

// resolve ends the doubted dialogs of a session that has just answered. One that
// opened since is not among them.
func (m *Machine) resolve(s messages.SessionID) {
	e := m.Sessions.At(s)
	if e == nil || !e.HasAnswered {
		return
	}
	m.resolveRemoved(e.Cfg.Page)
	for _, d := range m.Pending {
		if m.doubted[d.ID] && m.Holder(d) == s && !m.IsBetweenSessions(d) {
			delete(m.doubted, d.ID)
			m.ToDialog(mail.DialogOver{Dialog: d.ID})
		}
	}
}

// resolveRemoved ends the doubted dialogs of a page whose frames it has no more.
// With its document a frame's dialog ends as well (C13). Where the document is the
// same, the frame was removed under its dialog, which poisons the page (C15); that
// the dialog had ended before may be what was lost, and then freeing the page does
// no harm.
func (m *Machine) resolveRemoved(t messages.TargetID) {
	if len(m.doubted)+len(m.unframed) == 0 || m.Pages.At(t) == nil || !m.IsAttachedWhole(t) || !m.IsHeardWhole(t) {
		return
	}
	for _, d := range m.Pending {
		if !m.doubted[d.ID] && !m.unframed[d.ID] || d.TargetID != t || m.HasFrame(t, d.FrameID) {
			continue
		}
		delete(m.doubted, d.ID)
		delete(m.unframed, d.ID)
		if m.outlived[d.ID] {
			m.ToDialog(mail.DialogOver{Dialog: d.ID})
		} else {
			m.ToDialog(mail.FramesRemoved{Gen: m.Gen, Page: t, Frames: []messages.FrameID{d.FrameID}})
		}
	}
}
