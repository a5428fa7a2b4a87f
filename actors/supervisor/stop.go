package supervisor

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"holdfast/actors/dialog"
	"holdfast/actors/session/link"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The budgets of an orderly stop (requirement A10: 5 s in all).
const (
	stopBudget   = 4 * time.Second
	dialogBudget = time.Second

	// releaseGrace lets the command that removed the frame have its reply
	// before the page's session is left.
	releaseGrace = 50 * time.Millisecond

	// framesProbation is how long a restarted frame actor has to live for its
	// failure to be forgiven.
	framesProbation = time.Minute
)

const (
	timerStop    = "stop"
	timerDialogs = "dialogs"
	timerFrames  = "frames"
	timerRelease = "release:"
)

// parting is how far an orderly end has come. Each step waits for the one before,
// and what fails meanwhile ends none of them early: as long as one link lives, it
// takes along what is the task's.
type parting uint8

const (
	staying    parting = iota
	dismissing         // of dialogs that may not be left open
	anchorLeaving
	browserLeaving
)

func (m *Machine) stopping() bool { return m.parting != staying }

// stop ends the task in good order, lost if err says so.
func (m *Machine) stop(why string, err error) {
	if m.stopping() {
		return
	}
	m.parting, m.reason, m.verdict = dismissing, why, err
	m.do(Arm{timerStop, stopBudget})
	// And until it is known that no dialog is doomed, no page may be left.
	if m.spec.Launch == nil && (slices.ContainsFunc(m.memory.Open, m.dismissed) || slices.ContainsFunc(m.order, m.isUnsettled)) {
		m.do(ToDialog{dialog.Leave{}})
		m.do(Arm{timerDialogs, dialogBudget})
		return
	}
	m.leaveAnchor()
}

// dismissed says that a dialog may not be left as it is. A page that outlives the task
// would stay frozen; but where the end was not requested, other clients may see the page
// and answer, and no answer is invented. One that is closed while a frame of another
// process asks ends the browser, if any other client is attached to it: closing it removes
// the frame first (C15, measured).
func (m *Machine) dismissed(d mail.OpenDialog) bool {
	if m.spec.Scope != messages.ScopeOwn {
		return m.verdict == nil
	}
	return string(d.Dialog.FrameID) != string(d.Dialog.TargetID)
}

// leaveAnchor ends the second link before the first: no other session may be attached to a
// page with a poisoned dialog when it is closed (C15).
func (m *Machine) leaveAnchor() {
	if m.parting != dismissing {
		return
	}
	m.parting = anchorLeaving
	if !m.anchor.lives() {
		m.leaveBrowser()
		return
	}
	for _, t := range m.heldAtTheEnd() {
		m.do(ToAnchor{mail.FreeFirst{Page: t}}) // the primary may fall at any moment
	}
	m.do(ToAnchor{mail.Leave{}})
	m.anchorHas(m.conn.Primary == messages.LinkUp)
}

// anchorHas gives the anchor time to leave: more where there is no primary, and
// it has to close what is the task's.
func (m *Machine) anchorHas(primary bool) {
	budget := link.LeaveBudget
	switch {
	case primary:
		budget = anchorLeaves
	case len(m.heldAtTheEnd()) > 0:
		budget = link.FreeBudget
	}
	m.do(Arm{timerAnchorStop, budget})
}

// leaveBrowser also ends a link that dials or attaches: a tab may have been
// made, a popup may be held.
func (m *Machine) leaveBrowser() {
	if m.parting != anchorLeaving {
		return
	}
	m.parting = browserLeaving
	m.leaveBridge()
	if m.conn.Primary != messages.LinkUp && m.conn.Primary != messages.LinkDialing {
		m.parted()
		return
	}
	for _, t := range m.heldAtTheEnd() {
		m.do(ToBrowser{mail.ClosePage{Page: t, Free: true}})
	}
	m.do(ToBrowser{mail.Leave{}})
}

// heldAtTheEnd are the task's own pages that may not be closed before they are
// freed.
func (m *Machine) heldAtTheEnd() []messages.TargetID {
	if m.spec.Scope != messages.ScopeOwn {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.order), func(t messages.TargetID) bool { return !m.needsFreeing(t) })
}

// parted is the end of an orderly end.
func (m *Machine) parted() {
	if m.verdict != nil {
		m.finish(messages.StateLost, m.verdict)
	} else {
		m.finish(messages.StateStopped, nil)
	}
}

func (m *Machine) timerFired(now time.Time, name string) {
	switch name {
	case timerAnchorAgain:
		m.anchorTrial(now)
	case timerStop:
		m.parted()
	case timerDialogs:
		m.leaveAnchor()
	case timerAnchorStop:
		m.leaveBrowser()
	case timerFrames:
		m.do(FramesStable{})
	default:
		if page, ok := strings.CutPrefix(name, timerAnchorLeave); ok {
			m.doAll(m.parties.GiveUp(messages.TargetID(page)))
		} else if page, ok := strings.CutPrefix(name, timerNeeded); ok {
			m.stillNeeded(messages.TargetID(page))
		}
	}
}

// finish publishes the last state and ends the supervisor. What only a living
// supervisor can know is absent from it, not empty (D27).
func (m *Machine) finish(s messages.TaskState, err error) {
	if m.finished() {
		return
	}
	if err != nil {
		m.reason = reasonOf(err)
	}
	m.conn.Primary, m.conn.Anchor = messages.LinkDown, messages.LinkDown
	m.outageEnds()
	for _, t := range m.order {
		for _, o := range m.pages.At(t).parked {
			m.late(o)
		}
		m.pages.At(t).parked = nil
	}
	m.become(s)
	m.do(m.take())
	m.tellSiblings(true, m.order...)
	m.do(Finish{err})
}

// outcomeOf is what an end in state s counts as; "" is none.
func (m *Machine) outcomeOf(s messages.TaskState) messages.TaskOutcome {
	switch {
	case s.Active():
		return ""
	case s == messages.StateLost && m.everUp:
		return messages.OutcomeLost
	case s == messages.StateLost:
		return messages.OutcomeFailed
	}
	return cmp.Or(m.outcome, messages.OutcomeStopped)
}

func reasonOf(err error) string {
	if e, ok := errors.AsType[*messages.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// end is finish for a supervisor that ends without having decided to.
func (m *Machine) end(s messages.TaskState, err error) []Effect {
	m.out = nil
	m.finish(s, err)
	for _, t := range m.parties.Leaving() {
		for _, do := range m.parties.GiveUp(t) {
			if b, ok := do.(ToBrowser); ok {
				m.late(b.Msg)
			}
		}
	}
	for t, o := range m.opening {
		delete(m.opening, t)
		m.do(Answer{To: o.reply, Err: ended()})
	}
	m.abandonRecoveries(ended())
	m.giveAnswers()
	return m.effects()
}

func (m *Machine) finished() bool {
	return m.state == messages.StateLost || m.state == messages.StateStopped
}

// late answers what comes after the end.
func (m *Machine) late(in any) {
	refuse := func(to mail.Call) { m.do(Answer{To: to, Err: ended()}) }
	switch in := in.(type) {
	case mail.Relay:
		m.do(Answer(in))
	case mail.AnswerDialog:
		refuse(in.Reply)
	case mail.Navigate:
		refuse(in.Reply)
	case mail.OpenPage:
		refuse(in.Reply)
	case mail.ClosePage:
		refuse(in.Reply)
	case mail.RecoverPage:
		refuse(in.Reply)
	case PageOpened:
		refuse(in.Reply)
	}
}

func ended() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").WithSent(messages.SentYes)
}
