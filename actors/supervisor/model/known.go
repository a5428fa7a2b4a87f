package model

import (
	"holdfast/actors/supervisor/admit"
	"holdfast/internal/backend"
	"holdfast/messages"
)

// Three times it is said what is known, for the verdict: of a session, for commands; of a
// page, for its recovery; and of both, for a navigation, which only the page's own
// session can hold up.

// KnownOf is what is known of a session.
func (m *Task) KnownOf(s messages.SessionID, e *Session) admit.Known {
	dialogs := m.DialogsOn(e.Cfg.Page)
	p := m.Pages.At(e.Cfg.Page)
	state, shared := m.viewState(e)
	return admit.Known{
		State: state, Since: e.Since, IsStranded: e.IsStranded, IsPoisoned: p != nil && p.IsPoisoned,
		Shared: shared, Blocking: m.heldBy(s, dialogs, IsBlocking), Paused: m.heldBy(s, dialogs, IsPausing), PageDialogs: dialogs,
	}
}

// KnownAt is what is known of a page and its own session.
func (m *Task) KnownAt(t messages.TargetID) admit.Known {
	p := m.Pages.At(t)
	k := admit.Known{IsDetached: p.Session == "", IsPoisoned: p.IsPoisoned, IsDoomed: p.IsDoomed, IsUnsettled: m.IsUnsettled(t) && !m.IsStopping()}
	if e := m.Sessions.At(p.Session); e != nil {
		k.State, k.Shared = m.viewState(e)
	}
	return k
}

// Known is what is known of a page of the task.
func (m *Task) Known(t messages.TargetID) admit.Known {
	p := m.Pages.At(t)
	return admit.Known{
		State: m.PageState(t), IsStranded: m.IsStranded(t), IsPoisoned: p.IsPoisoned,
		IsDoomed: p.IsDoomed, IsUnsettled: m.IsUnsettled(t) && !m.IsStopping(), IsUnsaveable: m.Orphaned[t].Type == messages.DialogBeforeUnload,
		IsOffline: m.Conn.Primary != messages.LinkUp, IsDetached: p.Session == "", HasNoAnchor: m.Conn.Anchor != messages.LinkUp, HasNoTargets: m.Caps.TargetDomain == backend.No,
		PageDialogs: m.DialogsOn(t), Shared: m.sharedDialogs(t),
	}
}
