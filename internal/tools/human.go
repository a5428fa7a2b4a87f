package tools

import (
	"context"

	"holdfast/messages"
)

// HumanTool asks a person. The server of MCP does it, where its client can; no other door reaches
// a person yet.
const HumanTool = "browser_request_human"

// humanTools ask people.
var humanTools = []Tool{
	define[humanInput, HumanAnswer](Tool{
		Name: HumanTool, Title: "Ask a person", Group: "people", needsNoTask: true,
		Description: "Ask the person at the MCP client for help: a login, a code, a decision. Waits for the answer.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runRequestHuman),
}

type humanInput struct {
	on
	Reason string `json:"reason" maxlen:"2000" jsonschema:"what the person is to do or to decide"`
}

// HumanAnswer is the data of [HumanTool].
type HumanAnswer struct {
	// Action is accept, decline or cancel.
	Action string `json:"action"`
	// Answer is what the person wrote.
	Answer string `json:"answer,omitempty"`
}

func runRequestHuman(context.Context, *call, humanInput) (outcome, error) {
	return outcome{}, messages.Errorf(messages.CodeUpstreamUnavailable, "no person can be asked here: the client of MCP has to take elicitation")
}
