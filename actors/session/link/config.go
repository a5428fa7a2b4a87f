package link

import (
	"holdfast/actors/session/bridge"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Config is what a link is born with.
type Config struct {
	Role  messages.Role
	Gen   mail.Generation
	Scope messages.Scope
	// Owned are the pages that were the task's on the link before, and the
	// spec's target.
	Owned []messages.TargetID
	// Context is the browser context that an earlier link has made for the task; "" is the
	// browser's own.
	Context string
	// Contexts are those that clients of the gateway have made.
	Contexts []string
	Bridge   bridge.Settings
	// HelperURL is [HelperURL] of the task.
	HelperURL string
	Lacks     Lacks

	// Target is the page that a primary of scope target cannot be without.
	Target messages.TargetID
	// Isolation is what the spec says to a primary of browser contexts.
	Isolation messages.Isolation

	// Left are the pages that an anchor keeps away from until it is told to cover them.
	Left []messages.TargetID
	// Native are the pages and frames that the primary was refused the bridge of.
	Native []messages.TargetID
	// IsAlone says to an anchor that the primary link is down.
	IsAlone bool
}
