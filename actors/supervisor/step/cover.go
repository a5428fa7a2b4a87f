package step

import (
	"holdfast/actors/supervisor/model"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// CoverFrame has the anchor attached to a frame of another process as well.
func (w *Work) CoverFrame(e *model.Session) {
	if w.IsBridged() && !e.Cfg.IsPage && !w.IsBeingFreed(e.Cfg.Page) {
		w.ToAnchor(mail.CoverFrame{Page: e.Cfg.Page, Frame: e.Cfg.Target, IsBoxKnown: e.IsBoxKnown, IsShut: e.IsShut})
	}
}

// CoverFrames covers those of a page, or all ("").
func (w *Work) CoverFrames(page messages.TargetID) {
	if !w.IsBridged() || !w.Anchor.IsRunning {
		return
	}
	for _, s := range w.SessionOrder() {
		if e := w.Sessions.At(s); page == "" || e.Cfg.Page == page {
			w.CoverFrame(e)
		}
	}
}

// CoverPage has the anchor attached to a page again, and to its frames.
func (w *Work) CoverPage(t messages.TargetID) {
	w.ToAnchor(mail.CoverPage{Page: t})
	w.CoverFrames(t)
}

// IsBeingFreed says that no party may be attached to the page: only a page that all have left
// drops its dialog (C19), or may be closed with it (C15).
func (w *Work) IsBeingFreed(t messages.TargetID) bool {
	r, p := w.Recovering[t], w.Pages.At(t)
	return w.Parties.IsLeaving(t) || p != nil && p.IsClosing || r != nil && r.Step == model.StepLeaving && r.Action != messages.RecoverReattach
}
