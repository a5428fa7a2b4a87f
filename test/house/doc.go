// Package house holds the repository to its own rules: what may import what,
// which code is pure, and what the documents say about the code.
package house
