// Package quirks is what Chrome does that its protocol does not say: how each command
// behaves while a page cannot run, and what Chrome's error texts mean. It is the only
// package that names them.
//
// The facts are measured (docs/facts.md); internal/facts holds the tables to a real
// Chromium. The package is pure: it decides nothing, it only classifies.
package quirks
