package mcp_test

import (
	"encoding/json"
	"testing"

	"holdfast/internal/mcp"
	"holdfast/internal/tools"
)

// maxDefinitions bounds what a model reads of core before it does anything, in characters: 5,000
// tokens of four.
const maxDefinitions = 4 * 5000

// TestCoreIsSmall: the tools of every day are few, and their definitions short.
func TestCoreIsSmall(t *testing.T) {
	t.Parallel()
	for asked, most := range map[string]int{mcp.Core: 15, mcp.All: 1000} {
		c, _ := stdio(t, newNode(), mcp.Config{Table: tools.Info().Tools, Tools: asked}, mcp.OwnTask{}, nil)
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list.Tools)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tools, %d characters, about %d tokens", asked, len(list.Tools), len(text), len(text)/4)
		if len(list.Tools) > most || len(list.Tools) < 5 || asked == mcp.Core && len(text) > maxDefinitions {
			t.Errorf("%s: %d tools, %d characters", asked, len(list.Tools), len(text))
		}
	}
}
