// Package request turns the options of a call on a task's handle into the request that
// the node takes.
//
// Both handles use it: the one in the process and the one over HTTP.
package request
