package client

import (
	"context"
	"encoding/json"
	"net/http"

	"holdfast/messages"
)

// toolPatience is what a tool may take at most, and room for the start of its task.
const toolPatience = messages.MaxCallTimeout + startPatience

// Tools lists the tools of the node.
func (c *Client) Tools(ctx context.Context) (messages.ToolList, error) {
	var out messages.ToolList
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "tools"}, nil, nil, &out)
	return out, err
}

// CallTool runs one tool on a task; input is a JSON object or nothing. A tool that fails has a
// result with a code; an error is of a call that reached no tool.
func (c *Client) CallTool(ctx context.Context, id messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	status, b, err := c.ask(ctx, toolPatience, http.MethodPost, taskPath(id, "tools", tool), nil, input)
	if err != nil {
		return nil, err
	}
	var out messages.ToolResult
	if status/100 != 2 && (json.Unmarshal(b, &out) != nil || out.Category == "") {
		return nil, c.errorOf(status, b)
	}
	return &out, c.read(status, b, &out)
}
