package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/messages"
)

// tool is one tool as a server offers it.
type tool struct {
	messages.ToolInfo
	// runs is the tool of the table that it is.
	runs string
	// as is the tool of another system that it stands for; nil where it is the table's own.
	as *adapted
}

// definition is what clients are told of the tool.
func (t tool) definition() *sdk.Tool {
	hints := &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.Hints.ReadOnly, IdempotentHint: t.Hints.Idempotent}
	if !t.Hints.ReadOnly {
		hints.DestructiveHint = &t.Hints.Destructive // says nothing of a tool that changes nothing
	}
	if !t.Hints.OpenWorld {
		hints.OpenWorldHint = &t.Hints.OpenWorld // true is what clients assume
	}
	d := &sdk.Tool{Name: t.Name, Description: t.Description, Annotations: hints, InputSchema: t.InputSchema}
	if t.as == nil {
		d.OutputSchema = shortened(t.OutputSchema)
	}
	return d
}

// handle is what runs when a client calls the tool.
func (s *server) handle(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		p := peerOf(ctx)
		ctx, cancel := p.while(ctx)
		defer cancel()
		defer report(ctx, req)()
		if t.runs == humanTool {
			asked, said := s.ask(ctx, p, t, req)
			if asked != nil {
				return asked, nil
			}
			if said != nil {
				return s.shown(said, p.own.id), nil
			}
		}
		if said := p.decided(ctx, req); said != nil {
			return s.shown(said, p.own.id), nil
		}
		res, err := s.run(ctx, p, t, req.Params.Arguments)
		if err != nil {
			res = s.failed(ctx, t, p, err)
		}
		if asked := askToDecide(req, res); asked != nil {
			return asked, nil
		}
		out := s.shown(res, p.own.id)
		if t.as != nil && t.as.shape != nil {
			if text, err := encode(t.as.shape(res)); err == nil {
				out.Content[0] = &sdk.TextContent{Text: s.fence.begin + "\n" + string(text) + "\n" + s.fence.end}
			}
		}
		return out, nil
	}
}

// run carries the call to the node.
func (s *server) run(ctx context.Context, p *peer, t tool, input json.RawMessage) (*messages.ToolResult, error) {
	id, isOwn, err := p.aim(input)
	if err != nil {
		return nil, err
	}
	name := t.runs
	if t.as != nil {
		given := map[string]any{}
		if len(input) > 0 && json.Unmarshal(input, &given) != nil {
			return nil, messages.Errorf(messages.CodeInvalidArgument, "the arguments must be an object")
		}
		called := id
		// on encodes an input. One that names another task than the call does is for that one.
		on := func(of map[string]any) (to messages.TaskID, isStarting bool, text json.RawMessage, err error) {
			if t.as.isTasked && of["task"] == called {
				delete(of, "task")
			}
			if text, err = json.Marshal(of); err != nil || of["task"] == nil {
				return called, isOwn, text, err
			}
			to, isStarting, err = p.aim(text)
			return to, isStarting, text, err
		}
		ask := func(tool string, of map[string]any) (*messages.ToolResult, error) {
			to, isStarting, text, err := on(of)
			if err != nil {
				return nil, err
			}
			return p.call(ctx, to, isStarting && !strings.HasPrefix(tool, "browser_task_"), tool, text)
		}
		if t.as.isTasked {
			given["task"] = id
		}
		var of map[string]any
		if name, of, err = t.as.translated(ctx, ask, given); err != nil {
			return nil, err
		}
		if t.as.answer != nil {
			delete(of, "task")
			return t.as.answer(ctx, desk{ask, s.files}, of)
		}
		if id, isOwn, input, err = on(of); err != nil {
			return nil, err
		}
	}
	res, err := p.call(ctx, id, isOwn && t.Group != taskGroup, name, input)
	if t.as != nil && t.as.isOfTab {
		res = ofTab(res)
	}
	return res, err
}

// call runs a tool of the table. Where isStarting says so, a task that does not run is started.
func (p *peer) call(ctx context.Context, id messages.TaskID, isStarting bool, name string, input json.RawMessage) (*messages.ToolResult, error) {
	res, err := p.node.CallTool(ctx, id, name, input)
	if !isStarting || !isMissing(res, err) {
		return res, err
	}
	if err := p.own.start(ctx, p.node); err != nil {
		return nil, err
	}
	return p.node.CallTool(ctx, id, name, input)
}

// taskGroup is the part of the table whose tools are about tasks themselves: none of them has a
// task started that it does not name.
const taskGroup = "tasks"

// isMissing says that nothing was done because the task does not run.
func isMissing(res *messages.ToolResult, err error) bool {
	if err != nil {
		return messages.CodeOf(err) == messages.CodeTaskNotFound
	}
	return res != nil && res.Code == messages.CodeTaskNotFound
}

// failed is the result of a call that reached no tool.
func (s *server) failed(ctx context.Context, t tool, p *peer, err error) *messages.ToolResult {
	var own *messages.Error
	switch {
	case errors.As(err, &own):
	case ctx.Err() != nil:
		own = messages.Errorf(messages.CodeDeadline, "the call was cancelled")
	default:
		s.logger.LogAttrs(ctx, slog.LevelWarn, "a tool could not be run", slog.String("tool", t.Name), slog.String("task", string(p.own.id)), slog.Any("err", err))
		own = messages.Errorf(messages.CodeUpstreamUnavailable, "the node does not answer")
	}
	return refusal(own)
}

// protocolError is an error of a resource as clients know it.
func protocolError(err error) error {
	var own *messages.Error
	if errors.As(err, &own) {
		return own
	}
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the node does not answer")
}
