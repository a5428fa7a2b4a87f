package task

import (
	"slices"
	"strings"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Chrome puts frames of one site into one process, also those of different tabs, and a
// popup into its opener's (C9, C59). A dialog of one silences all, and the browser
// process takes the keys of all: a renderer that is held by a dialog may not be held
// by one of its own page.

// ask tells the node in which sites the task's dialogs hold renderers.
func (m *Machine) ask() {
	var sites []string
	for i := range m.Pending {
		if d := &m.Pending[i]; model.IsBlocking(d) {
			sites = append(sites, m.SiteOfDialog(d))
		}
	}
	if len(sites) > 0 || m.hasOpenDialog {
		m.hasOpenDialog = len(sites) > 0
		m.Do(step.Asks{Browser: m.process.Now, Sites: sites})
	}
}

// elsewhereIs notes the sites that wait in dialogs of other tasks of the browser.
func (m *Machine) elsewhereIs(sites []string) {
	if slices.Equal(m.Elsewhere, sites) {
		return
	}
	m.Elsewhere = sites
	m.sharesChanged()
}

// watchElsewhere has the node asked again while a page waits for another task.
func (m *Machine) watchElsewhere() {
	for _, t := range m.Order {
		if m.Pages.At(t).Shown == messages.PageBlockedElsewhere {
			m.Arm(step.TimerElsewhere, step.ElsewhereAgain)
			return
		}
	}
}

// AsksElsewhere reports whether in needs to know what other tasks wait for.
func AsksElsewhere(in any) bool {
	switch in := in.(type) {
	case mail.SessionHealth:
		return in.State == messages.PageHung || in.State == messages.PageDialogUnreachable
	case step.TimerFired:
		return in.Name == step.TimerElsewhere || strings.HasPrefix(in.Name, timerWedge)
	}
	return false
}

// sharesChanged tells of the pages that a dialog of another page has begun to hold, or
// does so no more.
func (m *Machine) sharesChanged() {
	for _, t := range m.Order {
		if p := m.Pages.At(t); (p.HoldsDialog || p.Health == messages.PageDialogUnreachable) && p.Shown != m.PageState(t) {
			m.PageChanged(t)
		}
	}
}

// tellShared has the calls ended that a dialog of another page of the task holds up.
func (m *Machine) tellShared(s messages.SessionID, e *model.Session) {
	if shared, _ := m.Holding(e); len(shared) > 0 {
		m.ToSession(s, mail.SharedDialogs{Dialogs: shared})
	}
}
