package model

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/messages"
)

// Report prints what is known of the task, a line each for the task, its links, pages,
// sessions and open dialogs. It holds no text or address of a page, and no secret.
func (m *Task) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "task %s version %d\n", m.State, m.Version)
	fmt.Fprintf(&b, "links primary %s gen %d, anchor %s\n", m.Conn.Primary, m.Gen, m.Conn.Anchor)
	for _, t := range m.Order {
		p := m.Pages.At(t)
		fmt.Fprintf(&b, "page %s %s session %q\n", t, m.PageState(t), p.Session)
	}
	for _, s := range m.SessionOrder() {
		e := m.Sessions.At(s)
		fmt.Fprintf(&b, "session %s of %s %s ready %t\n", s, e.Cfg.Page, e.Health, e.IsReady)
	}
	dialogs := slices.Clone(m.Pending)
	slices.SortFunc(dialogs, func(a, c messages.Dialog) int { return strings.Compare(string(a.ID), string(c.ID)) })
	for i := range dialogs {
		fmt.Fprintf(&b, "dialog %s %s on %s\n", dialogs[i].ID, dialogs[i].Type, dialogs[i].TargetID)
	}
	return b.String()
}
