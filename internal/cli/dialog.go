package cli

import (
	"encoding/json"
	"fmt"

	"holdfast/messages"
)

type dialogCmd struct {
	Ls      dialogLsCmd      `cmd:"" help:"List open dialogs, of one task or of all."`
	Accept  dialogAcceptCmd  `cmd:"" help:"Accept a dialog."`
	Dismiss dialogDismissCmd `cmd:"" help:"Dismiss a dialog."`
}

type dialogLsCmd struct {
	ID taskID `arg:"" optional:"" help:"The task; all when not given."`
}

// listedDialog is a line of the list as JSON.
type listedDialog struct {
	TaskID messages.TaskID `json:"task_id"`
	messages.Dialog
}

// Run implements the command. The list is made here out of snapshots: no
// route has it.
func (c *dialogLsCmd) Run(r *run) error {
	node, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer node.Close()
	var tasks []*messages.Snapshot
	if c.ID.TaskID == "" {
		tasks, err = node.Tasks(r, nil)
	} else {
		tasks = make([]*messages.Snapshot, 1)
		tasks[0], err = node.Snapshot(r, c.ID.TaskID, messages.SnapshotOptions{})
	}
	if err != nil {
		return err
	}
	open := make([]listedDialog, 0)
	trees := make(map[messages.TaskID]*messages.FrameTree)
	for _, s := range tasks {
		trees[s.TaskID] = s.FrameTree
		for _, d := range s.PendingDialogs {
			open = append(open, listedDialog{s.TaskID, d})
		}
	}
	if r.JSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"dialogs": open})
	}
	if len(open) == 0 {
		fmt.Fprintln(r.Stdout, "no open dialogs")
		return nil
	}
	t := newTable(r.Stdout, "TASK", "DIALOG", "TYPE", "MESSAGE", "FRAME", "WAITS UNTIL")
	for _, d := range open {
		t.row(clean(string(d.TaskID)), clean(string(d.ID)), clean(d.Type), short(d.Message, 50), short(frameOf(d.Dialog, trees[d.TaskID]), 60), clock(d.ExpiresAt))
	}
	t.flush()
	return nil
}

type dialogAcceptCmd struct {
	ID     taskID  `arg:"" help:"The task."`
	Text   *string `placeholder:"TEXT" help:"What a prompt gets; its default text when not given."`
	Dialog string  `placeholder:"ID" help:"Which dialog, where several are open."`
}

// Run implements the command.
func (c *dialogAcceptCmd) Run(r *run) error {
	return r.answer(c.ID.TaskID, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: c.Text, DialogID: messages.DialogID(c.Dialog)})
}

// dialogDismissCmd takes --text because the contract's grammar does; a
// dismissed dialog has no use for it (D13).
type dialogDismissCmd struct {
	ID     taskID  `arg:"" help:"The task."`
	Text   *string `placeholder:"TEXT" help:"Of no effect: a dismissed dialog returns none."`
	Dialog string  `placeholder:"ID" help:"Which dialog, where several are open."`
}

// Run implements the command.
func (c *dialogDismissCmd) Run(r *run) error {
	return r.answer(c.ID.TaskID, messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: c.Text, DialogID: messages.DialogID(c.Dialog)})
}

func (r *run) answer(id messages.TaskID, a messages.DialogAnswer) error {
	if err := a.Validate(); err != nil {
		return &usageError{err}
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	d, err := node.Respond(r, id, a)
	if err != nil {
		return err
	}
	r.people("%s (%s) closed by %s: %s\n", clean(string(d.ID)), clean(d.Type), clean(string(d.ClosedBy)), clean(firstOf(d.Action, a.Action)))
	return nil
}
