package tools

import (
	"strings"

	"holdfast/messages"
)

// categoryOf is the kind of failure that a code is (W12): the code, in the words of result
// categories.
func categoryOf(code messages.Code) string {
	switch code {
	case messages.CodeElementNotFound:
		return "selector-not-found"
	case messages.CodeDeadline:
		return "timeout"
	case messages.CodeTargetNotFound:
		return "tab-gone"
	case messages.CodeForbidden, messages.CodeTargetForeign:
		return "policy-blocked"
	case messages.CodeInvalidArgument, messages.CodeNotFound, messages.CodeMessageTooLarge:
		return "invalid-input"
	}
	return strings.ReplaceAll(string(code), "_", "-")
}

// action is a next action on the call's task and tab.
func (c *call) action(tool, why string, input messages.ToolInput) messages.NextAction {
	if input == nil {
		input = messages.ToolInput{}
	}
	input["task"] = c.task
	return messages.NextAction{Tool: tool, Input: input, Why: why}
}

// onPage is a next action on the tab of the call.
func (c *call) onPage(tool, why string, input messages.ToolInput) messages.NextAction {
	a := c.action(tool, why, input)
	if c.tabName != "" {
		a.Input["tab"] = c.tabName
	}
	return a
}

// nextActions are the calls that help after a failure, with exact inputs (W13).
func (c *call) nextActions(err *messages.Error, r *messages.ToolResult) []messages.NextAction {
	switch err.Code {
	case messages.CodeCDPError:
		text, _ := err.Details["error_text"].(string)
		if kind := messages.BlockerOf(0, "", text); kind != "" {
			return c.unblocks(messages.Blocker{Type: kind})
		}
	case messages.CodeStaleRef, messages.CodeElementNotFound, messages.CodeFrameNotFound:
		return append(c.instead(), c.onPage("browser_snapshot", "refs of the page as it is now", nil))
	case messages.CodeNotActionable:
		return []messages.NextAction{c.onPage("browser_snapshot", "see what is in the way", messages.ToolInput{"diff": true})}
	case messages.CodeTaskNotFound:
		return []messages.NextAction{c.action("browser_task_open", "start the task", nil)}
	case messages.CodeBlockedByDialog, messages.CodeDialogAmbiguous, messages.CodeDialogNotFound:
		return append(c.answers(r.PendingDialogs), c.unblockAll(err)...)
	case messages.CodePageWedged, messages.CodePageCrashed:
		if r.Page == nil {
			return c.recoveries("")
		}
		return c.recoveries(r.Page.PageState)
	case messages.CodeCheckFailed:
		return c.afterCheck(err)
	case messages.CodeTargetNotFound:
		return []messages.NextAction{c.action("browser_tabs", "list the tabs there are", messages.ToolInput{"action": "list"})}
	case messages.CodeArtifactNotFound:
		return []messages.NextAction{c.action("browser_artifacts", "list the files there are", messages.ToolInput{"action": "list"})}
	case messages.CodeFrameNotOOPIF:
		return []messages.NextAction{c.onPage("browser_snapshot", "the frames of the page, by their refs", nil)}
	case messages.CodeUpstreamUnavailable, messages.CodeDialogLost, messages.CodeDeadline, messages.CodeNoDialog, messages.CodeDialogAlreadyAnswered,
		messages.CodeClientBusy, messages.CodeLeaseLapsed, messages.CodeRehoming, messages.CodeNoQuorum:
		return []messages.NextAction{c.action("browser_task_status", "see what the task and its pages do", nil)}
	}
	return nil
}

// maxAnswered bounds the dialogs that next actions name.
const maxAnswered = 3

// answers are the answers to the open dialogs.
func (c *call) answers(open []messages.Dialog) (out []messages.NextAction) {
	for _, d := range open[:min(maxAnswered, len(open))] {
		if d.WaitsFor == messages.AnswererHuman {
			out = append(out, c.action("browser_task_status", "see whether a person has answered", nil))
			continue
		}
		out = append(out, c.action("browser_dialog", "answer yes", messages.ToolInput{"action": messages.ActionAccept, "dialog_id": d.ID}))
		if d.Type != messages.DialogAlert {
			out = append(out, c.action("browser_dialog", "answer no", messages.ToolInput{"action": messages.ActionDismiss, "dialog_id": d.ID}))
		}
	}
	return out
}

// recoveries are the ways to get the page back, the gentlest first.
func (c *call) recoveries(state messages.PageState) []messages.NextAction {
	ways := []messages.RecoverAction{messages.RecoverReload, messages.RecoverClose}
	if state == messages.PageDialogUnreachable {
		ways = append([]messages.RecoverAction{messages.RecoverRelease}, ways...)
	}
	out := make([]messages.NextAction, len(ways))
	for i, way := range ways {
		out[i] = c.onPage("browser_recover", "", messages.ToolInput{"action": way})
	}
	return out
}
