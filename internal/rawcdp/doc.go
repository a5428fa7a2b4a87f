// Package rawcdp holds the rules of raw CDP: which methods a caller may run,
// and how the parameters that name targets, windows and browser contexts are read.
//
// It is pure. What a rule needs to know of the browser, as whose window a window
// is, it leaves to its caller.
//
// decisions.txt has one line for each method of the protocol, and methods.txt the
// methods of the pinned cdproto. A test holds that each of these has a decision;
// one in internal/facts holds the same of what a real Chromium says of itself at
// /json/protocol. After an update of either, run go generate, and decide.
package rawcdp

//go:generate go run ./gen methods.txt
