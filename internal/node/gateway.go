package node

import (
	"context"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/command"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Board returns where the state of a task that is supervised is read. It never waits.
func (n *Node) Board(id messages.TaskID) (*view.Board, error) {
	b, _, err := n.living(id)
	return b, err
}

// DownloadDir returns the directory for what the task's launched browser downloads; "" is none
// of the node's. It never waits.
func (n *Node) DownloadDir(id messages.TaskID) string {
	if _, v, err := n.living(id); err == nil {
		return v.Downloads
	}
	return ""
}

// OpenPage opens a page of the task and returns once it is the task's and its navigation to o.URL has begun.
func (n *Node) OpenPage(ctx context.Context, id messages.TaskID, o mail.OpenPage) (messages.TargetID, error) {
	b, v, err := n.living(id)
	if err != nil {
		return "", err
	}
	n.restrict(ctx, id)
	t, err := n.order(ctx, b, v, func(r mail.Call) any {
		o.Reply = r
		return o
	})
	if err != nil {
		return "", err
	}
	return t.(messages.TargetID), nil
}

// HoldPopups has the task's popups held, from now on or no longer, until [Node.PopupSeen]. It
// never waits.
func (n *Node) HoldPopups(id messages.TaskID, isOn bool) { n.note(id, mail.HoldPopups{IsOn: isOn}) }

// PopupSeen says that no client holds a page of the task any more. It never waits.
func (n *Node) PopupSeen(id messages.TaskID, page messages.TargetID) {
	n.note(id, mail.PopupSeen{Page: page})
}

// ClientsAttached says that clients of the gateway are on the task from now on, or no longer. It
// never waits.
func (n *Node) ClientsAttached(id messages.TaskID, isOn bool) {
	n.note(id, mail.ClientsAttached{IsOn: isOn})
}

// ClientContexts says which browser contexts of the task's clients there are. It never waits.
func (n *Node) ClientContexts(id messages.TaskID, contexts []string) {
	n.note(id, mail.ClientContexts{IDs: contexts})
}

// ClientsLeft says that the clients of the gateway have left a page, as the task's board asks
// them to. It never waits.
func (n *Node) ClientsLeft(id messages.TaskID, page messages.TargetID) {
	n.note(id, mail.ClientsLeft{Page: page})
}

// FilesGiven says that a client of the gateway has given files to a file input: a node of the
// process of a page or frame. It never waits.
func (n *Node) FilesGiven(id messages.TaskID, target messages.TargetID, node int64) {
	n.note(id, mail.FilesGiven{Target: target, Node: node})
}

// note tells a task's supervisor what wants no answer.
func (n *Node) note(id messages.TaskID, msg any) {
	if _, v, err := n.living(id); err == nil {
		n.sys.Send(v.Supervisor, msg)
	}
}

// ClosePage closes a page of the task, in the order that its dialogs allow (C15).
func (n *Node) ClosePage(ctx context.Context, id messages.TaskID, t messages.TargetID) error {
	b, v, err := n.living(id)
	if err != nil {
		return err
	}
	if err := command.CheckPage(ctx, v, t); err != nil {
		return err
	}
	_, err = n.order(ctx, b, v, func(r mail.Call) any { return mail.ClosePage{Page: t, Reply: r} })
	return err
}
