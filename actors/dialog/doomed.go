package dialog

import (
	"slices"
	"strings"
	"time"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// A dialog that opens while another document takes the place of its own is doomed: the
// browser refuses every answer, and ends if a session that hears of dialogs leaves the
// page meanwhile (C58). So each native dialog that waits is probed as it opens, and the
// page of a doomed one is moved on at once: that closes the dialog, and the document
// that was to come comes. Until it is there no session leaves the page.

// doom is a page with a doomed dialog, or that has had one a moment ago.
type doom struct {
	way      mail.Way  // by which the page is moved on, or asked about
	dialogs  int       // doomed in a row
	hasMoved bool      // since the newest of them
	refused  int       // times that the page was not moved on
	asked    int       // times since that the document to come was not there
	first    time.Time // when the oldest dialog of the row was found to be doomed
	last     time.Time // when the newest dialog was found to be doomed
}

const (
	// MaxDoomed is how many doomed dialogs in a row a page is moved on from, and
	// DoomedPatience for how long at least: where the machine is busy, the next document takes
	// seconds. A page that asks in an endless loop never comes to it, and is closed.
	MaxDoomed      = 30
	DoomedPatience = 10 * time.Second
	// doomedCalm is after how long without one the count begins anew.
	doomedCalm = time.Second
	// DoomedAgain is how soon it is asked anew whether the document to come is there,
	// and maxDoomedAsked how often: with no dialog on it a page may be left.
	DoomedAgain    = 20 * time.Millisecond
	maxDoomedAsked = 50
	// DoomedAnswer is how long the outcome of what was asked of a session may take, before
	// that of the other link is asked.
	DoomedAnswer = time.Second
	maxRefused   = 2
	// ProbeAgain is how soon a dialog is probed again of which no session has said
	// anything.
	ProbeAgain = time.Second
)

const (
	doomedPrefix = "doomed:"
	probePrefix  = "probe:"
)

func probeTimer(id messages.DialogID) string { return probePrefix + string(id) }

func doomedTimer(page messages.TargetID) string { return doomedPrefix + string(page) }

// canBeDoomed says whether a dialog of the type may open while another document takes
// the place of its own. A beforeunload asks before any document does: where a probe finds
// its page inactive, the navigation it was asked about has begun.
func canBeDoomed(t messages.DialogType) bool { return t != messages.DialogBeforeUnload }

// probe finds out whether a dialog could be given an answer: by each link, since one of
// them may hang. Where an answer is under way, its outcome tells.
func (m *Machine) probe(e *entry) {
	if m.isLapsed() || e.isBridged() || e.isShut() || !canBeDoomed(e.Dialog.Type) {
		return
	}
	m.do(Arm{probeTimer(e.Dialog.ID), ProbeAgain})
	for _, w := range e.Ways {
		if e.answer == nil || e.answer.way != w {
			m.do(ProbeSession{w.Role, mail.ProbeDialog{Dialog: e.Dialog.ID, Session: w.Session, Page: e.Dialog.TargetID}})
		}
	}
}

// handleProbeDue probes a dialog again of which no session has said anything.
func (m *Machine) handleProbeDue(name string) bool {
	id, ok := strings.CutPrefix(name, probePrefix)
	if e := m.byID(messages.DialogID(id)); ok && e != nil && e.IsUnproved {
		m.probe(e)
	}
	return ok
}

func (m *Machine) probed(now time.Time, p mail.DialogProbed) {
	if p.Dialog == "" {
		m.pageProbed(p)
		return
	}
	e := m.byID(p.Dialog)
	switch {
	case e == nil || e.isBridged() || e.isShut():
	case quirks.Classify(p.Err) == quirks.InactivePage && e.answer != nil:
		// The other link may say so after the answer, of the navigation behind it. The
		// answer's own outcome tells.
	case quirks.Classify(p.Err) == quirks.InactivePage:
		m.doomed(now, e, p.Session)
	case e.IsUnproved && (p.Err == nil || messages.CodeOf(p.Err) == messages.CodeCDPError):
		e.IsUnproved = false
		m.do(Disarm{probeTimer(e.Dialog.ID)})
		m.changed(nil, nil)
	}
}

// doomed ends a dialog that no answer can reach, as session by has found out, and has its
// page moved on.
func (m *Machine) doomed(now time.Time, e *entry, by messages.SessionID) {
	page := e.Dialog.TargetID
	d := m.dooms[page]
	if d == nil {
		d = &doom{}
		smallmap.Put(&m.dooms, page, d)
		// Before the end: at no moment may the page be left.
		m.do(ToSupervisor{mail.PageDoomed{Page: page, Is: true}})
	} else if now.Sub(d.last) > doomedCalm {
		d.dialogs = 0
	}
	if d.dialogs++; d.dialogs == 1 {
		d.first = now
	}
	d.last, d.hasMoved, d.refused, d.asked = now, false, 0, 0
	for _, w := range e.Ways {
		if w.Session == by || d.way.Session == "" {
			d.way = w
		}
	}
	m.move(page, d)
	m.end(now, e, messages.ClosedByLost)
}

// move has a page moved on, or closed where that does not help.
func (m *Machine) move(page messages.TargetID, d *doom) {
	if m.isLapsed() {
		return // leaseHeld moves it
	}
	if d.needsClose() {
		m.do(ToSupervisor{mail.PageDoomed{Page: page, Is: true, MustClose: true}})
		m.do(Arm{doomedTimer(page), DoomedAnswer})
		return
	}
	m.do(MoveSession{d.way.Role, mail.MovePage{Session: d.way.Session, Page: page}})
	m.do(Arm{doomedTimer(page), DoomedAnswer})
}

// needsClose says that nothing but the end of the page helps.
func (d *doom) needsClose() bool {
	return d.refused > maxRefused || d.dialogs > MaxDoomed && d.last.Sub(d.first) >= DoomedPatience
}

func (m *Machine) pageMoved(p mail.PageMoved) {
	d := m.dooms[p.Page]
	if d == nil || d.way.Session != p.Session {
		return
	}
	if p.Err == nil {
		d.hasMoved = true
		m.askDoomed(p.Page, d)
		return
	}
	m.byTheOther(p.Page, d)
}

// byTheOther has the other link, if there is one, do what this one has not done.
func (m *Machine) byTheOther(page messages.TargetID, d *doom) {
	d.refused++
	if w, ok := m.wayTo(page, d.way.Session); ok {
		d.way = w
	}
	m.move(page, d)
}

// askDoomed asks whether the document to come is there.
func (m *Machine) askDoomed(page messages.TargetID, d *doom) {
	d.asked++
	m.do(ProbeSession{d.way.Role, mail.ProbeDialog{Session: d.way.Session, Page: page}})
	m.do(Arm{doomedTimer(page), DoomedAnswer})
}

func (m *Machine) pageProbed(p mail.DialogProbed) {
	d := m.dooms[p.Page]
	switch {
	case d == nil || d.way.Session != p.Session:
	case quirks.Classify(p.Err) == quirks.InactivePage && d.asked < maxDoomedAsked:
		m.do(Arm{doomedTimer(p.Page), DoomedAgain})
	default:
		m.doomOver(p.Page)
	}
}

// handleDoomedDue is for a page that is to be asked anew, or whose session said nothing.
func (m *Machine) handleDoomedDue(name string) bool {
	page, ok := strings.CutPrefix(name, doomedPrefix)
	if !ok {
		return false
	}
	if d := m.dooms[messages.TargetID(page)]; d != nil {
		switch {
		case d.asked >= maxDoomedAsked, d.needsClose():
			m.doomOver(messages.TargetID(page)) // nothing more can be done
		case d.hasMoved:
			m.askDoomed(messages.TargetID(page), d)
		default:
			m.byTheOther(messages.TargetID(page), d)
		}
	}
	return true
}

func (m *Machine) doomOver(page messages.TargetID) {
	delete(m.dooms, page)
	m.do(Disarm{doomedTimer(page)})
	m.do(ToSupervisor{mail.PageDoomed{Page: page}})
	m.changed(nil, nil)
	m.maybeLeft()
}

// doomsGoOn follows a link that is gone: what it was asked, the other one is.
func (m *Machine) doomsGoOn(r messages.Role) {
	for _, page := range m.doomedPages() {
		d := m.dooms[page]
		if d.way.Role != r || d.way.Gen > m.lost[r] {
			continue
		}
		m.doomGoesOn(page, d)
	}
}

// doomGoesOn has another session do what the one that is gone was asked.
func (m *Machine) doomGoesOn(page messages.TargetID, d *doom) {
	if w, ok := m.wayTo(page, d.way.Session); ok {
		d.way = w
		m.move(page, d)
	} else {
		m.doomOver(page) // no session is left to do it
	}
}

// doomsRemembered takes over those of an actor that has failed.
func (m *Machine) doomsRemembered() {
	for _, page := range m.doomedPages() {
		if w, ok := m.wayTo(page, ""); ok {
			m.dooms[page].way = w
			m.move(page, m.dooms[page])
		} else {
			m.doomOver(page)
		}
	}
}

// wayTo is a session that hears of a page's dialogs, if it can be another than not.
func (m *Machine) wayTo(page messages.TargetID, not messages.SessionID) (way mail.Way, ok bool) {
	for role := range messages.Roles {
		w, there := m.watches[role].Get(page)
		if there && (!ok || way.Session == not) {
			way, ok = mail.Way{Role: role, Gen: w.gen, Session: w.session}, true
		}
	}
	return way, ok
}

// doomedPages keeps the machine's effects free of map order.
func (m *Machine) doomedPages() []messages.TargetID {
	pages := make([]messages.TargetID, 0, len(m.dooms))
	for page := range m.dooms {
		pages = append(pages, page)
	}
	slices.Sort(pages)
	return pages
}
