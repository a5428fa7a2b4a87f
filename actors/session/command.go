package session

import (
	"encoding/json"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// resume lets a page run that the browser holds for us.
const resume = "Runtime.runIfWaitingForDebugger"

// rootCommand is a command on the session of the browser itself.
func rootCommand(tag Tag, method string, params any, timeout time.Duration) Command {
	return Command{Tag: tag, Method: method, Params: mustJSON(params), Timeout: timeout}
}

type sessionParam struct {
	SessionID messages.SessionID `json:"sessionId"`
}

// letGoFrame does the same of an out-of-process iframe that via has reported.
func letGoFrame(via messages.SessionID, a mail.TargetAttached) []Effect {
	return []Effect{
		Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: resume},
		Command{Session: via, Tag: Tag{Kind: TagNone}, Method: "Target.detachFromTarget", Params: mustJSON(sessionParam{a.Session})},
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Only strings, booleans and numbers are ever passed.
		panic("session: " + err.Error())
	}
	return b
}

// MaxPages bounds the pages of a task, and MaxSessions the CDP sessions of its primary
// link, frames of other processes included (Chrome itself lets a page have a thousand
// frames). What comes beyond runs and is left, like a page that is not the task's.
const (
	MaxPages    = 1000
	MaxSessions = 10_000
)

// TooMany tells the supervisor that a page, or else a frame, was left for there
// are too many.
type TooMany struct{ Pages bool }
