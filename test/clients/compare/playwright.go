package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// playwright is @playwright/mcp.
type playwright struct {
	*session
	programs string
}

func (p *playwright) command(address, dir string) *exec.Cmd {
	return exec.Command("node", filepath.Join(p.programs, "@playwright/mcp/cli.js"), "--cdp-endpoint", address, "--output-dir", dir)
}

func (p *playwright) ready(ctx context.Context) error {
	_, err := p.call(ctx, "browser_navigate", input{"url": "about:blank"})
	return err
}

func (p *playwright) look(ctx context.Context) (string, error) {
	return p.call(ctx, "browser_snapshot", input{})
}

func (p *playwright) ref(snapshot, role, name string) (string, bool) {
	return match(snapshot, `(?m)^\s*- (?:'?)`+role+` "`+regexp.QuoteMeta(name)+`[^"]*"[^\n]*?\[ref=(\w+)\]`)
}

// inline is the snapshot of an answer, where it has one. Most answers name a file, which is for
// agents that read files.
func (p *playwright) inline(text string) string {
	if strings.Contains(text, "[ref=") {
		return text
	}
	return ""
}

func (p *playwright) open(ctx context.Context, url string) (string, error) {
	text, err := p.call(ctx, "browser_navigate", input{"url": url})
	return p.inline(text), err
}

func (p *playwright) act(ctx context.Context, verb, ref, value string, looks bool) (string, error) {
	tool, in := "browser_click", input{"element": "it", "target": ref}
	switch verb {
	case "hover":
		tool = "browser_hover"
	case "type":
		tool = "browser_type"
		in["text"], in["slowly"] = value, true
	}
	text, err := p.call(ctx, tool, in)
	text = p.inline(text)
	if err == nil && looks && text == "" {
		return p.look(ctx)
	}
	return text, err
}

func (p *playwright) fill(ctx context.Context, fields []field) error {
	list := []input{}
	for _, f := range fields {
		kind := map[string]string{"checkbox": "checkbox", "radio": "radio", "combobox": "combobox", "slider": "slider"}[f.role]
		if kind == "" {
			kind = "textbox"
		}
		list = append(list, input{"element": f.name, "name": f.name, "target": f.ref, "type": kind, "value": f.value})
	}
	_, err := p.call(ctx, "browser_fill_form", input{"fields": list})
	return err
}

func (p *playwright) press(ctx context.Context, key string, times int) error {
	for range times {
		if _, err := p.call(ctx, "browser_press_key", input{"key": key}); err != nil {
			return err
		}
	}
	return nil
}

func (p *playwright) drag(ctx context.Context, from, to string) error {
	_, err := p.call(ctx, "browser_drag", input{"startElement": "it", "startTarget": from, "endElement": "there", "endTarget": to})
	return err
}

// upload opens the chooser, and gives it the file.
func (p *playwright) upload(ctx context.Context, ref, file string) error {
	if _, err := p.call(ctx, "browser_click", input{"element": "it", "target": ref}); err != nil {
		return err
	}
	_, err := p.call(ctx, "browser_file_upload", input{"paths": []string{file}})
	return err
}

// download reads the file where the answer names it, and else fetches it in the page.
func (p *playwright) download(ctx context.Context, ref, name string) (string, error) {
	text, err := p.call(ctx, "browser_click", input{"element": "it", "target": ref})
	if err != nil {
		return "", err
	}
	if file, ok := match(text, `to "?([^"\s]*`+regexp.QuoteMeta(name)+`)`); ok {
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.dir, file)
		}
		if got, err := os.ReadFile(file); err == nil {
			return string(got), nil
		}
	}
	return p.call(ctx, "browser_evaluate", input{"function": fmt.Sprintf("() => fetch(%q).then((r) => r.text())", name)})
}

func (p *playwright) scroll(ctx context.Context, ref string) (string, error) {
	if _, err := p.call(ctx, "browser_evaluate", input{"element": "it", "target": ref, "function": "(e) => { e.scrollTop += 6000 }"}); err != nil {
		return "", err
	}
	return p.look(ctx)
}

func (p *playwright) dialog(ctx context.Context, accept bool, text string) error {
	in := input{"accept": accept}
	if text != "" {
		in["promptText"] = text
	}
	_, err := p.call(ctx, "browser_handle_dialog", in)
	return err
}

func (p *playwright) wait(ctx context.Context, text string) (string, error) {
	answer, err := p.call(ctx, "browser_wait_for", input{"text": text})
	return p.inline(answer), err
}

func (p *playwright) named(ctx context.Context, role, name string) error {
	text, err := p.call(ctx, "browser_find", input{"text": name})
	if err != nil {
		return err
	}
	ref, ok := match(text, role+` "`+regexp.QuoteMeta(name)+`"[^\n]*?\[ref=(\w+)\]`)
	if !ok {
		return fmt.Errorf("no %s in %q", name, shorten(text, 300))
	}
	_, err = p.act(ctx, "click", ref, "", false)
	return err
}

func (p *playwright) login(ctx context.Context, url, user, password string) error {
	_, err := p.open(ctx, withUser(url, user, password))
	return err
}

func (p *playwright) tab(ctx context.Context, url string) error {
	_, err := p.call(ctx, "browser_tabs", input{"action": "new", "url": url})
	return err
}

func (p *playwright) turn(ctx context.Context, page string) error {
	text, err := p.call(ctx, "browser_tabs", input{"action": "list"})
	if err != nil {
		return err
	}
	index, ok := match(text, `(?m)^- (\d+):[^\n]*/`+page)
	if !ok {
		return fmt.Errorf("no tab of %s in %q", page, text)
	}
	_, err = p.call(ctx, "browser_tabs", input{"action": "select", "index": number(index)})
	return err
}

func (p *playwright) failures(ctx context.Context) (string, error) {
	return p.call(ctx, "browser_network_requests", input{"static": false})
}

func (p *playwright) errors(ctx context.Context) (string, error) {
	return p.call(ctx, "browser_console_messages", input{"level": "error"})
}

func (p *playwright) text(ctx context.Context) (string, error) { return p.look(ctx) }

func (p *playwright) full(context.Context) (string, error) { return "", nil }

func (p *playwright) dateRole() string { return "textbox" }
