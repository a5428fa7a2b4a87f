package node

import (
	"context"
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/command"
	"holdfast/messages"
	"holdfast/messages/mail"
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
	var res messages.RecoverResult
	budget := r.Action.Budget() + answerBudget
	err := n.patiently(ctx, id, patience{wait: r.Wait(), within: r.Wait() + budget}, func(b *view.Board, v *view.View, left time.Duration) error {
		if r.TargetID != "" {
			if err := command.CheckPage(ctx, v, r.TargetID); err != nil {
				return err
			}
		}
		// The supervisor ends it in time; this is for one that does not come to it.
		ctx, cancel := context.WithTimeout(ctx, min(left, budget))
		defer cancel()
		recovered, err := n.ask(ctx, b.Ended(), func(reply mail.Call) {
			n.sys.Send(v.Supervisor, mail.RecoverPage{Request: r, Reply: reply})
		})
		if err == nil {
			res = recovered.(messages.RecoverResult)
		}
		return err
	})
	return res, err
}
