package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/mcp"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestRequestHuman: the person at the client is asked where the client can, over stdio and HTTP.
func TestRequestHuman(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.run = func(_ context.Context, _ messages.TaskID, _ string, input json.RawMessage) (*messages.ToolResult, error) {
		if strings.Contains(string(input), `"no_wait":true`) {
			r := done("asked")
			r.Data = map[string]any{"blocker_id": "b-3"}
			return r, nil
		}
		return done("the live page has answered"), nil
	}
	cfg := mcp.Config{Table: tools.Info().Tools, Tools: mcp.All}
	for action, want := range map[string]string{"accept": "The person has done it. 4711", "decline": "The person declines.", "cancel": "The person gave no answer."} {
		var question string
		c, _ := stdio(t, n, cfg, mcp.OwnTask{ID: "shop"}, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			question = r.Params.Message
			out := &sdk.ElicitResult{Action: action}
			if action == "accept" {
				out.Content = map[string]any{"answer": "4711"}
			}
			return out, nil
		}})
		r := call(t, c, tools.HumanTool, map[string]any{"reason": "the code of the text message"})
		if got := text(r); r.IsError || got != want || question != "An agent asks about browser task shop: the code of the text message" {
			t.Errorf("%s: %q, asked %q", action, got, question)
		}
		b, err := json.Marshal(r.StructuredContent)
		if err != nil || !strings.Contains(string(b), `"action":"`+action+`"`) {
			t.Errorf("%s %v", b, err)
		}
	}
	c, _ := stdio(t, n, cfg, mcp.OwnTask{ID: "shop"}, nil)
	if r := call(t, c, tools.HumanTool, map[string]any{"reason": "help"}); r.IsError || !strings.Contains(text(r), "the live page has answered") {
		t.Errorf("a client that cannot ask: %q", text(r))
	}
	byHuman := 0
	for _, a := range n.blockers {
		if a.BlockerID != "b-3" || a.Validate() != nil {
			t.Errorf("%+v", a)
		}
		if a.By == messages.AnswererHuman {
			byHuman++
		}
	}
	if len(n.blockers) != 3 || byHuman != 2 {
		t.Errorf("the live page is told %+v", n.blockers)
	}
	// The person at the live page was first.
	n.wasFirst = messages.Errorf(messages.CodeDialogAlreadyAnswered, "b-3 has ended").With("closed_by", "human").With("action", "accept").With("text", "from the page")
	c, _ = stdio(t, n, cfg, mcp.OwnTask{ID: "shop"}, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}})
	if r := call(t, c, tools.HumanTool, map[string]any{"reason": "help"}); text(r) != "The person has done it. from the page" {
		t.Errorf("the first answer: %q", text(r))
	}
}

// A dialog that a rule leaves to a person: the agent's answer is refused, and the person at the
// client is asked instead.
func TestADialogThatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.run = func(_ context.Context, _ messages.TaskID, tool string, _ json.RawMessage) (*messages.ToolResult, error) {
		r := failed(messages.CodeForbidden, "dialog d-7 waits for a person's answer")
		r.Error = r.Error.With("waits_for", "human").With("dialog_id", "d-7")
		r.PendingDialogs = []messages.Dialog{{ID: "d-7", Type: messages.DialogConfirm, Message: "Delete all?", FrameURL: "https://shop.test/", WaitsFor: messages.AnswererHuman}}
		return r, nil
	}
	cfg := mcp.Config{Table: tools.Info().Tools, Tools: mcp.All}
	ask := func(action string, content map[string]any) (*sdk.CallToolResult, string) {
		var question string
		c, _ := stdio(t, n, cfg, mcp.OwnTask{ID: "shop"}, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			question = r.Params.Message
			return &sdk.ElicitResult{Action: action, Content: content}, nil
		}})
		return call(t, c, "browser_dialog", map[string]any{"action": "accept"}), question
	}
	r, question := ask("accept", map[string]any{"decision": "dismiss"})
	if got := text(r); r.IsError || !strings.Contains(got, "A person decided: dismiss confirm d-7.") || !strings.Contains(question, `"Delete all?"`) || !strings.Contains(question, "https://shop.test/") {
		t.Errorf("%q, asked %q", got, question)
	}
	if len(n.answers) != 1 || n.answers[0].By != messages.AnswererHuman || n.answers[0].Action != messages.ActionDismiss || n.answers[0].DialogID != "d-7" {
		t.Errorf("answers %+v", n.answers)
	}
	if r, _ := ask("decline", nil); !r.IsError {
		t.Errorf("declined: %q", text(r))
	}
	c, _ := stdio(t, n, cfg, mcp.OwnTask{ID: "shop"}, nil)
	if r := call(t, c, "browser_dialog", map[string]any{"action": "accept"}); !r.IsError || !strings.Contains(text(r), "forbidden") {
		t.Errorf("a client that cannot ask: %q", text(r))
	}
	if len(n.answers) != 1 {
		t.Errorf("answers %+v", n.answers)
	}
}
