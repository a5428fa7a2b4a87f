// Package party keeps who is attached to the pages of one task.
//
// A party is anything of the task's that has sessions of its own on the task's pages: the
// anchor, and every other client that is let at them. Three rules need to know all of them:
// a popup that was held runs once every party covers it, which is when it hears of the
// popup's dialogs (C33); a page is released (C19) or closed with a dialog of a removed frame
// (C15) only once every party has left it; and a party that begins meanwhile keeps away.
//
// [Set] is pure: it says whom to ask, and what may be done now.
package party

import (
	"maps"
	"slices"
	"strings"

	"holdfast/messages"
)

// ID names a party within its task.
type ID string

// The parties of a task.
const (
	// Anchor is the task's second link.
	Anchor ID = "anchor"
	// Clients are those of the gateway together. They leave pages, and cover none: a popup
	// waits for them in a way of its own.
	Clients ID = "clients"
)

const standbyPrefix = "standby/"

// Standby is the task's standby on another node of the cluster. It leaves pages, and no popup waits
// for it.
func Standby(node string) ID { return ID(standbyPrefix + node) }

func (id ID) isStandby() bool { return strings.HasPrefix(string(id), standbyPrefix) }

// Set has the parties of a task. E is what is to be done once a page has been left. The
// zero value has no party.
type Set[E any] struct {
	parties map[ID]map[messages.TargetID]bool // the pages that each covers
	waits   map[messages.TargetID]*departure[E]
}

// departure is a page that the parties are to leave.
type departure[E any] struct {
	asked   map[ID]bool
	staying map[ID]bool // of those that were asked
	todo    []E         // once it is empty
}

// Join adds a party, which is attached to nothing yet. It has to keep away from the pages
// that [Set.Leaving] returns.
func (s *Set[E]) Join(id ID) {
	if s.parties == nil {
		s.parties = map[ID]map[messages.TargetID]bool{}
	}
	if s.parties[id] == nil {
		s.parties[id] = map[messages.TargetID]bool{}
	}
	for _, d := range s.waits {
		d.asked[id] = true
	}
}

// Has says whether a party is there.
func (s *Set[E]) Has(id ID) bool { return s.parties[id] != nil }

// Gone takes a party away, which has left every page by that. It returns what may be done
// now, page by page.
func (s *Set[E]) Gone(id ID) []E {
	delete(s.parties, id)
	var done []E
	for _, page := range s.Leaving() {
		done = append(done, s.left(id, page)...)
	}
	return done
}

// Cover notes that a party hears of the page's dialogs.
func (s *Set[E]) Cover(id ID, page messages.TargetID) {
	if pages := s.parties[id]; pages != nil {
		pages[page] = true
	}
}

// Uncover notes that the party's session of a page has ended.
func (s *Set[E]) Uncover(id ID, page messages.TargetID) { delete(s.parties[id], page) }

// IsCovered says whether every party but the clients and the standby hears of the page's dialogs.
// Without such a party there is none that could.
func (s *Set[E]) IsCovered(page messages.TargetID) bool {
	isCovered := false
	for id, pages := range s.parties {
		if id == Clients || id.isStandby() {
			continue
		}
		if isCovered = pages[page]; !isCovered {
			return false
		}
	}
	return isCovered
}

// Leave has every party leave a page but those that stay, and do what it says behind the last. It
// returns the parties to ask, in order: those that have not been asked for this page. Where none
// has to leave, ok says that it may be done at once.
func (s *Set[E]) Leave(page messages.TargetID, do E, stay ...ID) (ask []ID, ok bool) {
	d := s.waits[page]
	isNew := d == nil
	if isNew {
		d = &departure[E]{staying: map[ID]bool{}, asked: map[ID]bool{}}
	}
	for id := range s.parties {
		if !d.asked[id] && !slices.Contains(stay, id) {
			d.asked[id], d.staying[id] = true, true
			ask = append(ask, id)
		}
	}
	if isNew && len(ask) == 0 {
		return nil, true
	}
	if isNew {
		if s.waits == nil {
			s.waits = map[messages.TargetID]*departure[E]{}
		}
		s.waits[page] = d
	}
	d.todo = append(d.todo, do)
	slices.Sort(ask)
	return ask, false
}

// Left notes that a party has left a page. It returns what may be done now: nothing as long
// as another party stays.
func (s *Set[E]) Left(id ID, page messages.TargetID) []E {
	s.Uncover(id, page)
	return s.left(id, page)
}

func (s *Set[E]) left(id ID, page messages.TargetID) []E {
	d := s.waits[page]
	if d == nil {
		return nil
	}
	if delete(d.staying, id); len(d.staying) > 0 {
		return nil
	}
	return s.GiveUp(page)
}

// GiveUp waits no longer for a page to be left, and returns what was to be done. Parties
// that have not answered count as gone from the page.
func (s *Set[E]) GiveUp(page messages.TargetID) []E {
	d := s.waits[page]
	if d == nil {
		return nil
	}
	for id := range d.staying {
		s.Uncover(id, page)
	}
	delete(s.waits, page)
	return d.todo
}

// IsLeaving says whether parties are to leave the page, and have not yet.
func (s *Set[E]) IsLeaving(page messages.TargetID) bool { return s.waits[page] != nil }

// Leaving returns the pages that are being left, in order.
func (s *Set[E]) Leaving() []messages.TargetID { return slices.Sorted(maps.Keys(s.waits)) }
