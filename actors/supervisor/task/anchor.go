package task

import (
	"slices"
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/party"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The anchor's budgets.
const (
	// anchorLeaves is what the anchor gets to leave a page or the browser.
	anchorLeaves = 500 * time.Millisecond
	// A browser that takes one client at a time drops the primary as soon as the
	// anchor stands, and the anchor as soon as the primary is back.
	anchorStrike  = 500 * time.Millisecond
	anchorStrikes = 3
	// Where both have stood for longer than an instant, links that are cut look the
	// same, now and then.
	anchorInstant = 5 * time.Millisecond
	anchorDoubts  = 10
	anchorCalm    = 5 * time.Second
	// anchorAgain is when what made an anchor useless may have changed; a verdict on
	// the browser is tried anew less and less often, up to anchorRarely.
	anchorAgain  = time.Minute
	anchorRarely = 15 * time.Minute
)

const (
	timerAnchorStop  = "anchor"
	timerAnchorLeave = "anchor:"
	timerAnchorAgain = "anchor again"
)

// anchorWanted starts the second link, unless there can be none. It begins with
// a primary that stands: only beside it can it be told whether both see the same
// browser. And it begins once the one before has ended: what that leaves behind is
// put in order then, and an actor has one child of a name.
func (m *Machine) anchorWanted(now time.Time) {
	a := &m.Anchor
	if m.Spec.Anchor == messages.AnchorNone || m.NoAnchor() != "" || m.IsStopping() || a.IsRunning {
		return
	}
	if a.Useless != "" && now.Before(a.Again) {
		return
	}
	a.IsRunning, a.IsTrial = true, a.Useless != ""
	m.setAnchor(messages.LinkDialing, "")
	if !a.IsAlive() {
		m.Do(step.StartAnchor{IsTrial: a.IsTrial})
	}
}

// anchorTrial tries an anchor again that was given up, as long as the primary stands:
// with the primary's next loss it would come too late for the dialogs of that moment.
// Where the browser may drop the primary for it, it waits for the dialogs' end.
func (m *Machine) anchorTrial(now time.Time) {
	a := &m.Anchor
	switch {
	case a.Useless == "" || a.IsRunning || m.Conn.Primary != messages.LinkUp:
		// With the primary it is wanted anyway.
	case a.Useless == messages.AnchorOffSingle && len(m.Pending) > 0:
		m.armTrial(now, anchorAgain)
	default:
		m.anchorWanted(now)
	}
}

// armTrial has the next trial begin after d at the earliest, and a quarter of d later at
// the latest: the anchors of a node that were given up together do not come together.
func (m *Machine) armTrial(now time.Time, d time.Duration) {
	m.Anchor.Again = now.Add(d)
	m.Do(step.ArmSpread{Name: timerAnchorAgain, After: d, Spread: d / 4})
}

func (m *Machine) setAnchor(s messages.LinkState, off messages.AnchorOff) {
	if m.Conn.Anchor == s && m.Conn.AnchorOff == off {
		return
	}
	m.Conn.Anchor, m.Conn.AnchorOff = s, off
	m.TellConnection()
}

func (m *Machine) anchorStarting(s step.AnchorStarting) {
	a := &m.Anchor
	a.Gen, a.IsStopped, a.HasPrimaryFallen, a.HaveBothStood = s.Gen, false, false, false
	m.Parties.Join(party.Anchor)
	m.setAnchor(messages.LinkDialing, "")
}

// anchorAttached finds out whether the anchor's browser is the primary's: some
// services give every connection one of its own.
func (m *Machine) anchorAttached(now time.Time, a mail.AnchorAttached) {
	if !m.isRooted && !m.isStandby || len(m.Order) == 0 {
		return
	}
	if !slices.ContainsFunc(a.Pages, func(t messages.TargetID) bool { return m.Pages.At(t) != nil }) {
		m.anchorUseless(now, messages.AnchorOffForeign)
		return
	}
	for _, t := range m.Order {
		if !m.IsBeingFreed(t) && !m.off[t] {
			m.ToAnchor(mail.CoverPage{Page: t}) // those it has it ignores
		}
	}
	m.CoverFrames("")
}

// Forbidden are the pages that a new anchor is to keep away from until it is
// told to cover them.
func (m *Machine) Forbidden() []messages.TargetID {
	return slices.DeleteFunc(slices.Clone(m.Order), func(t messages.TargetID) bool { return !m.IsBeingFreed(t) && !m.off[t] })
}

func (m *Machine) anchorSettled(now time.Time) {
	m.Do(step.AnchorReady{})
	m.setAnchor(messages.LinkUp, "")
	m.maybeCalm(now)
}

// anchorUseless ends the second link until its next trial, or until another spec gives
// reason to try again.
func (m *Machine) anchorUseless(now time.Time, why messages.AnchorOff) {
	if m.isStandby {
		m.finish(messages.StateLost, messages.Errorf(messages.CodeUpstreamUnavailable, "the task can have no second link: %s", why))
		return
	}
	a := &m.Anchor
	a.Useless, a.Strikes, a.Apart, a.IsSuspect, a.IsTrial = why, 0, 0, false, false
	switch why {
	case messages.AnchorOffUnreachable:
		m.armTrial(now, anchorAgain)
	case messages.AnchorOffSingle, messages.AnchorOffForeign:
		m.armTrial(now, min(anchorAgain<<a.Verdicts, anchorRarely))
		a.Verdicts = min(a.Verdicts+1, 4)
	}
	if a.IsRunning {
		a.IsRunning, a.IsStopped = false, a.IsAlive()
		m.Do(step.StopAnchor{})
	}
	m.setAnchor(messages.LinkDown, why)
}

// anchorSpec follows a spec that wants an anchor, or wants none any more.
func (m *Machine) anchorSpec(now time.Time) {
	switch {
	case m.Spec.Anchor == messages.AnchorNone && m.Conn.AnchorOff != messages.AnchorOffSpec:
		m.anchorUseless(now, messages.AnchorOffSpec)
	case m.Spec.Anchor != messages.AnchorNone && m.Conn.AnchorOff == messages.AnchorOffSpec:
		m.Anchor.Useless, m.Anchor.Verdicts = "", 0
		m.setAnchor(messages.LinkDown, m.NoAnchor())
		if m.Conn.Primary == messages.LinkUp {
			m.anchorWanted(now)
		}
	}
}

// anchorExited is the loss of the second link, or its end.
func (m *Machine) anchorExited(now time.Time, e step.AnchorExited) {
	if m.isStandby {
		m.finish(messages.StateLost, e.Err) // its node begins another one
		return
	}
	a := &m.Anchor
	again := a.IsStopped && a.IsRunning
	if a.IsStopped { // which is no failure, however it has ended, and says nothing of the browser
		a.IsStopped, a.IsSuspect, e.Err = false, false, nil
	}
	m.bridge.LinkLost(messages.RoleAnchor)
	a.LostGen = a.Gen
	m.ToDialog(mail.LinkLost{Role: messages.RoleAnchor, Gen: a.Gen})
	m.DoAll(m.Parties.Gone(party.Anchor)) // it has left everything
	for _, t := range m.Order {
		m.letRun(t) // no party to wait for
	}
	switch {
	case e.Err == nil:
		a.IsRunning = false
	case m.Conn.Primary != messages.LinkUp, m.Parting >= model.AnchorLeaving:
		// It continues once the primary stands: where only one link can be, it must not be
		// this one. Nor may it come back to pages that are being closed.
		a.IsRunning = false
		m.Do(step.StopAnchor{})
	}
	if m.Conn.AnchorOff == "" {
		m.setAnchor(messages.LinkDown, "")
	}
	m.calm(now)
	need, isDecided := anchorStrikes, false
	if a.IsTrial {
		need = 1
	}
	if took := now.Sub(m.linkedAt); a.IsSuspect && !m.linkedAt.IsZero() && took < anchorStrike && took >= a.Lag/2 {
		// What takes its time to end the one takes it to end the other, too; two
		// links that were cut together end together.
		if a.Strikes++; a.Strikes >= anchorDoubts || (!a.HaveBothStood || a.Lag < anchorInstant) && a.Strikes >= need {
			isDecided = true
			m.anchorUseless(now, messages.AnchorOffSingle)
		}
	}
	a.IsSuspect = false
	if e.Err != nil && a.HasPrimaryFallen && !a.HaveBothStood && !isDecided {
		// Such a browser may also end the one link before the other is known to
		// stand. But never do both.
		if a.Apart++; a.Apart >= need {
			m.anchorUseless(now, messages.AnchorOffSingle)
		}
	}
	if again && m.Conn.Primary == messages.LinkUp {
		m.anchorWanted(now)
	}
	m.leaveBrowser()
}

// primaryFell looks for the mark of a browser that takes one client at a time.
func (m *Machine) primaryFell(now time.Time) {
	a := &m.Anchor
	m.calm(now)
	a.HasPrimaryFallen = true
	a.Lag = now.Sub(a.LinkAt)
	a.IsSuspect = a.IsRunning && !a.LinkAt.IsZero() && a.Lag < anchorStrike
	m.linkedAt = time.Time{}
	m.ToAnchor(mail.PrimaryUp{IsUp: false})
}

// calm ends a time in which both links stood.
func (m *Machine) calm(now time.Time) {
	if a := &m.Anchor; !a.CalmAt.IsZero() && now.Sub(a.CalmAt) >= anchorCalm {
		a.Strikes, a.Useless, a.Verdicts, a.IsTrial = 0, "", 0, false
	}
	m.Anchor.CalmAt = time.Time{}
}

func (m *Machine) maybeCalm(now time.Time) {
	if m.Conn.Primary == messages.LinkUp && m.Conn.Anchor == messages.LinkUp {
		m.Anchor.CalmAt, m.Anchor.HaveBothStood, m.Anchor.Apart = now, true, 0
	}
}

// pageCovered ends a popup's wait once both links see its dialogs.
func (m *Machine) pageCovered(c mail.PageCovered) {
	if c.Role == messages.RoleAnchor {
		if c.Gen != m.Anchor.Gen {
			return
		}
		m.Parties.Cover(party.Anchor, c.Page)
	}
	p := m.Pages.At(c.Page)
	if p == nil {
		return
	}
	if e := m.Sessions.At(p.Session); e != nil && c.Role == messages.RolePrimary && e.Cfg.Session == c.Session {
		e.HearsDialogs = true
	}
	m.maybeRun(c.Page)
}

// waitsForAnchor says whether a popup waits until the anchor sees its dialogs: one that can
// reach its opener runs as soon as the first of the sessions that hold it resumes it.
func (m *Machine) waitsForAnchor(t mail.TargetInfo) bool {
	return t.CanAccessOpener && m.Conn.Anchor == messages.LinkUp
}

// maybeRun ends a popup's wait once all see it that it waits for.
func (m *Machine) maybeRun(t messages.TargetID) {
	p := m.Pages.At(t)
	if p == nil {
		return
	}
	e := m.Sessions.At(p.Session)
	switch {
	case e == nil || !e.Cfg.IsHeld:
	case e.Info.CanAccessOpener && !e.HearsDialogs: // any other answers nothing while it is held
	case e.Cfg.IsHeldForClients && !e.IsSeenByClients:
	case (!e.Cfg.IsHeldForClients || m.waitsForAnchor(e.Info)) && !m.Parties.IsCovered(t):
	default:
		m.letRun(t)
	}
}

// holdPopups begins or ends the time in which clients of the gateway hold popups.
func (m *Machine) holdPopups(isOn bool) {
	if m.holdsPopups = isOn; isOn {
		return
	}
	for _, t := range m.Order {
		m.popupSeen(t)
	}
}

// popupSeen notes that no client of the gateway holds a page any more. The gateway may say so
// before the link's actor tells of the page.
func (m *Machine) popupSeen(t messages.TargetID) {
	p := m.Pages.At(t)
	if p == nil {
		if len(m.seenEarly) >= maxSeenEarly {
			clear(m.seenEarly) // pages that never came
		}
		smallmap.Put(&m.seenEarly, t, true)
		return
	}
	if e := m.Sessions.At(p.Session); e != nil {
		e.IsSeenByClients = true
		m.maybeRun(t)
	}
}

// maxSeenEarly bounds the pages that clients have resumed and that nothing was told of yet.
const maxSeenEarly = 64

func (m *Machine) letRun(t messages.TargetID) {
	if p := m.Pages.At(t); p != nil {
		if e := m.Sessions.At(p.Session); e != nil && e.Cfg.IsHeld {
			e.Cfg.IsHeld = false
			m.ToSession(p.Session, mail.ResumePage{Page: t})
			m.ToAnchor(mail.ResumePage{Page: t})
		}
	}
}

// withoutParties does what may be done to a page only once every party has left it (C15,
// C19), but those that may stay.
func (m *Machine) withoutParties(t messages.TargetID, do step.Effect, stay ...party.ID) {
	ask, ok := m.Parties.Leave(t, do, stay...)
	if ok {
		m.Do(do) // no party is there
		return
	}
	for _, id := range ask {
		m.toParty(id, mail.LeavePage{Page: t})
	}
	if len(ask) > 0 {
		m.Arm(timerAnchorLeave+string(t), anchorLeaves)
	}
}

// toParty sends to a party of the task. The clients of the gateway read what they are to do
// (see clients.go).
func (m *Machine) toParty(id party.ID, msg any) {
	if id == party.Anchor {
		m.Do(step.ToAnchor{Msg: msg})
	}
}
