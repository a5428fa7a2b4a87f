package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/messages"
)

// humanTool is the tool that asks the person at the client.
const humanTool = "browser_request_human"

// maxReason bounds what a person is asked, and maxAnswer what is taken of the answer, in bytes.
const (
	maxReason = 2000
	maxAnswer = 10_000
)

// question is the key of the one question of a call.
const question = "person"

// ask answers a call of [humanTool] by the client's elicitation: first with the question, and once
// the client has asked with what the person said. Both are nil where the client cannot ask.
func ask(req *sdk.CallToolRequest, task messages.TaskID) (asked *sdk.CallToolResult, said *messages.ToolResult) {
	if given, ok := req.Params.InputResponses[question].(*sdk.ElicitResult); ok {
		return nil, answered(given)
	}
	able := req.ClientCapabilities()
	if able == nil || able.Elicitation == nil || able.Elicitation.Form == nil && able.Elicitation.URL != nil {
		return nil, nil
	}
	var in struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(req.Params.Arguments, &in) != nil || in.Reason == "" || len(in.Reason) > maxReason {
		return nil, nil // what is wrong with it, the table says
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
		Message:         fmt.Sprintf("An agent asks about browser task %s: %s", task, in.Reason),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string","title":"Answer","description":"may stay empty"}}}`),
	}}}, nil
}

// answered is what a person said, as a result.
func answered(r *sdk.ElicitResult) *messages.ToolResult {
	text, _ := r.Content["answer"].(string)
	text = strings.ToValidUTF8(text[:min(len(text), maxAnswer)], "")
	out := &messages.ToolResult{
		OK: true, Category: "completed", Data: map[string]any{"action": r.Action, "answer": text},
		Text:           "The person has done it. " + text,
		PendingDialogs: []messages.Dialog{}, Artifacts: []messages.Artifact{}, NextActions: []messages.NextAction{},
	}
	switch r.Action {
	case "decline":
		out.Text = "The person declines."
	case "cancel":
		out.Text = "The person gave no answer."
	}
	return out
}
