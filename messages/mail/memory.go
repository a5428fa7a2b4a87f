package mail

import (
	"time"

	"holdfast/messages"
)

// DialogMemory survives a dialog actor.
type DialogMemory struct {
	// LapsedAt is since when the task's node may not decide; zero while it may.
	LapsedAt time.Time
	Seq      uint64
	Open     []OpenDialog
	Recent   []messages.ClosedDialog // oldest first
	// Late are dialogs of the past that a link may still tell of, or may yet.
	Late []SeenDialog
	// Watches are the sessions that look on, by role and page.
	Watches []PageWatch
	// Answered are the keys of bridged dialogs that were, newest last.
	Answered []string
	// Taken are those of them whose page was not seen to continue.
	Taken []string
	// Overs are calls that wait no more by the word of one session; another may tell of them
	// late. Newest last.
	Overs []BridgedEnd
	// Doomed are the pages of which a PageDoomed stands.
	Doomed []messages.TargetID
}

// BridgedEnd is the end of a bridged call, and the session that has told of it.
type BridgedEnd struct {
	Key     string
	Session messages.SessionID
}

// PageWatch is a link's session on a page.
type PageWatch struct {
	Role      messages.Role
	Gen       Generation
	Page      messages.TargetID
	Session   messages.SessionID
	IsCovered bool // its Page domain is enabled
}

// Way is a session by which a dialog can be answered.
type Way struct {
	Role    messages.Role
	Gen     Generation
	Session messages.SessionID
}

// Sight is what a link has told of a dialog.
type Sight uint8

// What a link can have told of a dialog.
const (
	SightBlind   Sight = iota // was not there when it opened
	SightDue                  // was there, and will tell of it
	SightOpened               // has told that it opened
	SightPartial              // came while it was open: tells of its end at most
	SightUnsure               // came about when it opened: tells of all, or of its end, or of nothing
	SightOver                 // has told all it will
)

// SeenDialog is a dialog as the links tell it from others.
type SeenDialog struct {
	Seq     uint64 // the n-th of the task
	Page    messages.TargetID
	Frame   messages.FrameID
	Type    messages.DialogType
	Message string
	Sights  [messages.Roles]Sight
	// IsLost: no link reached it any more. It may stand open all the same, and a
	// later link tell of its end.
	IsLost bool
}

// OpenDialog is a dialog with what only the dialog actor may know: the text
// as the page gave it, and how it can be answered.
type OpenDialog struct {
	Dialog     messages.Dialog
	Seen       SeenDialog
	Ways       []Way // the one to be tried first in front
	Pause      Pause // of a bridged one
	RawDefault string
	OpenedAt   time.Time
	ExpiresAt  time.Time
	// IsUnproved says that the dialog is native, and that it is not known yet whether it can
	// be answered: it may be doomed (C58).
	IsUnproved bool
	// ShutBy is set once the dialog has closed and only the outcome of our own
	// answer is awaited: who closed it, if that outcome never comes.
	ShutBy messages.ClosedBy
}
