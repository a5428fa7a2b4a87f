package mcp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"holdfast/messages"
)

// staticKinds begin requests that Playwright's list leaves out while they succeed.
var staticKinds = []string{"img", "image", "css", "script", "link", "video", "audio", "track", "input", "use"}

// maxListed bounds the requests that are asked for.
const maxListed = 250

// requested answers Playwright's browser_network_requests: a numbered list.
func requested(_ context.Context, d desk, in map[string]any) (*messages.ToolResult, error) {
	var pattern *regexp.Regexp
	if given, _ := in["filter"].(string); given != "" {
		var err error
		if pattern, err = compiled("filter", given); err != nil {
			return nil, err
		}
	}
	r, err := d.ask("browser_network_requests", map[string]any{"max": maxListed})
	if err != nil || r.Error != nil {
		return r, err
	}
	data, _ := r.Data.(map[string]any)
	all, _ := data["requests"].([]any)
	var b strings.Builder
	kept := []any{}
	for i, one := range all {
		q, _ := one.(map[string]any)
		address, _ := q["url"].(string)
		kind, _ := q["kind"].(string)
		status, _ := q["status"].(float64)
		if pattern != nil && !pattern.MatchString(address) || in["static"] != true && status < 400 && slices.Contains(staticKinds, kind) {
			continue
		}
		said := "no status"
		if status != 0 {
			said = fmt.Sprint(status)
		}
		fmt.Fprintf(&b, "%d. %s %s => [%s]\n", i+1, kind, address, said)
		kept = append(kept, one)
	}
	out := *r
	out.Text, out.Data = strings.TrimSuffix(b.String(), "\n"), map[string]any{"requests": kept, "all": len(all)}
	if len(kept) == 0 {
		out.Text = "No request fits."
	}
	return &out, nil
}
