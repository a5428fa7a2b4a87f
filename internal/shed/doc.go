// Package shed counts what the bounds of a node have cut off, so that no
// bound bites in silence.
//
// A bound is enforced, and its number written down, where the thing is that it
// bounds; here it only has a name.
package shed
