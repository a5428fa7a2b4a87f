// Package words holds the text of the repository to its rules.
//
// It has tests only: every id of a fact or a requirement that a comment cites stands in
// docs/, comments and messages use plain words, and names are what a newcomer would search
// for.
package words
