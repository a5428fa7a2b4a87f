package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/internal/api/apitest"
	"holdfast/internal/cli"
	"holdfast/messages"
)

// blocked is a stream with one event and no end.
func blocked(e messages.Event) messages.EventStream {
	return &apitest.Stream{Batches: [][]messages.Event{{e}}, IsBlocking: true}
}

// onWrite does something at the first write.
type onWrite struct {
	bytes.Buffer
	do func()
}

func (w *onWrite) Write(b []byte) (int, error) {
	defer w.do()
	return w.Buffer.Write(b)
}

// rich is a task with some of everything, and a page that wants to take over
// the terminal.
func rich(id messages.TaskID) *messages.Snapshot {
	opener := messages.TargetID("T1")
	s := apitest.Active(id)
	s.Version = 412
	s.Connection = messages.Connection{Primary: messages.LinkUp, Anchor: messages.LinkDown, AnchorOff: messages.AnchorOffSingle, Reconnects: 3, LastGapMS: 41, Bridge: "on", BridgeBy: "debugger", Endpoint: "ws://127.0.0.1:9222/devtools/browser/***"}
	s.PageTargetID, s.PageState = "T1", messages.PageDialog
	s.Pages = []messages.Page{
		{TargetID: "T1", URL: "http://a.test/", Title: "Shop\x1b]0;owned\x07", PageState: messages.PageDialog, Bridge: "on"},
		{TargetID: "T2", URL: "http://a.test/popup", Title: "", OpenerID: &opener, PageState: messages.PageOK, Bridge: "unavailable"},
	}
	s.PendingDialogs = []messages.Dialog{{ID: "d-1", Type: "prompt", Message: "Name?\n\u202egnp", DefaultPrompt: "Ada", FrameID: "F2", TargetID: "T1", Path: "native"}}
	s.RecentDialogs = []messages.ClosedDialog{{ID: "d-0", Type: "alert", Message: "hi", ClosedBy: messages.ClosedByAutoPolicy}}
	s.FrameTree = &messages.FrameTree{
		Top: messages.FrameTop{FrameID: "F1", URL: "http://a.test/"},
		Children: []messages.FrameNode{
			{FrameID: "F2", ParentFrameID: "F1", URL: "http://b.test/pay", IsOOPIF: true},
			{FrameID: "F3", ParentFrameID: "F2", URL: "http://b.test/inner"},
			{FrameID: "F4", ParentFrameID: "F1", URL: "about:blank"},
			{FrameID: "F5", ParentFrameID: "gone", URL: "http://c.test/"},
		},
		Truncated: true,
	}
	s.ConsoleErrors = []messages.ConsoleError{{Level: "exception", Text: "boom"}}
	return s
}

func showing(s ...*messages.Snapshot) *apitest.Node {
	return &apitest.Node{List: s, SnapshotFunc: func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return s[0], nil }}
}

