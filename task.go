package holdfast

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"github.com/chromedp/cdproto/cdp"

	"holdfast/internal/node"
	"holdfast/internal/request"
	"holdfast/messages"
)

// Task is the handle of one task. It holds nothing: a task outlives its handles, and a
// handle of a task that has ended answers with task_not_found. Its methods are safe for
// concurrent use.
//
// A call whose link to the browser is away waits for the link, by default 5 s
// ([messages.AwaitLink]), and fails with upstream_unavailable only then. [Error].Sent
// says whether the browser can have had it.
type Task struct {
	node *node.Node
	id   messages.TaskID
}

var _ messages.Handle = (*Task)(nil)

// ID is the task's id.
func (t *Task) ID() messages.TaskID { return t.id }

// Snapshot returns the task's state from memory. It waits for nothing, and uses no ctx.
// The result is shared and must not be written.
//
// Options: OnPage, FullTree. Codes: invalid_argument, task_not_found, target_not_found.
func (t *Task) Snapshot(_ context.Context, opts ...messages.CallOption) (*messages.Snapshot, error) {
	o, err := request.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	return t.node.Snapshot(t.id, o)
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
	return t.node.Navigate(ctx, t.id, r)
}

// CDP runs one raw command on the task's own connection and returns Chrome's result
// untouched. Params is nil, raw JSON, or a value that is encoded as JSON. A command is
// never repeated. What Chrome would leave unanswered fails with the page's state.
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
	res, err := t.node.CDP(ctx, t.id, r)
	return res.Result, err
}

// Executor runs the typed commands of cdproto on a page; "" is the current page. It is
// cdproto's cdp.Session, which releases before 0.157.3 named cdp.Executor. What is for the
// browser only goes to the browser where no page is named. Each command has what is left of its
// context, or else 10 s; its errors are those of [Task.CDP].
//
// It runs commands alone. Protocol events do not come over it: cdp.Events yields an error.
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
	return t.node.Respond(ctx, t.id, r)
}

// Events yields the task's state changes, oldest first, each once. It ends with the task,
// and when ctx ends it yields ctx's error. The task does not become idle meanwhile.
//
// A reader that falls too far behind gets a reset with the whole state. Options:
// AfterVersion. Codes: invalid_argument, task_not_found.
func (t *Task) Events(ctx context.Context, opts ...messages.CallOption) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		after, err := request.Events(opts)
		if err != nil {
			yield(messages.Event{}, err)
			return
		}
		var version uint64
		if after != nil {
			version = *after
		}
		stream, err := t.node.Watch(ctx, t.id, version, after != nil)
		if err != nil {
			yield(messages.Event{}, err)
			return
		}
		defer stream.Close()
		for {
			batch, err := stream.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(messages.Event{}, err)
				return
			}
			for _, e := range batch {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Recover gets a page back that does not answer, and waits until the action has had its
// effect: 10 s for a reload or a replacement, else 5 s. An action that the page's state
// forbids is refused with that state.
//
// Options: OnPage, AwaitLink. Codes: invalid_argument, task_not_found,
// target_not_found, target_foreign, blocked_by_dialog, page_wedged, page_crashed,
// cdp_error, upstream_unavailable, deadline, limit_reached.
func (t *Task) Recover(ctx context.Context, a messages.RecoverAction, opts ...messages.CallOption) (messages.RecoverResult, error) {
	r, err := request.Recover(a, opts)
	if err != nil {
		return messages.RecoverResult{}, err
	}
	return t.node.Recover(ctx, t.id, r)
}

// Restart starts a task that has ended with the spec it had; one that runs is left as it is.
//
// Codes: task_not_found for a task that the node does not know any more, and those of
// [Node.Task].
func (t *Task) Restart(ctx context.Context) (*messages.Snapshot, error) {
	snap, _, err := t.node.Restart(ctx, t.id)
	return snap, err
}

// Renew puts off the task's idle timeout. It never waits, and uses no ctx.
//
// Codes: task_not_found.
func (t *Task) Renew(context.Context) error { return t.node.Renew(t.id) }

// Stop ends the task and waits until its browser is released. A task that does not run is
// no error.
//
// Codes: upstream_unavailable (the node has stopped), deadline, limit_reached.
func (t *Task) Stop(ctx context.Context) error { return t.node.StopTask(ctx, t.id) }
