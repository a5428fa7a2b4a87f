package messages

import (
	"regexp"
	"strconv"
	"strings"
)

// TaskID names one agent's piece of browser work. It is chosen by the caller.
type TaskID string

// MaxTaskIDLength is the longest task id the contract allows, in bytes.
const MaxTaskIDLength = 128

var taskIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// ParseTaskID checks s against the contract: 1 to 128 of A-Z a-z 0-9 . _ : -.
// The error is an [*Error] with [CodeInvalidArgument].
func ParseTaskID(s string) (TaskID, error) {
	if !taskIDPattern.MatchString(s) || s == "." || s == ".." {
		return "", Errorf(CodeInvalidArgument, "task id must be 1 to %d characters of A-Z a-z 0-9 . _ : - and not a path element", MaxTaskIDLength)
	}
	return TaskID(s), nil
}

// Tenant is what stands before the first colon of the id, "" where there is
// none. A tenant's token is good for the tasks whose ids begin so.
func (id TaskID) Tenant() string {
	tenant, _, ok := strings.Cut(string(id), ":")
	if !ok {
		return ""
	}
	return tenant
}

// TargetID, FrameID and SessionID are CDP's identifiers. They are opaque, and
// an out-of-process iframe's frame id equals its target id (chromium fact C35).
type (
	TargetID  string
	FrameID   string
	SessionID string
)

// DialogID names a dialog within its task: d-1, d-2 and so on, never reused.
type DialogID string

// NewDialogID returns the id of the n-th dialog of a task, counted from 1.
func NewDialogID(n uint64) DialogID { return DialogID("d-" + strconv.FormatUint(n, 10)) }

// Number is the n of [NewDialogID], 0 for another id.
func (d DialogID) Number() uint64 {
	digits, ok := strings.CutPrefix(string(d), "d-")
	if n, err := strconv.ParseUint(digits, 10, 64); ok && err == nil && NewDialogID(n) == d {
		return n
	}
	return 0
}

// maxOpaqueID bounds the length of an id that is not ours to read.
const maxOpaqueID = 128

// CheckOpaqueID refuses a frame, target, session or dialog id that could not
// have come from a browser or from us. An empty id passes: it means "not
// given" wherever an id is optional.
func CheckOpaqueID(field, s string) error {
	ok := len(s) <= maxOpaqueID
	for i := 0; ok && i < len(s); i++ {
		switch c := s[i]; { // not by an expression: each command passes here
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			ok = false
		}
	}
	if !ok {
		return Errorf(CodeInvalidArgument, "%s must be at most %d characters of A-Z a-z 0-9 . _ : -", field, maxOpaqueID)
	}
	return nil
}

// Role tells a task's two links apart.
type Role uint8

// The roles of a link. The anchor is passive: it is there so that a dialog can
// be answered while the primary is lost (M2).
const (
	RolePrimary Role = iota
	RoleAnchor
	Roles // how many there are
)

// String is the role's name in the contract.
func (r Role) String() string {
	if r == RoleAnchor {
		return "anchor"
	}
	return "primary"
}
