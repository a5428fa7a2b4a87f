package node

import (
	"time"

	"holdfast/internal/guard"
	"holdfast/messages"
)

// Tree returns the supervision tree as it is now. No actor is asked: one that
// hangs is in it as well.
func (n *Node) Tree(o messages.TreeOptions) messages.Tree {
	root, truncated := n.registry.Tree(guard.TreeOptions{
		Limit: messages.MaxTreeActors, Depth: o.Depth,
		Want: func(kind, key string) bool {
			id := messages.TaskID(key)
			return kind != kindSupervisor || (o.Task == "" || o.Task == id) && (o.Allows == nil || o.Allows(id))
		},
	})
	return messages.Tree{At: messages.SecondsOf(time.Now()), Root: treeNode(root), Truncated: truncated}
}

// kindSupervisor is what the registry calls a task's supervisor; its key is the
// task's id.
const kindSupervisor = "supervisor"

func treeNode(n guard.Node) messages.TreeNode {
	t := messages.TreeNode{
		Kind: n.Kind, Key: n.Key, Generation: n.Gen, State: messages.ActorState(n.State),
		StartedAt: messages.SecondsOf(n.Started), Restarts: n.Restarts, Mailbox: n.Mailbox, RestartAt: messages.SecondsOf(n.Next),
	}
	for _, c := range n.Children {
		t.Children = append(t.Children, treeNode(c))
	}
	return t
}
