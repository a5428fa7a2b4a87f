package cli

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/client"
	"holdfast/messages"
)

type watchCmd struct {
	ID    taskID  `arg:"" help:"The task."`
	After *uint64 `placeholder:"VERSION" help:"Begin after this version instead of with the whole state."`
}

// Run implements the command. It ends with the task, or on SIGINT; both are
// what was asked for.
func (c *watchCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	var from client.Position
	if c.After != nil {
		from = client.Position{Version: *c.After, Resume: true}
	}
	for e, err := range node.Watch(r, c.ID.TaskID, from) {
		if err != nil {
			if errors.Is(err, context.Canceled) && r.Err() != nil {
				return nil
			}
			return err
		}
		r.people("%s\n", describe(e))
	}
	return nil
}

// describe is an event on one line.
func describe(e messages.Event) string {
	what := ""
	switch {
	case e.Snapshot != nil:
		what = fmt.Sprintf("%s, %d pages, %d open dialogs, %s", e.Snapshot.State, len(e.Snapshot.Pages), len(e.Snapshot.PendingDialogs), currentURL(e.Snapshot))
	case e.Dialog != nil:
		what = fmt.Sprintf("%s %s %q in %s", e.Dialog.ID, e.Dialog.Type, e.Dialog.Message, frameOf(*e.Dialog, nil))
	case e.Recovery != nil:
		what = fmt.Sprintf("%s %s %s", e.Recovery.Action, e.Recovery.Result, e.Page.TargetID)
	case e.Closed != nil:
		what = fmt.Sprintf("%s %s by %s %s", e.Closed.ID, e.Closed.Type, e.Closed.ClosedBy, e.Closed.Action)
	case e.Page != nil:
		what = fmt.Sprintf("%s %s%s %s", e.Page.TargetID, e.Page.PageState, bridged(e.Page.Bridge, ""), e.Page.URL)
	case e.FrameTree != nil:
		what = fmt.Sprintf("%d frames below %s", len(e.FrameTree.Children), e.FrameTree.Top.URL)
	case e.Connection != nil:
		what = links(*e.Connection)
	case e.Console != nil:
		what = e.Console.Level + ": " + e.Console.Text
	case e.State != "":
		what = string(e.State)
	}
	if e.Reason != "" {
		what += " (" + e.Reason + ")"
	}
	return short(fmt.Sprintf("%-6d %-15s %s", e.Version, e.Type, what), 240)
}
