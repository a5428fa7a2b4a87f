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
	r, all, err := requestsOf(d)
	if err != nil {
		return nil, err
	}
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
		fmt.Fprintf(&b, "%d. %s\n", i+1, headline(q))
		kept = append(kept, one)
	}
	out := *r
	out.Text, out.Data = strings.TrimSuffix(b.String(), "\n"), map[string]any{"requests": kept, "all": len(all)}
	if len(kept) == 0 {
		out.Text = "No request fits."
	}
	return &out, nil
}

// requestsOf are the requests of the page, as the list numbers them from 1.
func requestsOf(d desk) (*messages.ToolResult, []any, error) {
	r, err := d.must("browser_network_requests", map[string]any{"max": maxListed})
	if err != nil {
		return nil, nil, err
	}
	data, _ := r.Data.(map[string]any)
	all, _ := data["requests"].([]any)
	return r, all, nil
}

// headline is a request as the list shows it.
func headline(q map[string]any) string {
	said := "no status"
	if status, _ := q["status"].(float64); status != 0 {
		said = fmt.Sprint(status)
	}
	return fmt.Sprintf("%v %v => [%s]", q["kind"], q["url"], said)
}

// looked answers Playwright's browser_network_request: one request of the list, or a part of it. Of
// the parts there is the body of what the browser keeps for the page: documents, scripts, styles and
// pictures. Headers, and what a page sends, are recorded nowhere.
func looked(_ context.Context, d desk, in map[string]any) (*messages.ToolResult, error) {
	r, all, err := requestsOf(d)
	if err != nil {
		return nil, err
	}
	n, _ := in["index"].(float64)
	if n < 1 || int(n) > len(all) {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "index: there are %d requests, counted from 1", len(all))
	}
	q, _ := all[int(n)-1].(map[string]any)
	switch in["part"] {
	case nil, "":
		out := *r
		out.Text = fmt.Sprintf("%s\nstarted at %.0f ms, took %v ms, %v bytes over the network", headline(q), q["start_ms"], q["took_ms"], q["bytes"])
		out.Data, out.NextActions = q, []messages.NextAction{}
		return &out, nil
	case "response-body":
		if r.Page == nil {
			return nil, messages.Errorf(messages.CodeTargetNotFound, "the task has no page")
		}
		return d.must("browser_cdp", map[string]any{"method": "Page.getResourceContent", "params": map[string]any{"frameId": r.Page.TargetID, "url": q["url"]}})
	}
	return nil, messages.Errorf(messages.CodeInvalidArgument, "part: there is response-body alone; headers and what a page sends are not recorded")
}
