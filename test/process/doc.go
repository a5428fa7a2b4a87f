// Package process tests that a node changes nothing of the process that it runs in.
package process
