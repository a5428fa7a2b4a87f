package node

import (
	"holdfast/actors/registry"
	"holdfast/messages"
)

// SetLease says whether the node may decide for its tasks. One that may not keeps their links
// and tells what it sees; see [Config.MayDecide], which is asked last.
func (n *Node) SetLease(isHeld bool) { n.sys.Send(n.registry.PID(), registry.Lease{IsHeld: isHeld}) }

// SetTaskLease says the same for one task. It is decided for where both hold.
func (n *Node) SetTaskLease(id messages.TaskID, isHeld bool) {
	n.sys.Send(n.registry.PID(), registry.Lease{ID: id, IsHeld: isHeld})
}
