// Package outline writes a page as indented text for a model to read: roles, names, states and
// values, with a number for each element that can be acted on.
//
//	DOMSnapshot.captureSnapshot ──▶ Decode ──▶ Document ──▶ Build ──▶ Outline ──▶ Text, Diff
//
// It is pure: no clock, no link, no goroutine. Roles and names follow the rules of HTML-AAM and
// accname, from the document itself, because Chrome's own accessibility tree takes fifteen times
// as long and is ten times as large: of a page with 100,000 nodes it does not fit into a message.
//
// Invariants: whatever the bytes are, Decode and Build end, in time linear to them; each text of
// a page is cut, on one line, and in quotes, so that no page can forge a line; the value of a
// password field is never read.
package outline
