package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"holdfast/client"
	"holdfast/messages"
)

type watchCmd struct {
	ID    taskID  `arg:"" predictor:"task" help:"The task."`
	After *uint64 `placeholder:"VERSION" help:"Begin after this version instead of with the whole state."`
	reaching
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
	lines := eventLines{out: r.screen()}
	for e, err := range node.Watch(r, c.ID.TaskID, from) {
		if err != nil {
			if errors.Is(err, context.Canceled) && r.Err() != nil {
				return nil
			}
			return err
		}
		if r.IsJSON {
			continue
		}
		lines.show(e)
	}
	return nil
}

// eventLines prints events, one to a line. On a terminal a run of events that
// say the same takes one line, with their number.
type eventLines struct {
	out  screen
	last string
	run  int
}

func (l *eventLines) show(e messages.Event) {
	what := describe(e)
	if l.run++; !l.out.HasColor || what != l.last {
		l.last, l.run = what, 1
	}
	line, rewrite := fmt.Sprintf("%-8s  %-6d %s", clock(e.At), e.Version, what), ""
	if l.run > 1 {
		line, rewrite = fmt.Sprintf("%s  ×%d", line, l.run), "\x1b[1A\x1b[2K"
	}
	if l.out.Width > 0 {
		line = shortened(line, l.out.Width)
	}
	fmt.Fprintf(l.out, "%s%s\n", rewrite, line)
}

// describe is an event on one line.
func describe(e messages.Event) string {
	what := ""
	switch {
	case e.Snapshot != nil:
		what = fmt.Sprintf("%s, %s, %s, %s", e.Snapshot.State, count(len(e.Snapshot.Pages), "page"), count(len(e.Snapshot.PendingDialogs), "open dialog"), currentURL(e.Snapshot))
	case e.Dialog != nil:
		what = fmt.Sprintf("%s %s %q in %s", e.Dialog.ID, e.Dialog.Type, e.Dialog.Message, frameOf(*e.Dialog, nil))
	case e.Recovery != nil:
		what = fmt.Sprintf("%s %s %s", e.Recovery.Action, e.Recovery.Result, e.Page.TargetID)
	case e.Closed != nil:
		what = fmt.Sprintf("%s %s by %s %s", e.Closed.ID, e.Closed.Type, e.Closed.ClosedBy, e.Closed.Action)
	case e.Page != nil:
		what = pageLine(e.Page, e.Changed)
	case e.FrameTree != nil:
		what = fmt.Sprintf("%s below %s", count(len(e.FrameTree.Children), "frame"), e.FrameTree.Top.URL)
	case e.Connection != nil:
		what = links(*e.Connection)
	case e.Console != nil:
		what = string(e.Console.Level) + ": " + e.Console.Text
	case e.State != "":
		what = string(e.State)
	}
	if e.Reason != "" {
		what += " (" + e.Reason + ")"
	}
	if fields := e.Changed.Fields(); len(fields) > 0 {
		what += " (" + strings.Join(fields, ", ") + ")"
	}
	return clean(fmt.Sprintf("%-15s %s", e.Type, what))
}

// pageLine shows a page; its title where that is what has changed.
func pageLine(p *messages.Page, changed messages.PageChange) string {
	line := fmt.Sprintf("%s %s%s %s", p.TargetID, p.PageState, bridged(p.Bridge, ""), p.URL)
	if changed&messages.PageTitleChanged != 0 {
		line += fmt.Sprintf(" %q", p.Title)
	}
	return line
}
