package browser

import (
	"errors"
	"fmt"
	"strings"
)

// Isolation says how launched browsers are kept away from the node's files: the token,
// leases, and what other browsers store.
type Isolation string

// The settings.
const (
	// IsolationAuto, the zero value's meaning too, does what the system allows; what it
	// does not allow is a warning.
	IsolationAuto Isolation = "auto"
	// IsolationRequire launches no browser that could read the node's files.
	IsolationRequire Isolation = "require"
	// IsolationOff leaves browsers with the node's user and files.
	IsolationOff Isolation = "off"
)

// Sandbox says whether a browser may run without Chromium's own sandbox.
type Sandbox string

// The settings.
const (
	// SandboxAuto, the zero value's meaning too, runs browsers without it where it does not
	// work, with a warning.
	SandboxAuto Sandbox = "auto"
	// SandboxRequire launches no browser without it.
	SandboxRequire Sandbox = "require"
)

// Validate refuses what is no setting; the empty one is [SandboxAuto].
func (s Sandbox) Validate() error {
	switch s {
	case "", SandboxAuto, SandboxRequire:
		return nil
	}
	return fmt.Errorf("the browser's sandbox is %q; it has to be auto or require", string(s))
}

// Validate refuses what is no setting; the empty one is [IsolationAuto].
func (i Isolation) Validate() error {
	switch i {
	case "", IsolationAuto, IsolationRequire, IsolationOff:
		return nil
	}
	return fmt.Errorf("the browser's isolation is %q; it has to be auto, require or off", string(i))
}

// Seclusion is how a browser that runs is kept apart.
type Seclusion string

// The ways, the strongest first.
const (
	// SecludedUser is a user of its own, and a mount namespace without the node's files.
	SecludedUser Seclusion = "user"
	// SecludedNamespace is the node's user without any privilege, in a mount namespace
	// without the node's files.
	SecludedNamespace Seclusion = "namespace"
	// SecludedRules is the node's user without any privilege, with rules of the kernel
	// (Landlock) that close the node's files to it. It is for systems that refuse
	// namespaces.
	SecludedRules Seclusion = "rules"
	// SecludedNone is the node's user; the browser can read what the node can.
	SecludedNone Seclusion = "none"
)

// errIsolation is in every error that says that a browser could not be kept apart.
var errIsolation = errors.New("the browser could not be kept away from the node's files")

// reasons says why ways of isolation did not work, without what all of them say.
func reasons(failed []error) string {
	var all []string
	for _, err := range failed {
		all = append(all, strings.TrimPrefix(err.Error(), errIsolation.Error()+": "))
	}
	return strings.Join(all, "; ")
}

// errSandbox is in every error that says that a browser would have no sandbox.
var errSandbox = errors.New("the browser would run without Chromium's own sandbox, which browser.sandbox requires")

// plan is how one browser is started.
type plan struct {
	how         Seclusion
	user        int // the browser's own; 0 is the node's
	hasSandbox  bool
	lacks       string // why how is not better, "" where there is nothing to say
	coveredRoot string // the directory that the browser sees empty but for its profile
}

func (m *Manager) giveBackUser(user int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.users, user)
}
