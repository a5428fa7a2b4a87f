package page

import (
	"time"
)

// A doomed dialog belongs to a document that is being replaced (C58). These are the
// commands that find one out and that end it. The actor of the dialogs decides.

// movedSpan is how long after a page was moved on a navigation may be ended by that, or
// by the document that comes.
const movedSpan = 2 * time.Second

// maxAgain bounds how often such a navigation is begun anew.
const maxAgain = 10

// movedOn notes which navigations may be ended by it.
func (m *Machine) movedOn(now time.Time) {
	m.movedAt = now
	for _, n := range m.navs {
		n.isMoved = n.isMoved || !n.isSent
	}
}
