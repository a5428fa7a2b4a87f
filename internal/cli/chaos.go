package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/messages"
)

// chaosCmd is the operator's fire drill.
type chaosCmd struct {
	ID   taskID        `arg:"" predictor:"task" optional:"" help:"The task."`
	Task taskID        `placeholder:"ID" help:"The task, as a flag."`
	Kill string        `required:"" placeholder:"LINKS" help:"Which of its connections: primary, anchor or both."`
	Wait time.Duration `default:"30s" help:"How long they may take to come back (${default}); 0 does not wait."`
	reaching
}

// Run implements the command.
func (c *chaosCmd) Run(r *run) error {
	if (c.ID.TaskID == "") == (c.Task.TaskID == "") {
		return usagef("name one task")
	}
	if c.Task.TaskID == "" {
		c.Task = c.ID
	}
	which := messages.Links(c.Kill)
	if err := which.Validate(); err != nil {
		return &usageError{err: err}
	}
	if c.Wait < 0 {
		return usagef("--wait must not be negative")
	}
	// One JSON value comes out: the node's answer to the kill.
	quiet, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer quiet.Close()
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()

	before, err := quiet.Snapshot(r, c.Task.TaskID, messages.SnapshotOptions{})
	if err != nil {
		return err
	}
	began := time.Now()
	res, err := node.Kill(r, c.Task.TaskID, which)
	if err != nil {
		return err
	}
	r.people("killed %s of %s\n", joined(res.Killed), c.Task.TaskID)
	if c.Wait == 0 {
		return nil
	}
	after, err := c.back(r, quiet, before, res.Killed)
	if err != nil {
		return err
	}
	r.people("back after %d ms: %s, %s, %s\n", time.Since(began).Milliseconds(), after.State, count(len(after.Pages), "page"), count(len(after.PendingDialogs), "open dialog"))
	for _, d := range after.RecentDialogs {
		if d.ClosedBy == messages.ClosedByLost && !slices.ContainsFunc(before.RecentDialogs, func(o messages.ClosedDialog) bool { return o.ID == d.ID }) {
			r.people("lost: %s %s %s\n", clean(string(d.ID)), clean(d.Type), clean(d.Message))
		}
	}
	return nil
}

// back watches until every killed link is up again.
func (c *chaosCmd) back(r *run, node *client.Client, before *messages.Snapshot, killed []messages.Links) (*messages.Snapshot, error) {
	ctx, cancel := context.WithTimeout(r, c.Wait)
	defer cancel()
	primary, anchor := !slices.Contains(killed, messages.LinksPrimary), !slices.Contains(killed, messages.LinksAnchor)
	anchorFell := false
	for e, err := range node.Watch(ctx, c.Task.TaskID, client.Position{Version: before.Version, Resume: true}) {
		if err != nil {
			if ctx.Err() != nil && r.Err() == nil {
				break
			}
			return nil, err
		}
		conn := e.Connection
		if e.Snapshot != nil {
			conn = &e.Snapshot.Connection
		}
		if conn == nil {
			continue
		}
		primary = primary || conn.Reconnects > before.Connection.Reconnects && conn.Primary == messages.LinkUp
		anchorFell = anchorFell || conn.Anchor != messages.LinkUp
		anchor = anchor || anchorFell && conn.Anchor == messages.LinkUp
		if primary && anchor {
			return node.Snapshot(r, c.Task.TaskID, messages.SnapshotOptions{})
		}
	}
	if ctx.Err() != nil {
		return nil, messages.Errorf(messages.CodeDeadline, "not back within %s; holdfast snapshot %s says how it stands", c.Wait, c.Task.TaskID)
	}
	return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the task ended before its connections came back")
}

func joined(links []messages.Links) string {
	words := make([]string, len(links))
	for i, l := range links {
		words[i] = clean(string(l))
	}
	return strings.Join(words, " and ")
}
