package bridge

import (
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A session's actor that takes the place of a failed one has a session whose debugger is on
// and whose script is in place. What was in the mailbox of the failed one, that a call
// waits or that it waits no more, is not reported a second time.

// Inherit is attach in place of a failed actor. The script is added again, which tells
// of the documents that are there.
func (b *Machine) Inherit() {
	b.turnOffPast()
	switch {
	case b.on:
		b.armed++
		b.by.inherit()
		b.removeScript(b.left)
		b.astray = b.left == ""
	case b.left != "": // turned off since
		b.script = b.left
		b.takeBack()
		b.by.disarm()
	}
	b.left = ""
}

// only says that of the calls that the actor before this one has told of, the one
// named key may wait still, and no other.
func (b *Machine) only(key string) {
	if b.inherits {
		b.inherits = false
		b.do(effect.ToDialog{Msg: mail.BridgedOnly{Role: b.Role, Session: b.Session, Key: key}})
	}
}

// keep notes the script that is in place, also for an actor that may come after this.
func (b *Machine) keep(script string) {
	if b.script == script {
		return
	}
	if b.script = script; b.Role == messages.RolePrimary {
		b.do(effect.ToSupervisor{Msg: mail.BridgeScript{Gen: b.Gen, Session: b.Session, ID: script}})
	}
}

// Unread is for a call of ours that cannot be reported. No other code resumes it, and once
// it has asked three times it gets what dismissing gives.
func (b *Machine) Unread() {
	b.only("")
	b.command(effect.TagNone, "Debugger.resume", nil)
	b.do(effect.ToSupervisor{Msg: CallUnread{Page: b.Page}})
}

// CallUnread tells the supervisor of a call of the bridge that cannot be read, and so
// was dismissed.
type CallUnread struct{ Page messages.TargetID }
