package mcp

import (
	"context"
	"errors"
	"regexp"

	"holdfast/messages"
)

// The fields by which Playwright's tools name an element: for people, and for the tool.
var (
	element = text("what it is, for people")
	target  = text("ref or CSS selector")
)

// filename is where Playwright's tools save what they answer. It is taken, and the answer is in the
// reply all the same.
var filename = text("not written: the answer is in the reply")

// playwright are the core tools of @playwright/mcp 0.0.83, with every field that they take
// (testdata/playwright.json).
var playwright = []adapted{
	{name: "browser_navigate", runs: "browser_navigate", about: "Navigate to a URL", input: map[string]any{"url": text("")}, required: []string{"url"}},
	{name: "browser_navigate_back", runs: "browser_evaluate", about: "Go back to the previous page", fill: back},
	{
		name: "browser_snapshot", runs: "browser_snapshot", about: "Capture an accessibility snapshot of the page",
		input:  map[string]any{"target": text("ref of an iframe"), "depth": field("number", ""), "boxes": field("boolean", ""), "filename": filename},
		rename: map[string]string{"target": "frame_id", "depth": "", "boxes": "", "filename": ""},
	},
	{
		name: "browser_find", runs: "browser_snapshot", about: "Search the snapshot for a text or a regular expression: lines with refs, and the path to each",
		input: map[string]any{"text": text("any case"), "regex": text("or /…/i"), "filename": filename}, rename: map[string]string{"filename": ""}, answer: found,
	},
	{name: "browser_handle_dialog", runs: "browser_handle_dialog", about: "Handle a dialog", input: map[string]any{"accept": field("boolean", ""), "promptText": text("")}, required: []string{"accept"}},
	{
		name: "browser_evaluate", runs: "browser_evaluate", about: "Evaluate a JavaScript function on the page, or on an element",
		input:    map[string]any{"function": text("() => { … }, or (element) => { … } with target"), "element": element, "target": target, "filename": filename},
		required: []string{"function"}, rename: map[string]string{"element": "", "filename": ""}, fill: pointed,
	},
	{
		name: "browser_run_code_unsafe", runs: "browser_run", about: "Run a function with the page, which is Puppeteer's, in a sandbox: async (page) => { … }",
		input: map[string]any{"code": text(""), "filename": text("no file is read")}, rename: map[string]string{"filename": ""}, fill: called,
	},
	{name: "browser_console_messages", runs: "browser_console_messages", about: "The console's errors", input: map[string]any{"level": oneOf("error", "warning", "info", "debug"), "all": field("boolean", ""), "filename": filename}, rename: map[string]string{"level": "", "all": "", "filename": ""}},
	{name: "browser_tabs", runs: "browser_tabs", about: "List, create, close or select a tab", input: map[string]any{"action": oneOf("list", "new", "close", "select"), "index": field("number", "of the list, from 0"), "url": text("")}, required: []string{"action"}, rename: map[string]string{"index": "index"}, fill: numbered},
	{
		name: "browser_click", runs: "browser_click", about: "Click an element",
		input: map[string]any{
			"element": element, "target": target, "doubleClick": field("boolean", ""), "button": oneOf("left", "right", "middle"),
			"modifiers": map[string]any{"type": "array", "items": oneOf("Alt", "Control", "ControlOrMeta", "Meta", "Shift")},
		},
		required: []string{"target"}, rename: map[string]string{"element": "", "doubleClick": "double"}, fill: pointed,
	},
	{name: "browser_type", runs: "browser_type", about: "Type text into an element", input: map[string]any{"element": element, "target": target, "text": text(""), "submit": field("boolean", ""), "slowly": field("boolean", "")}, required: []string{"target", "text"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_hover", runs: "browser_hover", about: "Hover over an element", input: map[string]any{"element": element, "target": target}, required: []string{"target"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_select_option", runs: "browser_select_option", about: "Select options of a dropdown", input: map[string]any{"element": element, "target": target, "values": list("string")}, required: []string{"target", "values"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_drag", runs: "browser_drag", about: "Drag and drop between two elements", input: map[string]any{"startElement": element, "startTarget": target, "endElement": element, "endTarget": target}, required: []string{"startTarget", "endTarget"}, rename: map[string]string{"startElement": "", "endElement": ""}, fill: dragged},
	{
		name: "browser_drop", runs: "browser_evaluate", about: "Drop files or data onto an element, as from outside the page",
		input:    map[string]any{"element": element, "target": target, "paths": list("string"), "data": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": "texts by their MIME types"}},
		required: []string{"target"}, rename: map[string]string{"element": ""}, answer: dropped,
	},
	{
		name: "browser_file_upload", runs: "browser_blocker", about: "Give the open file chooser its files; without paths it is cancelled",
		input: map[string]any{"paths": list("string")}, answer: uploaded,
	},
	{name: "browser_fill_form", runs: "browser_fill_form", about: "Fill several fields: each has target and value", input: map[string]any{"fields": list("object")}, required: []string{"fields"}, fill: filled},
	{name: "browser_press_key", runs: "browser_press_key", about: "Press a key", input: map[string]any{"key": text("such as ArrowLeft")}, required: []string{"key"}},
	{name: "browser_wait_for", runs: "browser_wait_for", about: "Wait for a text, for its end, or for seconds", input: map[string]any{"time": field("number", "seconds"), "text": text(""), "textGone": text("")}, rename: map[string]string{"time": "time_s", "textGone": "text_gone"}},
	{
		name: "browser_take_screenshot", runs: "browser_take_screenshot", about: "Take a picture of the page or of an element",
		input:  map[string]any{"element": element, "target": target, "type": oneOf("png", "jpeg", "webp"), "fullPage": field("boolean", ""), "scale": oneOf("css", "device"), "filename": filename},
		rename: map[string]string{"element": "", "fullPage": "full_page", "scale": "", "filename": ""}, fill: pictured,
	},
	{
		name: "browser_network_requests", runs: "browser_network_requests", about: "A numbered list of the page's requests",
		input: map[string]any{"static": field("boolean", "also images, fonts and scripts that came"), "filter": text("regular expression for the URL"), "filename": filename}, rename: map[string]string{"filename": ""}, answer: requested,
	},
	{
		name: "browser_network_request", runs: "browser_network_requests", about: "One request of the numbered list; headers are not recorded",
		input:    map[string]any{"index": field("integer", "of the list, from 1"), "part": oneOf("request-headers", "request-body", "response-headers", "response-body"), "filename": filename},
		required: []string{"index"}, rename: map[string]string{"filename": ""}, answer: looked,
	},
	{name: "browser_resize", runs: "browser_tabs", about: "Resize the page", input: map[string]any{"width": field("number", ""), "height": field("number", "")}, required: []string{"width", "height"}, fill: resized},
	{
		name: "browser_emulate_media", runs: "browser_cdp", about: "Emulate CSS media features; null clears one, and what is left out stays",
		input: map[string]any{
			"colorScheme": orNull("light", "dark"), "reducedMotion": orNull("reduce", "no-preference"), "forcedColors": orNull("active", "none"),
			"contrast": orNull("more", "no-preference"), "media": orNull("screen", "print"),
		},
		fill: emulated,
	},
	{name: "browser_close", runs: "browser_tabs", about: "Close the page", fill: closesMain},
}

// refText is a ref as a snapshot writes it.
var refText = regexp.MustCompile(`^e[0-9]+$`)

// point puts an element of Playwright's into an input of ours: as a ref, or as a selector.
func point(at map[string]any, target any) error {
	given, ok := target.(string)
	if !ok || given == "" {
		return messages.Errorf(messages.CodeInvalidArgument, "target must be a ref or a selector")
	}
	if refText.MatchString(given) {
		at["ref"] = given
	} else {
		at["selector"] = given
	}
	return nil
}

// pointed names the element of a tool that has one.
func pointed(_ context.Context, _ asking, in map[string]any) (string, error) {
	given, isGiven := in["target"]
	delete(in, "target")
	if !isGiven {
		return "", nil
	}
	return "", point(in, given)
}

// dragged names both elements of a drag.
func dragged(_ context.Context, _ asking, in map[string]any) (string, error) {
	from, to := map[string]any{}, map[string]any{}
	err := errors.Join(point(from, in["startTarget"]), point(to, in["endTarget"]))
	delete(in, "startTarget")
	delete(in, "endTarget")
	in["from"], in["to"] = from, to
	return "", err
}

// filled names the elements of a form. A field's name and type are for people.
func filled(_ context.Context, _ asking, in map[string]any) (string, error) {
	list, _ := in["fields"].([]any)
	fields := make([]any, 0, len(list))
	for _, f := range list {
		given, _ := f.(map[string]any)
		one := map[string]any{"value": given["value"]}
		if err := point(one, given["target"]); err != nil {
			return "", err
		}
		fields = append(fields, one)
	}
	in["fields"] = fields
	return "", nil
}

// called calls a function of Playwright's with the page.
func called(_ context.Context, _ asking, in map[string]any) (string, error) {
	code, _ := in["code"].(string)
	if code == "" {
		return "", messages.Errorf(messages.CodeInvalidArgument, "code is missing; no file is read in its place")
	}
	in["code"] = "return (" + code + "\n)(page)"
	return "", nil
}

// pictured names the element of a picture, and a type that there is.
func pictured(ctx context.Context, ask asking, in map[string]any) (string, error) {
	if in["type"] == "webp" {
		in["type"] = "jpeg"
	}
	return pointed(ctx, ask, in)
}

// resized gives the main tab a viewport.
func resized(_ context.Context, _ asking, in map[string]any) (string, error) {
	in["viewport"] = map[string]any{"width": in["width"], "height": in["height"]}
	in["action"], in["tab_id"] = "select", "main"
	delete(in, "width")
	delete(in, "height")
	return "", nil
}

// closesMain closes the tab that is main.
func closesMain(_ context.Context, _ asking, in map[string]any) (string, error) {
	in["action"], in["tab_id"] = "close", "main"
	return "browser_tabs", nil
}

// numbered makes of a tab's place in the list, which changes, its id, which does not.
func numbered(_ context.Context, ask asking, in map[string]any) (string, error) {
	n, isGiven := in["index"].(float64)
	delete(in, "index")
	if !isGiven {
		if in["action"] == "close" {
			in["tab_id"] = "main"
		}
		return "browser_tabs", nil
	}
	res, err := ask("browser_tabs", map[string]any{"action": "list"})
	if err != nil {
		return "", err
	}
	if res.Error != nil {
		return "", res.Error
	}
	data, _ := res.Data.(map[string]any)
	list, _ := data["tabs"].([]any)
	if n < 0 || int(n) >= len(list) {
		return "", messages.Errorf(messages.CodeTargetNotFound, "there are %d tabs, counted from 0", len(list))
	}
	one, _ := list[int(n)].(map[string]any)
	in["tab_id"] = one["tab_id"]
	return "browser_tabs", nil
}
