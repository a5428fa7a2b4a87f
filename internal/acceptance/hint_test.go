package acceptance_test

import (
	"encoding/json"
	"strings"

	"holdfast/messages"
)

// recoveryHints has a fixture for each hint: an element that is called otherwise, a field that is
// another one, a combobox that does not open, and a selector whose first match is hidden.
func recoveryHints(h *hands) {
	h.show("/hints", `<title>hints</title><a href="#" onclick="window.got='link'">Order now</a><button>Help</button>
		<div contenteditable aria-label=Note style="min-height:20px"></div><input aria-label="Zip code">
		<input role=combobox aria-label=City aria-expanded=false onkeydown="if(event.key==='ArrowDown')this.ariaExpanded='true'">
		<input role=combobox aria-label=Land aria-expanded=false onclick="setTimeout(() => this.ariaExpanded='true', 50)">
		<pre class=code hidden>npm i</pre><pre class=code>yarn add</pre><pre class=code>pnpm add</pre>`)
	does := func(a messages.NextAction) *messages.ToolResult {
		input, err := json.Marshal(a.Input)
		if err != nil {
			h.Fatal(err)
		}
		return h.use(a.Tool, string(input))
	}
	r := h.try("browser_click", `{"role":"button","name":"Order"}`)
	if r.Code != messages.CodeElementNotFound || len(r.NextActions) != 2 || r.NextActions[0].Tool != "browser_click" || strings.Contains(r.NextActions[0].Why, "Order") {
		h.Fatalf("a link in place of a button: %+v", r)
	}
	does(r.NextActions[0])
	h.wantEval("window.got", `"link"`)
	for _, input := range []string{`{"role":"textbox","name":"Comment","text":"hello"}`, `{"selector":"#comment","text":"hello"}`} {
		r = h.try("browser_type", input)
		if r.Code != messages.CodeElementNotFound || len(r.NextActions) != 4 {
			h.Fatalf("fields in place of another: %+v", r)
		}
		for _, a := range r.NextActions[:3] {
			if a.Tool != "browser_click" || a.Input["text"] != nil {
				h.Errorf("a next action types: %+v", a)
			}
		}
		does(r.NextActions[0])
		h.wantEval("document.activeElement.ariaLabel + document.activeElement.textContent", `"Note"`)
	}
	r = h.use("browser_click", `{"role":"combobox","name":"City"}`)
	if !strings.Contains(r.Text, "its list is not open") || len(r.NextActions) != 1 {
		h.Fatalf("a combobox that stays closed: %+v", r)
	}
	does(r.NextActions[0])
	h.wantEval("document.activeElement.ariaExpanded", `"true"`)
	if r = h.use("browser_click", `{"role":"combobox","name":"Land"}`); strings.Contains(r.Text, "not open") {
		h.Errorf("a combobox that opens late: %s", r.Text)
	}
	r = h.use("browser_evaluate", `{"selector":".code","function":"e => e.textContent"}`)
	if data, err := json.Marshal(r.Data); err != nil || !strings.HasPrefix(r.Text, "\"yarn add\"\nThe selector matches 3 elements, the first is hidden, and 2 are visible") || !strings.Contains(string(data), `"texts":["yarn add","pnpm add"]`) {
		h.Errorf("a hidden first match: %s %s", r.Text, data)
	}
	if r = h.use("browser_evaluate", `{"selector":"button","function":"e => e.textContent"}`); r.Text != `"Help"` {
		h.Errorf("one match: %s", r.Text)
	}
}
