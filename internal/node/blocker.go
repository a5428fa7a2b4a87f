package node

import (
	"context"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// AnswerBlocker answers what a page asks its browser for. A page that waits continues; of any other
// blocker only the record is closed, for who has done what it asks for.
func (n *Node) AnswerBlocker(ctx context.Context, id messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error) {
	if err := a.Validate(); err != nil {
		return messages.ClosedBlocker{}, err
	}
	b, v, err := n.living(id)
	if err != nil {
		return messages.ClosedBlocker{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerBudget)
	defer cancel()
	closed, err := n.order(ctx, b, v, func(r mail.Call) any { return mail.AnswerBlocker{Answer: a, Reply: r} })
	if err != nil {
		return messages.ClosedBlocker{}, err
	}
	return closed.(messages.ClosedBlocker), nil
}

// AskHuman shows people a question of an agent's for a time, in the blockers of the task's snapshot.
func (n *Node) AskHuman(ctx context.Context, id messages.TaskID, reason string, within time.Duration) (messages.Blocker, error) {
	b, v, err := n.living(id)
	if err != nil {
		return messages.Blocker{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerBudget)
	defer cancel()
	asked, err := n.order(ctx, b, v, func(r mail.Call) any { return mail.AskHuman{Reason: reason, Within: within, Reply: r} })
	if err != nil {
		return messages.Blocker{}, err
	}
	return asked.(messages.Blocker), nil
}
