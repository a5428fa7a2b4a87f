// Package backend holds where a task's browser comes from.
//
// A [Backend] opens the links of one task. There are two:
//
//   - [Launched] starts a browser for the task with the first link, and drives it over a
//     pipe or a port. It is a [Process]: the task ends the browser.
//   - [Attached] leads to a browser that runs already, at a URL.
//
// A backend of another kind opens its links with [transport.NewMux], over a
// [transport.Socket] of its own.
package backend
