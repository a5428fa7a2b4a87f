package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// agentBrowser is agent-browser's server.
type agentBrowser struct {
	*session
	programs string
	address  string
}

func (b *agentBrowser) command(address, dir string) *exec.Cmd {
	b.address = address
	return exec.Command("node", filepath.Join(b.programs, "agent-browser/bin/agent-browser.js"), "mcp", "--tools", "all")
}

func (b *agentBrowser) tool(ctx context.Context, name string, in input) (string, error) {
	return b.call(ctx, "agent_browser_"+name, in)
}

func (b *agentBrowser) ready(ctx context.Context) error {
	if _, err := b.tool(ctx, "connect", input{"target": b.address}); err != nil {
		return err
	}
	_, err := b.tool(ctx, "get_url", input{})
	return err
}

// look shows what can be acted on, which is the default.
func (b *agentBrowser) look(ctx context.Context) (string, error) {
	text, err := b.tool(ctx, "snapshot", input{})
	var answer struct{ Data struct{ Snapshot string } }
	if json.Unmarshal([]byte(text), &answer) == nil && answer.Data.Snapshot != "" {
		text = answer.Data.Snapshot
	}
	return text, err
}

func (b *agentBrowser) ref(snapshot, role, name string) (string, bool) {
	switch role { // Chrome's own names
	case "date":
		role = "Date"
	}
	ref, ok := match(snapshot, `- `+role+` "`+regexp.QuoteMeta(name)+`[^"]*"[^\n]*?\bref=(e\d+)`)
	return "@" + ref, ok
}

func (b *agentBrowser) open(ctx context.Context, url string) (string, error) {
	_, err := b.tool(ctx, "open", input{"url": url})
	return "", err
}

func (b *agentBrowser) act(ctx context.Context, verb, ref, value string, looks bool) (string, error) {
	tool, in := verb, input{"selector": ref}
	if verb == "type" {
		in["text"] = value
	}
	if _, err := b.tool(ctx, tool, in); err != nil || !looks {
		return "", err
	}
	return b.look(ctx)
}

func (b *agentBrowser) fill(ctx context.Context, fields []field) error {
	for _, f := range fields {
		tool, in := "fill", input{"selector": f.ref, "text": f.value}
		switch f.role {
		case "combobox":
			tool, in = "select", input{"selector": f.ref, "values": []string{f.value}}
		case "checkbox", "radio":
			tool, in = "check", input{"selector": f.ref}
		}
		if _, err := b.tool(ctx, tool, in); err != nil {
			return err
		}
	}
	return nil
}

func (b *agentBrowser) press(ctx context.Context, key string, times int) error {
	for range times {
		if _, err := b.tool(ctx, "press", input{"key": key}); err != nil {
			return err
		}
	}
	return nil
}

func (b *agentBrowser) drag(ctx context.Context, from, to string) error {
	_, err := b.tool(ctx, "drag", input{"source": from, "target": to})
	return err
}

func (b *agentBrowser) upload(ctx context.Context, ref, file string) error {
	_, err := b.tool(ctx, "upload", input{"selector": ref, "files": []string{file}})
	if isToolFailure(err) { // it is a button that opens the chooser of an input
		_, err = b.tool(ctx, "upload", input{"selector": "input[type=file]", "files": []string{file}})
	}
	return err
}

func (b *agentBrowser) download(ctx context.Context, ref, name string) (string, error) {
	file := filepath.Join(b.dir, name)
	if _, err := b.tool(ctx, "download", input{"selector": ref, "path": file}); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

func (b *agentBrowser) scroll(ctx context.Context, ref string) (string, error) {
	if _, err := b.tool(ctx, "scroll", input{"selector": ref, "direction": "down", "amount": 6000}); err != nil {
		return "", err
	}
	return b.look(ctx)
}

func (b *agentBrowser) dialog(ctx context.Context, accept bool, text string) error {
	tool, in := "dialog_dismiss", input{}
	if accept {
		tool = "dialog_accept"
	}
	if text != "" {
		in["text"] = text
	}
	_, err := b.tool(ctx, tool, in)
	return err
}

func (b *agentBrowser) wait(ctx context.Context, text string) (string, error) {
	_, err := b.tool(ctx, "wait_for_text", input{"text": text})
	return "", err
}

func (b *agentBrowser) named(ctx context.Context, role, name string) error {
	_, err := b.tool(ctx, "find", input{"locator": "role", "value": role, "name": name, "action": "click"})
	return err
}

func (b *agentBrowser) login(ctx context.Context, url, user, password string) error {
	if _, err := b.tool(ctx, "set_credentials", input{"username": user, "password": password}); err != nil {
		return err
	}
	_, err := b.open(ctx, url)
	return err
}

func (b *agentBrowser) tab(ctx context.Context, url string) error {
	_, err := b.tool(ctx, "tab_new", input{"url": url})
	return err
}

func (b *agentBrowser) turn(ctx context.Context, page string) error {
	text, err := b.tool(ctx, "tab_list", input{})
	if err != nil {
		return err
	}
	id, ok := tabOf(text, page)
	if !ok {
		return fmt.Errorf("no tab of %s in %q", page, text)
	}
	_, err = b.tool(ctx, "tab_switch", input{"tab": id})
	return err
}

func (b *agentBrowser) failures(ctx context.Context) (string, error) {
	return b.tool(ctx, "network_requests", input{"type": "fetch"})
}

func (b *agentBrowser) errors(ctx context.Context) (string, error) {
	return b.tool(ctx, "console", input{})
}

func (b *agentBrowser) text(ctx context.Context) (string, error) { return b.full(ctx) }

func (b *agentBrowser) full(ctx context.Context) (string, error) {
	return b.tool(ctx, "snapshot", input{"full": true})
}

func (b *agentBrowser) dateRole() string { return "Date" }
