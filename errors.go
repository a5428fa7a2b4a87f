package holdfast

import "holdfast/messages"

// Error is the error of every call on a task: a stable code, whether the browser can have
// had the call, and what helps.
type Error = messages.Error

// CodeOf returns the code of err: internal for an error that is no [*Error], and "" for nil.
func CodeOf(err error) messages.Code { return messages.CodeOf(err) }
