package effect

import (
	"encoding/json"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Resume lets a page run that the browser holds for us.
const Resume = "Runtime.runIfWaitingForDebugger"

// OnBrowser is a command on the session of the browser itself.
func OnBrowser(tag Tag, method string, params any, timeout time.Duration) Command {
	return Command{Tag: tag, Method: method, Params: Params(params), Timeout: timeout}
}

// SessionParam is the params of a command that names a session.
type SessionParam struct {
	SessionID messages.SessionID `json:"sessionId"`
}

// LeaveFrame resumes a frame of another process, which the session via has reported, and leaves it.
func LeaveFrame(via messages.SessionID, a mail.TargetAttached) []Effect {
	return []Effect{
		Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: Resume},
		Command{Session: via, Tag: Tag{Kind: TagNone}, Method: "Target.detachFromTarget", Params: Params(SessionParam{a.Session})},
	}
}

// Params encodes the params of a command.
func Params(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Only strings, booleans and numbers are ever passed.
		panic("session: " + err.Error())
	}
	return b
}

// MaxPages bounds the pages of a task, and MaxSessions the CDP sessions of its primary
// link. The sessions include frames of other processes (Chrome itself lets a page have a
// thousand frames). What comes beyond is resumed and left, like a page that is not the
// task's.
const (
	MaxPages    = 1000
	MaxSessions = 10_000
)

// TooMany tells the supervisor that a page, or else a frame, was left for there
// are too many.
type TooMany struct{ IsPages bool }

// AttachBudget is what a browser gets to answer the attach of a link (requirement A10).
const AttachBudget = 15 * time.Second
