package acceptance_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestToolRows share one task's table of tools.
func TestToolRows(t *testing.T) {
	t.Parallel()
	r := setup(t)
	for name, row := range map[string]func(*hands){
		"T2_TabsAreSharedByTheCallersOfATask":          tabsAreShared,
		"T5_NavigateWaitsForWhatItIsToldTo":            navigateWaits,
		"T13_ATabThatIsNotThereIsNamed":                missingTabs,
		"T16_ATabThatHangsIsClosedAtOnce":              hungTabsClose,
		"T24_ARefOfAnElementThatLeftIsRefused":         refsOfWhatLeft,
		"T26_OfSeveralMatchesTheVisibleOneIsClicked":   visibleMatches,
		"T28_AWaitSeesAnAddressThatAScriptSets":        waitsForAddresses,
		"T33_ACallThatIsCancelledEndsAtOnce":           cancelledCalls,
		"W2_EveryResultIsWhole":                        wholeResults,
		"W10_ATabThatWasClosedTakesItsRefsAlong":       refsOfClosedTabs,
		"W14_WhatAnActionDidIsPartOfItsResult":         outcomesOfActions,
		"W27_AWaitForTimeAloneHasFoundNothing":         waitsForTime,
		"W7_WhatBecameOfTheTaskIsSaid":                 outcomesOfTasks,
		"R22_ATabKeepsItsIDWhenAnotherOneIsClosed":     idsThatStay,
		"W1_OneWayToNameAnElement":                     oneWayToName,
		"D30_TheDialogsOfATaskAreAskedForByThemselves": askedDialogs,
		"W31_APageIsCheckedForErrors":                  checkedPages,
		"T31_APageIsReadAsText":                        readPages,
		"W18_WhatHelpsIsSaid":                          recoveryHints,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row(r.row(t).task(messages.TaskID("row-" + strings.ToLower(name[:strings.Index(name, "_")]))).hands())
		})
	}
}

func tabsAreShared(h *hands) {
	input := `{"action":"new","name":"shop","url":"` + h.site.URL("http://a.test/plain") + `"}`
	one, other := tools.Caller{}, tools.Caller{CanStart: true}
	if r := h.table.Call(h.ctx, one, h.id, "browser_tabs", []byte(input)); !r.OK {
		h.Fatal(r.Text)
	}
	if r := h.table.Call(h.ctx, other, h.id, "browser_evaluate", []byte(`{"tab":"shop","expression":"location.pathname"}`)); r.Text != `"/plain"` {
		h.Errorf("%+v", r)
	}
}

