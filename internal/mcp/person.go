package mcp

import (
	"context"
	"encoding/json"
	"errors"
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
	if !canAsk(req) {
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

// canAsk says whether the client takes a question to a person.
func canAsk(req *sdk.CallToolRequest) bool {
	able := req.ClientCapabilities()
	return able != nil && able.Elicitation != nil && (able.Elicitation.Form != nil || able.Elicitation.URL == nil)
}

// decision begins the key of a question about a dialog that a rule leaves to a person; the dialog's
// id follows.
const decision = "dialog:"

// maxAsked bounds a dialog's message in a question, in bytes.
const maxAsked = 2000

// askToDecide turns the refusal of an agent's answer, where a rule leaves the dialog to a person,
// into a question to the person at the client. It is nil for any other result.
func askToDecide(req *sdk.CallToolRequest, r *messages.ToolResult) *sdk.CallToolResult {
	if r.Code != messages.CodeForbidden || r.Error == nil || r.Error.Details["waits_for"] == nil || !canAsk(req) {
		return nil
	}
	for _, d := range r.PendingDialogs {
		if id, _ := r.Error.Details["dialog_id"].(string); messages.DialogID(id) != d.ID || d.WaitsFor != messages.AnswererHuman {
			continue
		}
		message := strings.ToValidUTF8(d.Message[:min(len(d.Message), maxAsked)], "")
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{decision + string(d.ID): &sdk.ElicitParams{
			Message: fmt.Sprintf("A page (%s) opened a dialog (%s) that is left to you. The page says: %q", d.FrameURL, d.Type, message),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["accept","dismiss"]},` +
				`"text":{"type":"string","title":"Text","description":"for a prompt; may stay empty"}},"required":["decision"]}`),
		}}}
	}
	return nil
}

// decided gives a dialog the answer of the person at the client; nil where none was asked.
func (p *peer) decided(ctx context.Context, req *sdk.CallToolRequest) *messages.ToolResult {
	for key, response := range req.Params.InputResponses {
		dialog, isDecision := strings.CutPrefix(key, decision)
		given, ok := response.(*sdk.ElicitResult)
		if !isDecision || !ok {
			continue
		}
		if given.Action != "accept" {
			return refusal(messages.Errorf(messages.CodeForbidden, "the person has not decided; the dialog stays open"))
		}
		id, _, err := p.aim(req.Params.Arguments)
		if err != nil {
			return refusal(err)
		}
		a := messages.DialogAnswer{DialogID: messages.DialogID(dialog), By: messages.AnswererHuman}
		action, _ := given.Content["decision"].(string)
		a.Action = messages.Action(action)
		if text, _ := given.Content["text"].(string); text != "" {
			a.PromptText = &text
		}
		if err := a.Validate(); err != nil {
			return refusal(err)
		}
		closed, err := p.node.Respond(ctx, id, a)
		if err != nil {
			return refusal(err)
		}
		return &messages.ToolResult{
			OK: true, Category: "completed", Data: map[string]any{"dialog": closed},
			Text:           fmt.Sprintf("A person decided: %s %s %s.", closed.Action, closed.Type, closed.ID),
			PendingDialogs: []messages.Dialog{}, Artifacts: []messages.Artifact{}, NextActions: []messages.NextAction{},
		}
	}
	return nil
}

// refusal is the result of a call that failed on the way to a person or back.
func refusal(err error) *messages.ToolResult {
	var own *messages.Error
	if !errors.As(err, &own) {
		own = messages.Errorf(messages.CodeUpstreamUnavailable, "the node does not answer")
	}
	return &messages.ToolResult{
		Text: own.Message, Code: own.Code, Error: own, Category: string(own.Code),
		PendingDialogs: []messages.Dialog{}, Artifacts: []messages.Artifact{}, NextActions: []messages.NextAction{},
	}
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
