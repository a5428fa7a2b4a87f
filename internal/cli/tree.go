package cli

import (
	"fmt"
	"io"

	"holdfast/messages"
)

// PrintTree draws a frame tree. Frames whose parent is not among them, which
// a cap can have cut, hang from the top.
func PrintTree(w io.Writer, t *messages.FrameTree) {
	below := make(map[messages.FrameID][]messages.FrameNode)
	known := map[messages.FrameID]bool{t.Top.FrameID: true}
	for _, f := range t.Children {
		known[f.FrameID] = true
	}
	for _, f := range t.Children {
		parent := f.ParentFrameID
		if !known[parent] || parent == f.FrameID {
			parent = t.Top.FrameID
		}
		below[parent] = append(below[parent], f)
	}
	fmt.Fprintf(w, "%s  %s\n", clean(t.Top.URL), clean(string(t.Top.FrameID)))
	drawn := map[messages.FrameID]bool{t.Top.FrameID: true}
	var draw func(parent messages.FrameID, indent string)
	draw = func(parent messages.FrameID, indent string) {
		for i, f := range below[parent] {
			if drawn[f.FrameID] {
				continue // what a node sends need not be a tree
			}
			drawn[f.FrameID] = true
			branch, next := "├─ ", "│  "
			if i == len(below[parent])-1 {
				branch, next = "└─ ", "   "
			}
			mark := ""
			if f.IsOOPIF {
				mark = "  [own process]"
			}
			fmt.Fprintf(w, "%s%s%s  %s%s\n", indent, branch, clean(f.URL), clean(string(f.FrameID)), mark)
			draw(f.FrameID, indent+next)
		}
	}
	draw(t.Top.FrameID, "")
	if t.Truncated {
		fmt.Fprintln(w, "… and more: --full shows all")
	}
}