func navigateWaits(h *hands) {
	open := make(chan struct{})
	h.Cleanup(func() { close(open) })
	hold := func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-open:
		case <-q.Context().Done():
		}
	}
	h.site.Handle("/open", http.HandlerFunc(hold))
	held := make(chan struct{})
	h.site.Handle("/late.png", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		select {
		case <-held:
		case <-q.Context().Done():
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	h.site.Set("/image", `<title>image</title><img src="/late.png">`)
	h.site.Set("/stream", `<title>stream</title><script>new EventSource('/open')</script>`)
	h.site.Set("/streams", `<title>streams</title><script>for (let i = 0; i < 3; i++) fetch('/open?' + i)</script>`)
	try := func(path, moment string, timeout int) *messages.ToolResult {
		return h.try("browser_navigate", fmt.Sprintf(`{"url":%q,"wait_until":%q,"timeout_s":%d}`, h.site.URL("http://a.test"+path), moment, timeout))
	}
	for _, c := range []struct {
		path, moment string
		isThere      bool
	}{
		{"/image", "domcontentloaded", true},
		{"/image", "load", false},
		{"/stream", "load", true},
		{"/stream", "networkidle0", false},
		{"/stream", "networkidle2", true},
		{"/streams", "networkidle2", false},
		{"/plain", "networkidle0", true},
	} {
		timeout := 2
		if c.isThere {
			timeout = 20
		}
		if r := try(c.path, c.moment, timeout); r.OK != c.isThere || !c.isThere && r.Code != messages.CodeDeadline {
			h.Errorf("%s until %s: %+v", c.path, c.moment, r)
		}
	}
	close(held)
	if r := try("/image", "load", 20); !r.OK {
		h.Errorf("an image that has come: %+v", r)
	}
}

func missingTabs(h *hands) {
	h.use("browser_tabs", `{"action":"new","name":"shop"}`)
	r := h.try("browser_snapshot", `{"tab":"shopp"}`)
	if r.Code != messages.CodeTargetNotFound || r.Category != "tab-gone" || fmt.Sprint(r.Error.Details["tabs"]) != "[t1 t2]" || len(r.NextActions) != 1 || r.NextActions[0].Tool != "browser_tabs" {
		h.Errorf("%+v", r)
	}
}

func hungTabsClose(h *hands) {
	h.use("browser_tabs", `{"action":"new","name":"spins","url":"`+h.site.URL("http://b.test/plain")+`"}`)
	h.use("browser_evaluate", `{"tab":"spins","expression":"setTimeout(() => { for (;;); }, 0); 0"}`)
	start := time.Now()
	h.use("browser_tabs", `{"action":"close","tab_id":"spins"}`)
	if took := time.Since(start); took > patience/2 {
		h.Errorf("it took %s", took)
	}
	h.await("one tab", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
}

func refsOfWhatLeft(h *hands) {
	h.show("/leaves", `<title>leaves</title><button onclick="window.n = 1">One</button><button>Two</button>`)
	text := h.look(`{}`)
	one, two := h.ref(text, `"One"`), h.ref(text, `"Two"`)
	h.eval("", "document.querySelector('button').outerHTML = '<button>One</button>'; 0")
	for range 2 { // before the page is looked at anew, and after
		if r := h.try("browser_click", `{"ref":"`+one+`"}`); r.Code != messages.CodeStaleRef || r.NextActions[0].Tool != "browser_snapshot" {
			h.Errorf("an element that left: %+v", r)
		}
		if again := h.look(`{}`); h.ref(again, `"Two"`) != two || h.ref(again, `"One"`) == one {
			h.Errorf("refs: %s", again)
		}
	}
	h.wantEval("window.n === undefined", "true")
}

func visibleMatches(h *hands) {
	h.show("/twice", `<title>twice</title><button style="display:none" onclick="window.got='hidden'">Buy</button><button style="visibility:hidden">Buy</button><button onclick="window.got='shown'">Buy</button>`)
	for _, s := range []string{"text/Buy", "button", "xpath///button"} {
		h.eval("", "window.got = ''")
		h.use("browser_click", `{"selector":"`+s+`"}`)
		h.wantEval("window.got", `"shown"`)
	}
}

func waitsForAddresses(h *hands) {
	h.show("/pushes", `<title>pushes</title>`)
	h.eval("", "setTimeout(() => history.pushState({}, '', '/pushes/done'), 300); 0")
	if r := h.use("browser_wait_for", `{"url":"/pushes/done"}`); !strings.Contains(outcomeOf(r), "HasMatched:true") {
		h.Errorf("%+v", r)
	}
}

func cancelledCalls(h *hands) {
	h.show("/still", `<title>still</title><button style="display:none">Never</button>`)
	for tool, input := range map[string]string{
		"browser_wait_for": `{"text":"never"}`, "browser_click": `{"selector":"button","timeout_s":60}`,
		"browser_evaluate": `{"expression":"new Promise(() => {})"}`, "browser_batch": `{"steps":[{"tool":"browser_wait_for","input":{"time_s":60}}]}`,
	} {
		ctx, cancel := context.WithTimeout(h.ctx, 300*time.Millisecond)
		start := time.Now()
		r := h.table.Call(ctx, tools.Caller{}, h.id, tool, []byte(input))
		cancel()
		if took := time.Since(start); r.OK || took > patience/4 {
			h.Errorf("%s: %+v after %s", tool, r, took)
		}
	}
}

func wholeResults(h *hands) {
	h.show("/whole", `<title>whole</title><button>Go</button>`)
	for _, r := range []*messages.ToolResult{h.look0(), h.try("browser_click", `{"selector":"#none"}`), h.try("browser_fly", `{}`)} {
		if r.PendingDialogs == nil || r.Artifacts == nil || r.NextActions == nil || r.Category == "" || r.Text == "" || r.OK == (r.Code != "") {
			h.Errorf("%+v", r)
		}
	}
	if r := h.look0(); r.Page == nil || r.Page.Title != "whole" || r.Page.TabID != "t1" || !r.Untrusted {
		h.Errorf("%+v", r.Page)
	}
}

// look0 takes a snapshot and returns its result.
func (h *hands) look0() *messages.ToolResult { return h.use("browser_snapshot", `{}`) }

func refsOfClosedTabs(h *hands) {
	h.site.Set("/other", `<title>other</title><button>Go</button>`)
	h.use("browser_tabs", `{"action":"new","name":"other","url":"`+h.site.URL("http://a.test/other")+`"}`)
	ref := h.ref(h.look(`{"tab":"other"}`), `"Go"`)
	h.use("browser_tabs", `{"action":"close","tab_id":"other"}`)
	h.await("one tab", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
	if r := h.try("browser_click", `{"ref":"`+ref+`"}`); r.Code != messages.CodeStaleRef {
		h.Errorf("%+v", r)
	}
}

func outcomesOfActions(h *hands) {
	h.show("/acts", `<title>acts</title><a href="/plain">Go</a>`)
	r := h.use("browser_click", `{"selector":"a"}`)
	if !strings.Contains(outcomeOf(r), "Outcome:navigated") || !strings.Contains(r.Text, "/plain") || r.Page == nil || !strings.HasSuffix(r.Page.URL, "/plain") {
		h.Errorf("%+v", r)
	}
}

func waitsForTime(h *hands) {
	if r := h.use("browser_wait_for", `{"time_s":0.01}`); r.Category != "elapsed" || !strings.Contains(outcomeOf(r), "HasMatched:false") {
		h.Errorf("%+v", r)
	}
}

func outcomesOfTasks(h *hands) {
	if r := h.use("browser_task_open", `{}`); !strings.HasPrefix(r.Text, "Reused") {
		h.Error(r.Text)
	}
	before := h.snapshot().Version
	if r := h.try("browser_task_open", `{"cdp_url":"ftp://x.test"}`); r.Code != messages.CodeInvalidArgument {
		h.Errorf("%+v", r)
	}
	if now := h.snapshot(); !now.Active || now.Version < before {
		h.Error("a request that was refused has changed the task")
	}
}

func idsThatStay(h *hands) {
	h.use("browser_tabs", `{"action":"new","url":"`+h.site.URL("http://a.test/plain")+`"}`)
	h.use("browser_tabs", `{"action":"close","tab_id":"t1"}`)
	h.await("one tab", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
	if r := h.use("browser_evaluate", `{"tab":"t2","expression":"location.pathname"}`); r.Text != `"/plain"` {
		h.Errorf("%+v", r)
	}
	if r := h.try("browser_evaluate", `{"tab":"t1","expression":"1"}`); r.Code != messages.CodeTargetNotFound {
		h.Errorf("%+v", r)
	}
}

func oneWayToName(h *hands) {
	for _, bad := range []string{`{"ref":"e1","selector":"a"}`, `{"ref":"e1","role":"button"}`, `{}`, `{"selector":"a","nope":1}`} {
		if r := h.try("browser_click", bad); r.Code != messages.CodeInvalidArgument || r.Category != "invalid-input" {
			h.Errorf("%s: %+v", bad, r)
		}
	}
}

func askedDialogs(h *hands) {
	h.show("/asks", `<title>asks</title>`)
	if r := h.use("browser_task_status", `{}`); len(r.PendingDialogs) != 0 || strings.Contains(r.Text, "DIALOG") {
		h.Errorf("idle: %+v", r)
	}
	h.later("", "window.got = confirm('sure?')")
	d := h.dialog()
	r := h.use("browser_task_status", `{}`)
	if len(r.PendingDialogs) != 1 || r.PendingDialogs[0].ID != d.ID || len(r.NextActions) != 2 {
		h.Errorf("pending: %+v", r)
	}
	if r := h.try("browser_dialog", `{"action":"accept","dialog_id":"d-999"}`); r.Code != messages.CodeDialogNotFound {
		h.Errorf("another id: %+v", r)
	}
	h.use("browser_dialog", `{"action":"dismiss","dialog_id":"`+string(d.ID)+`"}`)
	h.wantEval("window.got", "false")
}
