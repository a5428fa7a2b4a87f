package mail

import "holdfast/messages"

// A task of a cluster has a standby on another node: a supervisor that holds a link with a session
// on each page, and decides nothing. It takes the task over should its node end.

// StandbyNews is what the node that has a task tells the standby of it.
type StandbyNews struct {
	Memory TaskMemory `json:"memory"`
	// Off are the pages that the standby is to leave, and to keep away from.
	Off []messages.TargetID `json:"off,omitempty"`
}

// StandbyAttached tells a task which node has its standby, and whether that sees its pages.
type StandbyAttached struct {
	Node string
	IsUp bool
}

// StandbyLeft tells a task that the standby on a node has left a page.
type StandbyLeft struct {
	Node string
	Page messages.TargetID
}

// StandbyGone tells a task that it has a standby on the node no more.
type StandbyGone struct{ Node string }

// FollowTask tells a standby how its task is now.
type FollowTask struct{ News StandbyNews }

// LeaveAsStandby has a standby leave a page. The reply comes once it has.
type LeaveAsStandby struct {
	Page  messages.TargetID
	Reply Call
}

// ReplyTo is the call that waits for the answer.
func (l LeaveAsStandby) ReplyTo() Call { return l.Reply }

// InheritDialogs tells the dialogs of a standby that takes its task over what the last node had
// published of them.
type InheritDialogs struct {
	Open   []messages.Dialog
	Recent []messages.ClosedDialog
}
