package tools

import (
	"context"
	"time"

	"holdfast/messages"
)

// actionTools act on elements by trusted input events.
var actionTools = []Tool{
	define[clickInput, actionOutput](Tool{
		Name: "browser_click", Title: "Click", Group: "actions", IsCore: true,
		Description: "Click an element once it is visible, enabled, at rest and not covered. Says what the page did: navigated, dialog, popup, download or nothing.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runClick),
	define[typeInput, actionOutput](Tool{
		Name: "browser_type", Title: "Type text", Group: "actions", IsCore: true,
		Description: "Put text into a field in place of what it holds. Takes dates, ranges and checkboxes (true, false) too.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runType),
	define[pressInput, actionOutput](Tool{
		Name: "browser_press_key", Title: "Press key", Group: "actions", IsCore: true,
		Description: "Press a key, such as Enter, ArrowDown, a or Control+A, in the element that has the focus.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runPress),
	define[selectInput, selectOutput](Tool{
		Name: "browser_select_option", Title: "Select option", Group: "actions", IsCore: true,
		Description: "Choose options of a select by value or label.",
		Hints:       messages.ToolHints{Destructive: true, Idempotent: true, OpenWorld: true},
	}, runSelect),
	define[fillForm, fillOutput](Tool{
		Name: "browser_fill_form", Title: "Fill form", Group: "actions", IsCore: true,
		Description: "Fill several fields in one call, in order. Stops at the first that fails.",
		Hints:       messages.ToolHints{Destructive: true, Idempotent: true, OpenWorld: true},
	}, runFillForm),
	define[hoverInput, actionOutput](Tool{
		Name: "browser_hover", Title: "Hover", Group: "actions",
		Description: "Move the pointer over an element.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runHover),
	define[scrollInput, scrollOutput](Tool{
		Name: "browser_scroll", Title: "Scroll", Group: "actions",
		Description: "Scroll by the wheel, over an element or the middle of the page.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runScroll),
	define[dragInput, actionOutput](Tool{
		Name: "browser_drag", Title: "Drag", Group: "actions",
		Description: "Drag an element onto another with the mouse.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runDrag),
	define[uploadInput, uploadOutput](Tool{
		Name: "browser_file_upload", Title: "Upload files", Group: "actions",
		Description: "Give a file input its files, as base64 content or as artifacts of the task.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runUpload),
}

// acting is what the input of every action has.
type acting struct {
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"wait for the element, default 5"`
	Snapshot bool    `json:"snapshot,omitempty" jsonschema:"add what changed on the page"`
}

func (a acting) within() time.Duration {
	if a.TimeoutS == 0 {
		return defaultAction
	}
	return time.Duration(clampTimeout(a.TimeoutS) * float64(time.Second))
}

// acted is the result of an action.
func (c *call) acted(ctx context.Context, did string, done actionOutput, a acting) (outcome, error) {
	out := outcome{text: did + ": " + done.words() + ".", data: done, isOfPage: true}
	if done.Outcome == didDialog {
		out.category = "dialog"
		if snap, err := c.snapshot(); err == nil {
			out.next = c.answers(snap.PendingDialogs)
		}
		return out, nil
	}
	if done.FileChooser != nil {
		out.category = "blocker"
		out.text += "\nIt opens the browser's file chooser, in which nothing is chosen: give the files with browser_file_upload."
		out.next = append(out.next, c.onPage("browser_file_upload", "give the files; fill in name and content, or artifact_id", messages.ToolInput{"selector": done.FileChooser.Selector, "files": []any{}}))
	}
	if done.IsClosedList {
		out.text += "\nThe combobox has the focus, and its list is not open: press ArrowDown, or type."
		out.next = append(out.next, c.onPage("browser_press_key", "open the list", messages.ToolInput{"key": "ArrowDown"}))
	}
	if done.Outcome == didDownload {
		c.downloaded(ctx, &out)
	}
	if done.PopupTabID != "" {
		out.next = append(out.next, c.action("browser_snapshot", "look at the tab that was opened", messages.ToolInput{"tab": done.PopupTabID}))
	}
	c.lookAfter(ctx, &out, a, done.Outcome != didNavigate)
	return out, nil
}
