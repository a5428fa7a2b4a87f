package view

import "holdfast/messages"

// Effect is something the gateway is to do for a client.
type Effect interface{ isEffect() }

// Tag names a [Call], an [Open], a [Close] or a [Dispose] to its [Outcome].
type Tag uint32

type (
	// Reply answers a command. Result is a JSON object; Err is nil for a success.
	Reply struct {
		ID      int64
		Session messages.SessionID
		Result  []byte
		Err     *Error
	}

	// Event is told to the client on a session of its own; "" is the browser's.
	Event struct {
		Session messages.SessionID
		Method  string
		Params  []byte
	}

	// Forward runs a command in the browser, and its reply is the client's.
	Forward struct {
		ID      int64
		Session messages.SessionID
		Method  string
		Params  []byte
	}

	// Call runs a command whose outcome is for the view. Child, where it is not "", is the
	// client's session that params are to name as sessionId.
	Call struct {
		Tag     Tag
		Session messages.SessionID
		Method  string
		Params  []byte
		Child   messages.SessionID
		// IsShared has it run on the session that all clients of the task have together:
		// what it makes outlives the client's own.
		IsShared bool
	}

	// Open has the supervisor open a page. The outcome is its target.
	Open struct {
		Tag         Tag
		URL         string
		Context     string // "" is the task's
		IsNewWindow bool
		// IsBackground says that the client asks for a page in the background.
		IsBackground bool
	}

	// Close has the supervisor close a page, which knows what may be open on it (C15).
	Close struct {
		Tag    Tag
		Target messages.TargetID
	}

	// Dispose ends a browser context of the task's clients, and the pages in it first.
	Dispose struct {
		Tag     Tag
		Context string
	}

	// AnswerDialog gives the dialog of a page to the task's dialog actor.
	AnswerDialog struct {
		Tag        Tag
		Target     messages.TargetID
		IsAccepted bool
		Text       *string
	}

	// Began says that the client has a session from now on, and Ended that it has not.
	Began struct {
		Session messages.SessionID
		Parent  messages.SessionID
		Target  messages.TargetID // "" is the browser
		// IsBrowser says that its commands reach beyond a page: each is for the view.
		IsBrowser bool
		IsWorker  bool // the target is one of the kinds of worker
		IsAuto    bool // by the client's auto-attach on a browser session
	}
	// Ended is the end of one.
	Ended struct{ Session messages.SessionID }

	// Holds says that popups are to be held for the client from now on, or no longer.
	Holds struct{ IsOn bool }

	// ContextMade tells the other clients of the task of a browser context.
	ContextMade struct{ ID string }

	// Leave ends the client's connection, as it has asked for.
	Leave struct{}
)

func (Reply) isEffect()        {}
func (Event) isEffect()        {}
func (Forward) isEffect()      {}
func (Call) isEffect()         {}
func (Open) isEffect()         {}
func (Close) isEffect()        {}
func (Dispose) isEffect()      {}
func (AnswerDialog) isEffect() {}
func (Began) isEffect()        {}
func (Ended) isEffect()        {}
func (Holds) isEffect()        {}
func (ContextMade) isEffect()  {}
func (Leave) isEffect()        {}

// Error is a CDP error as Chrome words it.
type Error struct {
	Code    int64
	Message string
	Data    []byte // JSON, or nil
}

// The codes of Chrome's errors.
const (
	CodeServer    = -32000
	CodeNoSession = -32001
	CodeNoMethod  = -32601
	CodeParams    = -32602
)

func noTarget() *Error  { return &Error{Code: CodeParams, Message: "No target with given id found"} }
func noSession() *Error { return &Error{Code: CodeParams, Message: "No session with given id"} }
func malformed() *Error { return &Error{Code: CodeParams, Message: "Invalid parameters"} }
func noMethod(method string) *Error {
	return &Error{Code: CodeNoMethod, Message: "'" + method + "' wasn't found"}
}

func noContext(id string) *Error {
	return &Error{Code: CodeServer, Message: "Failed to find browser context with id " + id}
}

// SessionGone is the error of a command to a session that the client does not have (C56).
func SessionGone() *Error {
	return &Error{Code: CodeNoSession, Message: "Session with given id not found."}
}
