package metrics

import "holdfast/internal/guard"

// ActorStarted implements guard.Observer.
func (m *Metrics) ActorStarted(kind string) { m.living.add(1, kind) }

// ActorExited implements guard.Observer.
func (m *Metrics) ActorExited(kind string, r guard.Reason) {
	m.living.add(-1, kind)
	m.exits.inc(r.Kind.String())
}

// ActorRestarted implements guard.Observer.
func (m *Metrics) ActorRestarted(kind string) { m.restarts.inc(kind) }

// ActorGaveUp implements guard.Observer.
func (m *Metrics) ActorGaveUp(kind string) { m.gaveUp.inc(kind) }

// DeadLetter implements guard.Observer.
func (m *Metrics) DeadLetter(late bool) {
	if late {
		m.letters.inc(letterLate)
	} else {
		m.letters.inc(letterAtExit)
	}
}

// DuplicateID implements guard.Observer.
func (m *Metrics) DuplicateID() { m.ids.inc() }
