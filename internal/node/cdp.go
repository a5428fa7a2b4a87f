package node

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/command"
	"holdfast/internal/node/spans"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
)

// CDP runs one raw command on the task's own connection and returns Chrome's
// result untouched. A command is never repeated. What Chrome would leave
// unanswered because of the page's state fails with that state's code.
func (n *Node) CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	if err := r.Validate(); err != nil {
		return messages.CDPResult{}, err
	}
	if n.traces != nil {
		return n.tracedCDP(ctx, id, r)
	}
	return n.runCDP(ctx, id, r)
}

func (n *Node) tracedCDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	kind := "page"
	switch {
	case r.FrameID != "":
		kind = "frame"
	case r.TargetID == "" && rawcdp.IsBrowserLevel(r.Method):
		kind = "browser"
	}
	ctx, s := n.traces.Begin(ctx, r.Method, id, trace.SpanKindClient, attribute.String(spans.AttrSession, kind))
	res, err := n.runCDP(ctx, id, r)
	spans.End(s, err)
	return res, err
}

func (n *Node) runCDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (res messages.CDPResult, err error) {
	if string(r.Params) == "null" {
		r.Params = nil
	}
	within := r.Timeout()
	err = n.patiently(ctx, id, patience{wait: r.Wait(), within: within}, func(b *view.Board, v *view.View, left time.Duration) error {
		if left != within {
			r.TimeoutS = left.Seconds()
		}
		if err := n.checkCommand(ctx, id, v, r); err != nil {
			return err
		}
		result, err := command.Command{Host: &n.host, Task: id, Board: b, View: v, Request: r}.Run(ctx)
		res.Result = result
		return err
	})
	return res, err
}
