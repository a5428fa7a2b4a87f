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
	"strconv"
	"strings"
	"time"

	"holdfast/messages"
)

// Admin is the node's secret: its bearer may do everything, and mint tokens that may do
// less. It prints as a mask; [Admin.Reveal] gives the text.
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
	adminPrefix  = "hfa." // a session of the admin's; it always ends
)

// Why a token is refused.
var (
	ErrUnknown = errors.New("the token is not one of this node's")
	ErrExpired = errors.New("the token has expired")
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

// Until returns a token that is good for what s is good for, and expires at the
// end, or with s where that is sooner.
func (a Admin) Until(s Scope, end time.Time) (string, error) {
	if !s.until.IsZero() && s.until.Before(end) {
		end = s.until
	}
	unix := strconv.FormatInt(end.Unix(), 10)
	if end.Unix() <= 0 || len(unix) > maxUnix {
		return "", messages.Errorf(messages.CodeInvalidArgument, "a token cannot end then")
	}
	dated := func(prefix string) string {
		return prefix + s.name + "." + unix + "." + a.macUntil(s.kind, unix, s.name)
	}
	switch s.kind {
	case admin:
		return adminPrefix + unix + "." + a.macUntil(admin, unix, ""), nil
	case tenant:
		return dated(tenantPrefix), nil
	case task:
		return dated(taskPrefix), nil
	}
	return "", messages.Errorf(messages.CodeInvalidArgument, "there is no token for nothing")
}

// maxUnix is how many digits the end of a token may have, in Unix seconds.
const maxUnix = 11

func (a Admin) macUntil(k kind, unix, name string) string {
	return a.mac(map[kind]string{admin: "admin", tenant: "tenant", task: "task"}[k] + "-until:" + unix + ":" + name)
}

// Check is Verify at this moment.
func (a Admin) Check(s string) (scope Scope, ok bool) {
	scope, err := a.Verify(s, time.Now())
	return scope, err == nil
}

// Verify returns what a token is good for. The error is ErrUnknown for one that this
// admin token did not make, and ErrExpired for one that has ended. Its time depends
// on the lengths of its inputs alone.
func (a Admin) Verify(s string, now time.Time) (Scope, error) {
	if a.IsZero() || s == "" || len(s) > MaxLength {
		return Scope{}, ErrUnknown
	}
	if subtle.ConstantTimeCompare([]byte(s), []byte(a.Reveal())) == 1 {
		return Scope{kind: admin}, nil
	}
	// The id may hold dots, the MAC cannot: the last one parts them.
	dot := strings.LastIndexByte(s, '.')
	if dot < len(taskPrefix) {
		return Scope{}, ErrUnknown
	}
	of, name, mac := s[:len(taskPrefix)], s[len(taskPrefix):dot], s[dot+1:]
	k, plain := admin, ""
	switch of {
	case taskPrefix:
		k, plain = task, "task:"
	case tenantPrefix:
		k, plain = tenant, "tenant:"
	case adminPrefix:
		name = "." + name // it has no name
	default:
		return Scope{}, ErrUnknown
	}
	if k != admin && isName(k, name) && hmac.Equal([]byte(mac), []byte(a.mac(plain+name))) {
		return Scope{kind: k, name: name}, nil
	}
	dot = strings.LastIndexByte(name, '.')
	if dot < 0 {
		return Scope{}, ErrUnknown
	}
	name, unix := name[:dot], name[dot+1:]
	end, err := strconv.ParseInt(unix, 10, 64)
	if err != nil || end <= 0 || len(unix) > maxUnix || strconv.FormatInt(end, 10) != unix {
		return Scope{}, ErrUnknown
	}
	if k != admin && !isName(k, name) || !hmac.Equal([]byte(mac), []byte(a.macUntil(k, unix, name))) {
		return Scope{}, ErrUnknown
	}
	until := time.Unix(end, 0)
	if !now.Before(until) {
		return Scope{}, ErrExpired
	}
	return Scope{kind: k, name: name, until: until}, nil
}

func isName(k kind, name string) bool {
	if k == tenant {
		return checkTenant(name) == nil
	}
	_, err := messages.ParseTaskID(name)
	return err == nil
}
