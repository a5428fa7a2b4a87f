package model

import (
	"holdfast/messages"
)

// Snapshot is the state as it is now.
func (m *Task) Snapshot() *messages.Snapshot {
	s := &messages.Snapshot{
		TaskID: m.ID, State: m.State, Version: m.Version, Active: m.State.IsActive(), Reason: m.Reason,
		Connection: m.Conn, Labels: m.Spec.Labels,
	}
	if s.Active {
		s.AnchorNode = m.AnchorNode
	}
	if !s.Active {
		if m.Pages.At(m.Current) != nil {
			p := m.Page(m.Current)
			s.LastPage = &messages.LastPage{URL: p.URL, Title: p.Title}
		}
		return s
	}
	s.PageTargetID = m.Current
	if m.Current != "" {
		s.PageState = m.PageState(m.Current)
	}
	s.Pages = make([]messages.Page, 0, len(m.Order))
	bridges := m.pageBridges()
	for _, t := range m.Order {
		s.Pages = append(s.Pages, m.pageWith(t, bridgeOf(bridges, t)))
	}
	s.PendingDialogs = orEmpty(m.Pending)
	s.RecentDialogs = orEmpty(m.Memory.Recent)
	s.Blockers = m.Blockers.Open()
	s.ConsoleErrors = orEmpty(m.Console)
	if t := m.Trees.At(m.Current); t != nil {
		s.FrameTree = Capped(t)
	}
	return s
}

// orEmpty keeps a list of a living task from being left out of the JSON.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
