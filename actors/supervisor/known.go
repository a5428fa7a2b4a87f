package supervisor

import (
	"holdfast/actors/supervisor/admit"
	"holdfast/messages"
)

// Three times it is said what is known, for the verdict: of a session, for commands; of a
// page, for its recovery; and of both, for a navigation, which only the page's own
// session can hold up.

// knownOf is what is known of a session.
func (m *Machine) knownOf(s messages.SessionID, e *sessionEntry) admit.Known {
	dialogs := m.dialogsOn(e.cfg.Page)
	p := m.pages.At(e.cfg.Page)
	state, shared := m.viewState(e)
	return admit.Known{
		State: state, Since: e.since, IsStranded: e.stranded, IsPoisoned: p != nil && p.poisoned,
		Shared: shared, Blocking: m.heldBy(s, dialogs, blocks), Paused: m.heldBy(s, dialogs, pauses), PageDialogs: dialogs,
	}
}

// knownAt is what is known of a page and its own session.
func (m *Machine) knownAt(t messages.TargetID) admit.Known {
	p := m.pages.At(t)
	k := admit.Known{IsDetached: p.session == "", IsPoisoned: p.poisoned, IsDoomed: p.doomed, IsUnsettled: m.isUnsettled(t) && !m.stopping()}
	if e := m.sessions.At(p.session); e != nil {
		k.State, k.Shared = m.viewState(e)
	}
	return k
}

// known is what is known of a page of the task.
func (m *Machine) known(t messages.TargetID) admit.Known {
	p := m.pages.At(t)
	return admit.Known{
		State: m.pageState(t), IsStranded: m.isStranded(t), IsPoisoned: p.poisoned,
		IsDoomed: p.doomed, IsUnsettled: m.isUnsettled(t) && !m.stopping(), IsUnsaveable: m.orphaned[t].typ == "beforeunload",
		IsOffline: m.conn.Primary != messages.LinkUp, IsDetached: p.session == "", HasNoAnchor: m.conn.Anchor != messages.LinkUp,
		PageDialogs: m.dialogsOn(t), Shared: m.sharedDialogs(t),
	}
}
