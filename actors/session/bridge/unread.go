package bridge

import (
	"holdfast/actors/session/effect"
	"holdfast/messages"
)

// Unread is for a call of ours that cannot be reported. No other code resumes it, and once
// it has asked three times it gets what dismissing gives.
func (b *Machine) Unread() {
	b.command(effect.TagNone, "Debugger.resume", nil)
	b.do(effect.ToSupervisor{Msg: CallUnread{Page: b.Page}})
}

// CallUnread tells the supervisor of a call of the bridge that cannot be read, and so
// was dismissed.
type CallUnread struct{ Page messages.TargetID }
