package node

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/spans"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Respond answers a dialog and waits until it is closed. Of several answers to
// one dialog exactly one wins; the others get dialog_already_answered.
func (n *Node) Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	if err := a.Validate(); err != nil {
		return messages.ClosedDialog{}, err // also before it is told to a span
	}
	if n.traces == nil {
		return n.respond(ctx, id, a)
	}
	ctx, s := n.traces.Begin(ctx, "answer dialog", id, trace.SpanKindInternal, attribute.String(spans.AttrAction, string(a.Action)))
	closed, err := n.respond(ctx, id, a)
	if err == nil {
		s.SetAttributes(attribute.String(spans.AttrDialog, string(closed.ID)), attribute.String(spans.AttrClosed, string(closed.ClosedBy)))
	}
	spans.End(s, err)
	return closed, err
}

func (n *Node) respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (closed messages.ClosedDialog, err error) {
	p, took := patience{wait: a.Wait(), within: answerBudget + a.Wait()}, time.Duration(-1)
	err = n.patiently(ctx, id, p, func(b *view.Board, v *view.View, left time.Duration) error {
		began, answers := time.Now(), make(answers, 1)
		call := n.sys.Calls().Open(answers.give)
		defer n.sys.Calls().Close(call)
		n.sys.Send(cmp.Or(v.Dialogs, v.Supervisor), mail.AnswerDialog{Answer: a, Reply: call})
		// A page waits: what bounds the wait is made while the call is under way.
		ctx, cancel := context.WithTimeout(ctx, min(left, answerBudget))
		defer cancel()
		c, err := n.await(ctx, b.Ended(), answers)
		took = time.Since(began)
		if err == nil {
			closed = c.(messages.ClosedDialog)
		}
		return err
	})
	if took >= 0 {
		n.metrics.Answered(took, err)
	}
	return closed, err
}
