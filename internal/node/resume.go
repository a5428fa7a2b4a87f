package node

import (
	"context"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Memory is what another node has to know of a task to take it over. It is false for a task
// that does not run, or has not been attached yet.
func (n *Node) Memory(id messages.TaskID) (mail.TaskMemory, bool) {
	b := n.directory.Board(id)
	if b == nil {
		return mail.TaskMemory{}, false
	}
	v := b.View()
	s := v.Snapshot
	if !s.Active || v.Wanted == nil {
		return mail.TaskMemory{}, false
	}
	m := mail.TaskMemory{
		Version: s.Version, Browser: v.Browser.Mark(), Context: v.Context, Current: s.PageTargetID,
		Pages: s.Pages, Open: s.PendingDialogs, Recent: s.RecentDialogs, Wanted: v.Wanted(),
	}
	return m, true
}

// Unready says what keeps a task from being given to another node now, "" for nothing: what would
// be lost with its connections.
func (n *Node) Unready(id messages.TaskID) string {
	b := n.directory.Board(id)
	if b == nil {
		return ""
	}
	switch s := b.View().Snapshot; {
	case b.View().IsLaunched:
		return "its browser was launched by the node"
	case !s.Active:
		return "it does not run"
	case len(s.PendingDialogs) > 0:
		return "a dialog is open"
	case len(s.Blockers) > 0:
		return "a page asks for something"
	}
	return ""
}

// SpecOf is what a task was started with; false for one that the node does not know any more.
func (n *Node) SpecOf(id messages.TaskID) (messages.TaskSpec, bool) {
	b := n.directory.Board(id)
	if b == nil {
		return messages.TaskSpec{}, false
	}
	return b.Spec(), true
}

// Has says whether a task runs, or was lost.
func (n *Node) Has(id messages.TaskID) bool {
	b := n.directory.Board(id)
	return b != nil && b.View().Snapshot.State != messages.StateStopped
}

// Lose shows a task as lost whose browser has ended with the node that had launched it.
func (n *Node) Lose(ctx context.Context, id messages.TaskID, spec messages.TaskSpec, version uint64) error {
	_, err := n.ask(ctx, nil, func(r mail.Call) {
		n.sys.Send(n.registry.PID(), registry.Lose{ID: id, Spec: spec.Normalized(), Version: version, Reply: r})
	})
	return err
}

// Resume has a task go on that another node had. It does not wait for the browser: a task whose
// browser cannot be reached is recovering. Where the task runs already nothing is done.
//
// Codes: invalid_argument and forbidden, of a task that this node can never have.
func (n *Node) Resume(ctx context.Context, id messages.TaskID, spec messages.TaskSpec, r mail.Resumed) error {
	spec = spec.Normalized()
	if err := spec.Validate(); err != nil {
		return err
	}
	if app := spec.App(); app != "" {
		if spec.IsRestricted {
			return errAppScoped()
		}
		if _, err := n.allowedApp(app); err != nil { // the last owner may have allowed another one
			return err
		}
	}
	spec.NodeRules = n.cfg.DialogRules
	_, err := n.askToStart(ctx, mail.StartTask{ID: id, Spec: spec, Ticket: n.tickets.Add(1), Resumed: &r})
	return err
}
