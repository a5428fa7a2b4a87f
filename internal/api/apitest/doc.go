// Package apitest is a node without browsers, for tests of what is built on
// the Go API: the HTTP layer, its client, the command line.
package apitest
