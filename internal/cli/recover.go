package cli

import (
	"holdfast/messages"
)

type recoverCmd struct {
	ID     taskID   `arg:"" predictor:"task" help:"The task."`
	Action string   `arg:"" predictor:"recover" help:"What is to be done, the gentlest first: release (an unreachable dialog is dismissed, the page is kept), reattach (a new session), reload (the page's state is lost), replace (a new page at its last address, and the page is closed), close."`
	Target string   `placeholder:"ID" help:"Which page; the current one when not given."`
	Wait   *seconds `aliases:"wait-link" placeholder:"SECONDS" help:"How long it waits for a lost connection to the browser; 0: not at all. Default: 5."`
	reaching
}

// Run implements the command.
func (c *recoverCmd) Run(r *run) error {
	req := messages.RecoverRequest{Action: messages.RecoverAction(c.Action), TargetID: messages.TargetID(c.Target), WaitS: (*float64)(c.Wait)}
	if err := req.Validate(); err != nil {
		return &usageError{err: err}
	}
	var err error
	if req.TargetID, _, err = r.named(c.ID.TaskID, c.Target, "", ""); err != nil {
		return err
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	res, err := node.Recover(r, c.ID.TaskID, req)
	if err != nil {
		return err
	}
	if req.Action == messages.RecoverClose {
		r.people("%s is closed\n", clean(string(res.Page.TargetID)))
		return nil
	}
	r.people("%s is %s: %s\n", clean(string(res.Page.TargetID)), clean(string(res.Page.PageState)), clean(res.Page.URL))
	return nil
}
