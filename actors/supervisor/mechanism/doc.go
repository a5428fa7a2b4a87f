// Package mechanism decides by which mechanism the dialogs of a task come over the bridge: the
// debugger of each session, requests that the browser's session hears, or none; and whether a task
// needs the bridge, since its browser closes native dialogs by itself.
//
// It is a part of the task's machine, and pure as that is: it works on the same [step.Work].
package mechanism
