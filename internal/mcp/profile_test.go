package mcp_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/mcp"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// fits holds an input to the schema of a tool of the table.
func fits(t *testing.T, info messages.ToolInfo, input json.RawMessage) {
	var s jsonschema.Schema
	text, err := json.Marshal(info.InputSchema)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Error(err)
		return
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Error(err)
		return
	}
	var given any
	if err := json.Unmarshal(input, &given); err != nil {
		t.Error(err)
		return
	}
	if err := resolved.Validate(given); err != nil {
		t.Errorf("%s does not take %s: %v", info.Name, input, err)
	}
}

// TestProfiles: a tool of another system is one of ours, with the input that ours takes.
func TestProfiles(t *testing.T) {
	t.Parallel()
	n := newNode()
	var mu sync.Mutex
	var asked []string // of the tools of the table
	var asksFiles bool
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.run = func(_ context.Context, _ messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error) {
		for _, info := range tools.Info().Tools {
			if info.Name == tool {
				fits(t, info, input)
			}
		}
		r := done(tool + " " + string(input))
		if tool == "browser_snapshot" {
			r.Data = map[string]any{"recent_dialogs": []any{}, "frame_tree": map[string]any{"top": "f"}}
		}
		switch {
		case tool == "browser_snapshot" && strings.Contains(string(input), "max_chars"):
			r.Text = "page \"shop\" http://x.test/\n- main\n  - list\n    - button \"Buy one\" [e1]\n    - button \"Sell\" [e2]\n    - button \"Sell two\" [e3]\n- link \"Help\" [e4]"
		case tool == "browser_evaluate" && strings.Contains(string(input), "matchMedia"):
			r.Data = map[string]any{"value": map[string]any{"media": "screen", "colorScheme": "light", "reducedMotion": "reduce", "forcedColors": "none", "contrast": 7}}
		case tool == "browser_evaluate" && strings.Contains(string(input), "document.images"):
			r.Data = map[string]any{"value": []any{map[string]any{"src": "http://x.test/a.png"}}}
		case tool == "browser_network_requests":
			r.Data = map[string]any{"requests": []any{
				map[string]any{"url": "http://x.test/", "kind": "navigation", "status": 200.0},
				map[string]any{"url": "http://x.test/a.png", "kind": "img", "status": 200.0},
				map[string]any{"url": "http://x.test/b.png", "kind": "img", "status": 404.0},
				map[string]any{"url": "http://x.test/api", "kind": "fetch", "status": 0.0},
			}}
		case string(input) == `{"action":"list"}`:
			if asksFiles {
				r.Blockers = []messages.Blocker{{ID: "b-1", Type: messages.BlockerPermission}, {ID: "b-2", Type: messages.BlockerFileChooser}}
			}
			r.Data = map[string]any{"tabs": []any{map[string]any{"tab_id": "t1", "name": "main"}, map[string]any{"tab_id": "t7", "name": "shop"}}}
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, tool+" "+string(input))
		return r, nil
	}
	for _, c := range []struct {
		profile, tool string
		input         map[string]any
		want          string
	}{
		{"hermes", "browser_navigate", map[string]any{"url": "x.test"}, `browser_navigate {"url":"x.test"}`},
		{"hermes", "browser_snapshot", map[string]any{"full": true}, `{"frame_tree":{"top":"f"},"pending_dialogs":[],"recent_dialogs":[],"snapshot":"browser_snapshot {\"full\":true}","success":true}`},
		{"hermes", "browser_dialog", map[string]any{"action": "accept", "prompt_text": "ann"}, `browser_dialog {"action":"accept","prompt_text":"ann"}`},
		{"hermes", "browser_cdp", map[string]any{"method": "A.b", "timeout": 3}, `browser_cdp {"method":"A.b","timeout_s":3}`},
		{"hermes", "browser_console", map[string]any{"clear": true}, `browser_console_messages {}`},
		{"hermes", "browser_console", map[string]any{"expression": "1"}, `browser_evaluate {"expression":"1"}`},
		{"hermes", "browser_cdp", map[string]any{}, `Error invalid_argument`},
		{"hermes", "browser_navigate", map[string]any{"uri": "x"}, `Error invalid_argument`},
		{"hermes", "browser_click", map[string]any{"ref": "@e5"}, `browser_click {"ref":"e5"}`},
		{"hermes", "browser_type", map[string]any{"ref": "@e5", "text": "ann"}, `browser_type {"ref":"e5","text":"ann"}`},
		{"hermes", "browser_get_images", nil, `{"count":1,"images":[{"src":"http://x.test/a.png"}],"success":true}`},
		{"hermes", "browser_vision", map[string]any{"question": "which?", "annotate": true}, `browser_take_screenshot {}`},
		{"hermes", "browser_press", map[string]any{"key": "Enter"}, `browser_press_key {"key":"Enter"}`},
		{"hermes", "browser_scroll", map[string]any{"direction": "up"}, `browser_scroll {"direction":"up"}`},
		{"playwright", "browser_click", map[string]any{"element": "it", "target": "e5", "doubleClick": true}, `browser_click {"double":true,"ref":"e5"}`},
		{"playwright", "browser_click", map[string]any{"target": "#go"}, `browser_click {"selector":"#go"}`},
		{"playwright", "browser_click", map[string]any{"target": 7}, `Error invalid_argument`},
		{"playwright", "browser_type", map[string]any{"target": "e5", "text": "ann", "submit": true}, `browser_type {"ref":"e5","submit":true,"text":"ann"}`},
		{"playwright", "browser_hover", map[string]any{"target": "e5"}, `browser_hover {"ref":"e5"}`},
		{"playwright", "browser_select_option", map[string]any{"target": "e5", "values": []string{"at"}}, `browser_select_option {"ref":"e5","values":["at"]}`},
		{"playwright", "browser_drag", map[string]any{"startTarget": "e5", "endTarget": "#goal"}, `browser_drag {"from":{"ref":"e5"},"to":{"selector":"#goal"}}`},
		{"playwright", "browser_drag", map[string]any{"startTarget": "e5", "endTarget": ""}, `Error invalid_argument`},
		{"playwright", "browser_fill_form", map[string]any{"fields": []any{map[string]any{"name": "n", "type": "textbox", "target": "e5", "value": "ann"}}}, `browser_fill_form {"fields":[{"ref":"e5","value":"ann"}]}`},
		{"playwright", "browser_fill_form", map[string]any{"fields": []any{7}}, `Error invalid_argument`},
		{"playwright", "browser_press_key", map[string]any{"key": "a"}, `browser_press_key {"key":"a"}`},
		{"playwright", "browser_wait_for", map[string]any{"time": 1, "textGone": "x"}, `browser_wait_for {"text_gone":"x","time_s":1}`},
		{"playwright", "browser_take_screenshot", map[string]any{"scale": "css", "fullPage": true, "type": "png"}, `browser_take_screenshot {"full_page":true,"type":"png"}`},
		{"playwright", "browser_click", map[string]any{"target": "e5", "modifiers": []string{"Shift", "ControlOrMeta"}}, `browser_click {"modifiers":["Shift","ControlOrMeta"],"ref":"e5"}`},
		{"playwright", "browser_evaluate", map[string]any{"function": "e => e.id", "target": "#go"}, `browser_evaluate {"function":"e =\u003e e.id","selector":"#go"}`},
		{"playwright", "browser_find", map[string]any{"text": "buy"}, "Matches: 1\n…\n- main\n  - list\n    - button \"Buy one\" [e1]\n    - button \"Sell\" [e2]"},
		{"playwright", "browser_find", map[string]any{"regex": "/^- LINK/i"}, "Matches: 1\n…\n    - button \"Sell two\" [e3]\n- link \"Help\" [e4]"},
		{"playwright", "browser_find", map[string]any{"text": "none"}, `No line of the snapshot matches.`},
		{"playwright", "browser_find", map[string]any{"regex": "("}, `Error invalid_argument`},
		{"playwright", "browser_find", map[string]any{"text": "a", "regex": "b"}, `Error invalid_argument`},
		{"playwright", "browser_run_code_unsafe", map[string]any{"code": "async (page) => page.url()"}, `browser_run {"code":"return (async (page) =\u003e page.url()\n)(page)"}`},
		{"playwright", "browser_run_code_unsafe", map[string]any{"filename": "x.js"}, `Error invalid_argument`},
		{"playwright", "browser_resize", map[string]any{"width": 800, "height": 600}, `browser_tabs {"action":"select","tab_id":"main","viewport":{"height":600,"width":800}}`},
		{
			"playwright", "browser_emulate_media",
			map[string]any{"colorScheme": "dark", "reducedMotion": nil},
			`browser_cdp {"method":"Emulation.setEmulatedMedia","params":{"features":[{"name":"prefers-color-scheme","value":"dark"},{"name":"prefers-reduced-motion","value":""},{"name":"forced-colors","value":"none"},{"name":"prefers-contrast","value":""}],"media":""}}`,
		},
		{"playwright", "browser_emulate_media", map[string]any{"colorScheme": "pink"}, `Error invalid_argument`},
		{"playwright", "browser_drop", map[string]any{"target": "#goal", "data": map[string]string{"text/plain": "a"}}, `Dropped.`},
		{"playwright", "browser_drop", map[string]any{"target": "#goal", "paths": []string{"a.txt"}}, `Dropped.`},
		{"playwright", "browser_drop", map[string]any{"target": "#goal", "paths": []string{"../a.txt"}}, `Error forbidden`},
		{"playwright", "browser_drop", map[string]any{"target": "#goal"}, `Error invalid_argument`},
		{"playwright", "browser_file_upload", map[string]any{"paths": []string{"a.txt"}}, `Error not_actionable`},
		{"playwright", "browser_network_requests", map[string]any{"static": false}, "1. navigation http://x.test/ => [200]\n3. img http://x.test/b.png => [404]\n4. fetch http://x.test/api => [no status]"},
		{"playwright", "browser_network_requests", map[string]any{"static": true, "filter": `\.png$`}, "2. img http://x.test/a.png => [200]\n3. img http://x.test/b.png => [404]"},
		{"playwright", "browser_network_requests", map[string]any{"filter": "nothing"}, `No request fits.`},
		{"playwright", "browser_network_request", map[string]any{"index": 3}, "img http://x.test/b.png => [404]\nstarted at"},
		{"playwright", "browser_network_request", map[string]any{"index": 5}, `Error invalid_argument`},
		{"playwright", "browser_network_request", map[string]any{"index": 1, "part": "response-headers"}, `Error invalid_argument`},
		{"playwright", "browser_handle_dialog", map[string]any{"accept": true, "promptText": "ann"}, `browser_handle_dialog {"accept":true,"promptText":"ann"}`},
		{"playwright", "browser_evaluate", map[string]any{"function": "() => 1", "element": "it"}, `browser_evaluate {"function":"() =\u003e 1"}`},
		{"playwright", "browser_tabs", map[string]any{"action": "select", "index": 1}, `browser_tabs {"action":"select","tab_id":"t7"}`},
		{"playwright", "browser_tabs", map[string]any{"action": "close", "index": 2}, `Error target_not_found`},
		{"playwright", "browser_tabs", map[string]any{"action": "new", "url": "x.test"}, `browser_tabs {"action":"new","url":"x.test"}`},
		{"playwright", "browser_close", nil, `browser_tabs {"action":"close","tab_id":"main"}`},
		{"playwright", "browser_navigate_back", nil, `browser_evaluate {"expression":"history.back()"}`},
		{"omp", "browser", map[string]any{"action": "open", "url": "x.test"}, `browser_navigate {"tab":"main","url":"x.test"}`},
		{"omp", "browser", map[string]any{"action": "open", "name": "shop", "url": "x.test", "wait_until": "networkidle2"}, `browser_navigate {"tab":"shop","url":"x.test","wait_until":"networkidle2"}`},
		{"omp", "browser", map[string]any{"action": "open", "name": "new", "dialogs": "accept", "viewport": map[string]any{"width": 800, "height": 600}}, `browser_tabs {"action":"list"}`},
		{"omp", "browser", map[string]any{"action": "open", "app": map[string]any{"path": "/x", "cdp_url": "ws://x"}}, `Error invalid_argument`},
		{"omp", "browser", map[string]any{"action": "open", "app": map[string]any{"cdp_url": "ws://x", "args": []string{"a"}}}, `Error invalid_argument`},
		{"omp", "browser", map[string]any{"action": "run", "code": "return 1", "timeout": 999}, `browser_run {"code":"return 1","tab":"main","timeout_s":300}`},
		{"omp", "browser", map[string]any{"action": "run", "name": "shop", "code": "return 1"}, `browser_run {"code":"return 1","tab":"shop","timeout_s":30}`},
		{"omp", "browser", map[string]any{"action": "run"}, `Error invalid_argument`},
		{"omp", "browser", map[string]any{"action": "jump"}, `Error invalid_argument`},
		{"omp", "browser", map[string]any{"action": "close", "name": "shop"}, `browser_tabs {"action":"close","tab_id":"shop"}`},
		{"omp", "browser", map[string]any{"action": "close", "all": true, "kill": true}, `browser_task_stop {}`},
	} {
		client, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: c.profile, Dir: dir}, mcp.OwnTask{}, nil)
		if got := text(call(t, client, c.tool, c.input)); !strings.Contains(got, c.want) {
			t.Errorf("%s %s %v:\n%s\nwant\n%s", c.profile, c.tool, c.input, got, c.want)
		}
	}
	asksFiles = true
	for want, paths := range map[string][]string{
		`browser_blocker {"action":"dismiss","blocker_id":"b-2"}`: {},
		`browser_blocker {"action":"accept","blocker_id":"b-2","files":[{"name":"a.txt","mime_type":"text/plain; charset=utf-8","content":"aGVsbG8="}]}`: {filepath.Join(dir, "a.txt")},
		`Error invalid_argument`: {"none.txt"}, `"." is no file`: {"."}, `Error forbidden`: {"/etc/hostname"},
	} {
		client, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: "playwright", Dir: dir}, mcp.OwnTask{}, nil)
		if got := text(call(t, client, "browser_file_upload", map[string]any{"paths": paths})); !strings.Contains(got, want) {
			t.Errorf("%q:\n%s\nwant\n%s", paths, got, want)
		}
	}
	withoutFiles, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: "playwright"}, mcp.OwnTask{}, nil)
	if got := text(call(t, withoutFiles, "browser_file_upload", map[string]any{"paths": []string{"a.txt"}})); !strings.Contains(got, "Error forbidden") {
		t.Errorf("without a directory:\n%s", got)
	}
	before := `browser_tabs {"action":"list"} browser_tabs {"action":"new","name":"new"} browser_task_open {"dialog_policy":"auto_accept"} ` +
		`browser_tabs {"action":"select","name":"new","tab_id":"new","viewport":{"height":600,"width":800}} browser_tabs {"action":"list"}`
	if all := strings.Join(asked, " "); !strings.Contains(all, before) {
		t.Errorf("%s\nis not in\n%s", before, all)
	}
	n.run = func(context.Context, messages.TaskID, string, json.RawMessage) (*messages.ToolResult, error) {
		r := failed(messages.CodeBlockedByDialog, "a dialog is open")
		r.PendingDialogs = []messages.Dialog{{ID: "d-1", Type: "confirm", Message: "buy?"}}
		r.NextActions = []messages.NextAction{
			{Tool: "browser_dialog", Input: messages.ToolInput{"action": "accept", "dialog_id": "d-1"}},
			{Tool: "browser_recover", Input: messages.ToolInput{"action": "reload"}},
		}
		return r, nil
	}
	client, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: "playwright"}, mcp.OwnTask{}, nil)
	got := text(call(t, client, "browser_snapshot", nil))
	if !strings.Contains(got, "Answer with browser_handle_dialog.") || !strings.HasSuffix(got, `browser_handle_dialog {"accept":true}`) {
		t.Errorf("help that names a tool which is not offered:\n%s", got)
	}
	if err := mcp.Serve(t.Context(), n, mcp.Config{Table: table, Profile: "bogus"}, mcp.OwnTask{}, nil, nil); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("a profile that there is not: %v", err)
	}
}

