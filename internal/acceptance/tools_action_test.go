package acceptance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

const actionPage = `<!doctype html><title>act</title><body>
<button id=count onclick="this.dataset.n = (+this.dataset.n||0)+1; this.dataset.trusted = event.isTrusted">Count</button>
<a id=go href="/plain">Go</a> <a id=pop href="/plain" target=_blank rel=opener>Pop</a> <a id=dl href="/file.bin" download>Load</a>
<a id=dl2 href="/file.bin">Load it</a> <a id=hash href="#x">Hash</a>
<button id=ask onclick="window.got = confirm('sure?')">Ask</button>
<label>User <input id=user value=old></label><input id=pw type=password aria-label=Secret><input type=date id=when aria-label=When>
<label><input type=checkbox id=yes> Agree</label>
<select id=land aria-label=Land><option value=at>Austria<option value=be>Belgium</select>
<div id=rich contenteditable aria-label=Rich>old</div><textarea id=note aria-label=Note></textarea>
<input type=file id=file aria-label=File>
<form action="/plain"><input id=q aria-label=Query></form>
<button id=covered>Covered</button><div id=cover role=dialog aria-label=Cookies style="position:fixed;left:0;top:0;right:0;bottom:0;display:none;background:#fff8"></div>
<button id=off disabled>Off</button><button id=soon style="display:none">Soon</button>
<div id=box style="position:absolute;left:20px;top:520px;width:30px;height:30px;background:red" onmousedown="window.moves=0;window.onmousemove=()=>window.moves++;window.onmouseup=e=>{window.onmousemove=null;window.dropped=e.clientX}">b</div>
<div id=goal style="position:absolute;left:220px;top:520px;width:30px;height:30px;background:blue">g</div>
<div id=host></div><div style="height:3000px"></div><button id=far onclick="window.far=1">Far</button>
<script>host.attachShadow({mode:'closed'}).innerHTML='<button onclick="window.shadow=event.isTrusted">Shade</button>'</script>`

// acting is a task on the page with everything to act on.
func acting(t *testing.T, id messages.TaskID) *hands {
	t.Helper()
	h := setup(t).task(id).hands()
	h.show("/act", actionPage)
	return h
}

func (h *hands) wantEval(expression, want string) {
	h.Helper()
	if got := h.eval("", expression); got != want {
		h.Errorf("%s is %s, want %s", expression, got, want)
	}
}

func outcomeOf(r *messages.ToolResult) string {
	return fmt.Sprintf("%+v", r.Data)
}

func TestW15_ClickSaysWhatItDid(t *testing.T) {
	t.Parallel()
	h := acting(t, "w15")
	text := h.look(`{}`)
	click := func(words string) *messages.ToolResult {
		t.Helper()
		return h.use("browser_click", `{"ref":"`+h.ref(text, words)+`"}`)
	}
	if r := click(`button "Count"`); !strings.Contains(outcomeOf(r), "Outcome:nothing") || !strings.Contains(outcomeOf(r), "ClickDispatch:trusted") {
		t.Errorf("a plain click: %+v", r)
	}
	h.wantEval("count.dataset.trusted + count.dataset.n", `"true1"`)
	click(`button "Shade"`)
	h.wantEval("window.shadow", "true")
	click(`button "Far"`)
	h.wantEval("window.far", "1")
	if r := click(`link "Hash"`); !strings.Contains(outcomeOf(r), "Outcome:navigated") {
		t.Errorf("a fragment: %+v", r)
	}
	if r := click(`button "Ask"`); !strings.Contains(outcomeOf(r), "Outcome:dialog") || len(r.NextActions) != 2 || len(r.PendingDialogs) != 1 {
		t.Errorf("a dialog: %+v", r)
	}
	if r := h.try("browser_click", `{"selector":"#count"}`); r.Code != messages.CodeBlockedByDialog || len(r.NextActions) != 2 {
		t.Errorf("a click under a dialog: %+v", r)
	}
	h.use("browser_dialog", `{"action":"accept"}`)
	h.wantEval("window.got", "true")
	r := click(`link "Pop"`)
	if !strings.Contains(outcomeOf(r), "Outcome:popup") || !strings.Contains(outcomeOf(r), "PopupTabID:t2") {
		t.Errorf("a popup: %+v", r)
	}
	if r := click(`link "Load"`); !strings.Contains(outcomeOf(r), "Outcome:download") {
		t.Errorf("a download: %+v", r)
	}
	if r := h.use("browser_click", `{"selector":"#dl2"}`); !strings.Contains(r.Text, "download") || r.Page.URL == "" {
		t.Errorf("a download that the server asks for: %+v", r)
	}
	if r := click(`link "Go"`); !strings.Contains(outcomeOf(r), "Outcome:navigated") {
		t.Errorf("a navigation: %+v", r)
	}
	h.use("browser_wait_for", `{"url":"/plain"}`)
	if r := h.try("browser_click", `{"ref":"`+h.ref(text, `button "Count"`)+`"}`); r.Code != messages.CodeStaleRef || r.NextActions[0].Tool != "browser_snapshot" {
		t.Errorf("a ref of the document before: %+v", r)
	}
}

