package mcp

import (
	"context"
	"slices"

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
	// fill completes the input of our tool; it may choose another tool of ours.
	fill func(ctx context.Context, ask asking, in map[string]any) (runs string, err error)
	// shape makes of a result what the other system answers, as JSON; nil leaves our words.
	shape func(r *messages.ToolResult) map[string]any
}

// asking runs a tool of the table on the task of the call.
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
var profiles = map[string][]adapted{"hermes": hermes, "playwright": playwright}

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
}

// element describes the target of a tool of Playwright's to people.
var element = text("what it is, for people")

// playwright are the core tools of @playwright/mcp 0.0.83.
var playwright = []adapted{
	{name: "browser_navigate", runs: "browser_navigate", about: "Navigate to a URL", input: map[string]any{"url": text("")}, required: []string{"url"}},
	{name: "browser_navigate_back", runs: "browser_evaluate", about: "Go back to the previous page", fill: back},
	{name: "browser_snapshot", runs: "browser_snapshot", about: "Capture an accessibility snapshot of the page", input: map[string]any{"target": text("ref of an iframe"), "depth": field("number", ""), "boxes": field("boolean", ""), "filename": text("")}, rename: map[string]string{"target": "frame_id", "depth": "", "boxes": "", "filename": ""}},
	{name: "browser_handle_dialog", runs: "browser_handle_dialog", about: "Handle a dialog", input: map[string]any{"accept": field("boolean", ""), "promptText": text("")}, required: []string{"accept"}},
	{name: "browser_evaluate", runs: "browser_evaluate", about: "Evaluate a JavaScript function on the page", input: map[string]any{"function": text("() => { … }"), "element": element, "filename": text("")}, required: []string{"function"}, rename: map[string]string{"element": "", "filename": ""}},
	{name: "browser_console_messages", runs: "browser_console_messages", about: "The console's errors", input: map[string]any{"level": oneOf("error", "warning", "info", "debug"), "all": field("boolean", ""), "filename": text("")}, rename: map[string]string{"level": "", "all": "", "filename": ""}},
	{name: "browser_tabs", runs: "browser_tabs", about: "List, create, close or select a tab", input: map[string]any{"action": oneOf("list", "new", "close", "select"), "index": field("number", "of the list, from 0"), "url": text("")}, required: []string{"action"}, rename: map[string]string{"index": "index"}, fill: numbered},
	{name: "browser_close", runs: "browser_tabs", about: "Close the page", fill: closesMain},
}

// profiled are the tools of a profile whose tools the table has. The error's code is
// invalid_argument.
func profiled(table []messages.ToolInfo, name string) (out []tool, err error) {
	all, ok := profiles[name]
	if !ok {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "there is no profile %q: hermes or playwright", name)
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
	runs = a.runs
	if a.fill != nil {
		runs, err = a.fill(ctx, ask, in)
	}
	return runs, in, err
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