// TestATabTellsOfItsOwnDialogs: with the tool of oh-my-pi a tab's results name no dialog of another tab,
// unless that one is what holds the call up.
func TestATabTellsOfItsOwnDialogs(t *testing.T) {
	t.Parallel()
	n := newNode()
	var code messages.Code
	n.run = func(context.Context, messages.TaskID, string, json.RawMessage) (*messages.ToolResult, error) {
		r := done("done")
		if code != "" {
			r = failed(code, "no")
		}
		r.Page = &messages.ToolPage{TabID: "t1", TargetID: "A", PageState: messages.PageOK}
		r.PendingDialogs = []messages.Dialog{{ID: "d-1", Type: "confirm", Message: "mine?", TargetID: "A"}, {ID: "d-2", Type: "confirm", Message: "theirs?", TargetID: "B"}}
		return r, nil
	}
	c, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Profile: "omp"}, mcp.OwnTask{}, nil)
	for _, code = range []messages.Code{"", messages.CodeDeadline, messages.CodeBlockedByDialog} {
		got := text(call(t, c, "browser", map[string]any{"action": "run", "code": "1"}))
		if !strings.Contains(got, "mine?") || strings.Contains(got, "theirs?") != (code == messages.CodeBlockedByDialog) {
			t.Errorf("%q: %s", code, got)
		}
	}
}

