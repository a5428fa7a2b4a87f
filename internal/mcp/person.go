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

// question begins the key of the one question of a call; the blocker that shows it on the live page
// follows.
const question = "person:"

// ask answers a call of [humanTool] by the client's elicitation: first with the question, and once
// the client has asked with what the person said. Meanwhile the live page shows the question too,
// and the first answer counts. Both are nil where the client cannot ask.
func (s *server) ask(ctx context.Context, p *peer, t tool, req *sdk.CallToolRequest) (asked *sdk.CallToolResult, said *messages.ToolResult) {
	for key, response := range req.Params.InputResponses {
		blocker, isQuestion := strings.CutPrefix(key, question)
		if given, ok := response.(*sdk.ElicitResult); ok && isQuestion {
			return nil, p.answered(ctx, req, messages.BlockerID(blocker), given)
		}
	}
	if !canAsk(req) {
		return nil, nil
	}
	var in map[string]any
	if json.Unmarshal(req.Params.Arguments, &in) != nil {
		return nil, nil // what is wrong with it, the table says
	}
	if noWait, _ := in["no_wait"].(bool); noWait {
		return nil, nil
	}
	in["no_wait"] = true
	text, err := json.Marshal(in)
	if err != nil {
		return nil, nil
	}
	res, err := s.run(ctx, p, t, text)
	if err != nil {
		return nil, s.failed(ctx, t, p, err)
	}
	if !res.OK {
		return nil, res
	}
	data, _ := res.Data.(map[string]any)
	blocker, _ := data["blocker_id"].(string)
	id, _, err := p.aim(req.Params.Arguments)
	if err != nil {
		return nil, refusal(err)
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{question + blocker: &sdk.ElicitParams{
		Message:         fmt.Sprintf("An agent asks about browser task %s: %v", id, in["reason"]),
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

// answered is what a person said, as a result: the one at the client, or the one at the live page,
// who was first.
func (p *peer) answered(ctx context.Context, req *sdk.CallToolRequest, blocker messages.BlockerID, r *sdk.ElicitResult) *messages.ToolResult {
	id, _, err := p.aim(req.Params.Arguments)
	if err != nil {
		return refusal(err)
	}
	text, _ := r.Content["answer"].(string)
	text = strings.ToValidUTF8(text[:min(len(text), messages.MaxHumanText)], "")
	a := messages.BlockerAnswer{BlockerID: blocker, Action: messages.ActionDismiss, By: messages.AnswererHuman, Text: text}
	action := r.Action
	switch action {
	case "accept":
		a.Action = messages.ActionAccept
	case "cancel":
		a.By = messages.AnswererAgent // no person has answered: the question is withdrawn
	}
	// A person's word counts also where the task is gone, or the question is no longer known.
	if _, err := p.node.AnswerBlocker(ctx, id, a); messages.CodeOf(err) == messages.CodeDialogAlreadyAnswered {
		action, text = firstAnswer(err)
	}
	out := &messages.ToolResult{
		OK: true, Category: "completed", Data: map[string]any{"action": action, "answer": text, "blocker_id": blocker},
		Text:           "The person has done it. " + text,
		PendingDialogs: []messages.Dialog{}, Artifacts: []messages.Artifact{}, NextActions: []messages.NextAction{},
	}
	switch action {
	case "decline":
		out.Text = "The person declines."
	case "cancel":
		out.Text = "The person gave no answer."
	}
	return out
}

// firstAnswer is the answer that came before, of the live page.
func firstAnswer(err error) (action, text string) {
	var own *messages.Error
	if !errors.As(err, &own) || fmt.Sprint(own.Details["closed_by"]) != string(messages.ClosedByHuman) {
		return "cancel", ""
	}
	text, _ = own.Details["text"].(string)
	if fmt.Sprint(own.Details["action"]) == string(messages.ActionAccept) {
		return "accept", text
	}
	return "decline", text
}
