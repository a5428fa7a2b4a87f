package mcp

import "holdfast/messages"

func profiled(table []messages.ToolInfo, name string) ([]tool, error) {
	return nil, messages.Errorf(messages.CodeInvalidArgument, "there is no profile %q", name)
}
