// Package tools is the one table of the tools that agents drive a task with.
//
// HTTP, MCP and the command line are generated from the table, so that names, schemas, results
// and errors are the same over each of them:
//
//	name, input ──▶ Table.Call ──▶ decode strictly ──▶ the tool's function ──▶ Node
//	                                                          │
//	messages.ToolResult ◀── page, dialogs, next actions ◀─────┘
//
// A tool uses the node as every other caller does: each command has the supervisor's verdict, so
// a dialog, a wedge or a lost link ends it with a code, and never with a bare timeout.
//
// Invariants: a result is never nil; a failure has a code and, where one helps, a next action;
// what a page wrote is cut to a length and marked as untrusted.
package tools
