package mcp

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"holdfast/messages"
)

// adapted is a tool of another system, and which tool of ours it is. One whose tool the table does
// not have is not offered.
type adapted struct {
	name, about string
	runs        string
	input       map[string]any // the schema's properties
	required    []string
	// rename says which field of ours a field is, "" of one that only describes the call.
	rename map[string]string
	// fill completes the input of our tool; it may choose another tool of ours, "" does not.
	fill func(ctx context.Context, ask asking, in map[string]any) (runs string, err error)
	// isTasked has fill know the task of the call, which it may change.
	isTasked bool
	// shape makes of a result what the other system answers, as JSON; nil leaves our words.
	shape func(r *messages.ToolResult) map[string]any
}

// asking runs a tool of the table: on the task that the input names, else on that of the call.
type asking func(tool string, input map[string]any) (*messages.ToolResult, error)

// The schemas of fields.
func text(about string) map[string]any { return field("string", about) }

func field(kind, about string) map[string]any {
	f := map[string]any{"type": kind}
	if about != "" {
		f["description"] = about
	}
	return f
}

func oneOf(values ...string) map[string]any { return map[string]any{"type": "string", "enum": values} }

// profiles are the tools of other systems.
var profiles = map[string][]adapted{"hermes": hermes, "playwright": playwright, "omp": omp}

// hermes are the tools of the Hermes agent.
var hermes = []adapted{
	{name: "browser_navigate", runs: "browser_navigate", about: "Navigate to a URL. Starts the browser where none runs.", input: map[string]any{"url": text("")}, required: []string{"url"}},
	{
		name: "browser_snapshot", runs: "browser_snapshot", about: "Text snapshot of the page with refs, and its pending_dialogs, recent_dialogs and frame_tree.",
		input: map[string]any{"full": field("boolean", "the whole content")}, shape: hermesSnapshot,
	},
	{
		name: "browser_dialog", runs: "browser_dialog", about: "Respond to an open JavaScript dialog, which browser_snapshot shows in pending_dialogs.",
		input: map[string]any{"action": oneOf("accept", "dismiss"), "prompt_text": text("for a prompt"), "dialog_id": text("where several are open")}, required: []string{"action"},
	},
	{
		name: "browser_cdp", runs: "browser_cdp", about: "Send a raw Chrome DevTools Protocol command. frame_id runs it in an out-of-process iframe.",
		input:    map[string]any{"method": text(""), "params": field("object", ""), "target_id": text(""), "frame_id": text(""), "timeout": field("number", "seconds")},
		required: []string{"method"}, rename: map[string]string{"timeout": "timeout_s"},
	},
	{
		name: "browser_console", runs: "browser_console_messages", about: "The console's errors, or the value of a JavaScript expression.",
		input: map[string]any{"clear": field("boolean", ""), "expression": text("JavaScript to run instead")}, rename: map[string]string{"clear": ""}, fill: evaluates,
	},
	{name: "browser_back", runs: "browser_evaluate", about: "Go back in the history.", fill: back},
	{name: "browser_click", runs: "browser_click", about: "Click the element of a ref such as @e5.", input: map[string]any{"ref": text("")}, required: []string{"ref"}, fill: plainRef},
	{name: "browser_type", runs: "browser_type", about: "Clear the field of a ref and type a text into it.", input: map[string]any{"ref": text(""), "text": text("")}, required: []string{"ref", "text"}, fill: plainRef},
	{name: "browser_press", runs: "browser_press_key", about: "Press a key such as Enter.", input: map[string]any{"key": text("")}, required: []string{"key"}},
	{name: "browser_scroll", runs: "browser_scroll", about: "Scroll the page.", input: map[string]any{"direction": oneOf("up", "down")}, required: []string{"direction"}},
}

// The fields by which Playwright's tools name an element: for people, and for the tool.
var (
	element = text("what it is, for people")
	target  = text("ref or CSS selector")
)

