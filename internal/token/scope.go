package token

import (
	"strconv"
	"strings"
	"time"

	"holdfast/messages"
)

type kind uint8

const (
	nothing kind = iota
	admin
	tenant
	task
)

// Scope is what a token is good for. The zero value is good for nothing.
type Scope struct {
	kind  kind
	name  string
	until time.Time // zero: it does not expire
}

// TaskScope and TenantScope are what the tokens of [Admin.ForTask] and
// [Admin.ForTenant] are good for.
func TaskScope(id messages.TaskID) Scope { return Scope{kind: task, name: string(id)} }

// TenantScope is described at [TaskScope]. It refuses what is no tenant's name.
func TenantScope(prefix string) (Scope, error) {
	if err := checkTenant(prefix); err != nil {
		return Scope{}, err
	}
	return Scope{kind: tenant, name: prefix}, nil
}

// Ends returns when the token expires; the zero time is never.
func (s Scope) Ends() time.Time { return s.until }

// Allows says whether the scope covers the task.
func (s Scope) Allows(id messages.TaskID) bool {
	switch s.kind {
	case admin:
		return true
	case tenant:
		return strings.HasPrefix(string(id), s.name+":")
	case task:
		return string(id) == s.name
	}
	return false
}

// IsAdmin says whether the scope covers the node itself.
func (s Scope) IsAdmin() bool { return s.kind == admin }

// Caller is what the node learns of the token's holder.
func (s Scope) Caller() messages.Caller {
	c := messages.Caller{IsScoped: s.kind != admin}
	if s.kind == tenant {
		c.Tenant = s.name
	}
	return c
}

// Task returns the one task that the scope covers; ok is false where it covers others too.
func (s Scope) Task() (id messages.TaskID, ok bool) {
	return messages.TaskID(s.name), s.kind == task
}

// IDPrefix is what the id of a task made under this scope begins with; ok is
// false where the scope may not make tasks with ids of the node's choice.
func (s Scope) IDPrefix() (prefix string, ok bool) {
	switch s.kind {
	case admin:
		return "", true
	case tenant:
		return s.name + ":", true
	}
	return "", false
}

// Text is the scope in a form that [ParseScope] reads: for another node of the cluster.
func (s Scope) Text() string {
	if s.until.IsZero() {
		return s.String()
	}
	return s.String() + " until " + strconv.FormatInt(s.until.Unix(), 10)
}

// ParseScope reads what [Scope.Text] has written. The scope of nothing is an error.
func ParseScope(text string) (Scope, error) {
	text, end, isDated := strings.Cut(text, " until ")
	var s Scope
	kindName, name, _ := strings.Cut(text, " ")
	switch {
	case text == "admin":
		s.kind = admin
	case kindName == "tenant" && checkTenant(name) == nil:
		s.kind, s.name = tenant, name
	case kindName == "task" && isName(task, name):
		s.kind, s.name = task, name
	default:
		return Scope{}, errScope
	}
	if isDated {
		unix, err := strconv.ParseInt(end, 10, 64)
		if err != nil || unix <= 0 || len(end) > maxUnix {
			return Scope{}, errScope
		}
		s.until = time.Unix(unix, 0)
	}
	return s, nil
}

var errScope = messages.Errorf(messages.CodeInvalidArgument, "the scope is malformed")

// String names the scope for logs; it holds no secret.
func (s Scope) String() string {
	switch s.kind {
	case admin:
		return "admin"
	case tenant:
		return "tenant " + s.name
	case task:
		return "task " + s.name
	}
	return "nothing"
}
