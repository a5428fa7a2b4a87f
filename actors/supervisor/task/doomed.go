package task

import (
	"slices"
	"strings"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A page with a doomed dialog may not be left by any session, and closed only while
// every session is attached (C58): the opposite order of a poisoned one (C15). Whether
// a dialog is doomed is known a moment after it has opened, and a doomed one is gone a
// moment later. What leaves a page waits for that.

const timerParked = "parked:"

// parkedFor bounds how long an order waits for what is known of a page's dialogs.
const parkedFor = time.Second

// park keeps an order until the page may be left.
func (m *Machine) park(t messages.TargetID, order any) {
	p := m.Pages.At(t)
	p.Parked = append(p.Parked, order)
	if len(p.Parked) == 1 {
		m.Arm(timerParked+string(t), parkedFor)
	}
}

// unpark carries out the orders of pages that may be left by now.
func (m *Machine) unpark() {
	for _, t := range slices.Clone(m.Order) {
		p := m.Pages.At(t)
		if p == nil || len(p.Parked) == 0 || m.IsUnsettled(t) && !m.IsStopping() {
			continue
		}
		parked := p.Parked
		p.Parked = nil
		for _, o := range parked {
			m.carryOut(o)
		}
		p.HasWaited = false
	}
}

func (m *Machine) carryOut(order any) {
	switch o := order.(type) {
	case mail.ClosePage:
		m.closePage(o)
	case mail.RecoverPage:
		m.recover(o)
	case mail.Navigate:
		m.navigate(o)
	}
}

// handleParkedTimer ends a wait that has been long enough.
func (m *Machine) handleParkedTimer(name string) bool {
	t, ok := strings.CutPrefix(name, timerParked)
	if p := m.Pages.At(messages.TargetID(t)); ok && p != nil && len(p.Parked) > 0 {
		p.HasWaited = true
	}
	return ok
}

func (m *Machine) pageDoomed(d mail.PageDoomed) {
	p := m.Pages.At(d.Page)
	if p == nil {
		return
	}
	p.IsDoomed = d.Is
	switch {
	case !d.Is:
		m.PageChanged(d.Page)
	case d.MustClose:
		m.Do(step.Warn{Text: "a page asks without end while its next document waits, it is closed", Page: d.Page})
		o := mail.ClosePage{Page: d.Page, IsAttached: true}
		if p.Session != "" {
			m.ToBrowser(o)
		} else {
			m.ToAnchor(o)
		}
	}
}
