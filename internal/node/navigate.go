package node

import (
	"context"
	"errors"
	"slices"
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
		return n.late(id, b.View(), r.TargetID, err)
	})
	return res, err
}

// late says what a page waits for that has not loaded in time: a dialog of another page may
// hold the renderer of a frame of it (C59).
func (n *Node) late(id messages.TaskID, v *view.View, target messages.TargetID, err error) error {
	e, ok := errors.AsType[*messages.Error](err)
	if !ok || e.Code != messages.CodeDeadline {
		return err
	}
	if target == "" {
		target = v.Snapshot.PageTargetID
	}
	for _, p := range v.Snapshot.Pages {
		if p.TargetID == target && p.PageState == messages.PageBlockedElsewhere {
			return admit.BlockedElsewhere()
		}
	}
	if tree := v.Trees.At(target); tree == nil || !slices.ContainsFunc(tree.Children, func(f messages.FrameNode) bool { return f.URL == "" }) {
		return err
	}
	// The frame has no document yet, so its site is not known, and it may be any dialog's.
	because := func(whose string) *messages.Error {
		return messages.Errorf(messages.CodeDeadline, "%s; a frame of it has no document, whose renderer %s may hold until it is answered", e.Message, whose).WithSent(e.Sent)
	}
	if own := slices.DeleteFunc(slices.Clone(v.Snapshot.PendingDialogs), func(d messages.Dialog) bool { return d.TargetID == target }); len(own) > 0 {
		return because("a dialog of another page").With("pending_dialogs", own)
	}
	for task, b := range n.host.Boards() {
		other := b.View()
		if task != id && len(other.Snapshot.PendingDialogs) > 0 && v.Browser.Mark() != "" && other.Browser.Mark() == v.Browser.Mark() && other.Context == v.Context {
			return because("another dialog in the browser").With("page_state", messages.PageBlockedElsewhere)
		}
	}
	return err
}
