package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/messages"
)

// dialogTools answer dialogs, and get pages back.
var dialogTools = []Tool{
	define[answerInput, answered](Tool{
		Name: "browser_dialog", Title: "Answer dialog", Group: "dialogs", IsCore: true,
		Description: "Accept or dismiss an open JavaScript dialog. Never waits behind the page it blocks.",
		Hints:       messages.ToolHints{Destructive: true},
	}, runDialog),
	define[handleInput, answered](Tool{
		Name: "browser_handle_dialog", Title: "Handle dialog", Group: "dialogs",
		Description: "The same as browser_dialog, with Playwright's input.",
		Hints:       messages.ToolHints{Destructive: true},
	}, runHandleDialog),
	define[recoverInput, recovered](Tool{
		Name: "browser_recover", Title: "Recover page", Group: "dialogs", IsCore: true,
		Description: "Get a page back whose page_state is not ok. release keeps it (for a dialog that cannot be answered), reattach keeps it, reload loses what it held, replace opens its address anew, close closes it.",
		Hints:       messages.ToolHints{Destructive: true},
	}, runRecover),
}

type answerInput struct {
	on
	Action     string  `json:"action" enum:"accept|dismiss"`
	PromptText *string `json:"prompt_text,omitempty" jsonschema:"text for a prompt; default: its own"`
	DialogID   string  `json:"dialog_id,omitempty" jsonschema:"needed where several are open"`
}

type handleInput struct {
	on
	Accept     bool    `json:"accept"`
	PromptText *string `json:"promptText,omitempty"`
}

type answered struct {
	Dialog messages.ClosedDialog `json:"dialog"`
}

type recoverInput struct {
	on
	Action string `json:"action" enum:"release|reattach|reload|replace|close"`
}

type recovered struct {
	PageState messages.PageState `json:"page_state"`
}

func runDialog(ctx context.Context, c *call, in answerInput) (outcome, error) {
	a := messages.DialogAnswer{Action: messages.Action(in.Action), PromptText: in.PromptText, DialogID: messages.DialogID(in.DialogID)}
	if err := a.Validate(); err != nil {
		return outcome{}, err
	}
	if in.Tab != "" && a.DialogID == "" {
		var err error
		if a.DialogID, err = c.dialogOfTab(); err != nil {
			return outcome{}, err
		}
	}
	closed, err := c.node.Respond(ctx, c.task, a)
	if err != nil {
		return outcome{}, err
	}
	c.target = closed.TargetID
	c.follow(ctx, closed.Type == messages.DialogBeforeUnload && a.Action == messages.ActionAccept)
	done := map[messages.Action]string{messages.ActionAccept: "Accepted", messages.ActionDismiss: "Dismissed"}[a.Action]
	return outcome{text: fmt.Sprintf("%s %s %s.", done, closed.Type, closed.ID), data: answered{closed}, isOfPage: true}, nil
}

// followPatience is how long a page may take to go on after its dialog.
const followPatience = 300 * time.Millisecond

// follow waits for a moment until the page runs again, or asks again: what it does next is part of the
// answer's result. A page that does neither does not hold the result up.
func (c *call) follow(ctx context.Context, isLeaving bool) {
	script := "1"
	if isLeaving {
		script = "new Promise(() => {})" // it ends with the document
	}
	within, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	err := c.cdp(within, "", "Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true}, nil, quickly)
	if isLeaving && err != nil && within.Err() == nil {
		_ = c.awaitParsed(ctx) // the answer has been given, whatever the next document does
	}
}

// dialogOfTab is the open dialog of the tab that the call names.
func (c *call) dialogOfTab() (messages.DialogID, error) {
	target, err := c.page()
	if err != nil {
		return "", err
	}
	snap, err := c.snapshot()
	if err != nil {
		return "", err
	}
	for _, d := range snap.PendingDialogs {
		if d.TargetID == target {
			return d.ID, nil
		}
	}
	return "", messages.Errorf(messages.CodeNoDialog, "no dialog is open on tab %s", cut(c.tabName, maxTabName))
}

func runHandleDialog(ctx context.Context, c *call, in handleInput) (outcome, error) {
	action := messages.ActionDismiss
	if in.Accept {
		action = messages.ActionAccept
	}
	return runDialog(ctx, c, answerInput{on: in.on, Action: string(action), PromptText: in.PromptText})
}

func runRecover(ctx context.Context, c *call, in recoverInput) (outcome, error) {
	target, err := c.page()
	if err != nil {
		return outcome{}, err
	}
	res, err := c.node.Recover(ctx, c.task, messages.RecoverRequest{Action: messages.RecoverAction(in.Action), TargetID: target})
	if err != nil {
		return outcome{}, err
	}
	c.target = res.Page.TargetID
	text := fmt.Sprintf("Done: %s. The page is %s.", in.Action, res.Page.PageState)
	if messages.RecoverAction(in.Action) == messages.RecoverClose {
		text = "The page is closed."
	}
	return outcome{text: text, data: recovered{res.Page.PageState}}, nil
}

// maxShownMessage bounds a dialog's message in a text, in bytes; pending_dialogs has all of it.
const maxShownMessage = 1000

func writeDialogs(b *strings.Builder, open []messages.Dialog) {
	for _, d := range open {
		how := "answer it with browser_dialog"
		if d.WaitsFor == messages.AnswererHuman {
			how = "it waits for a person; browser_dialog asks the one at the client of MCP"
		}
		fmt.Fprintf(b, "DIALOG %s %s %q: %s\n", d.ID, d.Type, cut(d.Message, maxShownMessage), how)
	}
}
