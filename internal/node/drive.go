package node

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/view"
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
	ctx, s := n.traces.begin(ctx, "answer dialog", id, trace.SpanKindInternal, attribute.String(attrAction, string(a.Action)))
	closed, err := n.respond(ctx, id, a)
	if err == nil {
		s.SetAttributes(attribute.String(attrDialog, string(closed.ID)), attribute.String(attrClosed, string(closed.ClosedBy)))
	}
	end(s, err)
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
	ctx, s := n.traces.begin(ctx, "navigate", id, trace.SpanKindInternal, attribute.String(attrUntil, string(r.WaitUntil)))
	res, err := n.navigate(ctx, id, r)
	end(s, err)
	return res, err
}

func (n *Node) navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (res messages.NavigateResult, err error) {
	p := patience{wait: r.Wait(), within: r.Timeout()}
	err = n.patiently(ctx, id, p, func(b *view.Board, v *view.View, left time.Duration) error {
		if err := n.checkAddress(ctx, id, v, r.URL); err != nil {
			return err
		}
		if r.TargetID != "" {
			if err := n.checkPage(ctx, v, r.TargetID); err != nil {
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

// CDP runs one raw command on the task's own connection and returns Chrome's
// result untouched. A command is never repeated. What Chrome would leave
// unanswered because of the page's state fails with that state's code.
func (n *Node) CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	if err := r.Validate(); err != nil {
		return messages.CDPResult{}, err
	}
	if n.traces != nil {
		return n.traces.cdp(ctx, n, id, r)
	}
	return n.runCDP(ctx, id, r)
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
		call := rawCall{node: n, id: id, board: b, view: v, req: r}
		result, err := call.run(ctx)
		res.Result = result
		return err
	})
	return res, err
}

// checkPage says whether t is a page of the task, and if not, whose.
func (n *Node) checkPage(ctx context.Context, v *view.View, t messages.TargetID) error {
	for _, p := range v.Snapshot.Pages {
		if p.TargetID == t {
			return nil
		}
	}
	return foreignOrMissing(ctx, v, t)
}

// foreignOrMissing asks the browser whether it has the target at all.
func foreignOrMissing(ctx context.Context, v *view.View, t messages.TargetID) error {
	if v.Browser == nil {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)
	}
	_, err := v.Browser.Call(ctx, "Target.getTargetInfo", mustJSON(targetParam{t}), answerBudget)
	switch messages.CodeOf(err) {
	case "":
		return messages.Errorf(messages.CodeTargetForeign, "target %s is not of this task", t)
	case messages.CodeCDPError:
		return messages.Errorf(messages.CodeTargetNotFound, "the browser has no target %s", t)
	}
	return err
}

// known is what is known of a session, with a verdict of silence taken back that is older
// than the renderer's last answer.
func known(s view.Session) admit.Known {
	if s.Port.LivedSince(s.Since) {
		return s.Known.Answered()
	}
	return s.Known
}
