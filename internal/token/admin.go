package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
	"regexp"
	"strings"

	"holdfast/messages"
)

// Admin is the node's secret: whoever has it may do everything, and mint
// tokens that may do less. It prints as a mask; [Admin.Reveal] gives the text.
type Admin struct{ secret *string }

// MaxLength bounds every token, in bytes.
const MaxLength = 512

// adminShape leaves room for tokens of other makers, as long as they could
// hold 32 random bytes.
var adminShape = regexp.MustCompile(`^[A-Za-z0-9_~+/=-]{43,256}$`)

var errShape = errors.New("the admin token must be 43 to 256 characters of base64")

// Generate returns a new admin token.
func Generate() Admin {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	s := base64.RawURLEncoding.EncodeToString(b[:])
	return Admin{secret: &s}
}

// ParseAdmin checks the form of an admin token. The error never repeats it.
func ParseAdmin(s string) (Admin, error) {
	s = strings.TrimSpace(s)
	if !adminShape.MatchString(s) {
		return Admin{}, errShape
	}
	return Admin{secret: &s}, nil
}

// Reveal returns the token's text: for the file it is kept in, and for a
// client's Authorization header.
func (a Admin) Reveal() string {
	if a.secret == nil {
		return ""
	}
	return *a.secret
}

// IsZero says whether there is no token.
func (a Admin) IsZero() bool { return a.secret == nil }

// String keeps the token out of everything that prints.
func (a Admin) String() string { return "***" }

// GoString keeps it out of %#v.
func (a Admin) GoString() string { return "token.Admin(***)" }

// LogValue implements slog.LogValuer.
func (a Admin) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalText keeps it out of JSON.
func (a Admin) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

const (
	taskPrefix   = "hft."
	tenantPrefix = "hfn."
)

// ForTask returns the token that is good for the task id alone.
func (a Admin) ForTask(id messages.TaskID) string {
	return taskPrefix + string(id) + "." + a.mac("task:"+string(id))
}

// ForTenant returns the token that is good for the task ids that begin with
// prefix and a colon.
func (a Admin) ForTenant(prefix string) (string, error) {
	if err := checkTenant(prefix); err != nil {
		return "", err
	}
	return tenantPrefix + prefix + "." + a.mac("tenant:"+prefix), nil
}

// checkTenant leaves room for the colon and at least one more character.
func checkTenant(prefix string) error {
	if _, err := messages.ParseTaskID(prefix + ":x"); err != nil || prefix == "" {
		return messages.Errorf(messages.CodeInvalidArgument,
			"a tenant is 1 to %d characters of A-Z a-z 0-9 . _ : -", messages.MaxTaskIDLength-2)
	}
	return nil
}

func (a Admin) mac(what string) string {
	h := hmac.New(sha256.New, []byte(a.Reveal()))
	h.Write([]byte(what))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Check returns what a token is good for; ok is false for one that this admin
// token did not make. Its time depends on the lengths of its inputs alone.
func (a Admin) Check(s string) (scope Scope, ok bool) {
	if a.IsZero() || s == "" || len(s) > MaxLength {
		return Scope{}, false
	}
	if subtle.ConstantTimeCompare([]byte(s), []byte(a.Reveal())) == 1 {
		return Scope{kind: admin}, true
	}
	// The id may hold dots, the MAC cannot: the last one parts them.
	dot := strings.LastIndexByte(s, '.')
	if dot < len(taskPrefix) {
		return Scope{}, false
	}
	name, mac := s[len(taskPrefix):dot], s[dot+1:]
	switch s[:len(taskPrefix)] {
	case taskPrefix:
		id, err := messages.ParseTaskID(name)
		if err != nil || !hmac.Equal([]byte(mac), []byte(a.mac("task:"+name))) {
			return Scope{}, false
		}
		return Scope{kind: task, name: string(id)}, true
	case tenantPrefix:
		if checkTenant(name) != nil || !hmac.Equal([]byte(mac), []byte(a.mac("tenant:"+name))) {
			return Scope{}, false
		}
		return Scope{kind: tenant, name: name}, true
	}
	return Scope{}, false
}
