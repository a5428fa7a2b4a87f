package task

import (
	"slices"
	"strings"
	"time"

	"holdfast/actors/dialog"
	"holdfast/actors/session/link"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
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

// stop ends the task in good order, lost if err says so.
func (m *Machine) stop(why string, err error) {
	if m.IsStopping() {
		return
	}
	m.Parting, m.Reason, m.Verdict = model.Dismissing, why, err
	if m.IsLapsed {
		m.parted() // pages and dialogs are left to the node that may decide
		return
	}
	m.blockersLeave()
	m.Arm(timerStop, stopBudget)
	// And until it is known that no dialog is doomed, no page may be left.
	if m.Spec.Launch == nil && (slices.ContainsFunc(m.Memory.Open, m.IsToBeDismissed) || slices.ContainsFunc(m.Order, m.IsUnsettled)) {
		m.ToDialog(dialog.Leave{})
		m.Arm(timerDialogs, dialogBudget)
		return
	}
	m.leaveAnchor()
}

// dialogsLeft is for an end without dialogs to dismiss, unless one of their scripts asks again.
func (m *Machine) dialogsLeft() {
	asked := m.MayAsk()
	for _, s := range asked {
		m.ToSession(s, mail.ProbeSession{MustReport: true})
	}
	if len(asked) == 0 {
		m.leaveAnchor()
	}
}

// leaveAnchor ends the second link before the first: no other session may be attached to a
// page with a poisoned dialog when it is closed (C15).
func (m *Machine) leaveAnchor() {
	if m.Parting != model.Dismissing {
		return
	}
	m.Parting = model.AnchorLeaving
	m.partWithClients()
	m.partWithStandbys()
	if !m.Anchor.IsAlive() {
		if m.isAwaited() {
			m.Arm(timerAnchorStop, anchorLeaves)
		}
		m.leaveBrowser()
		return
	}
	for _, t := range m.HeldAtTheEnd() {
		m.Do(step.ToAnchor{Msg: mail.FreeFirst{Page: t}}) // the primary may fall at any moment
	}
	m.Do(step.ToAnchor{Msg: mail.Leave{}})
	m.anchorHas(m.Conn.Primary == messages.LinkUp)
}

// anchorHas gives the anchor time to leave: more where there is no primary, and
// it has to close what is the task's.
func (m *Machine) anchorHas(primary bool) {
	budget := link.LeaveBudget
	switch {
	case primary:
		budget = anchorLeaves
	case len(m.HeldAtTheEnd()) > 0:
		budget = link.FreeBudget
	}
	m.Arm(timerAnchorStop, budget)
}

// leaveBrowser also ends a link that dials or attaches: a tab may have been
// made, a popup may be held.
func (m *Machine) leaveBrowser() {
	if m.Parting != model.AnchorLeaving || m.isAwaited() {
		return
	}
	m.Parting = model.BrowserLeaving
	m.bridge.Leave()
	if m.Conn.Primary != messages.LinkUp && m.Conn.Primary != messages.LinkDialing {
		m.parted()
		return
	}
	for _, t := range m.HeldAtTheEnd() {
		m.ToBrowser(mail.ClosePage{Page: t, MustFree: true})
	}
	m.ToBrowser(mail.Leave{})
}

// isAwaited says whether a party besides the anchor is still to leave pages.
func (m *Machine) isAwaited() bool { return len(m.clientsStay) > 0 || len(m.standbyStays) > 0 }

// parted is the end of an orderly end.
func (m *Machine) parted() {
	if m.Verdict != nil {
		m.finish(messages.StateLost, m.Verdict)
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
		clear(m.clientsStay)
		clear(m.standbyStays)
		m.leaveBrowser()
	case timerFrames:
		m.Do(step.FramesStable{})
	default:
		if page, ok := strings.CutPrefix(name, timerAnchorLeave); ok {
			m.DoAll(m.Parties.GiveUp(messages.TargetID(page)))
		} else if id, ok := strings.CutPrefix(name, timerBlocker); ok {
			m.blockerExpired(messages.BlockerID(id))
		}
	}
}

// finish publishes the last state and ends the supervisor. What only a living
// supervisor can know is absent from it, not empty (D27).
func (m *Machine) finish(s messages.TaskState, err error) {
	if m.HasFinished() {
		return
	}
	if err != nil {
		m.Reason = model.ReasonOf(err)
	}
	m.Conn.Primary, m.Conn.Anchor = messages.LinkDown, messages.LinkDown
	m.OutageEnds()
	for _, t := range m.Order {
		for _, o := range m.Pages.At(t).Parked {
			m.late(o)
		}
		m.Pages.At(t).Parked = nil
	}
	m.dialogsEnd()
	m.blockersLeave()
	m.Become(s)
	m.Publish()
	m.tellSiblings(true, m.Order...)
	m.Do(step.Finish{Err: err})
}

// dialogsEnd tells of the dialogs that are open at the end, which no link of the task can answer
// any more: the dialog actor has not heard of an end that comes at once, such as the browser's.
func (m *Machine) dialogsEnd() {
	for _, d := range m.Pending {
		m.Tell(messages.Event{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{
			ID: d.ID, Type: d.Type, Message: d.Message, OpenedAt: d.OpenedAt, ClosedAt: messages.SecondsOf(m.Now),
			ClosedBy: messages.ClosedByLost, FrameID: d.FrameID, TargetID: d.TargetID, Rule: d.Rule, Path: d.Path,
		}})
	}
	m.Pending = nil
}

// End is the last step of a supervisor that ends without having decided to.
func (m *Machine) End(s messages.TaskState, err error) []step.Effect {
	m.Effects() // of a step that was not done
	m.finish(s, err)
	for _, t := range m.Parties.Leaving() {
		for _, do := range m.Parties.GiveUp(t) {
			if b, ok := do.(step.ToBrowser); ok {
				m.late(b.Msg)
			}
		}
	}
	for t, o := range m.opening {
		delete(m.opening, t)
		m.Refuse(o.reply, model.Ended())
	}
	m.abandonRecoveries(model.Ended())
	m.GiveAnswers()
	return m.Effects()
}

// late answers what comes after the end.
func (m *Machine) late(in any) {
	refuse := func(to mail.Call) { m.Refuse(to, model.Ended()) }
	switch in := in.(type) {
	case mail.Relay:
		m.Do(step.Answer(in))
	case mail.AnswerDialog:
		refuse(in.Reply)
	case mail.AnswerBlocker:
		refuse(in.Reply)
	case mail.AskHuman:
		refuse(in.Reply)
	case mail.Navigate:
		refuse(in.Reply)
	case mail.OpenPage:
		refuse(in.Reply)
	case mail.ClosePage:
		refuse(in.Reply)
	case mail.RecoverPage:
		refuse(in.Reply)
	case step.PageOpened:
		refuse(in.Reply)
	}
}
