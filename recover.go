package holdfast

import (
	"context"

	"holdfast/messages"
)

// Recover gets a page back that does not answer, and waits until that has had
// its effect, at most as long as the action's budget. What the page's state
// forbids is refused with the state's code and the action that would help:
// nothing is lost for nothing. Who asks for the same of one page at once shares
// one outcome.
func (n *Node) Recover(ctx context.Context, id messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error) {
	if err := r.Validate(); err != nil {
		return messages.RecoverResult{}, err
	}
	b, v, err := n.living(id)
	if err != nil {
		return messages.RecoverResult{}, err
	}
	defer b.Use()()
	n.restrict(ctx, id)
	if r.TargetID != "" {
		if err := n.checkPage(ctx, v, r.TargetID); err != nil {
			return messages.RecoverResult{}, err
		}
	}
	// The supervisor ends it in time; this is for one that does not come to it.
	ctx, cancel := context.WithTimeout(ctx, r.Action.Budget()+answerBudget)
	defer cancel()
	res, err := n.ask(ctx, b.Ended(), func(reply messages.ReplyTo) {
		n.sys.Send(v.Supervisor, messages.RecoverPage{Request: r, Reply: reply})
	})
	if err != nil {
		return messages.RecoverResult{}, err
	}
	return res.(messages.RecoverResult), nil
}
