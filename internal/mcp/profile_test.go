package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/mcp"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestProfiles: a tool of another system is one of ours, with the input that ours takes.
func TestProfiles(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.run = func(_ context.Context, _ messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error) {
		r := done(tool + " " + string(input))
		if tool == "browser_snapshot" {
			r.Data = map[string]any{"recent_dialogs": []any{}, "frame_tree": map[string]any{"top": "f"}}
		}
		if string(input) == `{"action":"list"}` {
			r.Data = map[string]any{"tabs": []any{map[string]any{"tab_id": "t1"}, map[string]any{"tab_id": "t7"}}}
		}
		return r, nil
	}
	for _, c := range []struct {
		profile, tool string
		input         map[string]any
		want          string
	}{
		{"hermes", "browser_navigate", map[string]any{"url": "x.test"}, `browser_navigate {"url":"x.test"}`},
		{"hermes", "browser_snapshot", map[string]any{"full": true}, `{"frame_tree":{"top":"f"},"pending_dialogs":[],"recent_dialogs":[],"snapshot":"browser_snapshot {\"full\":true}","success":true}`},
		{"hermes", "browser_dialog", map[string]any{"action": "accept", "prompt_text": "ann"}, `browser_dialog {"action":"accept","prompt_text":"ann"}`},
		{"hermes", "browser_cdp", map[string]any{"method": "A.b", "timeout": 3}, `browser_cdp {"method":"A.b","timeout_s":3}`},
		{"hermes", "browser_console", map[string]any{"clear": true}, `browser_console_messages {}`},
		{"hermes", "browser_console", map[string]any{"expression": "1"}, `browser_evaluate {"expression":"1"}`},
		{"hermes", "browser_cdp", map[string]any{}, `Error invalid_argument`},
		{"hermes", "browser_navigate", map[string]any{"uri": "x"}, `Error invalid_argument`},
		{"playwright", "browser_handle_dialog", map[string]any{"accept": true, "promptText": "ann"}, `browser_handle_dialog {"accept":true,"promptText":"ann"}`},
		{"playwright", "browser_evaluate", map[string]any{"function": "() => 1", "element": "it"}, `browser_evaluate {"function":"() =\u003e 1"}`},
		{"playwright", "browser_tabs", map[string]any{"action": "select", "index": 1}, `browser_tabs {"action":"select","tab_id":"t7"}`},
		{"playwright", "browser_tabs", map[string]any{"action": "close", "index": 2}, `Error target_not_found`},
		{"playwright", "browser_tabs", map[string]any{"action": "new", "url": "x.test"}, `browser_tabs {"action":"new","url":"x.test"}`},
		{"playwright", "browser_close", nil, `browser_tabs {"action":"close","tab_id":"main"}`},
		{"playwright", "browser_navigate_back", nil, `browser_evaluate {"expression":"history.back()"}`},
	} {
		client, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: c.profile}, mcp.OwnTask{}, nil)
		if got := text(call(t, client, c.tool, c.input)); !strings.Contains(got, c.want) {
			t.Errorf("%s %s %v:\n%s\nwant\n%s", c.profile, c.tool, c.input, got, c.want)
		}
	}
	n.run = func(context.Context, messages.TaskID, string, json.RawMessage) (*messages.ToolResult, error) {
		r := failed(messages.CodeBlockedByDialog, "a dialog is open")
		r.PendingDialogs = []messages.Dialog{{ID: "d-1", Type: "confirm", Message: "buy?"}}
		r.NextActions = []messages.NextAction{
			{Tool: "browser_dialog", Input: messages.ToolInput{"action": "accept", "dialog_id": "d-1"}},
			{Tool: "browser_recover", Input: messages.ToolInput{"action": "reload"}},
		}
		return r, nil
	}
	client, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: "playwright"}, mcp.OwnTask{}, nil)
	got := text(call(t, client, "browser_snapshot", nil))
	if !strings.Contains(got, "Answer with browser_handle_dialog.") || !strings.HasSuffix(got, `browser_handle_dialog {"accept":true}`) {
		t.Errorf("help that names a tool which is not offered:\n%s", got)
	}
	if err := mcp.Serve(t.Context(), n, mcp.Config{Table: table, Profile: "bogus"}, mcp.OwnTask{}, nil, nil); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("a profile that there is not: %v", err)
	}
}
