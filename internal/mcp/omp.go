package mcp

import (
	"context"
	"maps"

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
		"app": map[string]any{"type": "object"},
	},
	required: []string{"action"}, fill: browse,
}}

// The bounds of a run and a viewport in the tool of oh-my-pi (T3, T6).
const (
	leastRun, mostRun, usualRun = 1, 300, 30
	mostPixels, mostScale       = 10_000, 10
)

// browse makes of a call of the tool of oh-my-pi one of a tool of the table, after the calls that
// have to come before it.
func browse(ctx context.Context, ask asking, in map[string]any) (string, error) {
	given := maps.Clone(in)
	clear(in)
	name, _ := given["name"].(string)
	if name == "" {
		name = "main"
	}
	base := map[string]any{}
	if task, ok := given["task"]; ok {
		base["task"], in["task"] = task, task
	}
	// with is an input on the same task.
	with := func(fields map[string]any) map[string]any {
		out := maps.Clone(base)
		maps.Copy(out, fields)
		return out
	}
	if given["app"] != nil {
		return "", messages.Errorf(messages.CodeInvalidArgument, "app: this node starts no applications; browser_task_open, and holdfast mcp --cdp-url, attach to one that runs")
	}
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
		in["tab"], in["code"], in["timeout_s"] = name, code, min(max(timeout, leastRun), mostRun)
		return "browser_run", nil
	case "close":
		if given["all"] == true {
			return "browser_task_stop", nil
		}
		in["action"], in["tab_id"] = "close", name
		return "browser_tabs", nil
	case "open":
		return openNamed(ask, with, name, given, in)
	}
	return "", messages.Errorf(messages.CodeInvalidArgument, "action must be open, close or run")
}

// openNamed sees to it that the tab is there as it is wanted, and leaves the navigation.
func openNamed(ask asking, with func(map[string]any) map[string]any, name string, given, in map[string]any) (string, error) {
	done := func(tool string, input map[string]any) (*messages.ToolResult, error) {
		res, err := ask(tool, with(input))
		if err == nil && res.Error != nil {
			err = res.Error
		}
		return res, err
	}
	list, err := done("browser_tabs", map[string]any{"action": "list"})
	if err != nil {
		return "", err
	}
	if !hasTab(list, name) {
		if _, err := done("browser_tabs", map[string]any{"action": "new", "name": name}); err != nil {
			return "", err
		}
	}
	if dialogs, ok := given["dialogs"].(string); ok {
		if _, err := done("browser_task_open", map[string]any{"dialog_policy": "auto_" + dialogs}); err != nil {
			return "", err
		}
	}
	if view, ok := given["viewport"].(map[string]any); ok {
		metrics, err := metricsOf(view)
		if err != nil {
			return "", err
		}
		if _, err := done("browser_cdp", map[string]any{"method": "Emulation.setDeviceMetricsOverride", "tab": name, "params": metrics}); err != nil {
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
func hasTab(list *messages.ToolResult, name string) bool {
	data, _ := list.Data.(map[string]any)
	tabs, _ := data["tabs"].([]any)
	for _, t := range tabs {
		if one, _ := t.(map[string]any); one["name"] == name || one["tab_id"] == name {
			return true
		}
	}
	return false
}

// metricsOf is a viewport as CDP has it.
func metricsOf(view map[string]any) (map[string]any, error) {
	width, _ := view["width"].(float64)
	height, _ := view["height"].(float64)
	scale, hasScale := view["scale"].(float64)
	if !hasScale {
		scale = 1
	}
	if !(width >= 1 && width <= mostPixels && height >= 1 && height <= mostPixels && scale > 0 && scale <= mostScale) {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "viewport: width and height from 1 to %d, scale up to %d", mostPixels, mostScale)
	}
	return map[string]any{"width": int(width), "height": int(height), "deviceScaleFactor": scale, "mobile": false}, nil
}
