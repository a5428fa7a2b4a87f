// Package figure is what a measurement leaves: samples, one per round, beside
// the floor's of the same round. It summarises them, holds them to their goals,
// writes them as text, Markdown and JSON, and says what moved between two runs.
//
// A figure is a ratio within one run wherever there is a floor: absolute numbers
// move with the machine, ratios of neighbours in time hardly do.
package figure
