package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// call is one call of a tool. It belongs to one goroutine.
type call struct {
	*Table
	by      Caller
	task    messages.TaskID
	name    string
	tool    *Tool
	tabName string

	isStarting bool
	got        []messages.Artifact // downloads that were kept while the call looked for others
	memory     *memory
	alike      []alike                 // what may have been meant by an element that there is not
	target     messages.TargetID       // the page, once it is known
	went       messages.NavigateResult // where the last navigation ended
}

// begin sees to it that the task runs.
func (c *call) begin(ctx context.Context) error {
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{})
	if (messages.CodeOf(err) == messages.CodeTaskNotFound || err == nil && !snap.Active) && c.isStarting {
		_, _, err = c.node.GetOrStart(ctx, c.task, messages.TaskSpec{Blockers: messages.AskAboutBlockers()})
	}
	if err != nil {
		return err
	}
	c.memory = c.Table.memory.at(c.task)
	return nil
}

// snapshot is the task's state now.
func (c *call) snapshot() (*messages.Snapshot, error) {
	return c.node.Snapshot(c.task, messages.SnapshotOptions{})
}

// page finds the page that the call is for, by the tab that the input names.
func (c *call) page() (messages.TargetID, error) {
	if c.target != "" {
		return c.target, nil
	}
	snap, err := c.snapshot()
	if err != nil {
		return "", err
	}
	tabs := c.memory.tabs(snap)
	target, ok := tabs.find(c.tabName)
	if !ok {
		return "", messages.Errorf(messages.CodeTargetNotFound, "the task has no tab %s", orMain(c.tabName)).With("tabs", tabs.names())
	}
	c.target = target
	return target, nil
}

// cdp runs one command on the page, or on a frame of it with a process of its own, and decodes
// the result into v, which may be nil. A [json.RawMessage] takes it as it is.
func (c *call) cdp(ctx context.Context, frame messages.FrameID, method string, params, v any, within time.Duration) error {
	target, err := c.page()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	r := messages.CDPRequest{Method: method, Params: raw, TimeoutS: max(within, messages.MinCallTimeout).Seconds()}
	if frame == "" {
		r.TargetID = target
	} else {
		r.FrameID = frame
	}
	res, err := c.node.CDP(ctx, c.task, r)
	if err != nil || v == nil {
		return silence(ctx, err)
	}
	if raw, ok := v.(*json.RawMessage); ok {
		*raw = res.Result // a capture is long, and was read once already
		return nil
	}
	if err := json.Unmarshal(res.Result, v); err != nil {
		return messages.Errorf(messages.CodeCDPError, "the browser's answer to %s cannot be read", method)
	}
	return nil
}

// result is what the caller gets.
func (c *call) result(ctx context.Context, out outcome, err error) *messages.ToolResult {
	c.spilled(ctx, &out)
	r := &messages.ToolResult{
		OK: err == nil, Text: out.text, Untrusted: out.isOfPage, Data: out.data, Category: cmp.Or(out.category, "completed"),
		PendingDialogs: []messages.Dialog{}, Artifacts: out.files, NextActions: out.next,
	}
	if r.Artifacts == nil {
		r.Artifacts = []messages.Artifact{}
	}
	snap, gone := c.snapshot()
	if gone == nil {
		if snap.PendingDialogs != nil {
			r.PendingDialogs = snap.PendingDialogs
		}
		r.Blockers = snap.Blockers
		r.Page = c.shownPage(snap)
	}
	if err != nil {
		own := masked(c.failure(ctx, err))
		r.Error, r.Code, r.Category = own, own.Code, categoryOf(own.Code)
		r.Text = strings.TrimPrefix(redact.Text(r.Text)+"\n"+own.Message, "\n")
		r.NextActions = append(r.NextActions, c.nextActions(own, r)...)
	}
	if r.NextActions == nil {
		r.NextActions = []messages.NextAction{}
	}
	return r
}

// failure is err as callers know it.
func (c *call) failure(ctx context.Context, err error) *messages.Error {
	var own *messages.Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return messages.Errorf(messages.CodeDeadline, "the caller went away")
	case errors.Is(err, context.DeadlineExceeded):
		return messages.Errorf(messages.CodeDeadline, "not done in time")
	}
	c.log.LogAttrs(ctx, slog.LevelError, "tool failed", slog.String("tool", c.name), slog.String("task", string(c.task)), slog.String("err", redact.Text(err.Error())))
	return messages.Errorf(messages.CodeInternal, "the tool failed on our side")
}

// masked is an error without secrets. It may quote what the caller has said, or what a script of a
// page has thrown (W26).
func masked(err *messages.Error) *messages.Error {
	out := *err
	out.Message, out.Hint = redact.Text(err.Message), redact.Text(err.Hint)
	out.Details = maps.Clone(err.Details)
	for name, value := range out.Details {
		switch v := value.(type) {
		case string:
			out.Details[name] = redact.Text(v)
		case []string:
			shown := make([]string, len(v))
			for i, s := range v {
				shown[i] = redact.Text(s)
			}
			out.Details[name] = shown
		}
	}
	return &out
}

// shownPage is the page of the result.
func (c *call) shownPage(snap *messages.Snapshot) *messages.ToolPage {
	if c.memory == nil {
		return nil
	}
	tabs := c.memory.tabs(snap)
	target := c.target
	if target == "" {
		target, _ = tabs.find(c.tabName)
	}
	for _, p := range snap.Pages {
		if p.TargetID == target {
			return &messages.ToolPage{TabID: tabs.idOf(target), TargetID: target, URL: cut(p.URL, maxShownURL), Title: cut(p.Title, maxShownTitle), PageState: p.PageState}
		}
	}
	return nil
}

// The lengths to which texts of a page are cut in a result, in bytes.
const (
	maxShownURL   = 2000
	maxShownTitle = 300
)

// shownURL is the address of a page as a result has it.
func shownURL(address string) string { return cut(redact.PageURL(address), maxShownURL) }

// cut shortens a text to n bytes, at the end of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func orMain(name string) string { return cmp.Or(cut(name, 128), mainTab) }
