package tools_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"holdfast/internal/api/apitest"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// pages is a snapshot of a task with so many pages.
func pages(id messages.TaskID, targets ...messages.TargetID) *messages.Snapshot {
	snap := apitest.Active(id)
	for _, t := range targets {
		snap.Pages = append(snap.Pages, messages.Page{TargetID: t, URL: "https://shop.example/" + string(t), Title: string(t), PageState: messages.PageOK})
	}
	return snap
}

// node is a node whose task has the pages A and B.
func node() *apitest.Node {
	return &apitest.Node{SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		return pages(id, "A", "B"), nil
	}}
}

func call(t *testing.T, n tools.Node, name, input string) *messages.ToolResult {
	t.Helper()
	return tools.New(n, nil).Call(t.Context(), tools.Caller{}, "one", name, json.RawMessage(input))
}

func TestTheTableIsWellFormed(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^browser_[a-z]+(_[a-z]+)*$`)
	seen, core, size := map[string]bool{}, 0, 0
	for _, tool := range tools.List() {
		if !name.MatchString(tool.Name) || seen[tool.Name] || tool.Title == "" || tool.Description == "" || tool.Group == "" {
			t.Errorf("%q: a name that is taken or malformed, or no title, description or group", tool.Name)
		}
		seen[tool.Name] = true
		if tool.IsCore {
			core++
			size += len(tool.Name) + len(tool.Description) + len(tool.Input)
		}
		for _, text := range []json.RawMessage{tool.Input, tool.Output} {
			var s jsonschema.Schema
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Resolve(nil); err != nil || s.Type != "object" {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
		var in jsonschema.Schema
		if err := json.Unmarshal(tool.Input, &in); err != nil || in.Properties["tab"] == nil || in.Properties["task"] == nil {
			t.Errorf("%s takes no task or no tab: %v", tool.Name, err)
		}
	}
	// A definition costs a model about a token for four characters.
	if core > 15 || size/4 > 5000 {
		t.Errorf("core has %d tools, whose definitions are %d tokens", core, size/4)
	}
	t.Logf("core: %d tools, %d tokens", core, size/4)
}

func TestAnInputIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, input, want string }{
		"an unknown field":       {"browser_navigate", `{"url":"https://a.test/","adress":"x"}`, `unknown field "adress"`},
		"another letter case":    {"browser_navigate", `{"URL":"https://a.test/"}`, `spelled url`},
		"a wrong type":           {"browser_navigate", `{"url":7}`, `"url" must be a string`},
		"a field that is wanted": {"browser_navigate", `{}`, `"url" is missing`},
		"null for one":           {"browser_navigate", `{"url":null}`, `"url" is missing`},
		"no such value":          {"browser_tabs", `{"action":"open"}`, `one of list, new, select, close`},
		"out of bounds":          {"browser_console_messages", `{"max":51}`, `between 1 and 50`},
		"too long":               {"browser_tabs", `{"action":"new","name":"` + strings.Repeat("x", 65) + `"}`, `at most 64 bytes`},
		"no object":              {"browser_tabs", `[1]`, `must be an object`},
		"twice":                  {"browser_tabs", `{"action":"list","action":"new"}`, `there twice`},
		"half of it":             {"browser_tabs", `{"action":`, `too early`},
		"another task":           {"browser_tabs", `{"action":"list","task":"two"}`, `another task`},
		"no task's id":           {"browser_tabs", `{"action":"list","task":"a b"}`, `task`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := call(t, node(), c.tool, c.input)
			if r.OK || r.Code != messages.CodeInvalidArgument || !strings.Contains(r.Text, c.want) || r.Category != "invalid-input" {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := call(t, node(), "browser_clik", `{}`); r.Code != messages.CodeNotFound {
		t.Errorf("%+v", r)
	}
}

// TestATabNamesItsDialog: with a tab, an answer needs no id though dialogs of other tabs are open.
func TestATabNamesItsDialog(t *testing.T) {
	t.Parallel()
	var answered []messages.DialogID
	n := node()
	n.SnapshotFunc = func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		snap := pages(id, "A", "B", "C")
		snap.PendingDialogs = []messages.Dialog{{ID: "d-1", TargetID: "A"}, {ID: "d-2", TargetID: "B"}}
		return snap, nil
	}
	n.RespondFunc = func(a messages.DialogAnswer) (messages.ClosedDialog, error) {
		answered = append(answered, a.DialogID)
		return messages.ClosedDialog{ID: a.DialogID}, nil
	}
	table := tools.New(n, nil)
	on := func(name, input string) *messages.ToolResult {
		return table.Call(t.Context(), tools.Caller{}, "one", name, json.RawMessage(input))
	}
	for name, input := range map[string]string{"browser_dialog": `{"action":"accept","tab":"t2"}`, "browser_handle_dialog": `{"accept":false,"tab":"t2"}`, "browser_batch": `{"tab":"t2","steps":[{"tool":"browser_dialog","input":{"action":"accept"}}]}`} {
		answered = nil
		if r := on(name, input); !r.OK || len(answered) != 1 || answered[0] != "d-2" {
			t.Errorf("%s: %v %+v", name, answered, r)
		}
	}
	if r := on("browser_dialog", `{"action":"accept","tab":"t3"}`); r.Code != messages.CodeNoDialog {
		t.Errorf("%+v", r)
	}
	if r := on("browser_dialog", `{"action":"accept","tab":"t9"}`); r.Code != messages.CodeTargetNotFound {
		t.Errorf("%+v", r)
	}
}

// TestATargetIsARefOrASelector, as Playwright has it.
func TestATargetIsARefOrASelector(t *testing.T) {
	t.Parallel()
	if r := call(t, node(), "browser_click", `{"target":"e12"}`); r.Code != messages.CodeStaleRef {
		t.Errorf("%+v", r)
	}
	if r := call(t, node(), "browser_click", `{"target":"e12","ref":"e12"}`); r.Code != messages.CodeInvalidArgument {
		t.Errorf("%+v", r)
	}
}

func TestTabsHaveIdsThatStay(t *testing.T) {
	t.Parallel()
	now := pages("one", "A", "B")
	n := &apitest.Node{SnapshotFunc: func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return now, nil }}
	table := tools.New(n, nil)
	list := func() string {
		t.Helper()
		r := table.Call(t.Context(), tools.Caller{}, "one", "browser_tabs", json.RawMessage(`{"action":"list"}`))
		if !r.OK {
			t.Fatalf("%+v", r)
		}
		var lines []string
		for _, l := range strings.Split(r.Text, "\n") {
			lines = append(lines, strings.Join(strings.Fields(l)[:min(3, len(strings.Fields(l)))], " "))
		}
		return strings.Join(lines, "\n")
	}
	if got := list(); got != "- t1 (main)\n- t2 \"B\"" {
		t.Fatalf("%q", got)
	}
	now = pages("one", "C", "B")
	if got := list(); got != "- t2 (main)\n- t3 \"C\"" {
		t.Fatalf("after the first was closed and another opened: %q", got)
	}
	if r := table.Call(t.Context(), tools.Caller{}, "one", "browser_tabs", json.RawMessage(`{"action":"select","tab_id":"t3"}`)); !r.OK {
		t.Fatalf("%+v", r)
	}
	if got := list(); got != "- t2 \"B\" https://shop.example/B\n- t3 (main)" && !strings.Contains(got, "t3 (main)") {
		t.Fatalf("after a choice: %q", got)
	}
	r := table.Call(t.Context(), tools.Caller{}, "one", "browser_evaluate", json.RawMessage(`{"expression":"1","tab":"t1"}`))
	if r.Code != messages.CodeTargetNotFound || r.Category != "tab-gone" || len(r.NextActions) != 1 || r.NextActions[0].Tool != "browser_tabs" {
		t.Errorf("a tab that is gone: %+v", r)
	}
	if r := table.Call(t.Context(), tools.Caller{}, "one", "browser_tabs", json.RawMessage(`{"action":"new","name":"t9"}`)); r.Code != messages.CodeInvalidArgument {
		t.Errorf("a name that looks like an id: %+v", r)
	}
}

func TestADialogIsNamedWithItsAnswers(t *testing.T) {
	t.Parallel()
	snap := pages("one", "A")
	snap.PendingDialogs = []messages.Dialog{{ID: "d-4", Type: messages.DialogConfirm, Message: "sure?", TargetID: "A"}}
	r := call(t, &apitest.Node{
		SnapshotFunc: func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return snap, nil },
		CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, messages.Errorf(messages.CodeBlockedByDialog, "a dialog is open")
		},
	}, "browser_evaluate", `{"expression":"1"}`)
	if r.Code != messages.CodeBlockedByDialog || len(r.PendingDialogs) != 1 || len(r.NextActions) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, a := range r.NextActions {
		input, err := json.Marshal(a.Input)
		if err != nil {
			t.Fatal(err)
		}
		if done := call(t, node(), a.Tool, string(input)); !done.OK {
			t.Errorf("%s %s: %+v", a.Tool, input, done)
		}
	}
}

func TestATaskThatDoesNotRun(t *testing.T) {
	t.Parallel()
	started := 0
	n := &apitest.Node{
		SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
			if started == 0 {
				return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
			}
			return pages(id, "A"), nil
		},
		GetOrStartFunc: func(_ context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
			started++
			return pages(id, "A"), true, nil
		},
	}
	if r := call(t, n, "browser_tabs", `{"action":"list"}`); r.Code != messages.CodeTaskNotFound || r.NextActions[0].Tool != "browser_task_open" {
		t.Fatalf("%+v", r)
	}
	r := tools.New(n, nil).Call(t.Context(), tools.Caller{CanStart: true}, "one", "browser_tabs", json.RawMessage(`{"action":"list","task":"one"}`))
	if !r.OK || started != 1 {
		t.Errorf("started %d times: %+v", started, r)
	}
}

func TestATaskListHasWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	n := &apitest.Node{List: []*messages.Snapshot{apitest.Active("two"), apitest.Active("one")}}
	only := tools.Caller{Allows: func(id messages.TaskID) bool { return id == "one" }}
	r := tools.New(n, nil).Call(t.Context(), only, "one", "browser_task_list", nil)
	if !r.OK || r.Text != "one active" {
		t.Errorf("%+v", r)
	}
}

func TestWhatAPageReturnsIsCut(t *testing.T) {
	t.Parallel()
	n := node()
	n.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
		return messages.CDPResult{Result: json.RawMessage(`{"result":{"type":"string","value":"` + strings.Repeat("x", 2<<20) + `"}}`)}, nil
	}
	r := call(t, n, "browser_evaluate", `{"function":"() => 1"}`)
	if !r.OK || !r.Untrusted || len(r.Text) > 16_000 || !strings.Contains(r.Text, "[cut: 15000 of") {
		t.Errorf("%v %d", r.OK, len(r.Text))
	}
}

// FuzzCall gives tools inputs and browsers' answers of any form. Each result has a code of the
// contract or is ok, and can be encoded.
func FuzzCall(f *testing.F) {
	for i := range tools.List() {
		for _, input := range []string{`{}`, `{"action":"list"}`, `{"action":"new","url":"a.test"}`, `{"url":"https://a.test/"}`, `{"method":"A.b","params":{"x":1}}`, `{"expression":"1"}`, `{"accept":true}`, `[`} {
			f.Add(uint8(i), input, `{"result":{"type":"object","value":{"a":1}}}`)
		}
		f.Add(uint8(i), `{"expression":"1"}`, `{"exceptionDetails":{"text":"x"}}`)
	}
	f.Fuzz(func(t *testing.T, i uint8, input, answer string) {
		n := node()
		n.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
			if err := r.Validate(); err != nil {
				t.Fatalf("%s: %v", r.Method, err)
			}
			if r.Method == "Target.createTarget" {
				return messages.CDPResult{Result: json.RawMessage(`{"targetId":"B"}`)}, nil
			}
			return messages.CDPResult{Result: json.RawMessage(answer)}, nil
		}
		tool := tools.List()[int(i)%len(tools.List())]
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // some wait for a page
		defer cancel()
		r := tools.New(n, nil).Call(ctx, tools.Caller{}, "one", tool.Name, json.RawMessage(input))
		if r.OK != (r.Code == "") || !r.OK && (!slices.Contains(messages.Codes(), r.Code) || r.Code == messages.CodeInternal || r.Text == "") {
			t.Fatalf("%+v", r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTimeoutsOfTools(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]float64{"0.1": 1, "999": 300, "7": 7} {
		var got float64
		n := node()
		n.NavigateFunc = func(r messages.NavigateRequest) (messages.NavigateResult, error) {
			got = r.TimeoutS
			return messages.NavigateResult{URL: r.URL}, nil
		}
		if r := call(t, n, "browser_navigate", `{"url":"shop.example/x:8","timeout_s":`+given+`}`); !r.OK || got != want || r.Text != "Opened https://shop.example/x:8" {
			t.Errorf("%s: %g, %+v", given, got, r)
		}
	}
}

func TestARefIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	n := node()
	n.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
		t.Errorf("%s was sent", r.Method)
		return messages.CDPResult{}, nil
	}
	for _, ref := range []string{"e1", "12", "e", "e-1", "[e7]"} {
		r := call(t, n, "browser_click", `{"ref":"`+ref+`"}`)
		if r.Code != messages.CodeStaleRef || r.Category != "stale-ref" || len(r.NextActions) != 1 || r.NextActions[0].Tool != "browser_snapshot" {
			t.Errorf("%s: %+v", ref, r)
		}
	}
}
