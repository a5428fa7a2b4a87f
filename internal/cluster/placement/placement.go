// Package placement chooses the node of a cluster for a task, the same one on every node.
//
// It is rendezvous hashing: each pair of a key and a node has a score, and the node with
// the highest one is first. So the end of a node moves only the tasks that it was first
// for, and for these the second becomes the first.
package placement

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// First returns the node with the highest score for a key, and "" where there is no node.
func First(key string, nodes []string) string {
	first, best := "", uint64(0)
	for _, n := range nodes {
		if s := score(key, n); first == "" || s > best || s == best && n < first {
			first, best = n, s
		}
	}
	return first
}

// Sorted returns the nodes in the order of their names, without repetitions.
func Sorted(nodes []string) []string {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// score is the weight of a node for a key. The zero byte keeps pairs apart: neither a key
// nor a name has one.
func score(key, node string) uint64 {
	sum := sha256.Sum256([]byte(key + "\x00" + node))
	return binary.BigEndian.Uint64(sum[:])
}