// playwright are the core tools of @playwright/mcp 0.0.83.
var playwright = []adapted{
	{name: "browser_navigate", runs: "browser_navigate", about: "Navigate to a URL", input: map[string]any{"url": text("")}, required: []string{"url"}},
	{name: "browser_navigate_back", runs: "browser_evaluate", about: "Go back to the previous page", fill: back},
	{name: "browser_snapshot", runs: "browser_snapshot", about: "Capture an accessibility snapshot of the page", input: map[string]any{"target": text("ref of an iframe"), "depth": field("number", ""), "boxes": field("boolean", ""), "filename": text("")}, rename: map[string]string{"target": "frame_id", "depth": "", "boxes": "", "filename": ""}},
	{name: "browser_handle_dialog", runs: "browser_handle_dialog", about: "Handle a dialog", input: map[string]any{"accept": field("boolean", ""), "promptText": text("")}, required: []string{"accept"}},
	{name: "browser_evaluate", runs: "browser_evaluate", about: "Evaluate a JavaScript function on the page", input: map[string]any{"function": text("() => { … }"), "element": element, "filename": text("")}, required: []string{"function"}, rename: map[string]string{"element": "", "filename": ""}},
	{name: "browser_console_messages", runs: "browser_console_messages", about: "The console's errors", input: map[string]any{"level": oneOf("error", "warning", "info", "debug"), "all": field("boolean", ""), "filename": text("")}, rename: map[string]string{"level": "", "all": "", "filename": ""}},
	{name: "browser_tabs", runs: "browser_tabs", about: "List, create, close or select a tab", input: map[string]any{"action": oneOf("list", "new", "close", "select"), "index": field("number", "of the list, from 0"), "url": text("")}, required: []string{"action"}, rename: map[string]string{"index": "index"}, fill: numbered},
	{name: "browser_click", runs: "browser_click", about: "Click an element", input: map[string]any{"element": element, "target": target, "doubleClick": field("boolean", ""), "button": oneOf("left", "right", "middle")}, required: []string{"target"}, rename: map[string]string{"element": "", "doubleClick": "double"}, fill: pointed},
	{name: "browser_type", runs: "browser_type", about: "Type text into an element", input: map[string]any{"element": element, "target": target, "text": text(""), "submit": field("boolean", ""), "slowly": field("boolean", "")}, required: []string{"target", "text"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_hover", runs: "browser_hover", about: "Hover over an element", input: map[string]any{"element": element, "target": target}, required: []string{"target"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_select_option", runs: "browser_select_option", about: "Select options of a dropdown", input: map[string]any{"element": element, "target": target, "values": field("array", "")}, required: []string{"target", "values"}, rename: map[string]string{"element": ""}, fill: pointed},
	{name: "browser_drag", runs: "browser_drag", about: "Drag and drop between two elements", input: map[string]any{"startElement": element, "startTarget": target, "endElement": element, "endTarget": target}, required: []string{"startTarget", "endTarget"}, rename: map[string]string{"startElement": "", "endElement": ""}, fill: dragged},
	{name: "browser_fill_form", runs: "browser_fill_form", about: "Fill several fields: each has target and value", input: map[string]any{"fields": field("array", "")}, required: []string{"fields"}, fill: filled},
	{name: "browser_press_key", runs: "browser_press_key", about: "Press a key", input: map[string]any{"key": text("such as ArrowLeft")}, required: []string{"key"}},
	{name: "browser_wait_for", runs: "browser_wait_for", about: "Wait for a text, for its end, or for seconds", input: map[string]any{"time": field("number", "seconds"), "text": text(""), "textGone": text("")}, rename: map[string]string{"time": "time_s", "textGone": "text_gone"}},
	{name: "browser_take_screenshot", runs: "browser_take_screenshot", about: "Take a picture of the page or of an element", input: map[string]any{"element": element, "target": target, "type": oneOf("png", "jpeg"), "fullPage": field("boolean", ""), "scale": text(""), "filename": text("")}, rename: map[string]string{"element": "", "fullPage": "full_page", "scale": "", "filename": ""}, fill: pointed},
	{name: "browser_network_requests", runs: "browser_network_requests", about: "The network requests of the page", input: map[string]any{"static": field("boolean", ""), "filter": text(""), "filename": text("")}, rename: map[string]string{"static": "", "filename": ""}},
	{name: "browser_close", runs: "browser_tabs", about: "Close the page", fill: closesMain},
}

// profiled are the tools of a profile whose tools the table has. The error's code is
// invalid_argument.
func profiled(table []messages.ToolInfo, name string) (out []tool, err error) {
	all, ok := profiles[name]
	if !ok {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "there is no profile %q: hermes, playwright or omp", name)
	}
	for _, a := range all {
		i := slices.IndexFunc(table, func(t messages.ToolInfo) bool { return t.Name == a.runs })
		if i < 0 {
			continue
		}
		info := table[i]
		info.Name, info.Title, info.Description = a.name, "", a.about
		schema := map[string]any{"type": "object", "additionalProperties": false, "properties": a.properties()}
		if len(a.required) > 0 {
			schema["required"] = a.required
		}
		info.InputSchema = schema
		out = append(out, tool{ToolInfo: info, runs: a.runs, as: &a})
	}
	if len(out) == 0 {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "this node has none of the tools that profile %s needs", name)
	}
	return out, nil
}

