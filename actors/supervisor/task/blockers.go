package task

import (
	"holdfast/actors/supervisor/blocker"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// timerBlocker has the blocker for its end.
const timerBlocker = "blocker:"

// blockerRaised takes what a page asks its browser for, and decides where the task's policy does.
func (m *Machine) blockerRaised(r mail.BlockerRaised) {
	p := m.Pages.At(r.Page)
	if p == nil || r.Gen != m.Gen {
		return
	}
	if m.Blockers == nil {
		m.Blockers = &blocker.Set{}
	}
	policy := m.Spec.Blockers.Of(r.Blocker.Type)
	if r.Blocker.Type == messages.BlockerFileChooser && policy == messages.BlockersLeave {
		policy = messages.BlockersAsk // an agent keeps the chooser closed by itself
	}
	e, isNew := m.Blockers.Add(m.Now, r, p.Info.URL, m.Spec.DialogTimeout())
	switch {
	case !isNew && e.ID != "":
		return // a second report
	case !isNew:
		m.settleBlocker(e, "")
		return
	case policy == messages.BlockersLeave || m.IsStopping():
		m.Blockers.Remove(func(o *blocker.Entry) bool { return o.ID == e.ID })
		m.settleBlocker(e, "")
		return
	case m.IsLapsed:
		policy = messages.BlockersAsk
	}
	opened := e.Blocker
	m.Tell(messages.Event{Type: messages.EventBlockerOpened, Blocker: &opened})
	switch policy {
	case messages.BlockersAccept:
		m.endBlocker(e.ID, messages.ClosedByAutoPolicy, messages.ActionAccept)
	case messages.BlockersDismiss:
		m.endBlocker(e.ID, messages.ClosedByAutoPolicy, messages.ActionDismiss)
	default:
		if e.ExpiresAt != 0 {
			m.Arm(timerBlocker+string(e.ID), m.Spec.DialogTimeout())
		}
	}
}

// askHuman takes an agent's question to a person.
func (m *Machine) askHuman(o mail.AskHuman) {
	if m.IsRefused(o.Reply) {
		return
	}
	if m.Blockers == nil {
		m.Blockers = &blocker.Set{}
	}
	e, isNew := m.Blockers.AskHuman(m.Now, o.Reason, o.Within)
	if !isNew {
		m.Refuse(o.Reply, messages.Errorf(messages.CodeLimitReached, "the task has %d open blockers already", blocker.MaxOpen).WithSent(messages.SentNo))
		return
	}
	opened := e.Blocker
	m.Tell(messages.Event{Type: messages.EventBlockerOpened, Blocker: &opened})
	m.Arm(timerBlocker+string(e.ID), o.Within)
	m.Answers = append(m.Answers, step.Answer{To: o.Reply, Value: opened})
}

// answerBlocker is a caller's answer.
func (m *Machine) answerBlocker(o mail.AnswerBlocker) {
	if m.IsRefused(o.Reply) {
		return
	}
	e, isOpen := m.Blockers.Find(o.Answer.BlockerID)
	said, wasAnswered := m.Blockers.Answered(o.Answer.BlockerID)
	isHuman := o.Answer.By == messages.AnswererHuman
	switch {
	case wasAnswered:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeDialogAlreadyAnswered, "blocker %s has ended", said.ID).With("closed_by", said.ClosedBy).With("action", said.Action).With("text", said.Text))
	case isOpen && e.Type == messages.BlockerHuman && !isHuman && o.Answer.Action == messages.ActionAccept:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeForbidden, "blocker %s waits for a person's answer", e.ID).With("waits_for", messages.AnswererHuman))
	case !isOpen:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeNotFound, "the task has no open blocker %q", string(o.Answer.BlockerID)))
	case e.IsAwaited() && m.SessionOf(e.Target) == "":
		m.Refuse(o.Reply, messages.Errorf(messages.CodeUpstreamUnavailable, "the page that asks is not connected").WithSent(messages.SentNo))
	default:
		by := messages.ClosedByAgent
		if isHuman {
			by = messages.ClosedByHuman
		}
		closed := m.endBlockerWith(e.ID, by, o.Answer.Action, o.Answer.Text)
		m.Answers = append(m.Answers, step.Answer{To: o.Reply, Value: *closed})
	}
}

// blockerExpired dismisses a blocker that has no answer. While the node may not decide, the page
// is left to its own patience.
func (m *Machine) blockerExpired(id messages.BlockerID) {
	if m.IsLapsed {
		m.endBlockers(messages.ClosedByWatchdog, func(e *blocker.Entry) bool { return e.ID == id })
		return
	}
	m.endBlocker(id, messages.ClosedByWatchdog, messages.ActionDismiss)
}

// endBlocker ends a blocker and has its page go on; nil where it is not open.
func (m *Machine) endBlocker(id messages.BlockerID, by messages.ClosedBy, action messages.Action) *messages.ClosedBlocker {
	return m.endBlockerWith(id, by, action, "")
}

// endBlockerWith is endBlocker with what a person has written to the agent that asks.
func (m *Machine) endBlockerWith(id messages.BlockerID, by messages.ClosedBy, action messages.Action, text string) (closed *messages.ClosedBlocker) {
	for _, e := range m.Blockers.Remove(func(e *blocker.Entry) bool { return e.ID == id }) {
		m.settleBlocker(e, action)
		closed = e.Closed(m.Now, by, action)
		if e.Type == messages.BlockerHuman {
			closed.Text = text
			m.Blockers.Keep(*closed)
		}
		m.Tell(messages.Event{Type: messages.EventBlockerClosed, ClosedBlocker: closed})
	}
	return closed
}

// endBlockers ends those that is says, whose page has gone elsewhere or that nothing can answer any
// more.
func (m *Machine) endBlockers(by messages.ClosedBy, is func(*blocker.Entry) bool) {
	for _, e := range m.Blockers.Remove(is) {
		m.Tell(messages.Event{Type: messages.EventBlockerClosed, ClosedBlocker: e.Closed(m.Now, by, "")})
	}
}

// pageBlockersEnd ends what the document of a page has asked for.
func (m *Machine) pageBlockersEnd(page messages.TargetID) {
	m.endBlockers(messages.ClosedByRemote, func(e *blocker.Entry) bool { return e.TargetID == page })
}

// frameBlockersEnd ends what a frame below a page's own has asked for.
func (m *Machine) frameBlockersEnd(f mail.FrameMoved) {
	if f.Frame != messages.FrameID(f.Page) {
		m.endBlockers(messages.ClosedByRemote, func(e *blocker.Entry) bool { return e.FrameID == f.Frame })
	}
}

// blockersLeave has every page go on that waits: the task is about to end.
func (m *Machine) blockersLeave() {
	for _, e := range m.Blockers.Remove(func(*blocker.Entry) bool { return true }) {
		m.settleBlocker(e, "")
		m.Tell(messages.Event{Type: messages.EventBlockerClosed, ClosedBlocker: e.Closed(m.Now, messages.ClosedByLost, "")})
	}
}

// settleBlocker has a page go on. Without an action the browser decides as it would have.
func (m *Machine) settleBlocker(e blocker.Entry, action messages.Action) {
	s := m.SessionOf(e.Target)
	if !e.IsAwaited() || s == "" {
		return
	}
	order := mail.SettleBlocker{Asked: e.Asked, Context: m.Context}
	switch action {
	case messages.ActionAccept:
		order.Setting = "granted"
	case messages.ActionDismiss:
		order.Setting = "denied"
	}
	m.ToSession(s, order)
}
