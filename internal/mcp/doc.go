// Package mcp serves a node's tools over the Model Context Protocol: on stdio for `holdfast
// mcp`, and as streamable HTTP on /mcp of a node.
//
//	MCP client ──stdio──► server ──HTTP──► the node that runs, or one in the same process
//	MCP client ──HTTP───► gate ──► server ──HTTP in memory──► the same node
//
// Invariants:
//
//   - There is one table of tools. A server offers a part of it, and carries each call to the
//     node's own HTTP interface with the caller's token: scopes, audit, limits and errors are
//     those of that interface, and there is no other way in.
//   - A server keeps nothing between requests but the name of its client's own task. What is
//     known of a task is the node's.
//   - Calls do not wait for each other: a call that hangs on a page delays no answer to a
//     dialog.
//   - A tool that fails is a result with isError, a code of the contract and next_actions. A
//     protocol error is for messages that are no calls of a tool.
package mcp
