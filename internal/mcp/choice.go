package mcp

import (
	"slices"
	"strings"

	"holdfast/messages"
)

// Core and All choose the tools of every day, and each tool of the table.
const (
	Core = "core"
	All  = "all"
)

// choose returns the tools that a list of names asks for: core, all, and names of tools, with
// commas between them. An unknown name is refused.
func choose(table []messages.ToolInfo, asked string) ([]messages.ToolInfo, error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.TrimSpace(name)
		isKnown := name == Core || name == All
		for _, t := range table {
			if name == All || name == Core && t.IsCore || name == t.Name {
				wanted[t.Name], isKnown = true, true
			}
		}
		if !isKnown {
			return nil, messages.Errorf(messages.CodeInvalidArgument, "there is no tool or set of tools %q: core, all, or names of tools with commas between them", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(table), func(t messages.ToolInfo) bool { return !wanted[t.Name] }), nil
}
