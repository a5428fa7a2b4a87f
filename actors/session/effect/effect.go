// Package effect holds what the machines of a session's room take and return: their
// inputs, the effects that a shell carries out, and the timers and replies that come back.
//
// An effect is a value. The set is closed by an unexported method, and a shell panics on
// an effect that it does not carry out.
package effect

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Identity names one CDP session: the link it is on, and what it is attached to.
type Identity struct {
	Role    messages.Role
	Gen     mail.Generation
	Session messages.SessionID
	Target  messages.TargetID
	Page    messages.TargetID // the top-level target; equals Target for a page
}

// TimerName says what a timer is for. Each machine has its own.
type TimerName string

// Timer names one timer of a machine: what it is for and, where a machine has several of
// them, what of.
type Timer struct {
	Name    TimerName
	Session messages.SessionID
	Page    messages.TargetID
	Key     string // of a call
	Seq     uint32 // of a navigation
}

// String returns the name by which a shell keeps the timer, in the form name:of:what.
func (t Timer) String() string {
	s := string(t.Name)
	for _, part := range [...]string{string(t.Session), string(t.Page), t.Key} {
		if part != "" {
			s += ":" + part
		}
	}
	if t.Seq != 0 {
		s += ":" + strconv.FormatUint(uint64(t.Seq), 10)
	}
	return s
}

// Inputs of the machines besides messages.
type (
	// Start begins, or begins anew, the attach. Downloads is the directory for what the
	// task downloads; "" leaves it to the browser.
	Start struct{ Downloads string }

	// Replied is the outcome of a Command.
	Replied struct {
		Tag    Tag
		Result []byte
		Err    error
	}

	// TimerFired is an Arm that has come due.
	TimerFired struct{ Timer Timer }

	// Restored answers a Restore: each of its commands has had its outcome.
	Restored struct{ Round uint32 }

	// TellAgain asks a machine to tell a new dialog actor what it watches.
	TellAgain struct{}
)

// Tag tells replies apart. Round is the attach they belong to: a crash begins
// a new one and replies of the old one mean nothing any more.
type Tag struct {
	Kind  TagKind
	Round uint32
	Seq   uint32 // of a navigation, of a trial, or of a page being created
	ID    messages.DialogID
	Page  messages.TargetID

	Session messages.SessionID // of the anchor, or of a bridge
	Context int64              // of a script
}

// TagKind names what a command was for. A machine names its own from FirstTag on. Those of
// the bridge, which is part of other machines, begin at FirstBridgeTag.
type TagKind uint8

// FirstTag and FirstBridgeTag are where the kinds of a machine and of the bridge begin.
const (
	FirstTag       TagKind = 16
	FirstBridgeTag TagKind = 64
)

// What commands of several machines are for.
const (
	TagNone    TagKind = iota // whatever it says, nothing follows, and nothing waits for it
	TagEnabled                // the Page domain
	TagDialog                 // an answer to a dialog
	TagDoomed                 // whether a dialog could be answered
	TagMove                   // of a page from a doomed dialog
)

// IsBridge says that the reply is the bridge's.
func (k TagKind) IsBridge() bool { return k >= FirstBridgeTag }

// Effects of the machine.
type (
	// Effect is what a machine wants done. The set is closed: a shell panics on one that
	// it does not carry out.
	Effect interface{ effect() }

	// Command is a CDP command on Session, or on the machine's own session
	// when that is empty.
	Command struct {
		Session  messages.SessionID
		IsOnRoot bool // on the browser's own session instead
		Tag      Tag
		Method   string
		Params   []byte
		Timeout  time.Duration // 0: none
		IsDirect bool          // a caller waits for it to be written
	}

	// Listen has the events of a page's session on the anchor's link decoded.
	Listen struct {
		Session messages.SessionID
		Page    messages.TargetID
	}

	// Restore gives the session what the agents had set in its target. Revived
	// says that it is the same session, with another renderer. Restored follows. With
	// Again it is the same session, and nothing follows.
	Restore struct {
		IsRevived  bool
		IsRepeated bool
		Round      uint32
	}

	// ToDialog, ToFrame and ToSupervisor are messages to the actors around.
	ToDialog     struct{ Msg any }
	ToFrame      struct{ Msg any }
	ToSupervisor struct{ Msg any }

	// Arm sets a timer anew; Disarm drops it.
	Arm struct {
		Timer Timer
		After time.Duration
	}
	Disarm struct{ Timer Timer }

	// Interrupt ends the agents' calls that hang on this session. Renderer
	// limits it to commands that need the renderer, Before to those that began
	// before it: what is called once the dialog has been answered is not held
	// up by it, though word of the answer may still be on the way here.
	Interrupt struct {
		Err           *messages.Error
		NeedsRenderer bool
		Before        time.Time // zero: all
	}

	// Suspect says that the browser process is silent as well: the link may be
	// dead, and the keepalive is to find out now.
	Suspect struct{}

	// Exit ends the actor; Err is nil when it was asked to.
	Exit struct{ Err error }

	// Answer replies to the caller of an order.
	Answer struct {
		To    mail.Call
		Value any
		Err   error
	}
)

func (Command) effect()      {}
func (Listen) effect()       {}
func (Restore) effect()      {}
func (ToDialog) effect()     {}
func (ToFrame) effect()      {}
func (ToSupervisor) effect() {}
func (Arm) effect()          {}
func (Disarm) effect()       {}
func (Interrupt) effect()    {}
func (Suspect) effect()      {}
func (Exit) effect()         {}
func (Answer) effect()       {}

// Unknown is the panic of a shell that meets an effect it does not carry out.
func Unknown(e Effect) string {
	return fmt.Sprintf("session: a shell does not carry out the effect %T", e)
}

// IsUrgent reports that the outcome of a dialog's answer overtakes what a page reports: the
// caller waits, and the outcome hangs on none of it.
func (r Replied) IsUrgent() bool { return r.Tag.Kind == TagDialog }
