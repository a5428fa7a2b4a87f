package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"holdfast/messages"
)

type dialogCmd struct {
	Ls      dialogLsCmd      `cmd:"" help:"List open dialogs, of one task or of all."`
	Show    dialogShowCmd    `cmd:"" help:"Show one dialog with its whole text."`
	Accept  dialogAcceptCmd  `cmd:"" help:"Accept a dialog."`
	Dismiss dialogDismissCmd `cmd:"" help:"Dismiss a dialog."`
}

type dialogLsCmd struct {
	ID taskID `arg:"" predictor:"task" optional:"" help:"The task; all when not given."`
	reaching
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
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"dialogs": open})
	}
	if len(open) == 0 {
		fmt.Fprintln(r.Stdout, "no open dialogs")
		return nil
	}
	t := newTable(r.screen(), "TASK", "DIALOG", "TYPE", "MESSAGE", "DEFAULT", "FRAME", "DISMISSED").
		fit([]string{"FRAME", "DEFAULT"}, []string{"MESSAGE", "TASK"})
	now := time.Now()
	for _, d := range open {
		t.row(clean(string(d.TaskID)), clean(string(d.ID)), clean(d.Type), clean(d.Message), clean(d.DefaultPrompt), clean(frameOf(d.Dialog, trees[d.TaskID])), until(d.ExpiresAt, now))
	}
	t.flush()
	return nil
}

type dialogShowCmd struct {
	ID     taskID `arg:"" predictor:"task" help:"The task."`
	Dialog string `placeholder:"ID" help:"Which dialog, where several are open."`
	reaching
}

// Run implements the command. A dialog that has closed is shown as well, as long
// as the snapshot knows it.
func (c *dialogShowCmd) Run(r *run) error {
	node, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer node.Close()
	s, err := node.Snapshot(r, c.ID.TaskID, messages.SnapshotOptions{})
	if err != nil {
		return err
	}
	var found []messages.Dialog
	for _, d := range s.PendingDialogs {
		if c.Dialog == "" || d.ID == messages.DialogID(c.Dialog) {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 0 && c.Dialog == "":
		return messages.Errorf(messages.CodeNoDialog, "task %s has no open dialog", s.TaskID)
	case len(found) == 0:
		return messages.Errorf(messages.CodeDialogNotFound, "task %s has no open dialog %s", s.TaskID, c.Dialog)
	case len(found) > 1:
		return messages.Errorf(messages.CodeDialogAmbiguous, "task %s has %d open dialogs; name one with --dialog", s.TaskID, len(found))
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(listedDialog{s.TaskID, found[0]})
	}
	printDialog(r.Stdout, found[0], s.FrameTree, time.Now())
	return nil
}

// printDialog prints an open dialog with its whole text.
func printDialog(w io.Writer, d messages.Dialog, tree *messages.FrameTree, now time.Time) {
	fmt.Fprintf(w, "  %s  %s  %s\n", clean(string(d.ID)), clean(d.Type), clean(frameOf(d, tree)))
	quoted(w, "  ", d.Message)
	if d.DefaultPrompt != "" {
		fmt.Fprintln(w, "  default")
		quoted(w, "  ", d.DefaultPrompt)
	}
	if d.WaitsFor == messages.AnswererHuman {
		fmt.Fprintf(w, "  waits for a person, as rule %s says: answer with --human\n", clean(d.Rule))
	}
	if left := until(d.ExpiresAt, now); left != "" {
		fmt.Fprintf(w, "  dismissed %s\n", left)
	}
}

type dialogAcceptCmd struct {
	ID     taskID   `arg:"" predictor:"task" help:"The task."`
	Text   *string  `placeholder:"TEXT" help:"What a prompt gets; its default text when not given."`
	Dialog string   `placeholder:"ID" help:"Which dialog, where several are open."`
	Wait   *seconds `aliases:"wait-link" placeholder:"SECONDS" help:"How long it waits for a lost connection to the browser; 0: not at all. Default: 5."`
	Human  bool     `help:"Say that a person has decided, for a dialog that a rule leaves to a person."`
	reaching
}

// Run implements the command.
func (c *dialogAcceptCmd) Run(r *run) error {
	return r.answer(c.ID.TaskID, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: c.Text, DialogID: messages.DialogID(c.Dialog), By: answerer(c.Human), WaitS: (*float64)(c.Wait)})
}

// dialogDismissCmd takes --text because the contract's grammar does; a
// dismissed dialog has no use for it (D13).
type dialogDismissCmd struct {
	ID     taskID   `arg:"" predictor:"task" help:"The task."`
	Text   *string  `placeholder:"TEXT" help:"Of no effect: a dismissed dialog returns none."`
	Dialog string   `placeholder:"ID" help:"Which dialog, where several are open."`
	Wait   *seconds `aliases:"wait-link" placeholder:"SECONDS" help:"How long it waits for a lost connection to the browser; 0: not at all. Default: 5."`
	Human  bool     `help:"Say that a person has decided, for a dialog that a rule leaves to a person."`
	reaching
}

// Run implements the command.
func (c *dialogDismissCmd) Run(r *run) error {
	return r.answer(c.ID.TaskID, messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: c.Text, DialogID: messages.DialogID(c.Dialog), By: answerer(c.Human), WaitS: (*float64)(c.Wait)})
}

// answerer is who has decided.
func answerer(isHuman bool) messages.Answerer {
	if isHuman {
		return messages.AnswererHuman
	}
	return messages.AnswererAgent
}

func (r *run) answer(id messages.TaskID, a messages.DialogAnswer) error {
	if err := a.Validate(); err != nil {
		return &usageError{err: err}
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
	r.people("%s (%s) closed by %s: %s\n", clean(string(d.ID)), clean(d.Type), clean(string(d.ClosedBy)), clean(firstOf(string(d.Action), string(a.Action))))
	return nil
}
