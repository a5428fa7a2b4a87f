package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"holdfast/messages"
)

// omp is the one tool of oh-my-pi's agent.
var omp = []adapted{{
	name: "browser", runs: "browser_run",
	about: "Drive a browser. open: open the tab name (default main), or take the one there is, and go to url. run: run code, the body of an async function with Puppeteer's page and browser, " +
		"tab (click, type, snapshot, …), display, assert and wait. close: close the tab, or with all everything.",
	input: map[string]any{
		"action": oneOf("open", "close", "run"), "name": text("of the tab"), "url": text(""), "wait_until": oneOf("load", "domcontentloaded", "networkidle0", "networkidle2"),
		"viewport": map[string]any{"type": "object", "properties": map[string]any{"width": field("number", ""), "height": field("number", ""), "scale": field("number", "")}},
		"dialogs":  oneOf("accept", "dismiss"), "code": text(""), "timeout": field("number", "seconds, 1 to 300, default 30"), "all": field("boolean", ""), "kill": field("boolean", ""),
		"app": map[string]any{"type": "object", "properties": map[string]any{"path": text("application to launch"), "args": field("array", ""), "cdp_url": text("browser to connect to"), "target": text("part of the address or title of its page")}},
	},
	required: []string{"action"}, isTasked: true, isOfTab: true, fill: browse,
}}

// The bounds of a run in the tool of oh-my-pi (T3).
const leastRun, mostRun, usualRun = 1, 300, 30

// browse makes of a call of the tool of oh-my-pi one of a tool of the table, after the calls that
// have to come before it.
func browse(ctx context.Context, ask asking, in map[string]any) (string, error) {
	given := maps.Clone(in)
	clear(in)
	name, _ := given["name"].(string)
	if name == "" {
		name = "main"
	}
	of := kinds{ask, messages.TaskID(fmt.Sprint(given["task"]))}
	switch given["action"] {
	case "run":
		code, _ := given["code"].(string)
		if code == "" {
			return "", messages.Errorf(messages.CodeInvalidArgument, "code is missing")
		}
		timeout, ok := given["timeout"].(float64)
		if !ok {
			timeout = usualRun
		}
		holder := of.holder(name)
		in["task"], in["tab"], in["code"], in["timeout_s"] = holder, of.name(holder, name), code, min(max(timeout, leastRun), mostRun)
		return "browser_run", nil
	case "close":
		return of.close(name, given, in)
	case "open":
		return of.open(name, given, in)
	}
	return "", messages.Errorf(messages.CodeInvalidArgument, "action must be open, close or run")
}

// open sees to it that the tab is there as it is wanted, in the browser that is wanted, and leaves
// the navigation.
func (k kinds) open(name string, given, in map[string]any) (string, error) {
	app, err := appOf(given["app"])
	if err != nil {
		return "", err
	}
	task := k.taskOf(app)
	if holder := k.holder(name); holder != task && k.has(holder, name) {
		return "", messages.Errorf(messages.CodeInvalidArgument, "tab %s is of another browser; close it first, or take another name", name)
	}
	in["task"], name = task, k.name(task, name)
	done := func(tool string, input map[string]any) (*messages.ToolResult, error) {
		input["task"] = task
		res, err := k.ask(tool, input)
		if err == nil && res.Error != nil {
			err = res.Error
		}
		return res, err
	}
	if !app.isOwn() {
		if _, err := done("browser_task_open", app.opening()); err != nil {
			return "", err
		}
	}
	list, err := done("browser_tabs", map[string]any{"action": "list"})
	if err != nil {
		return "", err
	}
	if !hasTab(list, name) {
		input := map[string]any{"action": "new", "name": name}
		if app.hasPages() {
			input = map[string]any{"action": "select", "tab_id": "main", "name": name}
		}
		if _, err := done("browser_tabs", input); err != nil {
			return "", err
		}
	}
	if dialogs, ok := given["dialogs"].(string); ok {
		if _, err := done("browser_task_open", map[string]any{"dialog_policy": "auto_" + dialogs}); err != nil {
			return "", err
		}
	}
	if view, ok := given["viewport"].(map[string]any); ok {
		if _, err := done("browser_tabs", map[string]any{"action": "select", "tab_id": name, "name": name, "viewport": view}); err != nil {
			return "", err
		}
	}
	url, _ := given["url"].(string)
	if url == "" {
		in["action"] = "list"
		return "browser_tabs", nil
	}
	in["tab"], in["url"] = name, url
	if wait, ok := given["wait_until"]; ok {
		in["wait_until"] = wait
	}
	if timeout, ok := given["timeout"].(float64); ok {
		in["timeout_s"] = timeout
	}
	return "browser_navigate", nil
}

// hasTab says whether a list of tabs has one of that name.
func hasTab(list *messages.ToolResult, name string) bool { return tabOf(list, name) != nil }

// tabOf is the tab of that name in a list; nil where there is none.
func tabOf(list *messages.ToolResult, name string) map[string]any {
	data, _ := list.Data.(map[string]any)
	tabs, _ := data["tabs"].([]any)
	for _, t := range tabs {
		one, _ := t.(map[string]any)
		names, _ := one["names"].([]any)
		if one["name"] == name || one["tab_id"] == name || slices.Contains(names, any(name)) {
			return one
		}
	}
	return nil
}
