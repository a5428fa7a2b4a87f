// Package logs makes the logger of a node: one place that every line goes
// through, so that a call site that forgets itself leaks nothing and a thing
// that goes wrong for hours fills no disk.
//
//	call site ─▶ Handler ─┬─ masks what looks like a secret, cuts what is long
//	                      └─ warnings: once, then once a minute with their count
//	                                 ▼
//	                        slog's text or JSON handler
//
// The vocabulary of attributes is in docs/logging.md.
package logs
