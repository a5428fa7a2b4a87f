package dialog

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// answer is the one that won.
type answer struct {
	by       messages.ClosedBy
	action   messages.Action
	text     *string
	reply    mail.Call // nil for policy and watchdog
	way      mail.Way  // it went
	given    *string   // with it, to a prompt
	tries    int
	isUnsure bool               // its link is gone: whether it arrived will show
	err      error              // of a try that may have arrived, nil where none did
	taken    messages.SessionID // has told that the call has it; bridged
}

// beforeUnload is what happens to a beforeunload dialog. Unless the spec says, it waits for
// an answer where an agent is expected to give one and a second link keeps it answerable:
// an orphaned one cannot be saved (C20).
func (m *Machine) beforeUnload(page messages.TargetID) messages.BeforeUnload {
	switch {
	case m.spec.BeforeUnload != "":
		return m.spec.BeforeUnload
	case m.spec.DialogPolicy == messages.PolicyMustRespond && m.watches[messages.RoleAnchor].At(page).isCovered:
		return messages.BeforeUnloadAsk
	}
	return messages.BeforeUnloadAccept
}

// policy says whether a dialog is answered without asking: by a rule, or else by the task's
// policy.
func (m *Machine) policy(e *entry) (answer, bool) {
	d := e.Dialog
	switch r, _, ok := m.spec.RuleFor(d); {
	case d.WaitsFor != "":
		return answer{}, false
	case ok && r.Action == messages.RuleAccept:
		return answer{by: messages.ClosedByRule, action: messages.ActionAccept, text: r.PromptText}, true
	case ok && r.Action == messages.RuleDismiss:
		return answer{by: messages.ClosedByRule, action: messages.ActionDismiss}, true
	}
	if d.Type == messages.DialogBeforeUnload {
		switch m.beforeUnload(d.TargetID) {
		case messages.BeforeUnloadAccept:
			return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionAccept}, true
		case messages.BeforeUnloadDismiss:
			return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}, true
		case messages.BeforeUnloadAsk:
			return answer{}, false
		}
	}
	switch m.spec.DialogPolicy {
	case messages.PolicyAutoAccept:
		return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionAccept}, true
	case messages.PolicyAutoDismiss:
		return answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}, true
	}
	return answer{}, false
}

// noteRule tells in a dialog which rule holds for it. Whom a dialog waits for is decided once,
// as it opens: rules that change later take no question from a person.
func (m *Machine) noteRule(e *entry) {
	if e.Dialog.WaitsFor != "" {
		return
	}
	r, name, ok := m.spec.RuleFor(e.Dialog)
	if !ok {
		e.Dialog.Rule = ""
		return
	}
	e.Dialog.Rule = name
	switch r.Action {
	case messages.RuleAsk:
		e.Dialog.WaitsFor = messages.AnswererAgent
	case messages.RuleHuman:
		e.Dialog.WaitsFor = messages.AnswererHuman
	}
}

// isUnasked says that an answer comes without a caller's asking, as the dialog opens.
func isUnasked(by messages.ClosedBy) bool {
	return by == messages.ClosedByAutoPolicy || by == messages.ClosedByRule
}

// isRepeatable says that an answer may be sent again though it may have arrived: should the page's
// next dialog get it, that would have got the same. With rules it might wait for a person.
func (m *Machine) isRepeatable(by messages.ClosedBy) bool {
	return by == messages.ClosedByAutoPolicy && len(m.spec.NodeRules)+len(m.spec.DialogRules) == 0
}

// dismissOnLeave is what a page gets whose task ends while it asks: without a task it would
// wait for ever (C17).
var dismissOnLeave = answer{by: messages.ClosedByAutoPolicy, action: messages.ActionDismiss}

// decideAlone answers a dialog without asking an agent.
func (m *Machine) decideAlone(e *entry) {
	if m.isLapsed() {
		return
	}
	if a, ok := m.policy(e); ok {
		m.decide(e, a)
	} else if m.isLeaving {
		m.decide(e, dismissOnLeave)
	}
}

