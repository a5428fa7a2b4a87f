package node

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/command"
	"holdfast/internal/node/spans"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Navigate sends a page somewhere and waits until it is as far as the request
// wants. It returns at once with blocked_by_dialog when a dialog opens that
// waits for an answer.
func (n *Node) Navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error) {
	if err := r.Validate(); err != nil {
		return messages.NavigateResult{}, err
	}
	if n.traces == nil {
		return n.navigate(ctx, id, r)
	}
	ctx, s := n.traces.Begin(ctx, "navigate", id, trace.SpanKindInternal, attribute.String(spans.AttrUntil, string(r.WaitUntil)))
	res, err := n.navigate(ctx, id, r)
	spans.End(s, err)
	return res, err
}

func (n *Node) navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (res messages.NavigateResult, err error) {
	p := patience{wait: r.Wait(), within: r.Timeout()}
	err = n.patiently(ctx, id, p, func(b *view.Board, v *view.View, left time.Duration) error {
		if err := n.checkAddress(ctx, id, v, r.URL); err != nil {
			return err
		}
		if r.TargetID != "" {
			if err := command.CheckPage(ctx, v, r.TargetID); err != nil {
				return err
			}
		}
		r.TimeoutS = left.Seconds()
		// The session ends the navigation in time; this is for the case that the
		// session is gone.
		ctx, cancel := context.WithTimeout(ctx, left+answerBudget)
		defer cancel()
		arrived, err := n.ask(ctx, b.Ended(), func(reply mail.Call) {
			n.sys.Send(v.Supervisor, mail.Navigate{Request: r, Reply: reply})
		})
		if err == nil {
			res = arrived.(messages.NavigateResult)
		}
		return lateElsewhere(b.View(), r.TargetID, err)
	})
	return res, err
}

// lateElsewhere says what a page waits for that has not loaded in time: a frame of it may
// be in a renderer that a dialog of another task holds (C59).
func lateElsewhere(v *view.View, target messages.TargetID, err error) error {
	if target == "" {
		target = v.Snapshot.PageTargetID
	}
	if messages.CodeOf(err) == messages.CodeDeadline {
		for _, p := range v.Snapshot.Pages {
			if p.TargetID == target && p.PageState == messages.PageBlockedElsewhere {
				return admit.BlockedElsewhere()
			}
		}
	}
	return err
}
