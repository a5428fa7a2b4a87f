package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"holdfast/messages"
)

// spec is a task's spec with the browser's raw URL, which the node needs and
// [messages.CDPURL] would mask.
type spec struct {
	messages.TaskSpec
	CDPURL string `json:"cdp_url,omitempty"`
}

func taskPath(id messages.TaskID, more ...string) []string {
	return append([]string{"v1", "tasks", string(id)}, more...)
}

// GetOrStart returns the task, started when it was not running; it waits until
// the task is attached or has failed.
func (c *Client) GetOrStart(ctx context.Context, id messages.TaskID, s messages.TaskSpec) (snap *messages.Snapshot, started bool, err error) {
	status, err := c.call(ctx, startBudget(s), http.MethodPut, taskPath(id), nil, spec{s, s.CDPURL.Reveal()}, &snap)
	return snap, status == http.StatusCreated, err
}

// Start starts a task under an id of the node's choice.
func (c *Client) Start(ctx context.Context, s messages.TaskSpec) (*messages.Snapshot, error) {
	var snap *messages.Snapshot
	_, err := c.call(ctx, startBudget(s), http.MethodPost, []string{"v1", "tasks"}, nil, spec{s, s.CDPURL.Reveal()}, &snap)
	return snap, err
}

// startBudget has room for the queue before the start.
func startBudget(s messages.TaskSpec) time.Duration {
	if q := s.QueueTimeoutS; q != nil {
		return startPatience + min(time.Duration(*q*float64(time.Second)), messages.MaxQueueTimeout)
	}
	return startPatience + messages.MaxQueueTimeout
}

// Drain has the node take no new tasks, let its calls finish, and end. It
// returns when that has begun.
func (c *Client) Drain(ctx context.Context) error {
	_, err := c.call(ctx, patience, http.MethodPost, []string{"v1", "drain"}, nil, nil, nil)
	return err
}

// LoginCode returns a code that opens one session of the live page.
func (c *Client) LoginCode(ctx context.Context) (messages.LoginCode, error) {
	var out messages.LoginCode
	_, err := c.call(ctx, patience, http.MethodPost, []string{"v1", "codes"}, nil, nil, &out)
	return out, err
}

// Tasks lists the tasks the token covers that have all the labels.
func (c *Client) Tasks(ctx context.Context, labels map[string]string) ([]*messages.Snapshot, error) {
	list, err := c.TaskList(ctx, labels)
	return list.Tasks, err
}

// TaskList does the same, and says which nodes of the cluster are missing in the list.
func (c *Client) TaskList(ctx context.Context, labels map[string]string) (messages.TaskList, error) {
	query := url.Values{}
	for k, v := range labels {
		query.Add("label", k+"="+v)
	}
	var out messages.TaskList
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "tasks"}, query, nil, &out)
	return out, err
}

// Snapshot returns a task's state.
func (c *Client) Snapshot(ctx context.Context, id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
	query := url.Values{}
	if o.TargetID != "" {
		query.Set("target_id", string(o.TargetID))
	}
	if o.Full {
		query.Set("full", "true")
	}
	var snap *messages.Snapshot
	_, err := c.call(ctx, patience, http.MethodGet, taskPath(id, "snapshot"), query, nil, &snap)
	return snap, err
}

// Tree returns the supervision tree, as far as the token covers it.
func (c *Client) Tree(ctx context.Context, o messages.TreeOptions) (messages.Tree, error) {
	query := url.Values{}
	if o.Task != "" {
		query.Set("task_id", string(o.Task))
	}
	if o.Depth > 0 {
		query.Set("depth", strconv.Itoa(o.Depth))
	}
	var out messages.Tree
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "tree"}, query, nil, &out)
	return out, err
}

// StopTask ends a task; one that does not run is no error.
func (c *Client) StopTask(ctx context.Context, id messages.TaskID) error {
	_, err := c.call(ctx, 2*patience, http.MethodDelete, taskPath(id), nil, nil, nil)
	return err
}

// Restart starts a task that has ended with the spec it had; one that runs is
// left as it is.
func (c *Client) Restart(ctx context.Context, id messages.TaskID) (snap *messages.Snapshot, started bool, err error) {
	status, err := c.call(ctx, startPatience, http.MethodPost, taskPath(id, "restart"), nil, nil, &snap)
	return snap, status == http.StatusCreated, err
}

// Renew puts off the task's idle timeout, as every other call that names the
// task does.
func (c *Client) Renew(ctx context.Context, id messages.TaskID) error {
	_, err := c.call(ctx, patience, http.MethodPost, taskPath(id, "renew"), nil, nil, nil)
	return err
}

// Ready says why the node takes no new tasks, or nil. It needs no token.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.call(ctx, dialTimeout, http.MethodGet, []string{"readyz"}, nil, nil, nil)
	return err
}

// Pressure says how close the node is to its limits.
func (c *Client) Pressure(ctx context.Context) (messages.Pressure, error) {
	var p messages.Pressure
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "pressure"}, nil, nil, &p)
	return p, err
}

// Live is nil where the node answers at all. It needs no token.
func (c *Client) Live(ctx context.Context) error {
	_, err := c.call(ctx, dialTimeout, http.MethodGet, []string{"livez"}, nil, nil, nil)
	return err
}

// Respond answers a dialog.
func (c *Client) Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	var out struct {
		Dialog messages.ClosedDialog `json:"dialog"`
	}
	_, err := c.call(ctx, patience+atLeast(a.Wait()), http.MethodPost, taskPath(id, "dialog"), nil, a, &out)
	return out.Dialog, err
}

// AnswerBlocker ends a blocker; a page that waits for it continues.
func (c *Client) AnswerBlocker(ctx context.Context, id messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error) {
	var out messages.BlockerReply
	_, err := c.call(ctx, patience, http.MethodPost, taskPath(id, "blocker"), nil, a, &out)
	return out.Blocker, err
}

// Navigate sends a page of the task to a URL.
func (c *Client) Navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error) {
	var out messages.NavigateResult
	_, err := c.call(ctx, atLeast(r.Timeout()), http.MethodPost, taskPath(id, "navigate"), nil, r, &out)
	return out, err
}

// CDP runs one raw command on the task's own connection.
func (c *Client) CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	var out messages.CDPResult
	_, err := c.call(ctx, atLeast(r.Timeout()), http.MethodPost, taskPath(id, "cdp"), nil, r, &out)
	return out, err
}

// Recover gets a page back that does not answer.
func (c *Client) Recover(ctx context.Context, id messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error) {
	var out messages.RecoverResult
	_, err := c.call(ctx, atLeast(r.Action.Budget()+r.Wait()), http.MethodPost, taskPath(id, "recover"), nil, r, &out)
	return out, err
}

// Kill breaks links of a task, on a node that allows it.
func (c *Client) Kill(ctx context.Context, id messages.TaskID, which messages.Links) (messages.KillResult, error) {
	var out messages.KillResult
	_, err := c.call(ctx, patience, http.MethodPost, taskPath(id, "chaos"), nil, messages.KillRequest{Kill: which}, &out)
	return out, err
}

// atLeast gives the node time to say itself that the deadline has passed. A
// timeout out of bounds is the node's to refuse.
func atLeast(timeout time.Duration) time.Duration {
	return patience + min(max(timeout, 0), messages.MaxCallTimeout)
}
