package view

import (
	"slices"

	"holdfast/messages"
)

// record is an event as it is kept for who was away: nearly all say one thing, and an
// event has room for twelve.
type record struct {
	version uint64
	at      messages.Seconds
	kind    kind
	changed messages.PageChange
	what    any // the one thing, or the whole *messages.Event; nil where there is none
}

// kind is the event's type, a byte instead of a text.
type kind uint8

var kinds = [...]messages.EventType{
	messages.EventTaskState, messages.EventConnection, messages.EventPageOpened, messages.EventPageChanged,
	messages.EventPageClosed, messages.EventPageRecovery, messages.EventDialogOpened, messages.EventDialogClosed,
	messages.EventFrames, messages.EventConsoleError, messages.EventReset, messages.EventBlockerOpened,
	messages.EventBlockerClosed,
}

// recordOf keeps e.
func recordOf(e *messages.Event) record {
	i := slices.Index(kinds[:], e.Type)
	r := record{version: e.Version, at: e.At, kind: kind(max(i, 0)), changed: e.Changed}
	rest := *e
	if i >= 0 { // else the whole event has it
		rest.Type = ""
	}
	rest.TaskID, rest.Version, rest.At, rest.Changed = "", 0, 0, 0
	switch rest {
	case messages.Event{}:
	case messages.Event{FrameTree: e.FrameTree}:
		r.what = e.FrameTree
	case messages.Event{Console: e.Console}:
		r.what = e.Console
	case messages.Event{Page: e.Page}:
		r.what = e.Page
	case messages.Event{Connection: e.Connection}:
		r.what = e.Connection
	case messages.Event{Dialog: e.Dialog}:
		r.what = e.Dialog
	case messages.Event{Closed: e.Closed}:
		r.what = e.Closed
	default:
		whole := *e
		r.what = &whole
	}
	return r
}

var errorKind = kind(slices.Index(kinds[:], messages.EventConsoleError))

// errorRecord is recordOf for an error of the console.
func errorRecord(version uint64, at messages.Seconds, e *messages.ConsoleError) record {
	return record{version: version, at: at, kind: errorKind, what: e}
}

// event is what was kept, of a task.
func (r *record) event(id messages.TaskID) messages.Event {
	e := messages.Event{Type: kinds[r.kind], TaskID: id, Version: r.version, At: r.at, Changed: r.changed}
	switch what := r.what.(type) {
	case *messages.FrameTree:
		e.FrameTree = what
	case *messages.ConsoleError:
		e.Console = what
	case *messages.Page:
		e.Page = what
	case *messages.Connection:
		e.Connection = what
	case *messages.Dialog:
		e.Dialog = what
	case *messages.ClosedDialog:
		e.Closed = what
	case *messages.Event:
		return *what
	}
	return e
}

// recordBytes is what a record takes besides its texts, about.
const recordBytes = 256

// size is what a record keeps in memory, about. Texts that several events share count
// for each: the event that is kept longest keeps them.
func (r *record) size() int {
	switch what := r.what.(type) {
	case *messages.FrameTree:
		return recordBytes + treeSize(what)
	case *messages.ConsoleError:
		return recordBytes + len(what.Text) + len(what.URL)
	case *messages.Page:
		return recordBytes + len(what.URL) + len(what.Title)
	case *messages.Connection:
		return recordBytes + len(what.LastError) + len(what.Endpoint)
	case *messages.Dialog:
		return recordBytes + dialogSize(what)
	case *messages.ClosedDialog:
		return recordBytes + len(what.Message)
	case *messages.Event:
		n := 2*recordBytes + len(what.Reason)
		if what.Page != nil {
			n += len(what.Page.URL) + len(what.Page.Title)
		}
		if what.Dialog != nil {
			n += dialogSize(what.Dialog)
		}
		if what.Closed != nil {
			n += len(what.Closed.Message)
		}
		if what.FrameTree != nil {
			n += treeSize(what.FrameTree)
		}
		if what.Blocker != nil {
			n += len(what.Blocker.Message) + len(what.Blocker.URL) + len(what.Blocker.Origin)
		}
		if what.ClosedBlocker != nil {
			n += len(what.ClosedBlocker.URL)
		}
		return n
	}
	return recordBytes
}

func dialogSize(d *messages.Dialog) int {
	return len(d.Message) + len(d.DefaultPrompt) + len(d.FrameURL)
}

func treeSize(t *messages.FrameTree) int {
	n := len(t.Top.URL) + len(t.Top.Origin)
	for i := range t.Children {
		n += recordBytes + len(t.Children[i].URL) + len(t.Children[i].Origin)
	}
	return n
}
