package registry

import (
	"net/netip"
	"net/url"
	"strings"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// permit says whether the caller may have the task with what asked says. A task's
// or a tenant's token neither turns a task to other pages nor takes pages that are
// not its own: those of other tenants' tasks, or of the browser that the operator
// has set for all.
func (m *Machine) permit(o mail.StartTask, asked messages.TaskSpec) error {
	if !o.Caller.IsScoped {
		return nil
	}
	spec := asked
	if t := m.tasks[o.ID]; t != nil && !t.isStopping {
		spec = t.spec.Merge(asked)
		if spec.IsSameBrowser(*t.spec) {
			return nil
		}
		if o.Caller.Tenant == "" {
			return messages.Errorf(messages.CodeForbidden, "scope, target_id, cdp_url, launch and isolation of a running task are not a task token's to change")
		}
	}
	spec = spec.WithDefaults()
	if spec.Scope == messages.ScopeOwn || spec.Launch != nil {
		return nil
	}
	if !m.override.IsZero() {
		return messages.Errorf(messages.CodeForbidden, "scope %s is for the admin token: the node's browser is for all tasks", spec.Scope)
	}
	for id, t := range m.tasks {
		if !isCovered(o, id) && t.spec.Launch == nil && isSameEndpoint(t.spec.CDPURL, spec.CDPURL) {
			return messages.Errorf(messages.CodeForbidden, "scope %s is for the admin token: tasks of others use this browser", spec.Scope)
		}
	}
	return nil
}

// isCovered says whether the caller's token is good for the task id as well.
func isCovered(o mail.StartTask, id messages.TaskID) bool {
	return id == o.ID || o.Caller.Tenant != "" && strings.HasPrefix(string(id), o.Caller.Tenant+":")
}

// isSameEndpoint says whether both addresses lead to one browser, as far as they tell:
// they are equal, or both are the same port of this machine.
func isSameEndpoint(a, b messages.CDPURL) bool {
	if a.Equal(b) {
		return true
	}
	one, ok := localPort(a)
	other, also := localPort(b)
	return ok && also && one == other
}

func localPort(u messages.CDPURL) (string, bool) {
	parsed, err := url.Parse(u.Reveal())
	if err != nil {
		return "", false
	}
	host, port := parsed.Hostname(), parsed.Port()
	ip, err := netip.ParseAddr(host)
	isLocal := strings.EqualFold(host, "localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
	return port, isLocal
}
