package admit

import (
	"time"

	"holdfast/messages"
)

// Known is what is known of a page, or of a session on a page, when something is asked of
// it. The zero value is a page that answers, on a link that stands.
type Known struct {
	// State is the state of the session, or for a navigation or recovery of the page;
	// "" is [messages.PageOK].
	State messages.PageState
	// Since is when the silence began that State names.
	Since time.Time
	// IsStranded says of a renderer that hangs that no navigation and no reload reaches it.
	IsStranded bool
	// IsPoisoned says that the page holds a dialog whose frame is gone: almost any command
	// could end the browser (C15).
	IsPoisoned bool
	// IsUnsettled says that leaving the page now might end the browser, which is known in a
	// moment (C58).
	IsUnsettled bool
	// IsUnsaveable says that a beforeunload dialog lost its last link (C20).
	IsUnsaveable bool
	// IsDoomed says that a dialog of the page's old document is open while its next one
	// waits: no session may leave the page (C58).
	IsDoomed bool
	// IsOffline says that the primary link does not stand.
	IsOffline bool
	// IsDetached says that no session of the primary link is on the page.
	IsDetached bool
	// HasNoAnchor says that the second link does not stand.
	HasNoAnchor bool
	// HasNoTargets says that the browser lets no session leave a page and come back.
	HasNoTargets bool

	// Blocking are the dialogs that keep this session's renderer from running.
	Blocking []messages.Dialog
	// Paused are the bridged dialogs whose frame lives here. Most commands are
	// answered all the same (C47).
	Paused []messages.Dialog
	// Shared are dialogs of other pages of the task that keep the renderer from running (C59).
	Shared []messages.Dialog
	// PageDialogs are all that wait on the page.
	PageDialogs []messages.Dialog
}

// Answered returns k after the renderer has answered since the silence began: the caller
// that has that answer must not be told that the page does not answer.
func (k Known) Answered() Known {
	switch k.State {
	case messages.PageHung, messages.PageDialogUnreachable, messages.PageDialog, messages.PageBlockedElsewhere:
		k.State = messages.PageOK
	}
	return k
}

func (k Known) isOK() bool { return k.State == messages.PageOK || k.State == "" }
