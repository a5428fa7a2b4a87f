package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// devtools is chrome-devtools-mcp.
type devtools struct {
	*session
	programs string
	on       int // the page
}

func (d *devtools) command(address, dir string) *exec.Cmd {
	return exec.Command("node", filepath.Join(d.programs, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
		"--wsEndpoint", address, "--no-usage-statistics", "--no-performance-crux", "--workspace", dir)
}

// tool calls a tool on the page.
func (d *devtools) tool(ctx context.Context, name string, in input) (string, error) {
	in["pageId"] = d.on
	return d.call(ctx, name, in)
}

func (d *devtools) ready(ctx context.Context) error {
	text, err := d.call(ctx, "list_pages", input{})
	if err != nil {
		return err
	}
	id, ok := match(text, `(?m)^(\d+): `)
	if !ok {
		return fmt.Errorf("no page in %q", text)
	}
	d.on = number(id)
	return nil
}

func (d *devtools) look(ctx context.Context) (string, error) {
	return d.tool(ctx, "take_snapshot", input{})
}

func (d *devtools) ref(snapshot, role, name string) (string, bool) {
	switch role { // Chrome's own names
	case "slider":
	case "date":
		role = "Date"
	}
	return match(snapshot, `uid=(\S+) `+role+` "`+regexp.QuoteMeta(name)+`[^"]*"`)
}

func inlineUID(text string) string {
	if strings.Contains(text, "uid=") {
		return text
	}
	return ""
}

func (d *devtools) open(ctx context.Context, url string) (string, error) {
	text, err := d.tool(ctx, "navigate_page", input{"type": "url", "url": url})
	return inlineUID(text), err
}

func (d *devtools) act(ctx context.Context, verb, ref, value string, looks bool) (string, error) {
	in := input{"uid": ref}
	if looks {
		in["includeSnapshot"] = true
	}
	tool := "click"
	switch verb {
	case "hover":
		tool = "hover"
	case "type":
		if _, err := d.tool(ctx, "click", in); err != nil {
			return "", err
		}
		tool, in = "type_text", input{"text": value}
	}
	text, err := d.tool(ctx, tool, in)
	text = inlineUID(text)
	if err == nil && looks && text == "" {
		return d.look(ctx)
	}
	return text, err
}

func (d *devtools) fill(ctx context.Context, fields []field) error {
	if len(fields) == 1 {
		_, err := d.tool(ctx, "fill", input{"uid": fields[0].ref, "value": fields[0].value})
		return err
	}
	list := []input{}
	for _, f := range fields {
		list = append(list, input{"uid": f.ref, "value": f.value})
	}
	_, err := d.tool(ctx, "fill_form", input{"elements": list})
	return err
}

func (d *devtools) press(ctx context.Context, key string, times int) error {
	for range times {
		if _, err := d.tool(ctx, "press_key", input{"key": key}); err != nil {
			return err
		}
	}
	return nil
}

func (d *devtools) drag(ctx context.Context, from, to string) error {
	_, err := d.tool(ctx, "drag", input{"from_uid": from, "to_uid": to})
	return err
}

func (d *devtools) upload(ctx context.Context, ref, file string) error {
	_, err := d.tool(ctx, "upload_file", input{"uid": ref, "filePaths": []string{file}})
	return err
}

// download fetches the file in the page: the server says nothing of downloads.
func (d *devtools) download(ctx context.Context, ref, name string) (string, error) {
	return d.tool(ctx, "evaluate_script", input{"function": fmt.Sprintf("() => fetch(%q).then((r) => r.text())", name)})
}

func (d *devtools) scroll(ctx context.Context, ref string) (string, error) {
	if _, err := d.tool(ctx, "evaluate_script", input{"args": []string{ref}, "function": "(e) => { e.scrollTop += 6000 }"}); err != nil {
		return "", err
	}
	return d.look(ctx)
}

func (d *devtools) dialog(ctx context.Context, accept bool, text string) error {
	in := input{"action": "dismiss"}
	if accept {
		in["action"] = "accept"
	}
	if text != "" {
		in["promptText"] = text
	}
	_, err := d.tool(ctx, "handle_dialog", in)
	return err
}

func (d *devtools) wait(ctx context.Context, text string) (string, error) {
	answer, err := d.tool(ctx, "wait_for", input{"text": []string{text}})
	return inlineUID(answer), err
}

// named has no tool of its own: a script finds the element.
func (d *devtools) named(ctx context.Context, role, name string) error {
	_, err := d.tool(ctx, "evaluate_script", input{
		"function": fmt.Sprintf("() => { [...document.querySelectorAll('%s')].find((e) => e.textContent === %q).click() }", role, name),
	})
	return err
}

func (d *devtools) login(ctx context.Context, url, user, password string) error {
	_, err := d.open(ctx, withUser(url, user, password))
	return err
}

func (d *devtools) tab(ctx context.Context, url string) error {
	text, err := d.call(ctx, "new_page", input{"url": url})
	if err != nil {
		return err
	}
	id, ok := match(text, `(?m)^(\d+): [^\n]*\[selected\]`)
	if !ok {
		return fmt.Errorf("no page in %q", text)
	}
	d.on = number(id)
	return nil
}

func (d *devtools) turn(ctx context.Context, page string) error {
	text, err := d.call(ctx, "list_pages", input{})
	if err != nil {
		return err
	}
	id, ok := match(text, `(?m)^(\d+): [^\n]*/`+page)
	if !ok {
		return fmt.Errorf("no page of %s in %q", page, text)
	}
	d.on = number(id)
	return nil
}

func (d *devtools) failures(ctx context.Context) (string, error) {
	return d.tool(ctx, "list_network_requests", input{"resourceTypes": []string{"fetch"}})
}

func (d *devtools) errors(ctx context.Context) (string, error) {
	return d.tool(ctx, "list_console_messages", input{"types": []string{"error"}})
}

func (d *devtools) text(ctx context.Context) (string, error) { return d.look(ctx) }

func (d *devtools) full(ctx context.Context) (string, error) {
	return d.tool(ctx, "take_snapshot", input{"verbose": true})
}

func (d *devtools) dateRole() string { return "Date" }
