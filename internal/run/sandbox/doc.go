// Package sandbox runs JavaScript that is not trusted: QuickJS in WebAssembly. A script has
// the language, one function of the host, and nothing else: no file, no network, no
// environment, no memory but its own. Its memory is bounded, and the end of its context ends
// it, whatever it does.
//
// An engine is made once. It evaluates the scripts that every sandbox begins with and keeps
// the memory behind them as an image; a sandbox begins as a copy of it, within milliseconds.
package sandbox
