package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"holdfast/actors/supervisor/admit"
	"holdfast/internal/redact"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Page is what is known of one page of the task.
type Page struct {
	Info        mail.TargetInfo
	Session     messages.SessionID
	Health      messages.PageState
	Shown       messages.PageState // the state that was told of last
	Told        messages.Page      // as the last event about it has it
	Since       time.Time          // when it was
	HoldsDialog bool               // one of its frames holds a dialog without a report
	IsStuck     bool               // holds a dialog that cannot be answered
	IsPoisoned  bool               // and its frame is gone
	IsDoomed    bool               // may not be left by any session (C58)
	HasWaited   bool               // long enough for what is known of its dialogs
	Parked      []any              // orders that wait for that
	IsClosing   bool               // by an order that is under way
	HasFailed   bool               // an actor of ours on it, and its next session has not answered yet
	// Restoring are, by session, the settings that the browser has refused since.
	Restoring   smallmap.Map[messages.SessionID, []string]
	Moved       []Moved // the newest of its frames' documents, oldest first
	HasAnswered bool    // its renderer has, at some time
	Auto        Automatic
}

// Automatic is what a task has done by itself about one of its pages.
type Automatic struct {
	Times  int       // in a row
	Last   time.Time // when the newest began
	IsLeft bool      // it was said that no more is done
}

// Orphan is a dialog that was lost: it may stand open still, without a session that can
// answer it, until its frame shows a sign of life or is gone.
type Orphan struct {
	Frame messages.FrameID
	Type  messages.DialogType // of the dialog
}

// IsInternal reports whether a page is the browser's own.
func IsInternal(url string) bool {
	return strings.HasPrefix(url, "chrome:") || strings.HasPrefix(url, "devtools:") || strings.HasPrefix(url, "chrome-extension:")
}

// IsTold reports whether a page's session hears of the dialogs that open on it.
func (m *Task) IsTold(t messages.TargetID) bool {
	p := m.Pages.At(t)
	if p == nil {
		return false
	}
	e := m.Sessions.At(p.Session)
	return e != nil && e.HearsDialogs
}

// Page is a page as the contract shows it.
func (m *Task) Page(t messages.TargetID) messages.Page { return m.pageWith(t, m.PageBridge(t)) }

func (m *Task) pageWith(t messages.TargetID, bridge messages.Bridge) messages.Page {
	p := m.Pages.At(t)
	v := messages.Page{
		Restoring: p.missing(), TargetID: t, SessionID: p.Session, URL: cmp.Or(redact.PageURL(p.Info.URL), "about:blank"), Title: redact.Text(p.Info.Title), PageState: m.PageState(t), Bridge: bridge,
	}
	if p.Info.Opener != "" {
		opener := p.Info.Opener
		v.OpenerID = &opener
	}
	return v
}

// missing are the settings that sessions of the page were refused, sorted.
func (p *Page) missing() (methods []string) {
	for _, list := range p.Restoring.All() {
		methods = append(methods, list...)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// PageState is the state of a page as callers meet it.
func (m *Task) PageState(t messages.TargetID) messages.PageState {
	p := m.Pages.At(t)
	if p == nil {
		return messages.PageOK
	}
	if p.Health == messages.PageCrashed {
		return messages.PageCrashed
	}
	for _, d := range m.Pending {
		if d.TargetID == t {
			return messages.PageDialog
		}
	}
	if p.IsStuck {
		return messages.PageDialogUnreachable
	}
	if p.HoldsDialog || p.Health == messages.PageDialogUnreachable {
		return cmp.Or(m.heldState(t), messages.PageDialogUnreachable)
	}
	return p.Health
}

// Settled is active, or wedged when the current page cannot answer.
func (m *Task) Settled() messages.TaskState {
	switch m.PageState(m.Current) {
	case messages.PageDialogUnreachable, messages.PageCrashed, messages.PageHung:
		return messages.StateWedged
	}
	return messages.StateActive
}

// IsStranded reports whether no navigation and no reload reaches the page.
func (m *Task) IsStranded(t messages.TargetID) bool {
	e := m.Sessions.At(m.Pages.At(t).Session)
	return e != nil && e.IsStranded
}

// NeedsFreeing says that a page may hold a dialog of a frame of another process,
// or of one that is gone (C15).
func (m *Task) NeedsFreeing(t messages.TargetID) bool {
	p := m.Pages.At(t)
	if p == nil {
		return false
	}
	for _, d := range m.DialogsOn(t) {
		if d.FrameID != messages.FrameID(t) {
			return true
		}
	}
	o, known := m.Orphaned[t]
	return p.IsPoisoned || p.HoldsDialog || known && o.Frame != messages.FrameID(t) || !known && p.IsStuck
}

// MayBeSpoilt says whether a page that was released may hold its dialog still. One that is silent
// while another task asks as well may wait for either.
func (m *Task) MayBeSpoilt(t messages.TargetID) bool {
	state := m.PageState(t)
	return state == messages.PageDialogUnreachable || state == messages.PageBlockedElsewhere
}

// StillWedged says what is left to be done about a page that was released.
func (m *Task) StillWedged(t messages.TargetID) error {
	switch state := m.PageState(t); state {
	case messages.PageDialogUnreachable:
		return messages.Errorf(messages.CodePageWedged, "the page still holds a dialog that no connection can reach; recover with reload, and with replace or close if that fails").
			With("page_state", state)
	case messages.PageCrashed, messages.PageHung:
		return admit.Forbids(m.Known(t), messages.RecoverRelease)
	}
	return nil
}

// IsUnsettled says that leaving a page now might end the browser.
func (m *Task) IsUnsettled(t messages.TargetID) bool {
	p := m.Pages.At(t)
	return p != nil && !p.HasWaited && (p.IsDoomed || slices.ContainsFunc(m.Memory.Open, func(o mail.OpenDialog) bool {
		return o.IsUnproved && o.Dialog.TargetID == t && o.ShutBy == ""
	}))
}

// Forgive takes back what was held against a page.
func (m *Task) Forgive(t messages.TargetID) {
	p := m.Pages.At(t)
	p.IsStuck, p.IsPoisoned = false, false
	delete(m.Orphaned, t)
}
