// Package metrics turns what a node knows into Prometheus series.
//
// Gauges are read from the tasks' snapshots when Prometheus asks; counters
// hear the tasks' events and the actors' lives. Nothing here is asked by the
// code that does the work, and nothing here imports an actor.
//
// Every label has few values, all of them present from the start. A task id,
// a URL, an origin or a text of a page is never a label.
package metrics
