// Package store says what a cluster asks of its store: keys with revisions, a transaction
// that compares revisions, a listing and a watch.
//
// The store gives every transaction that changes something the next revision. An entry
// keeps two of them: that of its creation, which the next creation after a deletion
// exceeds, and that of its last change. All that the cluster decides rests on comparing
// them; no clock of the store takes part, and none of its leases.
package store
