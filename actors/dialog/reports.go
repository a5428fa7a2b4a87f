package dialog

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Both links tell of every dialog, each at its own pace, and CDP gives a
// dialog no id (C1). What holds them together: one page has one dialog at a
// time, and a link tells in the order in which things happened. So a link's
// next opening is the oldest dialog that looks like it and of which that link
// has not told yet, be it over meanwhile or not.

// watch is a link's session on a page.
type watch struct {
	session   messages.SessionID
	gen       mail.Generation
	isCovered bool // its Page domain is enabled
	// since is when it was heard of that, by this actor.
	since time.Time
	// isRemembered says that it has told nothing to this actor yet. What it told the
	// last one may be lost.
	isRemembered bool
}

// isKnown says that the link tells this actor of all that opens on the page.
func (w watch) isKnown() bool { return w.isCovered && !w.isRemembered }

// belated is how much later than the other a link may tell of a dialog that
// opened before it was known to listen.
const belated = time.Second

// seen is a dialog, open or over, that a link may yet report.
type seen struct {
	*mail.SeenDialog
	entry *entry // nil once it is over
}

// maxLate bounds the dialogs of the past that are remembered for the slower
// link.
const maxLate = 64

// The bounds of the texts of what is remembered of dialogs that are over, in bytes: a
// page decides how long each is. The newest is kept however long it is.
const (
	maxRecentBytes = 128 << 10 // of those that a snapshot shows
	maxLateBytes   = 256 << 10 // of those that a link may still tell of
)