func TestW16_WhatIsInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	h := acting(t, "w16")
	h.eval("", "cover.style.display = 'block'; 0")
	start := time.Now()
	r := h.try("browser_click", `{"selector":"#covered","timeout_s":60}`)
	if r.Code != messages.CodeNotActionable || !strings.Contains(r.Text, `<div id="cover" role="dialog"`) {
		t.Errorf("covered: %+v", r)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("it took %s", took)
	}
	h.eval("", "cover.style.display = 'none'; setTimeout(() => soon.style.display = '', 200); 0")
	for selector, why := range map[string]string{"#off": "disabled", "#cover": "hidden"} {
		if r := h.try("browser_click", `{"selector":"`+selector+`","timeout_s":1}`); r.Code != messages.CodeNotActionable || r.Error.Details["why"] != why {
			t.Errorf("%s: %+v", selector, r)
		}
	}
	h.use("browser_click", `{"selector":"#soon"}`) // it waits until the button is shown
	if r := h.try("browser_click", `{"selector":"#none"}`); r.Code != messages.CodeElementNotFound || r.Category != "selector-not-found" {
		t.Errorf("no such element: %+v", r)
	}
	for _, bad := range []string{`{"selector":"[["}`, `{"selector":"foo/bar"}`, `{}`, `{"ref":"e1","selector":"a"}`} {
		if r := h.try("browser_click", bad); r.Code != messages.CodeInvalidArgument {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}

func TestT25_SelectorsOfEveryKind(t *testing.T) {
	t.Parallel()
	h := acting(t, "t25")
	for i, p := range []string{
		`"selector":"#count"`, `"selector":"text/Count"`, `"selector":"aria/Count"`, `"selector":"aria/Count[role=\"button\"]"`, `"selector":"xpath///button[@id='count']"`,
		`"selector":"pierce/#count"`, `"selector":"p-text/Count"`, `"role":"button","name":"Count"`, `"name":"count"`,
	} {
		h.use("browser_click", "{"+p+"}")
		h.wantEval("count.dataset.n", fmt.Sprintf(`"%d"`, i+1))
	}
}

func TestT29_FieldsTakeTheirValues(t *testing.T) {
	t.Parallel()
	h := acting(t, "t29")
	h.use("browser_fill_form", `{"fields":[
		{"role":"textbox","name":"User","value":"ann"},{"selector":"#pw","value":"hunter2"},{"selector":"#when","value":"2030-12-31"},{"selector":"#yes","value":"true"},
		{"selector":"#land","value":"Belgium"},{"selector":"#rich","value":"new"},{"selector":"#note","value":"two\nlines"}]}`)
	h.wantEval("[user.value, pw.value, document.querySelector('#when').value, yes.checked, land.value, rich.innerText, note.value].join('|')", `"ann|hunter2|2030-12-31|true|be|new|two\nlines"`)
	if text := h.look(`{}`); strings.Contains(text, "hunter2") || !strings.Contains(text, `checkbox "Agree" [e`) || !strings.Contains(text, `: "ann"`) {
		t.Error(text)
	}
	h.use("browser_type", `{"selector":"#user","text":""}`)
	h.wantEval("user.value", `""`)
	h.use("browser_type", `{"selector":"#user","text":"Bé!","slowly":true}`)
	h.wantEval("user.value === 'B\u00e9!'", "true")
	h.use("browser_press_key", `{"key":"Control+a"}`)
	h.use("browser_press_key", `{"key":"x"}`)
	h.wantEval("user.value", `"x"`)
	h.use("browser_press_key", `{"key":"Backspace"}`)
	h.wantEval("user.value", `""`)
	h.use("browser_select_option", `{"selector":"#land","values":["at"]}`)
	h.wantEval("land.value", `"at"`)
	for input, why := range map[string]string{
		`{"selector":"#land","values":["xx"]}`: "no such option", `{"selector":"#user","values":["xx"]}`: "no select", `{"selector":"#land","values":["at","be"]}`: "single",
	} {
		if r := h.try("browser_select_option", input); r.Code != messages.CodeNotActionable || r.Error.Details["why"] != why {
			t.Errorf("%s: %+v", input, r)
		}
	}
	if r := h.try("browser_type", `{"selector":"#when","text":"tomorrow"}`); r.Code != messages.CodeNotActionable || !strings.Contains(r.Text, "2030-12-31") {
		t.Errorf("%+v", r)
	}
	h.use("browser_file_upload", `{"selector":"#file","files":[{"name":"a.txt","content":"aGVsbG8="}]}`)
	h.wantEval("file.files[0].name + file.files[0].size", `"a.txt5"`)
	if r := h.try("browser_file_upload", `{"selector":"#user","files":[{"name":"a.txt","content":"aGVsbG8="}]}`); r.Code != messages.CodeNotActionable {
		t.Errorf("%+v", r)
	}
	r := h.use("browser_type", `{"selector":"#q","text":"hats","submit":true}`)
	if !strings.Contains(outcomeOf(r), "Outcome:navigated") {
		t.Errorf("a form that was sent: %+v", r)
	}
}

func TestT27_DragScrollAndWait(t *testing.T) {
	t.Parallel()
	h := acting(t, "t27")
	h.use("browser_drag", `{"from":{"selector":"#box"},"to":{"selector":"#goal"}}`)
	h.wantEval("[window.moves, Math.round(window.dropped)]", `[12,235]`)
	if r := h.use("browser_scroll", `{}`); !strings.Contains(r.Text, "Scrolled") {
		t.Errorf("%+v", r)
	}
	if r := h.use("browser_scroll", `{"direction":"left"}`); r.Category != "scroll-noop" {
		t.Errorf("%+v", r)
	}
	h.use("browser_hover", `{"selector":"#count"}`)
	h.wantEval("count.matches(':hover')", "true")
	h.eval("", "setTimeout(() => { count.textContent = 'Counted' }, 150); 0")
	if r := h.use("browser_wait_for", `{"text":"Counted"}`); !strings.Contains(outcomeOf(r), "HasMatched:true") {
		t.Errorf("%+v", r)
	}
	if r := h.try("browser_wait_for", `{"text":"never","timeout_s":1}`); r.Code != messages.CodeDeadline || r.Category != "timeout" {
		t.Errorf("%+v", r)
	}
	if r := h.use("browser_wait_for", `{"time_s":0.01}`); r.Category != "elapsed" || !strings.Contains(outcomeOf(r), "HasMatched:false") {
		t.Errorf("%+v", r)
	}
}

func TestW8_ActionsReachFramesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	h := setup(t).task("w8").hands()
	h.site.Set("/outer", `<title>outer</title><body style="margin:30px"><input aria-label=Outer><iframe style="border:7px solid;padding:5px" src="`+h.site.URL("http://c.test/inner")+`"></iframe>`)
	h.site.Set("/inner", `<title>inner</title><body><div style="height:2000px"></div><button onclick="this.textContent='clicked '+event.isTrusted">Deep</button><input aria-label=Inner><button onclick="this.textContent='said '+confirm('deep?')">Ask</button>`)
	h.show("/frames", `<title>frames</title><body><div style="height:1500px">tall</div><iframe width=500 height=300 src="`+h.site.URL("http://b.test/outer")+`"></iframe>`)
	h.frameWhere("/inner", func(n messages.FrameNode) bool { return n.IsOOPIF && strings.HasSuffix(n.URL, "/inner") })
	text := h.look(`{}`)
	r := h.use("browser_click", `{"ref":"`+h.ref(text, `"Deep"`)+`"}`)
	if !strings.Contains(outcomeOf(r), "ClickDispatch:trusted") {
		t.Errorf("%+v", r)
	}
	h.use("browser_type", `{"ref":"`+h.ref(text, `"Inner"`)+`","text":"in"}`)
	h.use("browser_type", `{"ref":"`+h.ref(text, `"Outer"`)+`","text":"out"}`)
	h.use("browser_type", `{"selector":"input[aria-label=Inner]","text":"more","slowly":true}`)
	now := h.look(`{}`)
	for _, want := range []string{`button "clicked true"`, `"Outer" [`, `: "out"`, `: "inmore"`} {
		if !strings.Contains(now, want) {
			t.Errorf("no %s in:\n%s", want, now)
		}
	}
	if r := h.use("browser_click", `{"ref":"`+h.ref(text, `"Ask"`)+`"}`); !strings.Contains(outcomeOf(r), "Outcome:dialog") {
		t.Errorf("%+v", r)
	}
	h.use("browser_dialog", `{"action":"accept"}`)
	h.use("browser_wait_for", `{"text":"said true"}`)
}