// properties are those of the tool's schema. Every tool takes a task besides.
func (a adapted) properties() map[string]any {
	out := map[string]any{"task": text("")}
	for name, schema := range a.input {
		out[name] = schema
	}
	return out
}

// translated makes the input of our tool of the other system's.
func (a adapted) translated(ctx context.Context, ask asking, given map[string]any) (runs string, in map[string]any, err error) {
	in = map[string]any{}
	for name, v := range given {
		if _, ok := a.input[name]; !ok && name != "task" {
			return "", nil, messages.Errorf(messages.CodeInvalidArgument, "unknown field %q", name)
		}
		to, isRenamed := a.rename[name]
		if !isRenamed {
			to = name
		}
		if to != "" {
			in[to] = v
		}
	}
	for _, name := range a.required {
		if given[name] == nil {
			return "", nil, messages.Errorf(messages.CodeInvalidArgument, "%q is missing", name)
		}
	}
	if a.fill != nil {
		if runs, err = a.fill(ctx, ask, in); err != nil {
			return "", nil, err
		}
	}
	return cmp.Or(runs, a.runs), in, nil
}

// evaluates runs an expression in place of reading the console.
func evaluates(_ context.Context, _ asking, in map[string]any) (string, error) {
	if in["expression"] != nil {
		return "browser_evaluate", nil
	}
	return "browser_console_messages", nil
}

// back goes back by the page's own history.
func back(_ context.Context, _ asking, in map[string]any) (string, error) {
	in["expression"] = "history.back()"
	return "browser_evaluate", nil
}

// plainRef takes the @ off a ref of Hermes'.
func plainRef(_ context.Context, _ asking, in map[string]any) (string, error) {
	if ref, ok := in["ref"].(string); ok {
		in["ref"] = strings.TrimPrefix(ref, "@")
	}
	return "", nil
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

// hermesSnapshot is a snapshot with the fields that Hermes gives it.
func hermesSnapshot(r *messages.ToolResult) map[string]any {
	out := map[string]any{"success": r.OK, "snapshot": r.Text, "pending_dialogs": r.PendingDialogs}
	if r.Error != nil {
		out["error"] = r.Error.Message
	}
	if data, ok := r.Data.(map[string]any); ok {
		out["recent_dialogs"], out["frame_tree"] = data["recent_dialogs"], data["frame_tree"]
	}
	return out
}
