package node

import (
	"context"
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// ask gives an order and waits for its answer, for ctx, or for the end of the
// task, where ended is not nil.
func (n *Node) ask(ctx context.Context, ended <-chan struct{}, order func(mail.Call)) (any, error) {
	answers := make(answers, 1)
	call := n.sys.Calls().Open(answers.give)
	defer n.sys.Calls().Close(call)
	order(call)
	return n.await(ctx, ended, answers)
}

// order gives a task's supervisor the message that carries the call, and waits for its
// answer, ctx or the end of the task.
func (n *Node) order(ctx context.Context, b *view.Board, v *view.View, message func(mail.Call) any) (any, error) {
	return n.ask(ctx, b.Ended(), func(r mail.Call) { n.sys.Send(v.Supervisor, message(r)) })
}

// lastAnswers is how long the last answers of a task that has ended are waited for.
const lastAnswers = 250 * time.Millisecond

// answers is where the one answer to an order comes.
type answers chan answer

type answer struct {
	value any
	err   error
}

func (a answers) give(v any, err error) { a <- answer{v, err} }

func (n *Node) await(ctx context.Context, ended <-chan struct{}, answers answers) (any, error) {
	select {
	case a := <-answers:
		return a.value, a.err
	case <-n.registry.Exited():
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the node has stopped").WithSent(messages.SentYes)
	case <-ended:
		// Its last state is published before its last answers are given, and one of
		// them may say that the end was what was asked for.
		last := time.NewTimer(lastAnswers)
		defer last.Stop()
		select {
		case a := <-answers:
			return a.value, a.err
		case <-last.C:
			return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").WithSent(messages.SentYes)
		}
	case <-ctx.Done():
		return nil, messages.Errorf(messages.CodeDeadline, "no answer in time").WithSent(messages.SentYes)
	}
}
