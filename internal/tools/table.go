package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

// MaxInput bounds the input of a tool, in bytes.
const MaxInput = 4 << 20

// Tool is one line of the table.
type Tool struct {
	// Name is the name over every door, such as browser_click.
	Name string
	// Title is the name for people, Description says to a model what the tool does.
	Title, Description string
	// Group is the part of the table, such as actions.
	Group string
	// IsCore says that the tool is of the profile core.
	IsCore bool
	// Hints say what the tool does to the world.
	Hints messages.ToolHints
	// Input and Output are JSON schemas: of the input, and of the whole result.
	Input, Output json.RawMessage
	// needsNoTask lets the tool run where the task does not.
	needsNoTask bool
	run         func(ctx context.Context, c *call, input []byte) (outcome, error)
}

// outcome is what a tool's function has to say; Call adds the rest.
type outcome struct {
	text     string
	data     any
	isOfPage bool // text or data holds what a page wrote
	category string
	next     []messages.NextAction
	files    []messages.Artifact
	// spill is what text was cut from; it becomes an artifact.
	spill       []byte
	isSpillJSON bool
}

// groups are the parts of the table, in their order.
var groups = [][]Tool{pageTools, lookTools, extractTools, actionTools, waitTools, pictureTools, networkTools, artifactTools, downloadTools, blockerTools, taskTools, stateTools, dialogTools, rawTools, humanTools, scriptTools}

// list is the table; names are unique.
var list = slices.Concat(groups...)

// List returns the table, in its order. The result is shared: do not write to it.
func List() []Tool { return list }

// Lookup returns the tool of that name.
func Lookup(name string) (*Tool, bool) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// Table runs tools on the tasks of a node. It holds what a task's tools remember from call to
// call; every door of a node shares one. It is safe for concurrent use.
type Table struct {
	node   Node
	log    *slog.Logger
	memory memories

	scripts   Scripts
	artifacts *artifact.Store                                                                              // nil keeps no files
	short     [][2]string                                                                                  // see shortNames
	callTool  func(context.Context, Caller, messages.TaskID, string, json.RawMessage) *messages.ToolResult // Call, for tools that run others
}

// New returns the table for a node. Failures that are not for callers go to the log, which may
// be nil.
func New(node Node, log *slog.Logger) *Table {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Table{node: node, log: log, short: shortNames(list), memory: memories{of: map[messages.TaskID]*memory{}}}
	t.callTool = t.Call
	return t
}

// WithScripts has the table run scripts by s, and returns it. Without it browser_run is refused.
// It has to be called before the table is used.
func (t *Table) WithScripts(s Scripts) *Table {
	t.scripts = s
	return t
}

// Call runs one tool on a task and returns its result, which is never nil: a failure is a result
// with a code. The input is a JSON object, or nothing where no field is required. It waits as
// long as the tool does; ctx ends it.
func (t *Table) Call(ctx context.Context, by Caller, task messages.TaskID, name string, input json.RawMessage) *messages.ToolResult {
	c := &call{Table: t, by: by, task: task, name: name, isStarting: by.CanStart}
	out, err := c.do(ctx, input)
	return c.result(ctx, out, err)
}

func (c *call) do(ctx context.Context, input []byte) (outcome, error) {
	tool, ok := Lookup(c.name)
	if !ok {
		return outcome{}, messages.Errorf(messages.CodeNotFound, "there is no such tool").With("nearest", nearest(c.name))
	}
	if len(input) > MaxInput {
		return outcome{}, messages.Errorf(messages.CodeMessageTooLarge, "the input is longer than %d bytes", MaxInput)
	}
	if len(bytes.TrimSpace(input)) == 0 || string(bytes.TrimSpace(input)) == "null" {
		input = []byte("{}")
	}
	named, err := TaskOf(input)
	if err != nil {
		return outcome{}, err
	}
	if named != "" && named != c.task {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "task names another task than the one that is called")
	}
	c.tool = tool
	return tool.run(ctx, c, input)
}

// TaskOf returns the task that an input names; "" where it names none. The error is an
// [*messages.Error] with the code invalid_argument.
func TaskOf(input []byte) (messages.TaskID, error) {
	var p struct {
		Task *string `json:"task"`
	}
	if len(input) == 0 || json.Unmarshal(input, &p) != nil || p.Task == nil {
		return "", nil // what is wrong with it, the strict reader says
	}
	return messages.ParseTaskID(*p.Task)
}

// nearest are the names that share the most with a wrong one.
func nearest(name string) []string {
	const most = 3
	type scored struct {
		name  string
		score int
	}
	all := make([]scored, len(list))
	for i := range list {
		all[i] = scored{list[i].Name, shared(list[i].Name, name)}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	out := make([]string, 0, most)
	for _, s := range all[:min(most, len(all))] {
		out = append(out, s.name)
	}
	return out
}

// shared counts the pairs of neighbouring letters of want that are in given too.
func shared(want, given string) (n int) {
	for i := range len(want) - 1 {
		if len(given) < 200 && bytes.Contains([]byte(given), []byte(want[i:i+2])) {
			n++
		}
	}
	return n
}

// Info describes the tools to callers, in the order of the table.
func Info() messages.ToolList {
	out := messages.ToolList{Tools: make([]messages.ToolInfo, len(list))}
	for i, t := range list {
		out.Tools[i] = messages.ToolInfo{
			Name: t.Name, Title: t.Title, Description: t.Description, Group: t.Group, IsCore: t.IsCore, Hints: t.Hints,
			InputSchema: object(t.Input), OutputSchema: object(t.Output),
		}
	}
	return out
}

func object(schema json.RawMessage) (out map[string]any) {
	if err := json.Unmarshal(schema, &out); err != nil {
		panic("tools: " + err.Error()) // it was made by this package
	}
	return out
}
