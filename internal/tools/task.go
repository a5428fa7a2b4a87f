package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

// taskTools open, list, show and stop tasks.
var taskTools = []Tool{
	define[openTask, taskState](Tool{
		Name: "browser_task_open", Title: "Open task", Group: "tasks", needsNoTask: true,
		Description: "Start the task's browser, or get the one that runs. cdp_url attaches to a running browser.",
		Hints:       messages.ToolHints{Idempotent: true, OpenWorld: true},
	}, runTaskOpen),
	define[on, taskList](Tool{
		Name: "browser_task_list", Title: "List tasks", Group: "tasks", needsNoTask: true,
		Description: "List tasks with their state and address.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runTaskList),
	define[on, taskState](Tool{
		Name: "browser_task_status", Title: "Task status", Group: "tasks", IsCore: true, needsNoTask: true,
		Description: "State of the task, its connection, tabs and open dialogs, from memory: answers at once whatever a page does.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runTaskStatus),
	define[on, none](Tool{
		Name: "browser_task_stop", Title: "Stop task", Group: "tasks", needsNoTask: true,
		Description: "End the task and close what it opened.",
		Hints:       messages.ToolHints{Destructive: true, Idempotent: true},
	}, runTaskStop),
}

type openTask struct {
	on
	CDPURL   string `json:"cdp_url,omitempty" jsonschema:"browser to attach to; default: launch one"`
	Headless *bool  `json:"headless,omitempty" jsonschema:"of a launched browser; default true"`
	App      string `json:"app,omitempty" jsonschema:"absolute path of an Electron-like application to launch instead"`
	// AppArgs are bounded by the spec's own check.
	AppArgs      []string `json:"app_args,omitempty"`
	Match        string   `json:"match,omitempty" maxlen:"1000" jsonschema:"make the tab main whose address or title has this"`
	Scope        string   `json:"scope,omitempty" enum:"own|browser|target"`
	TargetID     string   `json:"target_id,omitempty" jsonschema:"page to take, with scope target"`
	DialogPolicy string   `json:"dialog_policy,omitempty" enum:"must_respond|auto_dismiss|auto_accept"`
	URL          string   `json:"url,omitempty" jsonschema:"where to go first"`
	// DialogRules is nil where nothing is said: [] takes the rules of a running task away.
	DialogRules []dialogRule `json:"dialog_rules,omitempty" jsonschema:"what happens to single dialogs before the policy; the first that fits holds; [] takes them away"`
}

// dialogRule is a rule of [messages.DialogRules], with words for models.
type dialogRule struct {
	Type       messages.DialogType `json:"type,omitempty" jsonschema:"alert, confirm, prompt or beforeunload; default: each of the first three"`
	Origin     string              `json:"origin,omitempty" jsonschema:"of the frame that asks, such as https://shop.example or https://*.shop.example"`
	Message    string              `json:"message,omitempty" jsonschema:"pattern for the whole message; * stands for any text, letter case does not matter"`
	Action     messages.RuleAction `json:"action" jsonschema:"accept, dismiss, ask (a caller answers) or human (a person does)"`
	PromptText *string             `json:"prompt_text,omitempty" jsonschema:"for an accepted prompt; default: its own text"`
}

type taskState struct {
	TaskID   messages.TaskID    `json:"task_id"`
	State    messages.TaskState `json:"state"`
	Reason   string             `json:"reason,omitempty"`
	Endpoint string             `json:"endpoint,omitempty"`
	Primary  messages.LinkState `json:"primary,omitempty"`
	Anchor   messages.LinkState `json:"anchor,omitempty"`
	Tabs     []tabState         `json:"tabs"`
}

type taskList struct {
	Tasks []taskState `json:"tasks"`
}

func runTaskOpen(ctx context.Context, c *call, in openTask) (outcome, error) {
	spec := messages.TaskSpec{Scope: messages.Scope(in.Scope), TargetID: messages.TargetID(in.TargetID), DialogPolicy: messages.DialogPolicy(in.DialogPolicy)}
	if in.DialogRules != nil {
		spec.DialogRules = messages.DialogRules{}
	}
	for _, r := range in.DialogRules {
		spec.DialogRules = append(spec.DialogRules, messages.DialogRule(r))
	}
	if in.CDPURL != "" {
		var err error
		if spec.CDPURL, err = messages.ParseCDPURL(in.CDPURL); err != nil {
			return outcome{}, err
		}
	}
	if in.Headless != nil {
		spec.Launch = &messages.LaunchSpec{Headless: in.Headless}
	}
	if in.App != "" || in.AppArgs != nil {
		if spec.Launch == nil {
			spec.Launch = &messages.LaunchSpec{}
		}
		spec.Launch.App, spec.Launch.Args = in.App, in.AppArgs
	}
	if err := spec.Validate(); err != nil {
		return outcome{}, err
	}
	if running, err := c.snapshot(); in.CDPURL == "" && (err != nil || !running.Active) {
		spec.Blockers = messages.AskAboutBlockers()
	}
	snap, isNew, err := c.startSoon(ctx, spec)
	if err != nil {
		return outcome{}, err
	}
	c.memory = c.Table.memory.at(c.task)
	switch {
	case in.Match == "" && in.App != "" && isNew:
		c.awaitWindow(ctx)
	case in.Match != "":
		if err := c.chooseMain(ctx, in.Match); err != nil {
			return outcome{text: "The task runs."}, err
		}
	}
	verb := "Reused"
	if isNew {
		verb = "Opened"
	}
	text := fmt.Sprintf("%s task %s.", verb, c.task)
	if in.URL != "" {
		went, err := goTo(ctx, c, messages.NavigateRequest{URL: in.URL})
		if err != nil {
			return outcome{text: text}, err
		}
		text += " " + went
		if snap, err = c.snapshot(); err != nil {
			return outcome{text: text}, err
		}
	}
	return outcome{text: text, data: stateOf(snap, c.memory), isOfPage: true}, nil
}

// The patience with a browser that is starting, whose port is not there yet (T9).
const (
	readyWithin = 5 * time.Second
	readyPoll   = 150 * time.Millisecond
)

// startSoon starts the task, also on a browser that listens in a moment.
func (c *call) startSoon(ctx context.Context, spec messages.TaskSpec) (*messages.Snapshot, bool, error) {
	began := time.Now()
	for {
		snap, isNew, err := c.node.GetOrStart(ctx, c.task, spec)
		if spec.CDPURL.IsZero() || messages.CodeOf(err) != messages.CodeUpstreamUnavailable || time.Since(began) > readyWithin {
			return snap, isNew, err
		}
		if pause(ctx, readyPoll) != nil {
			return snap, isNew, err
		}
	}
}

func runTaskList(_ context.Context, c *call, _ on) (outcome, error) {
	out := taskList{Tasks: []taskState{}}
	var text strings.Builder
	all := c.node.Tasks()
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *messages.Snapshot) int { return cmp.Compare(a.TaskID, b.TaskID) })
	for _, snap := range all {
		if !c.by.allows(snap.TaskID) {
			continue
		}
		out.Tasks = append(out.Tasks, taskState{TaskID: snap.TaskID, State: snap.State, Reason: snap.Reason, Endpoint: snap.Connection.Endpoint, Tabs: []tabState{}})
		fmt.Fprintf(&text, "%s %s\n", snap.TaskID, snap.State)
	}
	if len(out.Tasks) == 0 {
		text.WriteString("No tasks.")
	}
	return outcome{text: cut(strings.TrimSpace(text.String()), maxText), data: out}, nil
}

func runTaskStatus(_ context.Context, c *call, _ on) (outcome, error) {
	snap, err := c.snapshot()
	if err != nil {
		return outcome{}, err
	}
	c.memory = c.Table.memory.at(c.task)
	state := stateOf(snap, c.memory)
	var text strings.Builder
	fmt.Fprintf(&text, "Task %s is %s, connection %s.\n", c.task, snap.State, snap.Connection.Primary)
	writeTabs(&text, state.Tabs)
	writeDialogs(&text, snap.PendingDialogs)
	return outcome{text: text.String(), data: state, isOfPage: true, next: c.answers(snap.PendingDialogs)}, nil
}

func runTaskStop(ctx context.Context, c *call, _ on) (outcome, error) {
	err := c.node.StopTask(ctx, c.task)
	if err != nil && messages.CodeOf(err) != messages.CodeTaskNotFound {
		return outcome{}, err
	}
	c.Table.memory.drop(c.task)
	return outcome{text: fmt.Sprintf("Task %s is stopped.", c.task)}, nil
}

func stateOf(snap *messages.Snapshot, m *memory) taskState {
	return taskState{
		TaskID: snap.TaskID, State: snap.State, Reason: snap.Reason, Endpoint: snap.Connection.Endpoint,
		Primary: snap.Connection.Primary, Anchor: snap.Connection.Anchor, Tabs: tabStates(m.tabs(snap)),
	}
}