func TestOutputForPeople(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node = showing(rich("checkout-7"), apitest.Active("two"))
	m.node.RespondFunc = func(a messages.DialogAnswer) (messages.ClosedDialog, error) {
		return messages.ClosedDialog{ID: "d-1", Type: "prompt", ClosedBy: messages.ClosedByAgent, Action: a.Action}, nil
	}
	m.node.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
		return messages.CDPResult{Result: json.RawMessage(`{"result":{"value":"a\u009b"}}`)}, nil
	}
	m.node.WatchFunc = func(context.Context, uint64, bool) (messages.EventStream, error) {
		return &apitest.Stream{Batches: [][]messages.Event{{
			{Type: messages.EventReset, Version: 412, Snapshot: rich("checkout-7")},
			{Type: messages.EventDialogClosed, Version: 413, Closed: &messages.ClosedDialog{ID: "d-1", Type: "prompt", ClosedBy: messages.ClosedByAgent, Action: "accept"}},
			{Type: messages.EventConnection, Version: 413, Connection: &messages.Connection{Primary: messages.LinkBackoff, Anchor: messages.LinkUp}},
			{Type: messages.EventConnection, Version: 413, Connection: &messages.Connection{Primary: messages.LinkUp, Anchor: messages.LinkDown, AnchorOff: messages.AnchorOffForeign}},
			{Type: messages.EventConnection, Version: 413, Connection: &messages.Connection{Primary: messages.LinkUp, Anchor: messages.LinkUp, Bridge: "on", BridgeBy: "request"}},
			{Type: messages.EventPageChanged, Version: 413, Page: &messages.Page{TargetID: "T2", PageState: messages.PageOK, Bridge: "unavailable", URL: "http://a.test/", Title: "Pay"}, Changed: messages.PageTitleChanged},
			{Type: messages.EventTaskState, Version: 414, State: messages.StateLost, Reason: "the browser is gone"},
		}}}, nil
	}
	m.serve()
	for line, want := range map[string]string{
		"task ls": `
TASK        STATE   LINK  PAGES  DIALOGS  RECONNECTS  PAGE            BROWSER
checkout-7  active  up    2      1        3           http://a.test/  ws://127.0.0.1:9222/devtools/browser/***
two         active  -     0      0        0           -               -
`,
		"dialog ls": `
TASK        DIALOG  TYPE    MESSAGE     DEFAULT  FRAME                         DISMISSED
checkout-7  d-1     prompt  Name? �gnp  Ada      http://b.test/pay (frame F2)  -
`,
		"snapshot checkout-7": `
task        checkout-7
state       active
version     412
browser     ws://127.0.0.1:9222/devtools/browser/***
connection  primary up, anchor off: the browser takes one connection at a time, bridge on by debugger, 3 reconnects, last gap 41 ms
page        T1 dialog
pages       2
dialogs     1 waiting

pages
  TARGET  STATE                   TITLE           URL                  OPENER
* T1      dialog, bridge on       Shop�]0;owned�  http://a.test/       -
  T2      ok, bridge unavailable  -               http://a.test/popup  T1

open dialogs
  d-1  prompt  http://b.test/pay (frame F2)
  │ Name?
  │ �gnp
  default
  │ Ada

closed dialogs
  DIALOG  TYPE   MESSAGE  CLOSED BY    AT
  d-0     alert  hi       auto_policy  -

frames
http://a.test/  F1
├─ http://b.test/pay  F2  [own process]
│  └─ http://b.test/inner  F3
├─ about:blank  F4
└─ http://c.test/  F5
… and more: --full shows all

console
  exception  boom
`,
		"task start one":                              "one started, active, on \n",
		"task stop one":                               "one stopped\n",
		"dialog accept one --text x":                  "d-1 (prompt) closed by agent: accept\n",
		"dialog dismiss one":                          "d-1 (prompt) closed by agent: dismiss\n",
		"navigate one http://x.test/":                 "at http://x.test/\n",
		"cdp one Runtime.evaluate {\"expression\":1}": "{\n  \"result\": {\n    \"value\": \"a\\u009b\"\n  }\n}\n",
		"watch one": `
          412    reset           active, 2 pages, 1 open dialog, http://a.test/
          413    dialog_closed   d-1 prompt by agent accept
          413    connection      primary backoff, anchor up
          413    connection      primary up, anchor off: each connection gets a browser of its own
          413    connection      primary up, anchor up, bridge on by request
          413    page_changed    T2 ok, bridge unavailable http://a.test/ "Pay" (title)
          414    task_state      lost (the browser is gone)
`,
		"version": "holdfast v1.2.3 abc go1\n",
	} {
		out, errs := m.want(0, strings.Fields(line)...)
		if out != strings.TrimPrefix(want, "\n") || errs != "" {
			t.Errorf("%s: err %q, and (-want +got)\n%s", line, errs, cmp.Diff(strings.TrimPrefix(want, "\n"), out))
		}
	}
	t.Run("nothing is said to be nothing", func(t *testing.T) {
		m := newMachine(t)
		m.serve()
		for line, want := range map[string]string{"task ls": "no tasks\n", "dialog ls": "no open dialogs\n", "dialog ls one": "no open dialogs\n"} {
			if out, _ := m.want(0, strings.Fields(line)...); out != want {
				t.Errorf("%s: %q", line, out)
			}
		}
	})
}

