package task

import (
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The bounds of what a task survives of actors that fail: more in that time end it.
const (
	maxFailures    = 20
	failuresPeriod = time.Minute
)

// sessionFailed gives up a session whose actor has failed, with every session of its page, and
// has the page attached to anew. What was in the actor's mailbox is lost with it; the next
// session learns everything from the browser. A dialog that no other party covers is lost (M1).
func (m *Machine) sessionFailed(now time.Time, s messages.SessionID) {
	e := m.Sessions.At(s)
	if e == nil {
		return
	}
	t := e.Cfg.Page
	p := m.Pages.At(t)
	m.letRun(t)
	m.doubt(t) // also of what a party that stays can answer: its end may have been told to the actor
	root := p.Session
	p.HasFailed = true
	m.sessionEnded(root)
	m.ToDialog(mail.SessionFailed{Page: t, Session: root})
	if m.IsStopping() {
		return // the link leaves the page, as it is
	}
	m.ToBrowser(mail.ReattachPage{Page: t, Failed: root})
	m.failures = append(m.failures, now)
	for now.Sub(m.failures[0]) > failuresPeriod {
		m.failures = m.failures[1:]
	}
	if len(m.failures) > maxFailures {
		err := messages.Errorf(messages.CodeUpstreamUnavailable, "gave up on the sessions after %d failures in %s", len(m.failures), failuresPeriod)
		m.Do(step.SessionsGaveUp{})
		m.stop(model.ReasonOf(err), err)
	}
}