// TestPlaywrightsFields: the profile has the tools of @playwright/mcp with each of their fields.
func TestPlaywrightsFields(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/playwright.json")
	if err != nil {
		t.Fatal(err)
	}
	var theirs []struct {
		Name     string
		Required []string
		Fields   map[string]string
	}
	if err := json.Unmarshal(raw, &theirs); err != nil {
		t.Fatal(err)
	}
	c, _ := stdio(t, newNode(), mcp.Config{Table: tools.Info().Tools, Profile: "playwright"}, mcp.OwnTask{}, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, their := range theirs {
		i := slices.IndexFunc(list.Tools, func(o *sdk.Tool) bool { return o.Name == their.Name })
		if i < 0 {
			t.Errorf("%s is not offered", their.Name)
			continue
		}
		var our struct {
			Required   []string
			Properties map[string]struct {
				Type  string
				AnyOf []struct{ Type string }
			}
		}
		text, err := json.Marshal(list.Tools[i].InputSchema)
		if err == nil {
			err = json.Unmarshal(text, &our)
		}
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{}
		for name, f := range our.Properties {
			for _, o := range f.AnyOf {
				f.Type = strings.TrimPrefix(f.Type+"|"+o.Type, "|")
			}
			if name != "task" {
				fields[name] = f.Type
			}
		}
		if !maps.Equal(fields, their.Fields) {
			t.Errorf("%s takes %v, Playwright's %v", their.Name, fields, their.Fields)
		}
		for _, name := range our.Required {
			if !slices.Contains(their.Required, name) {
				t.Errorf("%s: Playwright's does not require %s", their.Name, name)
			}
		}
	}
	if n := len(theirs); len(list.Tools) != n {
		t.Errorf("%d tools, Playwright has %d", len(list.Tools), n)
	}
}
