package supervisor

import (
	"slices"
	"time"

	"holdfast/actors/supervisor/party"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// anchor is what the supervisor knows of the task's second link.
type anchor struct {
	gen     mail.Generation
	lostGen mail.Generation // the newest that is over
	running bool            // its actor lives or is about to, and is to stay
	stopped bool            // the running anchor is shutting down; running then refers to its successor
	linkAt  time.Time
	linked  mail.Generation // the newest whose link stood
	browser string          // it led to; "" for one that does not tell

	useless  messages.AnchorOff // why there was none, until both links have stood for a while
	again    time.Time          // not tried before
	verdicts int                // on the browser, in a row: each doubles the time until the next trial
	isTrial  bool               // its life began after a verdict, which one strike confirms
	suspect  bool               // the primary fell as soon as the anchor stood
	lag      time.Duration      // so soon
	strikes  int                // and the anchor as soon as the primary was back, so often in a row
	calmAt   time.Time          // both stand since

	// Of this link's life: the primary fell in it; both stood at once.
	fell, met bool
	apart     int // lives in a row that had the first and not the second
}

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

// lives says that there is an actor, which may be stopping: it may have to wait for its
// link's end.
func (a *anchor) lives() bool { return a.gen > a.lostGen }

// speaks says whether what the actor gen says of its link is worth hearing.
func (a *anchor) speaks(gen mail.Generation) bool { return gen == a.gen && !a.stopped }

// anchorWanted starts the second link, unless there can be none. It begins with
// a primary that stands: only beside it can it be told whether both see the same
// browser. And it begins once the one before has ended: what that leaves behind is
// put in order then, and an actor has one child of a name.
func (m *Machine) anchorWanted(now time.Time) {
	a := &m.anchor
	if m.spec.Anchor == messages.AnchorNone || m.stopping() || a.running {
		return
	}
	if a.useless != "" && now.Before(a.again) {
		return
	}
	a.running, a.isTrial = true, a.useless != ""
	m.setAnchor(messages.LinkDialing, "")
	if !a.lives() {
		m.do(StartAnchor{IsTrial: a.isTrial})
	}
}

// anchorTrial tries an anchor again that was given up, as long as the primary stands:
// with the primary's next loss it would come too late for the dialogs of that moment.
// Where the browser may drop the primary for it, it waits for the dialogs' end.
func (m *Machine) anchorTrial(now time.Time) {
	a := &m.anchor
	switch {
	case a.useless == "" || a.running || m.conn.Primary != messages.LinkUp:
		// With the primary it is wanted anyway.
	case a.useless == messages.AnchorOffSingle && len(m.pending) > 0:
		m.armTrial(now, anchorAgain)
	default:
		m.anchorWanted(now)
	}
}

// armTrial has the next trial begin after d at the earliest, and a quarter of d later at
// the latest: the anchors of a node that were given up together do not come together.
func (m *Machine) armTrial(now time.Time, d time.Duration) {
	m.anchor.again = now.Add(d)
	m.do(ArmSpread{timerAnchorAgain, d, d / 4})
}

func (m *Machine) setAnchor(s messages.LinkState, off messages.AnchorOff) {
	if m.conn.Anchor == s && m.conn.AnchorOff == off {
		return
	}
	m.conn.Anchor, m.conn.AnchorOff = s, off
	m.tellConnection()
}

func (m *Machine) anchorStarting(s AnchorStarting) {
	a := &m.anchor
	a.gen, a.stopped, a.fell, a.met = s.Gen, false, false, false
	m.parties.Join(party.Anchor)
	m.setAnchor(messages.LinkDialing, "")
}

// anchorAttached finds out whether the anchor's browser is the primary's: some
// services give every connection one of its own.
func (m *Machine) anchorAttached(now time.Time, a mail.AnchorAttached) {
	if !m.rooted || len(m.order) == 0 {
		return
	}
	if !slices.ContainsFunc(a.Pages, func(t messages.TargetID) bool { return m.pages.At(t) != nil }) {
		m.anchorUseless(now, messages.AnchorOffForeign)
		return
	}
	for _, t := range m.order {
		if !m.beingFreed(t) {
			m.toAnchor(mail.CoverPage{Page: t}) // those it has it ignores
		}
	}
	m.coverFrames("")
}

// beingFreed says that no party may be attached to the page: only a page that all have left
// drops its dialog (C19), or may be closed with it (C15).
func (m *Machine) beingFreed(t messages.TargetID) bool {
	r, p := m.recovering[t], m.pages.At(t)
	return m.parties.IsLeaving(t) || p != nil && p.closing || r != nil && r.step == stepLeaving && r.action != messages.RecoverReattach
}

// forbidden are the pages that a new anchor is to keep away from until it is
// told to cover them.
func (m *Machine) forbidden() []messages.TargetID {
	return slices.DeleteFunc(slices.Clone(m.order), func(t messages.TargetID) bool { return !m.beingFreed(t) })
}

func (m *Machine) anchorSettled(now time.Time) {
	m.do(AnchorReady{})
	m.setAnchor(messages.LinkUp, "")
	m.maybeCalm(now)
}

// anchorUseless ends the second link until its next trial, or until another spec gives
// reason to try again.
func (m *Machine) anchorUseless(now time.Time, why messages.AnchorOff) {
	a := &m.anchor
	a.useless, a.strikes, a.apart, a.suspect, a.isTrial = why, 0, 0, false, false
	switch why {
	case messages.AnchorOffUnreachable:
		m.armTrial(now, anchorAgain)
	case messages.AnchorOffSingle, messages.AnchorOffForeign:
		m.armTrial(now, min(anchorAgain<<a.verdicts, anchorRarely))
		a.verdicts = min(a.verdicts+1, 4)
	}
	if a.running {
		a.running, a.stopped = false, a.lives()
		m.do(StopAnchor{})
	}
	m.setAnchor(messages.LinkDown, why)
}

// anchorSpec follows a spec that wants an anchor, or wants none any more.
func (m *Machine) anchorSpec(now time.Time) {
	switch {
	case m.spec.Anchor == messages.AnchorNone && m.conn.AnchorOff != messages.AnchorOffSpec:
		m.anchorUseless(now, messages.AnchorOffSpec)
	case m.spec.Anchor != messages.AnchorNone && m.conn.AnchorOff == messages.AnchorOffSpec:
		m.anchor.useless, m.anchor.verdicts = "", 0
		m.setAnchor(messages.LinkDown, "")
		if m.conn.Primary == messages.LinkUp {
			m.anchorWanted(now)
		}
	}
}

// anchorExited is the loss of the second link, or its end.
func (m *Machine) anchorExited(now time.Time, e AnchorExited) {
	a := &m.anchor
	again := a.stopped && a.running
	if a.stopped { // which is no failure, however it has ended, and says nothing of the browser
		a.stopped, a.suspect, e.Err = false, false, nil
	}
	m.forgetRequests(messages.RoleAnchor)
	a.lostGen = a.gen
	m.do(ToDialog{mail.LinkLost{Role: messages.RoleAnchor, Gen: a.gen}})
	m.doAll(m.parties.Gone(party.Anchor)) // it has left everything
	for _, t := range m.order {
		m.letRun(t) // no party to wait for
	}
	switch {
	case e.Err == nil:
		a.running = false
	case m.conn.Primary != messages.LinkUp, m.parting >= anchorLeaving:
		// It continues once the primary stands: where only one link can be, it must not be
		// this one. Nor may it come back to pages that are being closed.
		a.running = false
		m.do(StopAnchor{})
	}
	if m.conn.AnchorOff == "" {
		m.setAnchor(messages.LinkDown, "")
	}
	m.calm(now)
	need, isDecided := anchorStrikes, false
	if a.isTrial {
		need = 1
	}
	if took := now.Sub(m.linkedAt); a.suspect && !m.linkedAt.IsZero() && took < anchorStrike && took >= a.lag/2 {
		// What takes its time to end the one takes it to end the other, too; two
		// links that were cut together end together.
		if a.strikes++; a.strikes >= anchorDoubts || (!a.met || a.lag < anchorInstant) && a.strikes >= need {
			isDecided = true
			m.anchorUseless(now, messages.AnchorOffSingle)
		}
	}
	a.suspect = false
	if e.Err != nil && a.fell && !a.met && !isDecided {
		// Such a browser may also end the one link before the other is known to
		// stand. But never do both.
		if a.apart++; a.apart >= need {
			m.anchorUseless(now, messages.AnchorOffSingle)
		}
	}
	if again && m.conn.Primary == messages.LinkUp {
		m.anchorWanted(now)
	}
	m.leaveBrowser()
}

// primaryFell looks for the mark of a browser that takes one client at a time.
func (m *Machine) primaryFell(now time.Time) {
	a := &m.anchor
	m.calm(now)
	a.fell = true
	a.lag = now.Sub(a.linkAt)
	a.suspect = a.running && !a.linkAt.IsZero() && a.lag < anchorStrike
	m.linkedAt = time.Time{}
	m.toAnchor(mail.PrimaryUp{Up: false})
}

// calm ends a time in which both links stood.
func (m *Machine) calm(now time.Time) {
	if a := &m.anchor; !a.calmAt.IsZero() && now.Sub(a.calmAt) >= anchorCalm {
		a.strikes, a.useless, a.verdicts, a.isTrial = 0, "", 0, false
	}
	m.anchor.calmAt = time.Time{}
}

func (m *Machine) maybeCalm(now time.Time) {
	if m.conn.Primary == messages.LinkUp && m.conn.Anchor == messages.LinkUp {
		m.anchor.calmAt, m.anchor.met, m.anchor.apart = now, true, 0
	}
}

func (m *Machine) toAnchor(msg any) {
	if m.anchor.running {
		m.do(ToAnchor{msg})
	}
}

// pageCovered ends a popup's wait once both links see its dialogs.
func (m *Machine) pageCovered(c mail.PageCovered) {
	if c.Role == messages.RoleAnchor {
		if c.Gen != m.anchor.gen {
			return
		}
		m.parties.Cover(party.Anchor, c.Page)
	}
	p := m.pages.At(c.Page)
	if p == nil {
		return
	}
	if e := m.sessions.At(p.session); e != nil && c.Role == messages.RolePrimary && e.cfg.Session == c.Session {
		e.enabled = true
	}
	if e := m.sessions.At(p.session); e != nil && e.cfg.Held && e.enabled && m.parties.IsCovered(c.Page) {
		m.letRun(c.Page)
	}
}

func (m *Machine) letRun(t messages.TargetID) {
	if p := m.pages.At(t); p != nil {
		if e := m.sessions.At(p.session); e != nil && e.cfg.Held {
			e.cfg.Held = false
			m.do(ToSession{p.session, mail.ResumePage{Page: t}})
			m.toAnchor(mail.ResumePage{Page: t})
		}
	}
}

// withoutParties does what may be done to a page only once every party has left it (C15,
// C19).
func (m *Machine) withoutParties(t messages.TargetID, do Effect) {
	ask, ok := m.parties.Leave(t, do)
	if ok {
		m.do(do) // no party is there
		return
	}
	for _, id := range ask {
		m.toParty(id, mail.LeavePage{Page: t})
	}
	if len(ask) > 0 {
		m.do(Arm{timerAnchorLeave + string(t), anchorLeaves})
	}
}

// toParty sends to a party of the task, of which the anchor is the only one that a node
// has as yet.
func (m *Machine) toParty(id party.ID, msg any) {
	if id == party.Anchor {
		m.do(ToAnchor{msg})
	}
}

// doAll does what has waited for the parties.
func (m *Machine) doAll(effects []Effect) {
	for _, e := range effects {
		m.do(e)
	}
}
