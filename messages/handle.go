package messages

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/chromedp/cdproto/cdp"
)

// Handle is one task, in this process or behind HTTP. Its methods are safe for
// concurrent use; their errors are [*Error]s.
type Handle interface {
	// ID is the task's id.
	ID() TaskID
	// Snapshot returns the task's state. It waits for no browser.
	Snapshot(ctx context.Context, opts ...CallOption) (*Snapshot, error)
	// Navigate sends a page to a URL and waits until it is as far as [Until] says.
	Navigate(ctx context.Context, url string, opts ...CallOption) (NavigateResult, error)
	// CDP runs one raw command and returns Chrome's result. A command is never repeated.
	CDP(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error)
	// Executor runs the typed commands of cdproto on a page; "" is the current page.
	Executor(page TargetID) cdp.Session
	// Answer answers a dialog and waits until it is closed.
	Answer(ctx context.Context, a Action, opts ...CallOption) (ClosedDialog, error)
	// Events yields the task's state changes until the task ends, or ctx does.
	Events(ctx context.Context, opts ...CallOption) iter.Seq2[Event, error]
	// Recover gets a page back that does not answer.
	Recover(ctx context.Context, a RecoverAction, opts ...CallOption) (RecoverResult, error)
	// Restart starts a task that has ended with the spec it had.
	Restart(ctx context.Context) (*Snapshot, error)
	// Renew puts off the task's idle timeout.
	Renew(ctx context.Context) error
	// Stop ends the task and waits until its browser is released.
	Stop(ctx context.Context) error
}
