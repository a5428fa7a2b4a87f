package supervisor

import (
	"holdfast/actors/session"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// Snapshot is the state as it is now.
func (m *Machine) Snapshot() *messages.Snapshot {
	s := &messages.Snapshot{
		TaskID: m.id, State: m.state, Version: m.version, Active: m.state.Active(), Reason: m.reason,
		Connection: m.conn, Labels: m.spec.Labels,
	}
	if !s.Active {
		if m.pages.At(m.current) != nil {
			p := m.page(m.current)
			s.LastPage = &messages.LastPage{URL: p.URL, Title: p.Title}
		}
		return s
	}
	s.PageTargetID = m.current
	if m.current != "" {
		s.PageState = m.pageState(m.current)
	}
	s.Pages = make([]messages.Page, 0, len(m.order))
	bridges := m.pageBridges()
	for _, t := range m.order {
		s.Pages = append(s.Pages, m.pageWith(t, bridgeOf(bridges, t)))
	}
	s.PendingDialogs = orEmpty(m.pending)
	s.RecentDialogs = orEmpty(m.memory.Recent)
	s.ConsoleErrors = orEmpty(m.console)
	if t := m.trees.At(m.current); t != nil {
		s.FrameTree = view.Capped(t)
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

// sessionViews are the sessions as callers meet them, with their ports.
func (m *Machine) sessionViews(ports *smallmap.Map[messages.SessionID, *session.Port]) (views smallmap.Map[messages.SessionID, view.Session]) {
	views.Grow(m.sessions.Len())
	for s, e := range m.sessions.All() {
		views.Set(s, view.Session{Known: m.knownOf(s, e), Port: ports.At(s), Target: e.cfg.Target, Page: e.cfg.Page})
	}
	return views
}
