package holdfast

import (
	"context"

	"holdfast/messages"
)

// RunCDP is [Node.CDP] for whoever is not traced.
func (n *Node) RunCDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	return n.runCDP(ctx, id, r)
}

// StartBudget is what a start may take once it is admitted.
const StartBudget = startBudget