// looksLike are the dialogs that o could be about, oldest first.
func (m *Machine) looksLike(o mail.SeenDialog) []seen {
	same := func(d mail.SeenDialog) bool {
		return d.Page == o.Page && (o.Frame == "" || d.Frame == o.Frame) && (o.Type == "" || d.Type == o.Type && d.Message == o.Message)
	}
	var list []seen
	for i := range m.late {
		if same(m.late[i]) {
			list = append(list, seen{&m.late[i], nil})
		}
	}
	for _, e := range m.open {
		if same(e.Seen) {
			list = append(list, seen{&e.Seen, e})
		}
	}
	slices.SortFunc(list, func(a, b seen) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

// opening is the dialog that a link announces, if another link has announced
// it before.
func (m *Machine) opening(r messages.Role, o mail.SeenDialog) (seen, bool) {
	for _, d := range m.looksLike(o) {
		switch d.Sights[r] {
		case mail.SightDue:
			return d, true
		case mail.SightBlind, mail.SightPartial, mail.SightUnsure:
			// It came so close to the opening that it has seen it all the same.
			if d.entry != nil {
				return d, true
			}
		}
	}
	return seen{}, false
}

// expectBelated is for a link that announces a dialog which another link has told
// of from beginning to end, while this one was not known to listen: Page.enable
// works before a renderer that hangs lets it be answered (C22), its answer may come
// when the other link has told already of what opened after it, and a new dialog
// actor hears anew from each link that it looks on. Should it be another dialog that
// looks the same, the link that was faster before tells of it. So it may be of what
// looks the same and opened since: whether this link tells of that yet is not sure.
func (m *Machine) expectBelated(now time.Time, r messages.Role, o mail.SeenDialog) {
	if w := m.watches[r].At(o.Page); w.isKnown() && now.Sub(w.since) > belated || !m.isCoveredBesides(r, o.Page) {
		return
	}
	before := false
	for _, d := range m.looksLike(o) {
		switch sight := d.Sights[r]; {
		case before && sight == mail.SightDue:
			d.Sights[r] = mail.SightUnsure
		case before:
		case sight == mail.SightDue:
			return // nothing that r may yet tell of came before this
		case d.entry == nil && sight == mail.SightUnsure: // one that stands open by now came after it
			d.Sights[r], before = mail.SightDue, true
		}
	}
}

// isCoveredBesides says that another link than r hears of a page's dialogs.
func (m *Machine) isCoveredBesides(r messages.Role, page messages.TargetID) bool {
	for role := range messages.Roles {
		if role != r && m.watches[role].At(page).isCovered {
			return true
		}
	}
	return false
}

// closing is the dialog whose end a link tells. Not certain is one of whose opening
// it has not told.
func (m *Machine) closing(r messages.Role, page messages.TargetID, frame messages.FrameID) (d seen, certain bool) {
	list := m.looksLike(mail.SeenDialog{Page: page, Frame: frame})
	for _, certain := range []bool{true, false} {
		for _, sight := range []mail.Sight{mail.SightOpened, mail.SightPartial, mail.SightUnsure, mail.SightBlind, mail.SightDue} {
			for _, d := range list {
				if d.Sights[r] == sight && d.isEndedBy(r) == certain && (certain || d.entry != nil) {
					return d, certain
				}
			}
		}
	}
	return seen{}, false
}

// isEndedBy says whether the end that a link reports is surely d's. A link that has reported
// d's opening will report its end. The report of any other link may be about a dialog that
// opened before either link came, and that no link has reported: then the opening of d is
// what comes next on that link. A failed actor may have had the reports of all links
// already.
func (d seen) isEndedBy(r messages.Role) bool {
	switch sight := d.Sights[r]; {
	case sight == mail.SightOpened:
		return true
	case d.entry != nil:
		return d.entry.isRemembered || !slices.Contains(d.Sights[:], mail.SightOpened)
	default:
		return sight == mail.SightPartial || sight == mail.SightUnsure && d.IsLost
	}
}

// sights are what the links are going to tell of a dialog that r announces.
func (m *Machine) sights(r messages.Role, page messages.TargetID) (s [messages.Roles]mail.Sight) {
	for role := range messages.Roles {
		w, ok := m.watches[role].Get(page)
		switch {
		case role == r:
			s[role] = mail.SightOpened
		case ok && w.isKnown():
			s[role] = mail.SightDue
		case ok:
			s[role] = mail.SightUnsure
		}
	}
	return s
}

// ways are the sessions by which a dialog that r announces can be answered.
// One whose Page domain was enabled before is a way, also if its own word of
// the dialog is still under way: it may be the last link alive.
func (m *Machine) ways(o mail.DialogOpened) []mail.Way {
	ways := []mail.Way{{Role: o.Role, Gen: o.Gen, Session: o.Session}}
	for role := range messages.Roles {
		if w, ok := m.watches[role].Get(o.Page); ok && w.isCovered && role != o.Role {
			ways = addWay(ways, mail.Way{Role: role, Gen: w.gen, Session: w.session})
		}
	}
	return ways
}

// addWay keeps the primary in front. The result shares nothing with ways.
func addWay(ways []mail.Way, w mail.Way) []mail.Way {
	for _, have := range ways {
		if have.Session == w.Session {
			return ways
		}
	}
	ways = append(slices.Clone(ways), w)
	slices.SortStableFunc(ways, func(a, b mail.Way) int { return int(a.Role) - int(b.Role) })
	return ways
}

// noteWatched notes a session that takes the place of the link's last one on the
// page, and says whether it does.
func (m *Machine) noteWatched(w mail.PageWatched) bool {
	if w.Gen <= m.lost[w.Role] {
		return false
	}
	if m.watches[w.Role].At(w.Page).session == w.Session {
		return false // reported again, to a dialog actor that started from memory
	}
	m.watches[w.Role].Set(w.Page, watch{session: w.Session, gen: w.Gen})
	m.isListed = false
	for _, e := range m.open {
		if e.Dialog.TargetID != w.Page {
			continue
		}
		if !e.isBridged() && !hasWay(e.Ways, w.Session) {
			e.Seen.Sights[w.Role] = mail.SightPartial
			m.dropWays(e, func(way mail.Way) bool { return way.Role == w.Role })
		}
		if e.isBridged() {
			e.isAwaited = false // who comes to the page is told of what waits, and has its moment to say so
		}
		m.name(e)
	}
	for i := range m.late {
		if d := &m.late[i]; d.Page == w.Page {
			d.Sights[w.Role] = mail.SightOver
			if d.IsLost {
				d.Sights[w.Role] = mail.SightPartial
			}
		}
	}
	m.forget()
	return true
}

func hasWay(ways []mail.Way, s messages.SessionID) bool {
	return slices.ContainsFunc(ways, func(w mail.Way) bool { return w.Session == s })
}

func (m *Machine) dropWays(e *entry, which func(mail.Way) bool) {
	e.Ways = slices.DeleteFunc(slices.Clone(e.Ways), which)
	m.name(e)
}

// name gives a dialog the session that callers know it by: the page's own, and
// while there is none, one that can answer it.
func (m *Machine) name(e *entry) {
	if w := m.watches[messages.RolePrimary].At(e.Dialog.TargetID); w.session != "" {
		e.Dialog.SessionID = w.session
	} else if len(e.Ways) > 0 {
		e.Dialog.SessionID = e.Ways[0].Session
	}
}

// noteCovered notes that a session listens, and says whether that is news.
func (m *Machine) noteCovered(now time.Time, c mail.PageCovered) bool {
	w, ok := m.watches[c.Role].Get(c.Page)
	if !ok || w.session != c.Session || w.isKnown() {
		return false
	}
	news := !w.isCovered
	w.isCovered, w.isRemembered, w.since = true, false, now
	m.watches[c.Role].Set(c.Page, w)
	m.isListed = false
	return news
}

// remembered are the watches for the next dialog actor.
func (m *Machine) remembered() []mail.PageWatch {
	if m.isListed {
		return m.list
	}
	var list []mail.PageWatch // a new one: memories hold the last
	for role := range messages.Roles {
		for _, page := range slices.Sorted(m.watches[role].Keys()) {
			w := m.watches[role].At(page)
			list = append(list, mail.PageWatch{Role: role, Gen: w.gen, Page: page, Session: w.session, IsCovered: w.isCovered})
		}
	}
	m.list, m.isListed = list, true
	return list
}

// over keeps a dialog that has ended for as long as a link may still tell of
// it.
func (m *Machine) over(d mail.SeenDialog) {
	m.late = append(m.late, d)
	m.forget()
}

// frameGoesOn forgets what the link has not told of a frame's earlier dialogs: a
// frame that asks again has had its answer. Those after one that the link tells of
// belatedly are none of them.
func (m *Machine) frameGoesOn(r messages.Role, o mail.SeenDialog) {
	last := m.seq
	if d, ok := m.opening(r, o); ok {
		last = d.Seq
	}
	for i := range m.late {
		d := &m.late[i]
		if d.Page != o.Page || d.Frame != o.Frame || d.Seq > last {
			continue
		}
		d.IsLost = false
		if s := d.Sights[r]; s == mail.SightOpened || s == mail.SightPartial || s == mail.SightUnsure {
			d.Sights[r] = mail.SightOver
		}
	}
	m.forget()
}

func (m *Machine) forget() {
	m.late = slices.DeleteFunc(m.late, func(d mail.SeenDialog) bool {
		return !d.IsLost && !slices.ContainsFunc(d.Sights[:], func(s mail.Sight) bool {
			return s == mail.SightDue || s == mail.SightOpened || s == mail.SightPartial || s == mail.SightUnsure
		})
	})
	if n := surplus(m.late); n > 0 {
		m.late = slices.Delete(m.late, 0, n)
		m.do(Cut{shed.DialogMemory})
	}
}

// surplus is how many of the oldest are more than may be remembered.
func surplus(late []mail.SeenDialog) int {
	room := maxLateBytes
	for i := len(late) - 1; i >= 0; i-- {
		room -= len(late[i].Message)
		if n := len(late) - i; n > maxLate || n > 1 && room < 0 {
			return i + 1
		}
	}
	return 0
}

// linkGone forgets what a link was going to tell and takes its ways away.
func (m *Machine) linkGone(r messages.Role) {
	m.isListed = false
	for page, w := range m.watches[r].All() {
		if w.gen <= m.lost[r] {
			m.watches[r].Delete(page)
		}
	}
	for i := range m.late {
		if _, ok := m.watches[r].Get(m.late[i].Page); !ok {
			m.late[i].Sights[r] = mail.SightOver
		}
	}
	m.forget()
	for _, e := range m.open {
		m.dropWays(e, func(w mail.Way) bool { return w.Role == r && w.Gen <= m.lost[r] })
		if !slices.ContainsFunc(e.Ways, func(w mail.Way) bool { return w.Role == r }) {
			e.Seen.Sights[r] = mail.SightOver
		}
	}
}

func (m *Machine) pageForgotten(page messages.TargetID) {
	m.isListed = false
	for role := range messages.Roles {
		m.watches[role].Delete(page)
	}
	m.late = slices.DeleteFunc(m.late, func(d mail.SeenDialog) bool { return d.Page == page })
}
