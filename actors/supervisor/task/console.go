package task

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// consoleReported puts an error into the ring, once.
//
// A browser keeps what a target wrote to its console, a thousand entries per
// document, and says all of it again to every session that enables Runtime:
// after a reconnect, a release, a reattach. The same happens on a session that
// never ended when a document comes back out of the back-forward cache, before
// anything tells that it did.
func (m *Machine) consoleReported(page, target messages.TargetID, e *messages.ConsoleError) {
	if m.Pages.At(page) != nil && m.reports.IsKnown(page, target, e) {
		return
	}
	// What has been published ends before the place that is written: the list is
	// copied only when there is no room behind it, not for every error.
	m.Console = append(m.Console, *e)
	if over := len(m.Console) - messages.MaxConsoleErrors; over > 0 {
		m.Console = m.Console[over:]
	}
	m.TellError(&m.Console[len(m.Console)-1])
}

// consoleReports takes the errors that a session has heard of in one go. No other
// facts come together: what the task does about one hangs on what was before it.
func (m *Machine) consoleReports(r mail.ConsoleReports) {
	m.ExpectErrors(len(r.Entries))
	for i := range r.Entries {
		m.consoleReported(r.Page, r.Target, &r.Entries[i])
	}
}
