package node

import (
	"context"

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
