package command

import (
	"context"
	"encoding/json"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

// CheckPage refuses a target that is no page of the task: target_foreign where the browser
// has it, target_not_found where it has not.
func CheckPage(ctx context.Context, v *view.View, t messages.TargetID) error {
	for _, p := range v.Snapshot.Pages {
		if p.TargetID == t {
			return nil
		}
	}
	return foreignOrMissing(ctx, v, t)
}

// foreignOrMissing asks the browser whether it has the target at all.
func foreignOrMissing(ctx context.Context, v *view.View, t messages.TargetID) error {
	if v.Browser == nil {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)
	}
	_, err := v.Browser.Call(ctx, "Target.getTargetInfo", mustJSON(targetParam{t}), answerBudget)
	switch messages.CodeOf(err) {
	case "":
		return messages.Errorf(messages.CodeTargetForeign, "target %s is not of this task", t)
	case messages.CodeCDPError:
		return messages.Errorf(messages.CodeTargetNotFound, "the browser has no target %s", t)
	}
	return err
}

// ownTarget refuses a target that is not the task's, pages and frames alike.
func (c Command) ownTarget(ctx context.Context, t messages.TargetID) error {
	if c.hasAll(ctx) {
		return nil
	}
	for _, s := range c.View.Sessions.All() {
		if s.Target == t {
			return nil
		}
	}
	return c.checkPage(ctx, t)
}

// checkPage is [CheckPage] within the request's timeout.
func (c Command) checkPage(ctx context.Context, t messages.TargetID) error {
	ctx, cancel := context.WithTimeout(ctx, c.Request.Timeout())
	defer cancel()
	return CheckPage(ctx, c.View, t)
}

// hasAll says whether every target of the browser is the task's. With a token for
// a task or a tenant only what is attached is.
func (c Command) hasAll(ctx context.Context) bool {
	return c.View.Scope == messages.ScopeBrowser && !c.View.IsRestricted && !messages.CallerOf(ctx).IsScoped
}

// ownWindow refuses a window that holds no page of the task.
func (c Command) ownWindow(window int64) error {
	if c.View.Browser == nil {
		return notConnected()
	}
	for _, p := range c.View.Snapshot.Pages {
		raw, err := c.View.Browser.Call(context.Background(), "Browser.getWindowForTarget", mustJSON(targetParam{p.TargetID}), answerBudget)
		if messages.CodeOf(err) == messages.CodeCDPError {
			continue // closed meanwhile, or without a window
		}
		if err != nil {
			return err
		}
		var w struct {
			ID *int64 `json:"windowId"`
		}
		if json.Unmarshal(raw, &w) == nil && w.ID != nil && *w.ID == window {
			return nil
		}
	}
	return messages.Errorf(messages.CodeTargetForeign, "window %d holds no page of this task", window)
}
