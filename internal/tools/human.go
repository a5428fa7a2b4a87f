package tools

import (
	"context"
	"fmt"
	"time"

	"holdfast/messages"
)

// HumanTool asks a person: on the live page always, and by the server of MCP where its client can.
const HumanTool = "browser_request_human"

// humanTools ask people.
var humanTools = []Tool{
	define[humanInput, HumanAnswer](Tool{
		Name: HumanTool, Title: "Ask a person", Group: "people",
		Description: "Ask a person for help: a login, a code, a decision. It shows on the live page, and at the MCP client where that can ask. Waits for the answer.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runRequestHuman),
}

type humanInput struct {
	on
	Reason   string   `json:"reason" maxlen:"2000" jsonschema:"what the person is to do or to decide"`
	TimeoutS *float64 `json:"timeout_s,omitempty" min:"1" max:"300" jsonschema:"default 300"`
	NoWait   bool     `json:"no_wait,omitempty" jsonschema:"return at once with blocker_id; the answer is in the event blocker_closed"`
}

// HumanAnswer is the data of [HumanTool].
type HumanAnswer struct {
	// Action is accept, decline or cancel; absent where the call has not waited.
	Action string `json:"action,omitempty"`
	// Answer is what the person wrote.
	Answer string `json:"answer,omitempty"`
	// By is who ended the question: human, watchdog, agent or lost.
	By messages.ClosedBy `json:"by,omitempty"`
	// BlockerID names the question.
	BlockerID messages.BlockerID `json:"blocker_id,omitempty"`
}

func runRequestHuman(ctx context.Context, c *call, in humanInput) (outcome, error) {
	if in.Reason == "" {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "reason is empty")
	}
	within := messages.DefaultDialogTimeout
	if in.TimeoutS != nil {
		within = time.Duration(*in.TimeoutS * float64(time.Second))
	}
	events, err := c.node.Watch(ctx, c.task, 0, false) // before it can be answered
	if err != nil {
		return outcome{}, err
	}
	defer events.Close()
	asked, err := c.node.AskHuman(ctx, c.task, in.Reason, within)
	if err != nil {
		return outcome{}, err
	}
	if in.NoWait {
		return outcome{text: fmt.Sprintf("Asked on the live page: blocker %s.", asked.ID), data: HumanAnswer{BlockerID: asked.ID}}, nil
	}
	closed, err := c.awaitHuman(ctx, events, asked.ID)
	if err != nil {
		return outcome{}, err
	}
	out := HumanAnswer{Action: "cancel", Answer: closed.Text, By: closed.ClosedBy, BlockerID: asked.ID}
	text := "No person answered in time."
	switch {
	case closed.ClosedBy == messages.ClosedByHuman && closed.Action == messages.ActionAccept:
		out.Action, text = "accept", "The person has done it. "+closed.Text
	case closed.ClosedBy == messages.ClosedByHuman:
		out.Action, text = "decline", "The person declines. "+closed.Text
	case closed.ClosedBy != messages.ClosedByWatchdog:
		text = "The question was withdrawn."
	}
	return outcome{text: text, data: out}, nil
}

// awaitHuman waits for the end of a question, and withdraws it where the caller goes away.
func (c *call) awaitHuman(ctx context.Context, events messages.EventStream, id messages.BlockerID) (messages.ClosedBlocker, error) {
	for {
		news, err := events.Next(ctx)
		for _, e := range news {
			if e.ClosedBlocker != nil && e.ClosedBlocker.ID == id {
				return *e.ClosedBlocker, nil
			}
		}
		if err != nil {
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), quickly)
			defer cancel()
			_, _ = c.node.AnswerBlocker(leaving, c.task, messages.BlockerAnswer{BlockerID: id, Action: messages.ActionDismiss})
			return messages.ClosedBlocker{}, err
		}
	}
}
