package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// holdfast is our own server.
type holdfast struct {
	*session
	binary string
	on     string // the tab, where it is not the main one
	last   string // the snapshot that a later one says the changes of
}

func (h *holdfast) command(address, dir string) *exec.Cmd {
	c := exec.Command(h.binary, "mcp", "--tools", "all", "--cdp-url", address)
	c.Env = []string{"HOLDFAST_STATE_DIR=" + filepath.Join(dir, "state")}
	return c
}

// tool calls a tool on the tab.
func (h *holdfast) tool(ctx context.Context, name string, in input) (string, error) {
	if h.on != "" {
		in["tab"] = h.on
	}
	return h.call(ctx, name, in)
}

func (h *holdfast) ready(ctx context.Context) error {
	_, err := h.tool(ctx, "browser_navigate", input{"url": "about:blank"})
	return err
}

func (h *holdfast) look(ctx context.Context) (string, error) {
	text, err := h.tool(ctx, "browser_snapshot", input{})
	h.last = text
	return text, err
}

func (h *holdfast) ref(snapshot, role, name string) (string, bool) {
	return match(snapshot, `(?m)^[-+ ]*(?:clickable|file|`+role+`) "`+regexp.QuoteMeta(name)+`[^"]*"[^\n]*?\[(e\d+)\]`)
}

// match is the first group of a pattern in a text.
func match(text, pattern string) (string, bool) {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

func (h *holdfast) open(ctx context.Context, url string) (string, error) {
	text, err := h.tool(ctx, "browser_navigate", input{"url": url, "snapshot": true})
	h.last = text
	return text, err
}

func (h *holdfast) act(ctx context.Context, verb, ref, value string, looks bool) (string, error) {
	in := input{"ref": ref}
	if looks {
		in["snapshot"] = true
	}
	tool := "browser_click"
	switch verb {
	case "hover":
		tool = "browser_hover"
	case "type":
		tool = "browser_type"
		in["text"], in["slowly"] = value, true
	}
	text, err := h.tool(ctx, tool, in)
	if !looks {
		return "", err
	}
	h.last = text + "\n" + h.last // it says what has changed
	return h.last, err
}

func (h *holdfast) fill(ctx context.Context, fields []field) error {
	if len(fields) == 1 {
		_, err := h.tool(ctx, "browser_type", input{"ref": fields[0].ref, "text": fields[0].value})
		return err
	}
	list := []input{}
	for _, f := range fields {
		list = append(list, input{"ref": f.ref, "value": f.value})
	}
	_, err := h.tool(ctx, "browser_fill_form", input{"fields": list})
	return err
}

func (h *holdfast) press(ctx context.Context, key string, times int) error {
	for range times {
		if _, err := h.tool(ctx, "browser_press_key", input{"key": key}); err != nil {
			return err
		}
	}
	return nil
}

func (h *holdfast) drag(ctx context.Context, from, to string) error {
	_, err := h.tool(ctx, "browser_drag", input{"from": input{"ref": from}, "to": input{"ref": to}})
	return err
}

func (h *holdfast) upload(ctx context.Context, ref, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	files := []input{{"name": filepath.Base(file), "content": base64.StdEncoding.EncodeToString(text)}}
	_, err = h.tool(ctx, "browser_file_upload", input{"ref": ref, "files": files})
	if !isToolFailure(err) {
		return err
	}
	// It is a button that opens the chooser of an input.
	if _, err = h.tool(ctx, "browser_click", input{"ref": ref}); err != nil {
		return err
	}
	_, err = h.tool(ctx, "browser_file_upload", input{"selector": "input[type=file]", "files": files})
	return err
}

func (h *holdfast) download(ctx context.Context, ref, name string) (string, error) {
	if _, err := h.tool(ctx, "browser_click", input{"ref": ref}); err != nil {
		return "", err
	}
	text, err := h.tool(ctx, "browser_downloads", input{})
	if err != nil { // the browser is not the node's own
		return h.tool(ctx, "browser_evaluate", input{"expression": fmt.Sprintf("fetch(%q).then((r) => r.text())", name)})
	}
	id, ok := match(text, `\b(a-\w+|a\d+)\b`)
	if !ok {
		return "", fmt.Errorf("no artifact in %q", text)
	}
	return h.tool(ctx, "browser_artifacts", input{"action": "read", "artifact_id": id})
}

func (h *holdfast) scroll(ctx context.Context, ref string) (string, error) {
	return h.tool(ctx, "browser_scroll", input{"ref": ref, "direction": "down", "pixels": 6000, "snapshot": true})
}

func (h *holdfast) dialog(ctx context.Context, accept bool, text string) error {
	in := input{"action": "dismiss"}
	if accept {
		in["action"] = "accept"
	}
	if text != "" {
		in["prompt_text"] = text
	}
	_, err := h.tool(ctx, "browser_dialog", in)
	return err
}

func (h *holdfast) wait(ctx context.Context, text string) (string, error) {
	_, err := h.tool(ctx, "browser_wait_for", input{"text": text})
	return "", err
}

func (h *holdfast) named(ctx context.Context, role, name string) error {
	_, err := h.tool(ctx, "browser_click", input{"role": role, "name": name})
	return err
}

func (h *holdfast) login(ctx context.Context, url, user, password string) error {
	if _, err := h.open(ctx, url); err != nil && !isToolFailure(err) {
		return err
	}
	_, err := h.tool(ctx, "browser_blocker", input{"action": "accept", "username": user, "password": password})
	return err
}

func (h *holdfast) tab(ctx context.Context, url string) error {
	text, err := h.call(ctx, "browser_tabs", input{"action": "new", "url": url})
	if err != nil {
		return err
	}
	id, ok := match(text, `tab (t\d+)`)
	if !ok {
		return fmt.Errorf("no tab in %q", text)
	}
	h.on = id
	return nil
}

// turn needs no call where the answer to a click has named the tab; else the list names it.
func (h *holdfast) turn(ctx context.Context, page string) error {
	text, err := h.call(ctx, "browser_tabs", input{"action": "list"})
	if err != nil {
		return err
	}
	id, ok := match(text, `- (t\d+) [^\n]*/`+page)
	if !ok {
		return fmt.Errorf("no tab of %s in %q", page, text)
	}
	h.on = id
	return nil
}

func (h *holdfast) failures(ctx context.Context) (string, error) {
	return h.tool(ctx, "browser_network_requests", input{"failed": true})
}

func (h *holdfast) errors(ctx context.Context) (string, error) {
	return h.tool(ctx, "browser_console_messages", input{})
}

func (h *holdfast) text(ctx context.Context) (string, error) { return h.look(ctx) }

func (h *holdfast) full(ctx context.Context) (string, error) {
	return h.tool(ctx, "browser_snapshot", input{"full": true})
}

func (h *holdfast) dateRole() string { return "date" }
