// Package blocker decides about what a task's pages ask their browser for, besides dialogs, and
// what keeps them from being shown (X27).
//
// A [Set] is pure: it is told the time, and returns what came of each question. Nil is the set of
// a task whose pages have asked for nothing yet.
package blocker

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// MaxOpen bounds the blockers that are open at once. What comes beyond is left to the browser.
const MaxOpen = 20

// Entry is a blocker that is open, or was.
type Entry struct {
	messages.Blocker
	Target messages.TargetID // of the session that reported it
	Asked  mail.BlockerAsked
}

// IsAwaited says that a page waits for a word.
func (e *Entry) IsAwaited() bool { return e.Asked.Key != "" }

// Set is the blockers of one task.
type Set struct {
	last     uint64 // id given out
	open     []Entry
	answered []messages.ClosedBlocker // what people have said last
}

// maxAnswered bounds what people have said that is kept for those who look a moment later.
const maxAnswered = 8

// Open are the blockers for a snapshot, the oldest first; nil where there is none.
func (s *Set) Open() (all []messages.Blocker) {
	if s == nil {
		return nil
	}
	for _, e := range s.open {
		all = append(all, e.Blocker)
	}
	return all
}

// Add takes a report. False means that the blocker is open already, or, without an id, that it is one
// too many.
func (s *Set) Add(now time.Time, r mail.BlockerRaised, pageURL string, watchdog time.Duration) (Entry, bool) {
	e := Entry{Blocker: r.Blocker, Target: r.Target, Asked: r.Asked}
	e.TargetID = r.Page
	if e.URL == "" {
		e.URL = pageURL
	}
	e.URL, e.Origin = redact.PageURL(e.URL), redact.PageURL(e.Origin)
	if i := slices.IndexFunc(s.open, e.isSame); i >= 0 {
		return s.open[i], false
	}
	if len(s.open) >= MaxOpen {
		return e, false
	}
	e.Message = e.words()
	s.give(&e, now, watchdog)
	return e, true
}

// AskHuman takes an agent's question to a person. False means that it is one too many.
func (s *Set) AskHuman(now time.Time, reason string, within time.Duration) (Entry, bool) {
	if len(s.open) >= MaxOpen {
		return Entry{}, false
	}
	e := Entry{Blocker: messages.Blocker{Type: messages.BlockerHuman, Message: reason}}
	s.give(&e, now, within)
	return e, true
}

// give makes an entry one of the set.
func (s *Set) give(e *Entry, now time.Time, watchdog time.Duration) {
	s.last++
	e.ID = messages.BlockerID("b-" + strconv.FormatUint(s.last, 10))
	e.OpenedAt = messages.SecondsOf(now)
	switch e.Type {
	case messages.BlockerFileChooser, messages.BlockerPermission, messages.BlockerPrint, messages.BlockerHuman:
		e.ExpiresAt = messages.SecondsOf(now.Add(watchdog))
	}
	s.open = append(s.open, *e)
}

// Keep keeps the end of an agent's question for a while.
func (s *Set) Keep(c messages.ClosedBlocker) {
	if s.answered = append(s.answered, c); len(s.answered) > maxAnswered {
		s.answered = slices.Delete(s.answered, 0, 1)
	}
}

// Answered is how an agent's question to a person ended.
func (s *Set) Answered(id messages.BlockerID) (messages.ClosedBlocker, bool) {
	if s == nil {
		return messages.ClosedBlocker{}, false
	}
	i := slices.IndexFunc(s.answered, func(c messages.ClosedBlocker) bool { return c.ID == id })
	if i < 0 {
		return messages.ClosedBlocker{}, false
	}
	return s.answered[i], true
}

// isSame says that another report is about the same question.
func (e *Entry) isSame(o Entry) bool {
	return e.Type == o.Type && e.TargetID == o.TargetID && e.FrameID == o.FrameID && e.URL == o.URL &&
		e.BackendNodeID == o.BackendNodeID && e.Asked == o.Asked
}

// words says what a blocker is.
func (e *Entry) words() string {
	switch e.Type {
	case messages.BlockerBasicAuth:
		return "the site wants a name and a password"
	case messages.BlockerCertificate:
		return "the site's certificate does not hold"
	case messages.BlockerFileChooser:
		if e.IsMultiple {
			return "the page wants files"
		}
		return "the page wants a file"
	case messages.BlockerPermission:
		return "the page asks for " + strings.ReplaceAll(e.Permission, ",", " and ")
	case messages.BlockerPrint:
		return "the page asks to be printed"
	}
	return "the browser shows a PDF, which no snapshot reads"
}

// Find returns an open blocker.
func (s *Set) Find(id messages.BlockerID) (Entry, bool) {
	if s == nil {
		return Entry{}, false
	}
	i := slices.IndexFunc(s.open, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return s.open[i], true
}

// Remove takes away the blockers that is says, and returns them.
func (s *Set) Remove(is func(*Entry) bool) (gone []Entry) {
	if s == nil {
		return nil
	}
	s.open = slices.DeleteFunc(s.open, func(e Entry) bool {
		if !is(&e) {
			return false
		}
		gone = append(gone, e)
		return true
	})
	return gone
}

// GivenBy returns what says whether a blocker is the file chooser of an input that a client has given
// files to.
func GivenBy(f mail.FilesGiven) func(*Entry) bool {
	return func(e *Entry) bool {
		return e.Type == messages.BlockerFileChooser && e.Target == f.Target && e.BackendNodeID == f.Node
	}
}

// Closed is what is kept of a blocker that has ended.
func (e *Entry) Closed(now time.Time, by messages.ClosedBy, action messages.Action) *messages.ClosedBlocker {
	return &messages.ClosedBlocker{
		ID: e.ID, Type: e.Type, URL: e.URL, TargetID: e.TargetID, OpenedAt: e.OpenedAt, ClosedAt: messages.SecondsOf(now),
		ClosedBy: by, Action: action,
	}
}