// decide settles who answers e. The first to come here wins.
func (m *Machine) decide(e *entry, a answer) bool {
	if e.answer != nil {
		return false
	}
	e.answer = &a
	m.send(e)
	return true
}

// send gives the answer that won to the link that is to deliver it.
func (m *Machine) send(e *entry) {
	a := e.answer
	if m.isLapsed() {
		m.keepBack(e)
		return
	}
	if len(e.Ways) == 0 {
		a.way = mail.Way{} // for the next report of it; see wayless
		return
	}
	a.way = e.Ways[0]
	a.tries++
	e.isPromoted = a.way.Role == messages.RoleAnchor && !slices.ContainsFunc(e.Ways, func(w mail.Way) bool { return w.Role == messages.RolePrimary })
	order := mail.HandleDialog{Dialog: e.Dialog.ID, Session: a.way.Session, Page: e.Dialog.TargetID, MustAccept: a.action == messages.ActionAccept, Pause: e.Pause}
	a.given = nil
	if e.Dialog.Type == "prompt" && order.MustAccept {
		// Chrome would return "" for an accepted prompt without a text (C3);
		// a person who presses OK gets the default, which a bridged call has itself.
		order.Text = a.text
		if order.Text == nil && e.Dialog.Path == messages.PathNative {
			order.Text = &e.RawDefault
		}
		a.given = order.Text
	}
	m.do(ToSession{a.way.Role, order})
}

// likely is who closed a dialog to which an answer of ours was sent, as long as no outcome
// has confirmed it: our answer, unless it has closed in another way.
func (e *entry) likely(c mail.DialogClosed) messages.ClosedBy {
	accept := e.answer.action == messages.ActionAccept
	switch {
	case e.Dialog.Type == "alert": // where both ways are one
	case c.IsAccepted != accept, e.answer.given != nil && c.Text != *e.answer.given:
		return messages.ClosedByRemote
	}
	return e.answer.by
}

func (m *Machine) answered(_ time.Time, o mail.AnswerDialog) {
	e, err := m.find(o.Answer.DialogID)
	if err != nil {
		m.do(Answer{To: o.Reply, Err: err})
		return
	}
	a := answer{by: messages.ClosedByAgent, action: o.Answer.Action, text: o.Answer.PromptText, reply: o.Reply}
	if o.Answer.By == messages.AnswererHuman {
		a.by = messages.ClosedByHuman
	} else if e.Dialog.WaitsFor == messages.AnswererHuman {
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeForbidden, "dialog %s waits for a person's answer, as rule %s says", e.Dialog.ID, e.Dialog.Rule).
			With("dialog_id", e.Dialog.ID).With("rule", e.Dialog.Rule).With("waits_for", e.Dialog.WaitsFor)})
		return
	}
	if m.isLapsed() {
		m.do(Answer{To: o.Reply, Err: mail.Lapsed()})
		return
	}
	if !m.decide(e, a) {
		m.do(Answer{To: o.Reply, Err: alreadyAnswered(e.Dialog.ID, e.answer.by)})
	}
}

// find returns the dialog an answer means, or the error that says what the
// caller could have meant (D10, D11, D12).
func (m *Machine) find(id messages.DialogID) (*entry, error) {
	if id == "" {
		var open []*entry
		for _, e := range m.open {
			if !e.isShut() {
				open = append(open, e)
			}
		}
		switch len(open) {
		case 0:
			return nil, messages.Errorf(messages.CodeNoDialog, "no dialog is open")
		case 1:
			return open[0], nil
		}
		return nil, messages.Errorf(messages.CodeDialogAmbiguous, "%d dialogs are open; name one by dialog_id", len(open)).
			With("candidates", m.pending())
	}
	for _, e := range m.open {
		if e.Dialog.ID == id {
			return e, nil
		}
	}
	for _, c := range m.recent {
		if c.ID != id {
			continue
		}
		if c.ClosedBy == messages.ClosedByLost {
			return nil, messages.Errorf(messages.CodeDialogLost, "dialog %s can no longer be answered by anyone", id)
		}
		return nil, alreadyAnswered(id, c.ClosedBy)
	}
	if m.wasIssued(id) {
		return nil, alreadyAnswered(id, "")
	}
	known := make([]messages.DialogID, 0, len(m.open))
	for _, e := range m.open {
		known = append(known, e.Dialog.ID)
	}
	return nil, messages.Errorf(messages.CodeDialogNotFound, "there is no dialog %s", id).With("known", known)
}

