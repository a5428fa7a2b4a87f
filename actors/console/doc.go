// Package console tells a console error that is new from one that a browser repeats: it
// says all of a document's errors again to every session that enables Runtime. See
// [Replays].
package console
