package apitest

import (
	"context"
	"net/http"
	"strings"

	"holdfast/internal/gate"
	"holdfast/internal/run"
	"holdfast/messages"
)

// Gateway is an api.Gateway that answers everything with a plain success.
type Gateway struct{}

// Serve implements api.Gateway.
func (Gateway) Serve(w http.ResponseWriter, _ *http.Request, _ messages.TaskID, _ string, _ gate.Caller) error {
	w.WriteHeader(http.StatusOK)
	return nil
}

// Clients implements api.Gateway.
func (Gateway) Clients(messages.TaskID) messages.ClientList {
	return messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
}

// Disconnect implements api.Gateway.
func (Gateway) Disconnect(messages.TaskID, messages.ClientID) error { return nil }

// Path is a route's path with every wildcard filled in, the task's with id.
func Path(pattern, id string) string {
	return strings.NewReplacer("{id}", id, "{client_id}", "c-1", "{artifact_id}", "a-0123456789abcdef", "{tool}", "browser_task_status", "{rest...}", "json").Replace(pattern)
}

// MCP is an api.MCP that takes everything.
type MCP struct{}

// Serve implements api.MCP.
func (MCP) Serve(w http.ResponseWriter, r *http.Request, _ []byte, _ gate.Caller) error {
	if r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// Scripts is a tools.Scripts whose scripts show a text and an image, and return 1.
type Scripts struct{}

// Run implements tools.Scripts.
func (Scripts) Run(context.Context, run.Script) (messages.RunOutput, error) {
	return messages.RunOutput{
		Output: []messages.RunItem{{Type: messages.RunText, Text: "shown"}, {Type: messages.RunImage, MIMEType: "image/png", Base64: "iVBORw0KGgo="}},
		Value:  1, Console: []string{"log: aside"},
	}, nil
}