// wasIssued says whether id was given out once, even if history forgot it.
func (m *Machine) wasIssued(id messages.DialogID) bool {
	n := id.Number()
	return n >= 1 && n <= m.seq && (n <= m.unheard[0] || n > m.unheard[1])
}

func alreadyAnswered(id messages.DialogID, by messages.ClosedBy) *messages.Error {
	err := messages.Errorf(messages.CodeDialogAlreadyAnswered, "dialog %s was answered already", id)
	if by != "" {
		err = err.With("closed_by", by)
	}
	return err
}

// handled is the outcome of our answer on the wire.
func (m *Machine) handled(now time.Time, h mail.DialogHandled) {
	e := m.byID(h.Dialog)
	if e == nil {
		return // the closing event was faster
	}
	if e.answer == nil || e.answer.way.Session != h.Session {
		return // of a try that was given up: its session was stopped before it could say
	}
	switch {
	case h.Err == nil:
		m.end(now, e, e.answer.by)
	case quirks.Classify(h.Err) == quirks.InactivePage && canBeDoomed(e.Dialog.Type) && !e.isBridged() && !e.isShut():
		m.doomed(now, e, h.Session)
	case quirks.Classify(h.Err) == quirks.NoDialog && !e.isBridged() && m.wasBlind(e):
		m.dropWays(e, func(w mail.Way) bool { return w == e.answer.way })
		if len(e.Ways) == 0 {
			m.end(now, e, messages.ClosedByLost)
			return
		}
		m.send(e)
	case e.answer.err != nil && (quirks.Classify(h.Err) == quirks.NoDialog || e.isShut()):
		// It was said again, and the try before it had arrived after all.
		m.endBy(now, e, cmp.Or(e.ShutBy, e.answer.by))
	case quirks.Classify(h.Err) == quirks.NoDialog && e.isAnswerDelivered() && e.answer.taken != h.Session:
		m.end(now, e, e.answer.by) // the call has gone on with what an earlier try gave it
	case quirks.Classify(h.Err) == quirks.NoDialog, e.isShut() && isUnsent(h.Err):
		// Another client was first (C6). For the policy's answer, which may have been sent
		// more than once, only the closing event decides.
		if m.end(now, e, messages.ClosedByRemote); !isUnasked(e.answer.by) {
			m.maybeNeeded(now, e)
		}
	case e.isShut():
		// Sent, closed, and the confirmation lost.
		m.endBy(now, e, e.ShutBy)
	default:
		if m.undelivered(now, e, h.Err); e.isOver && e.answer == nil {
			m.end(now, e, messages.ClosedByRemote)
		}
	}
}

// undelivered is an answer that was not written, or that may not have arrived. The dialog
// may still be there.
func (m *Machine) undelivered(now time.Time, e *entry, err error) {
	if messages.CodeOf(err) == messages.CodeLeaseLapsed {
		m.withheld(e)
		return
	}
	failed := e.answer.way
	if len(e.Ways) == 0 {
		if !e.isBridged() && !isUnsent(err) && !m.isRepeatable(e.answer.by) {
			m.answerFailed(now, e, err) // said again it could answer the page's next dialog
			return
		}
		e.answer.way = mail.Way{}
		return
	}
	if hasWay(e.Ways, failed.Session) && len(e.Ways) > 1 {
		// The others first, the next time.
		e.Ways = append(slices.DeleteFunc(slices.Clone(e.Ways), func(w mail.Way) bool { return w == failed }), failed)
	}
	other := e.Ways[0] != failed && e.answer.tries < maxTries
	switch {
	case other && (isUnsent(err) || e.isBridged() || m.isRepeatable(e.answer.by)):
		// Nothing was said, or it would be said to any dialog of the page.
		if !e.isBridged() && !isUnsent(err) {
			e.answer.err = err // it may have arrived, and the next try finds no dialog then
		}
		m.send(e)
	case other && messages.CodeOf(err) == messages.CodeUpstreamUnavailable:
		// The other link tells whether it arrived. To say it again blindly could
		// answer the page's next dialog.
		e.answer.isUnsure, e.answer.err = true, err
		m.do(Arm{outcome(e.Dialog.ID), OutcomeGrace})
	default:
		m.answerFailed(now, e, err)
	}
}

