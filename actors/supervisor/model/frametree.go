package model

import (
	"slices"

	"holdfast/messages"
)

// Capped is a tree within the caps of a snapshot (F2, F3): t itself where it is.
func Capped(t *messages.FrameTree) *messages.FrameTree {
	if !t.Truncated && len(t.Children) <= messages.MaxTreeEntries && !slices.ContainsFunc(t.Children, func(c messages.FrameNode) bool { return c.IsOOPIF && c.ParentFrameID != t.Top.FrameID }) {
		return t // nothing is deep, and nothing is much: nearly all are
	}
	depth := map[messages.FrameID]int{t.Top.FrameID: 0}
	capped := &messages.FrameTree{Top: t.Top, Children: []messages.FrameNode{}}
	for _, c := range t.Children {
		d, ok := depth[c.ParentFrameID]
		if c.IsOOPIF {
			d++
		}
		if !ok || d > messages.MaxOOPIFDepth || len(capped.Children) >= messages.MaxTreeEntries {
			capped.Truncated = true
			continue
		}
		depth[c.FrameID] = d
		capped.Children = append(capped.Children, c)
	}
	return capped
}
