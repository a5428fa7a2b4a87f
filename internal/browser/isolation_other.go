//go:build !linux

package browser

import (
	"os/exec"
	"slices"
)

// lacksIsolation is why browsers are not kept apart here.
const lacksIsolation = "only Linux has a mount namespace, which hides the node's files from a browser"

// plan decides how a browser is started: as the node's user, with Chromium's own
// sandbox, which needs no privilege here.
func (m *Manager) plan(_, _ string, _ LaunchOptions, failed []error) plan {
	p := plan{how: SecludedNone, hasSandbox: true, lacks: lacksIsolation}
	switch {
	case m.options.Isolation == IsolationOff:
		p.lacks = "browser.isolation is off"
	case len(failed) > 0:
		p.lacks = reasons(failed)
	}
	if slices.Contains(m.options.ExtraArgs, noSandboxFlag) {
		p.hasSandbox = false
	}
	return p
}

// isolate fails: no plan here asks for it.
func (m *Manager) isolate(*exec.Cmd, string, plan) (started func(startErr error) error, err error) {
	return nil, errIsolation
}
