package node

import (
	"context"

	"holdfast/messages"
)

// Kill breaks links of a task as a killed socket does, for an operator to see
// that nothing is lost by it. It returns once every call on them has its
// outcome; the links come back by themselves. Of both, either all or none is
// broken. It is forbidden unless [Config.AllowChaos] is set.
func (n *Node) Kill(ctx context.Context, id messages.TaskID, which messages.Links) (messages.KillResult, error) {
	if !n.cfg.AllowChaos {
		return messages.KillResult{}, messages.Errorf(messages.CodeForbidden, "this node breaks no links on purpose unless it is served with --allow-chaos")
	}
	if err := which.Validate(); err != nil {
		return messages.KillResult{}, err
	}
	b, v, err := n.living(id)
	if err != nil {
		return messages.KillResult{}, err
	}
	defer b.Use()()
	var (
		res    messages.KillResult
		breaks []func() <-chan struct{}
	)
	if which.HasPrimary() {
		if v.Browser == nil {
			return res, notUp(messages.LinksPrimary)
		}
		res.Killed, breaks = append(res.Killed, messages.LinksPrimary), append(breaks, v.Browser.Break)
	}
	if which.HasAnchor() {
		if v.Anchor == nil {
			return messages.KillResult{}, notUp(messages.LinksAnchor)
		}
		res.Killed, breaks = append(res.Killed, messages.LinksAnchor), append(breaks, v.Anchor.Break)
	}
	ended := make([]<-chan struct{}, len(breaks))
	for i, breakLink := range breaks {
		ended[i] = breakLink()
	}
	for _, e := range ended {
		select {
		case <-e:
		case <-ctx.Done():
			return messages.KillResult{}, messages.Errorf(messages.CodeDeadline, "the link did not end in time").WithSent(messages.SentYes)
		}
	}
	return res, nil
}

func notUp(link messages.Links) error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task's %s connection is not up", link).WithSent(messages.SentNo)
}