// maxTries bounds how often one answer is given to a link.
const maxTries = 3

// OutcomeGrace is the time for the closing of a dialog to show on the
// other link, when the one that carried the answer has died.
const OutcomeGrace = 250 * time.Millisecond

const outcomePrefix = "outcome:"

func outcome(id messages.DialogID) string { return outcomePrefix + string(id) }

// outcomeUnknown comes when no link has told of the dialog's end in time. The answer
// did not arrive, and with its link its session is gone: it is said again by the link
// that sees the dialog stand open (contract, "Calls during a reconnect").
func (m *Machine) outcomeUnknown(id messages.DialogID) {
	if e := m.byID(id); e != nil && e.answer != nil && e.answer.isUnsure {
		e.answer.isUnsure = false
		m.send(e)
	}
}

const hastePrefix = "haste:"

// hasten gives the link that carries an answer a moment to tell of its outcome, at the end of the
// task: that does not wait until a link that has fallen silent is noticed.
func (m *Machine) hasten(e *entry) {
	if e.answer != nil && !e.isShut() && !e.isBridged() && len(e.Ways) > 1 && (e.answer.action == messages.ActionDismiss || m.isRepeatable(e.answer.by)) {
		m.do(Arm{hastePrefix + string(e.Dialog.ID), OutcomeGrace})
	}
}

// handleHasteDue says the answer again by another link. Should it have arrived after all, the page's
// next dialog gets what all of them get that open while the task ends.
func (m *Machine) handleHasteDue(name string) bool {
	id, ok := strings.CutPrefix(name, hastePrefix)
	if e := m.byID(messages.DialogID(id)); ok && e != nil && e.answer != nil && !e.isShut() {
		i := slices.IndexFunc(e.Ways, func(w mail.Way) bool { return w != e.answer.way })
		if i >= 0 && !m.isLapsed() {
			other := e.Ways[i]
			e.Ways = append([]mail.Way{other}, slices.DeleteFunc(slices.Clone(e.Ways), func(w mail.Way) bool { return w == other })...)
			e.answer.err = messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser is silent").WithSent(messages.SentYes)
			m.send(e)
		}
	}
	return ok
}

// answerFailed opens the dialog to the next answer. That is the watchdog's if it found this
// answer under way; its own answer it repeats at its pace.
func (m *Machine) answerFailed(now time.Time, e *entry, err error) {
	if e.answer.err != nil && isUnsent(err) {
		err = e.answer.err // a try before this one may have arrived
	}
	if e.answer.reply != 0 {
		m.do(Answer{To: e.answer.reply, Err: err})
	}
	if late := e.ExpiresAt.Sub(now); !m.isLapsed() && late <= 0 && e.answer.by != messages.ClosedByWatchdog {
		m.do(Arm{watchdog(e.Dialog.ID), late})
	}
	e.answer, e.mayHaveArrived = nil, e.mayHaveArrived || !isUnsent(err)
	m.changed(nil, nil)
	if e.IsUnproved {
		m.probe(e)
	}
}

// wasBlind says that an answer went by a link that never told of the dialog:
// it does not see it, which is not to say that it is closed.
func (m *Machine) wasBlind(e *entry) bool {
	return e.answer != nil && !e.isShut() && e.Seen.Sights[e.answer.way.Role] != mail.SightOpened &&
		e.Seen.Sights[e.answer.way.Role] != mail.SightOver
}

// isUnsent says that an order never reached the browser.
func isUnsent(err error) bool {
	var e *messages.Error
	return errors.As(err, &e) && e.Sent == messages.SentNo
}
