package mcp

import (
	"cmp"
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
	// fill completes the input of our tool; it may choose another tool of ours, "" does not.
	fill func(ctx context.Context, ask asking, in map[string]any) (runs string, err error)
	// isTasked has fill know the task of the call, which it may change.
	isTasked bool
	// isOfTab has results name the open dialogs of the call's tab alone.
	isOfTab bool
	// answer answers in place of the table's tool, with what fill has made of the input.
	answer func(ctx context.Context, d desk, in map[string]any) (*messages.ToolResult, error)
	// shape makes of a result what the other system answers, as JSON; nil leaves our words.
	shape func(r *messages.ToolResult) map[string]any
}

// asking runs a tool of the table: on the task that the input names, else on that of the call.
type asking func(tool string, input map[string]any) (*messages.ToolResult, error)

// desk is what an answer is made with.
type desk struct {
	ask   asking
	files files
}

// ofTab is a result without the dialogs of other tabs, unless it is one of them that kept the call from
// being done.
func ofTab(r *messages.ToolResult) *messages.ToolResult {
	if r == nil || r.Page == nil || r.Code == messages.CodeBlockedByDialog {
		return r
	}
	out := *r
	out.PendingDialogs = slices.DeleteFunc(slices.Clone(r.PendingDialogs), func(d messages.Dialog) bool { return d.TargetID != r.Page.TargetID })
	return &out
}

// must runs a tool whose failure is that of the call.
func (d desk) must(tool string, input map[string]any) (*messages.ToolResult, error) {
	r, err := d.ask(tool, input)
	if err == nil && r.Error != nil {
		err = r.Error
	}
	return r, err
}

// The schemas of fields.
func text(about string) map[string]any { return field("string", about) }

func field(kind, about string) map[string]any {
	f := map[string]any{"type": kind}
	if about != "" {
		f["description"] = about
	}
	return f
}

func list(kind string) map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": kind}}
}

func oneOf(values ...string) map[string]any { return map[string]any{"type": "string", "enum": values} }

// profiles are the tools of other systems.
var profiles = map[string][]adapted{"hermes": hermes, "playwright": playwright, "omp": omp}

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
