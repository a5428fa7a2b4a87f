package cli

import (
	"fmt"
	"time"

	"holdfast/messages"
)

type snapshotCmd struct {
	ID     taskID `arg:"" predictor:"task" help:"The task."`
	Target string `placeholder:"ID" help:"Show the frame tree of this page."`
	Full   bool   `help:"Show the whole frame tree."`
	reaching
}

// Run implements the command.
func (c *snapshotCmd) Run(r *run) error {
	target, _, err := r.named(c.ID.TaskID, c.Target, "", "")
	if err != nil {
		return err
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	s, err := node.Snapshot(r, c.ID.TaskID, messages.SnapshotOptions{TargetID: target, Full: c.Full})
	if err != nil || r.IsJSON {
		return err
	}
	printSnapshot(r.screen(), s, time.Now())
	return nil
}

// printSnapshot leaves out what there is none of.
func printSnapshot(w screen, s *messages.Snapshot, now time.Time) {
	printTask(w, s)
	if len(s.Pages) > 0 {
		fmt.Fprintln(w, "\npages")
		t := newTable(w, "  TARGET", "STATE", "TITLE", "URL", "OPENER").
			fit([]string{"OPENER", "TITLE"}, []string{"URL"}).paint("STATE", paintState)
		for _, p := range s.Pages {
			opener := ""
			if p.OpenerID != nil {
				opener = string(*p.OpenerID)
			}
			mark := "  "
			if p.TargetID == s.PageTargetID {
				mark = "* "
			}
			t.row(mark+clean(string(p.TargetID)), clean(string(p.PageState)+bridged(p.Bridge, "")), clean(p.Title), clean(p.URL), clean(opener))
		}
		t.flush()
	}
	if len(s.PendingDialogs) > 0 {
		fmt.Fprintln(w, "\nopen dialogs")
		for _, d := range s.PendingDialogs {
			printDialog(w, d, s.FrameTree, now)
		}
	}
	if len(s.Blockers) > 0 {
		fmt.Fprintln(w, "\nblockers")
		t := newTable(w, "  BLOCKER", "TYPE", "MESSAGE", "URL", "SINCE").fit([]string{"SINCE"}, []string{"URL"})
		for _, b := range s.Blockers {
			t.row("  "+clean(string(b.ID)), clean(string(b.Type)), clean(b.Message), clean(b.URL), clock(b.OpenedAt))
		}
		t.flush()
	}
	if len(s.RecentDialogs) > 0 {
		fmt.Fprintln(w, "\nclosed dialogs")
		t := newTable(w, "  DIALOG", "TYPE", "MESSAGE", "CLOSED BY", "AT").fit([]string{"AT"}, []string{"MESSAGE"})
		for _, d := range s.RecentDialogs {
			t.row("  "+clean(string(d.ID)), clean(d.Type), clean(d.Message), clean(string(d.ClosedBy)), clock(d.ClosedAt))
		}
		t.flush()
	}
	if s.FrameTree != nil {
		fmt.Fprintln(w, "\nframes")
		PrintTree(w, s.FrameTree)
	}
	if len(s.ConsoleErrors) > 0 {
		fmt.Fprintln(w, "\nconsole")
		for _, e := range s.ConsoleErrors {
			fmt.Fprintf(w, "%s  %s  %s\n", clock(e.TS), clean(e.Level), clean(e.Text))
		}
	}
}

// frameOf says in which frame a dialog is, in words where they are known.
func frameOf(d messages.Dialog, tree *messages.FrameTree) string {
	if tree != nil {
		if tree.Top.FrameID == d.FrameID {
			return tree.Top.URL + " (the page itself)"
		}
		for _, f := range tree.Children {
			if f.FrameID == d.FrameID {
				return f.URL + " (frame " + string(f.FrameID) + ")"
			}
		}
	}
	if d.FrameURL != "" {
		return d.FrameURL + " (frame " + string(d.FrameID) + ")"
	}
	return "frame " + string(d.FrameID)
}
