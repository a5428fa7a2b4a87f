// Package member runs the machine of package lease: it reads the clocks, carries the
// machine's transactions to the store, follows the store's watch, and tells a handler
// which tasks are its node's.
//
//	clocks ─┐                      ┌─▶ store (one goroutine an attempt, bounded)
//	watch  ─┼─▶ one goroutine ─────┼─▶ handler (the same goroutine: it must not wait)
//	orders ─┘   with the machine   └─▶ Grant, View (readers wait for nothing)
package member
