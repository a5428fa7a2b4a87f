// Package node runs tasks: it starts and stops them, and carries callers' requests
// to them.
//
// Package holdfast is its face for Go programs, and package api its face over HTTP.
package node
