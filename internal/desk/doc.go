// Package desk answers programs on hollywood: what they send to the PID registry of a node
// (package wire) is asked of the node's HTTP interface, within the process, and its answer is
// sent back. So every check, every code and the way to the node that has the task are the same.
//
//	wire message ─▶ remoting ─▶ the desk's actor ─▶ a goroutine: HTTP inside the process ─▶ Reply
//
// The desk has an engine of its own: none of the node's actors can be reached from outside.
package desk
