// Package command runs raw CDP commands on a task's own connection: it finds the session
// that a command is for, refuses what is not the task's, and carries out by itself what would
// break the task if Chrome did it.
//
// What a caller may run at all, internal/rawcdp decides; what a page's state allows,
// actors/supervisor/admit.
package command
