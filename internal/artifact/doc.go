// Package artifact keeps the files that the tools of tasks make: screenshots, PDFs, downloads,
// uploads, and output that was too long for an answer.
//
//	Put ──▶ file, hashed as it is written ──▶ manifest of the task ──▶ eviction
//	List ──▶ manifest, each entry compared with its file
//	Open ──▶ file, hashed again before the first byte is handed out
//
// Each task has a directory of its own, with one file an artifact and a manifest. All of it is
// for the node's user alone, and survives a restart. Nothing is deleted on request, and the end
// of a task deletes nothing: what is oldest goes when a bound is reached, and its entry stays
// as evicted.
package artifact
