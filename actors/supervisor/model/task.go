package model

import (
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/supervisor/blocker"
	"holdfast/internal/backend"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Task is what is known of a task.
type Task struct {
	ID                 messages.TaskID
	Spec               *messages.TaskSpec // never written: others have it
	State              messages.TaskState
	Reason             string
	Version            uint64
	Conn               messages.Connection
	Gen                mail.Generation
	LostAt             time.Time // zero while the primary link is not missed
	LostBy             messages.ReconnectCause
	HasBeenUp          bool
	Parting            Parting
	Verdict            error                // why a task that parts is lost; nil where it was told to stop
	Outcome            messages.TaskOutcome // of such a stop
	Caps               backend.Caps         // set before the first link
	AnchorNode         string               // the node whose standby sees the pages; "" is none
	BridgeSecret       bridge.Secret
	Epoch              uint64 // of the bridge, as it was last turned on or off
	IsBridgeForced     bool   // to the bridge, for want of dialogs that stay open
	BridgeBy           mail.Mechanism
	BridgedBy          mail.Mechanisms            // those that the task has been bridged by, ever
	CannotHearRequests bool                       // they can be heard no more
	Native             map[messages.TargetID]bool // what the primary was refused the bridge of
	Pages              smallmap.Map[messages.TargetID, *Page]
	Order              []messages.TargetID // as opened
	Current            messages.TargetID
	Sessions           smallmap.Map[messages.SessionID, *Session]
	Recovering         map[messages.TargetID]*Recovery
	Orphaned           map[messages.TargetID]Orphan // dialogs that were lost on a page that has not answered since
	Elsewhere          []string                     // sites that wait in dialogs of other tasks
	Memory             mail.DialogMemory
	Pending            []messages.Dialog
	Blockers           *blocker.Set                                         // nil until a page asks for something
	Trees              smallmap.Map[messages.TargetID, *messages.FrameTree] // copied on write: views have it
	Console            []messages.ConsoleError                              // only what lies behind its end is written

	mayAsk map[messages.SessionID]bool // at the end: see NoteEnded
}
