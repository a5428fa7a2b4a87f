// Package wire has the messages with which programs on hollywood drive the nodes of a cluster by
// PIDs. It stands on protobuf alone.
//
// A program that links nothing of ours sends the same as JSON, in a
// google.protobuf.BytesValue: {"ask":"navigate","request_id":"7","task_id":"shop","body":{...}},
// and is answered so. docs/cluster.md says how.
package wire

//go:generate go run ./gen
