package client

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/chromedp/cdproto/cdp"

	"holdfast/internal/request"
	"holdfast/messages"
)

// Task is the handle of one task of a node: what holdfast.Task is in the node's own
// process. Its methods are safe for concurrent use.
//
// Every method fails with [*Unreachable] where no node answers, and with unauthorized or
// forbidden where the token is not good for the task. The other codes are said with each.
type Task struct {
	client *Client
	id     messages.TaskID
}

var _ messages.Handle = (*Task)(nil)

// Task returns the running task of that id, or starts it and waits until it is attached.
//
// Codes: invalid_argument, forbidden, target_foreign, target_not_found, cdp_error,
// upstream_unavailable, limit_reached (the detail retry_after_s says when to try again),
// deadline, internal.
func (c *Client) Task(ctx context.Context, id messages.TaskID, opts ...messages.TaskOption) (*Task, error) {
	spec, err := messages.SpecOf(opts)
	if err != nil {
		return nil, err
	}
	if _, _, err := c.GetOrStart(ctx, id, spec); err != nil {
		return nil, err
	}
	return &Task{c, id}, nil
}

// Lookup returns the handle of a task that the node knows: one that runs, or was lost.
//
// Codes: task_not_found.
func (c *Client) Lookup(ctx context.Context, id messages.TaskID) (*Task, error) {
	if _, err := c.Snapshot(ctx, id, messages.SnapshotOptions{}); err != nil {
		return nil, err
	}
	return &Task{c, id}, nil
}

// ID is the task's id.
func (t *Task) ID() messages.TaskID { return t.id }

// Snapshot returns the task's state. It waits for no browser.
//
// Options: OnPage, FullTree. Codes: invalid_argument, task_not_found, target_not_found.
func (t *Task) Snapshot(ctx context.Context, opts ...messages.CallOption) (*messages.Snapshot, error) {
	o, err := request.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	return t.client.Snapshot(ctx, t.id, o)
}

// Navigate sends a page to a URL and waits until it is as far as [messages.Until] says.
// It returns at once when a dialog opens that waits for an answer.
//
// Options: OnPage, Until, Within (default 30 s), AwaitLink. Codes: invalid_argument,
// forbidden, task_not_found, target_not_found, target_foreign, blocked_by_dialog,
// page_wedged, page_crashed, cdp_error, upstream_unavailable, deadline,
// message_too_large, limit_reached.
func (t *Task) Navigate(ctx context.Context, url string, opts ...messages.CallOption) (messages.NavigateResult, error) {
	r, err := request.Navigate(ctx, url, opts)
	if err != nil {
		return messages.NavigateResult{}, err
	}
	return t.client.Navigate(ctx, t.id, r)
}

// CDP runs one raw command on the task's own connection and returns Chrome's result
// untouched. Params is nil, raw JSON, or a value that is encoded as JSON. A command is
// never repeated.
//
// Options: OnPage, OnFrame, AwaitDialog, Within (default 10 s), AwaitLink. Codes:
// invalid_argument, forbidden, task_not_found, frame_not_found, frame_not_oopif,
// target_not_found, target_foreign, no_dialog, dialog_not_found, dialog_ambiguous,
// dialog_already_answered, dialog_lost, blocked_by_dialog, page_wedged, page_crashed,
// cdp_error (the detail cdp is Chrome's own error), upstream_unavailable, deadline,
// message_too_large, limit_reached.
func (t *Task) CDP(ctx context.Context, method string, params any, opts ...messages.CallOption) (json.RawMessage, error) {
	r, err := request.CDP(ctx, method, params, opts)
	if err != nil {
		return nil, err
	}
	res, err := t.client.CDP(ctx, t.id, r)
	return res.Result, err
}

// Executor runs the typed commands of cdproto on a page; "" is the current page. Its
// errors are those of [Task.CDP]. Protocol events do not come over it.
func (t *Task) Executor(page messages.TargetID) cdp.Session {
	return request.Executor(func(ctx context.Context, method string, params any) (json.RawMessage, error) {
		return t.CDP(ctx, method, params, messages.OnPage(page))
	})
}

// Answer answers a dialog and waits until it is closed. Of several answers to one dialog
// exactly one wins.
//
// Options: ToDialog, WithPromptText, ByHuman, AwaitLink. Codes: invalid_argument, forbidden,
// task_not_found, no_dialog, dialog_not_found, dialog_ambiguous (the detail candidates
// names them), dialog_already_answered, dialog_lost, page_wedged, page_crashed,
// cdp_error, upstream_unavailable, deadline, message_too_large, limit_reached.
func (t *Task) Answer(ctx context.Context, a messages.Action, opts ...messages.CallOption) (messages.ClosedDialog, error) {
	r, err := request.Answer(a, opts)
	if err != nil {
		return messages.ClosedDialog{}, err
	}
	return t.client.Respond(ctx, t.id, r)
}

// Events yields the task's state changes, oldest first, until the task ends, ctx ends, or
// the connection breaks. An error is the last thing that it yields; after a break go on
// with [messages.AfterVersion] of the last event, which may come again.
//
// Options: AfterVersion. Codes: invalid_argument, task_not_found, limit_reached.
func (t *Task) Events(ctx context.Context, opts ...messages.CallOption) iter.Seq2[messages.Event, error] {
	after, err := request.Events(opts)
	if err != nil {
		return func(yield func(messages.Event, error) bool) { yield(messages.Event{}, err) }
	}
	var from Position
	if after != nil {
		from = Position{Version: *after, Resume: true}
	}
	return t.client.Watch(ctx, t.id, from)
}

// Recover gets a page back that does not answer, and waits until the action has had its
// effect: 10 s for a reload or a replacement, else 5 s.
//
// Options: OnPage, AwaitLink. Codes: invalid_argument, task_not_found,
// target_not_found, target_foreign, blocked_by_dialog, page_wedged, page_crashed,
// cdp_error, upstream_unavailable, deadline, limit_reached.
func (t *Task) Recover(ctx context.Context, a messages.RecoverAction, opts ...messages.CallOption) (messages.RecoverResult, error) {
	r, err := request.Recover(a, opts)
	if err != nil {
		return messages.RecoverResult{}, err
	}
	return t.client.Recover(ctx, t.id, r)
}

// Restart starts a task that has ended with the spec it had; one that runs is left as it is.
//
// Codes: task_not_found for a task that the node does not know any more, and those of
// [Client.Task].
func (t *Task) Restart(ctx context.Context) (*messages.Snapshot, error) {
	snap, _, err := t.client.Restart(ctx, t.id)
	return snap, err
}

// Renew puts off the task's idle timeout.
//
// Codes: task_not_found.
func (t *Task) Renew(ctx context.Context) error { return t.client.Renew(ctx, t.id) }

// Stop ends the task and waits until its browser is released. A task that does not run is
// no error.
//
// Codes: upstream_unavailable (the node has stopped), deadline, limit_reached.
func (t *Task) Stop(ctx context.Context) error { return t.client.StopTask(ctx, t.id) }