// TestJSONIsTheNodes compares with what the node answers to a plain request.
func TestJSONIsTheNodes(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node = showing(rich("checkout-7"), apitest.Active("two"))
	s := m.serve()
	tok, err := os.ReadFile(s.tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) any {
		r, err := http.NewRequest("GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(tok)))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer http.DefaultClient.CloseIdleConnections()
		defer res.Body.Close()
		var v any
		if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	asJSON := func(line string) any {
		out, errs := m.want(0, strings.Fields(line)...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil || errs != "" {
			t.Fatalf("%s: %v in %q, err %q", line, err, out, errs)
		}
		return v
	}
	for line, path := range map[string]string{
		"task ls --json": "/v1/tasks", "task show one --json": "/v1/tasks/one", "snapshot one --json": "/v1/tasks/one/snapshot", "task ls --json --label a=b": "/v1/tasks?label=a=b",
	} {
		if got, want := asJSON(line), get(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
	for line, key := range map[string]string{
		"task start one --json": "task_id", "dialog accept one --json": "dialog", "navigate one http://x --json": "url", "cdp one A.b --json": "result", "recover one close --json": "page", "chaos --task one --kill both --wait 0 --json": "killed", "dialog ls --json": "dialogs",
		"dialog ls one --json": "dialogs", "version --json": "version", "token --task one --json": "token",
	} {
		if v, ok := asJSON(line).(map[string]any); !ok || v[key] == nil {
			t.Errorf("%s: %v", line, v)
		}
	}
	m.node.WatchFunc = func(context.Context, uint64, bool) (messages.EventStream, error) {
		return &apitest.Stream{Batches: [][]messages.Event{{{Type: "a", Version: 1}, {Type: "b", Version: 2}}}}, nil
	}
	if out, _ := m.want(0, "watch", "one", "--json"); out != "{\"type\":\"a\",\"task_id\":\"\",\"version\":1,\"at\":0}\n{\"type\":\"b\",\"task_id\":\"\",\"version\":2,\"at\":0}\n" {
		t.Errorf("%q", out)
	}
	if out, _ := m.want(0, "task", "stop", "one", "--json"); out != "{\"task_id\":\"one\",\"was_running\":true}\n" {
		t.Errorf("%q", out)
	}
	if out, _ := m.want(0, "probe", "live", "--json"); out != "{\"ok\":true,\"probe\":\"live\"}\n" {
		t.Errorf("%q", out)
	}
	refusal := messages.Errorf(messages.CodeNoDialog, "no dialog is open")
	m.node.RespondFunc = func(messages.DialogAnswer) (messages.ClosedDialog, error) { return messages.ClosedDialog{}, refusal }
	if out, errs := m.want(1, "dialog", "accept", "one", "--json"); out != "{\"error\":{\"code\":\"no_dialog\",\"message\":\"no dialog is open\"}}\n" || errs != "no_dialog: no dialog is open\n" {
		t.Errorf("%q, %q", out, errs)
	}
}

func TestWhatIsAskedOfTheNode(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var (
		id     messages.TaskID
		spec   messages.TaskSpec
		cdp    messages.CDPRequest
		nav    messages.NavigateRequest
		answer messages.DialogAnswer
	)
	m.node.GetOrStartFunc = func(_ context.Context, i messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
		id, spec = i, s
		return apitest.Active(i), false, nil
	}
	m.node.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) { cdp = r; return messages.CDPResult{}, nil }
	m.node.NavigateFunc = func(r messages.NavigateRequest) (messages.NavigateResult, error) {
		nav = r
		return messages.NavigateResult{}, nil
	}
	m.node.RespondFunc = func(a messages.DialogAnswer) (messages.ClosedDialog, error) {
		answer = a
		return messages.ClosedDialog{}, nil
	}
	m.serve()

	out, _ := m.want(0, strings.Fields("task start one --cdp-url ws://h/x?token=planted --policy auto_accept --timeout 2.5 --scope target --target T1 --beforeunload ask --anchor off --bridge on --bridge-threshold 250 --on-wedge reload --on-wedge-after 7.5 --idle-timeout 60 --max-life 120 --give-up-after 60 --label a=b:c --label d=")...)
	want := messages.TaskSpec{
		CDPURL: spec.CDPURL, Scope: "target", TargetID: "T1", DialogPolicy: "auto_accept", DialogTimeoutS: 2.5, BeforeUnload: "ask", Anchor: "off",
		Bridge: "on", BridgeThresholdMS: 250, OnWedge: "reload", OnWedgeAfterS: 7.5,
		IdleTimeoutS: 60, MaxLifeS: 120, GiveUpAfterS: 60, Labels: map[string]string{"a": "b:c", "d": ""},
	}
	if !reflect.DeepEqual(spec, want) || spec.CDPURL.Reveal() != "ws://h/x?token=planted" || !strings.Contains(out, "one runs already") || strings.Contains(out, "planted") {
		t.Error(spec, out)
	}
	m.stdin = " ws://from.stdin/secret\n"
	m.want(0, "task", "start", "one", "--cdp-url", "-")
	if spec.CDPURL.Reveal() != "ws://from.stdin/secret" {
		t.Error(spec)
	}
	m.want(0, "task", "start", "--new", "--headful", "--queue-timeout", "0")
	if len(id) != 26 || spec.Launch == nil || *spec.Launch.Headless || spec.QueueTimeoutS == nil || *spec.QueueTimeoutS != 0 {
		t.Error(id, spec)
	}
	m.stdin = `{"expression":"1 < 2"}`
	m.want(0, strings.Fields("cdp one Runtime.evaluate - --frame F --timeout 3 --wait 0 --on-dialog wait")...)
	if string(cdp.Params) != m.stdin || cdp.FrameID != "F" || cdp.TimeoutS != 3 || cdp.WaitS == nil || *cdp.WaitS != 0 || cdp.OnDialog != messages.OnDialogWait {
		t.Errorf("%+v", cdp)
	}
	m.want(0, strings.Fields("navigate one http://x --target T --wait commit --timeout 4")...)
	if nav != (messages.NavigateRequest{URL: "http://x", TargetID: "T", WaitUntil: "commit", TimeoutS: 4}) {
		t.Errorf("%+v", nav)
	}
	m.want(0, strings.Fields("navigate one http://x --wait-link 1.5")...)
	if nav.WaitS == nil || *nav.WaitS != 1.5 {
		t.Errorf("%+v", nav)
	}
	m.want(0, "dialog", "accept", "one", "--text", "", "--dialog", "d-3", "--wait", "2")
	if answer.PromptText == nil || *answer.PromptText != "" || answer.DialogID != "d-3" || answer.WaitS == nil || *answer.WaitS != 2 {
		t.Errorf("%+v", answer)
	}
	m.want(0, "dialog", "accept", "one")
	if answer.PromptText != nil {
		t.Error("no text is not the empty text")
	}
}

func TestNoNodeIsBuiltIn(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	p := &cli.Program{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	if code := p.Run(t.Context(), []string{"serve"}); code != 1 || !strings.HasPrefix(errs.String(), "internal: ") {
		t.Error(code, errs.String())
	}
}

func TestLinkToTheLivePage(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.want(3, "ui")
	s := m.serve()
	out, _ := m.want(0, "ui", "acme:1")
	b, err := os.ReadFile(s.tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	code, ok := strings.CutPrefix(out, s.url+"/ui/#code=")
	code, isTask := strings.CutSuffix(code, "&task=acme%3A1\n")
	if !ok || !isTask || len(code) < 26 || strings.Contains(out, strings.TrimSpace(string(b))) {
		t.Errorf("got %q", out)
	}
	if out, _ := m.want(0, "ui", "--json"); !strings.Contains(out, `"url":"`+s.url+`/ui/#code=`) || !strings.Contains(out, `"expires_at":`) {
		t.Error(out)
	}
}

func TestTreeOfActors(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node.TreeFunc = func(o messages.TreeOptions) messages.Tree {
		browser := messages.TreeNode{Kind: "browser", Key: "browser", State: messages.ActorWaiting, Restarts: 3, RestartAt: 1650000004.5}
		session := messages.TreeNode{Kind: "session", Key: "session/A\x1b[31m", Generation: 9, State: messages.ActorRunning, StartedAt: 1650000000}
		task := messages.TreeNode{Kind: "supervisor", Key: "one", Generation: 5, State: messages.ActorRunning, StartedAt: 1649996330, Children: []messages.TreeNode{browser, session}}
		return messages.Tree{At: 1650000002, Truncated: o.Depth == 1, Root: messages.TreeNode{
			Kind: "registry", Key: "node", Generation: 2, State: messages.ActorRunning, StartedAt: 1649996330, Children: []messages.TreeNode{task},
		}}
	}
	m.serve()
	out, _ := m.want(0, "tree", "one")
	for _, line := range []string{"registry/node ", "└─ supervisor/one ", "   ├─ browser ", "waiting 2.5s", "   └─ session/A\uFFFD[31m ", " 2s ", " 1h1m0s "} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in\n%s", line, out)
		}
	}
	if out, _ := m.want(0, "tree", "--depth", "1"); !strings.Contains(out, "and more") {
		t.Error(out)
	}
	if out, _ := m.want(0, "tree", "--json"); !strings.Contains(out, `"restart_at":1650000004.5`) {
		t.Error(out)
	}
	m.want(1, "tree", "--depth", "99")
}

func TestPressure(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node.Load = messages.Pressure{
		Available: true, Running: 3, Browsers: 2, RejectedLastMinute: map[messages.LimitReason]uint64{},
		Limits: messages.PressureLimits{Tasks: 10, Browsers: 4, QueueLength: 5, QueueTimeoutS: 30},
		Memory: messages.Load{State: messages.LoadOK, Used: 0.5, High: 0.9, Low: 0.85, LimitBytes: 4 << 30, Source: "cgroup2"},
		CPU:    messages.Load{State: messages.LoadOff},
	}
	m.serve()
	out, _ := m.want(0, "pressure")
	if want := `node      takes tasks
tasks     3 of 10
browsers  2 of 4 launched
queue     0 of 5
memory    50% in use of 4096 MiB (cgroup2), no task starts from 90% on
cpu       not looked at
refused   0 in the last minute
`; out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if out, _ := m.want(0, "pressure", "--json"); !strings.HasPrefix(out, `{"available":true,`) {
		t.Error(out)
	}

	full := newMachine(t)
	full.node.Load = messages.Pressure{
		Reason: messages.LimitMemory, RetryAfterS: 5, Queued: 1, OldestWaitS: 2.25,
		RejectedLastMinute: map[messages.LimitReason]uint64{messages.LimitQueueFull: 2, messages.LimitMemory: 1, "new\x1b[0m": 4},
		Memory:             messages.Load{State: messages.LoadHigh, Used: 0.95, Low: 0.85, Source: "host"},
		CPU:                messages.Load{State: messages.LoadUnknown},
	}
	full.serve()
	out, _ = full.want(0, "pressure")
	if want := `node      takes no task now: too much memory is in use; ask again in 5 s
tasks     0 of 0
browsers  0 of 0 launched
queue     1 of 0, the first for 2.2 s of 0
memory    95% in use: no task starts until it is 85%
cpu       cannot be read
refused   7 in the last minute
          too much memory is in use: 1
          the queue was full: 2
`; out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestLivePageCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--ui=true": 200, "--ui=false": 401} {
		s := newMachine(t).serve(flag)
		res, err := http.Get(s.url + "/ui/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", flag, res.StatusCode)
		}
	}
}

// TestARecoveringTaskSaysHowFarItIs, in a list and by itself.
func TestARecoveringTaskSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := &messages.Snapshot{State: messages.StateRecovering, Connection: messages.Connection{
		RecoveringSince: 988, Attempt: 7, GiveUpAfterS: 120, LastError: "connection refused: is the browser running with --remote-debugging-port?",
	}}
	for _, c := range []struct {
		now  time.Time
		want string
	}{
		{now, "recovering, 12 s of 120, attempt 7: connection refused"},
		{now.Add(-time.Hour), "recovering, 0 s of 120, attempt 7: connection refused"}, // the node's clock is ahead
	} {
		if got := cli.StateOf(s, c.now); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	s.Connection.LastError = ""
	if got := cli.StateOf(s, now); got != "recovering, 12 s of 120, attempt 7" {
		t.Error(got)
	}
	if got := cli.StateOf(&messages.Snapshot{State: messages.StateActive}, now); got != "active" {
		t.Error(got)
	}
}
