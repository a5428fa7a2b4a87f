package acceptance_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

// After a scroll the browser does not know at once where a frame of another process is.
func TestW15_ClickReachesAFrameBelowTheFold(t *testing.T) {
	t.Parallel()
	h := setup(t).task("w15-fold").hands()
	h.site.Set("/pay", `<!doctype html><button onclick="document.title='paid'; this.textContent='Paid'">Pay</button>`)
	h.show("/fold", h.site.URL(`<!doctype html><title>fold</title><div style="height:3000px"></div><iframe src="http://b.test/other" title=other></iframe><br><iframe src="http://b.test/pay" title=pay></iframe>`))
	text := h.look(`{}`)
	h.use("browser_click", `{"ref":"`+h.ref(text, `button "Pay"`)+`"}`)
	if text = h.look(`{}`); !strings.Contains(text, `button "Paid"`) {
		t.Errorf("the click has not reached the frame:\n%s", text)
	}
}

// What a page does once its dialog is answered is part of the answer's result.
func TestX26_AnAnswerTellsOfTheNextDialog(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x26-next").hands()
	h.show("/twice", `<!doctype html><title>twice</title><button onclick="window.got = [confirm('first'), prompt('second')].join()">Ask</button><label>Draft <input oninput="onbeforeunload = e => e.preventDefault()"></label>`)
	text := h.look(`{}`)
	h.use("browser_click", `{"ref":"`+h.ref(text, `button "Ask"`)+`"}`)
	if r := h.use("browser_dialog", `{"action":"dismiss"}`); len(r.PendingDialogs) != 1 || r.PendingDialogs[0].Message != "second" {
		t.Errorf("the second dialog: %+v", r)
	}
	if r := h.use("browser_dialog", `{"action":"accept","prompt_text":"x"}`); len(r.PendingDialogs) != 0 {
		t.Errorf("there is no third: %+v", r)
	}
	h.wantEval("window.got", `"false,x"`)

	h.site.Set("/next", `<!doctype html><title>next</title><p>arrived</p>`)
	h.use("browser_type", `{"ref":"`+h.ref(text, `textbox "Draft"`)+`","text":"words","slowly":true}`)
	if r := h.try("browser_navigate", `{"url":"`+h.site.URL("http://a.test/next")+`"}`); r.Code != messages.CodeBlockedByDialog {
		t.Fatalf("no beforeunload: %+v", r)
	}
	h.use("browser_dialog", `{"action":"accept"}`)
	if text := h.look(`{}`); !strings.Contains(text, "arrived") {
		t.Errorf("the page behind it:\n%s", text)
	}
}

// A list that opens a moment after its field was typed into is in the snapshot of that action.
func TestX28_ALookAfterAnActionHasWhatItOpened(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-after").hands()
	h.show("/suggest", `<!doctype html><title>suggest</title><input aria-label=City oninput="setTimeout(() => found.innerHTML = '<li role=option>Grenoble', 60)"><ul id=found role=listbox></ul>
<select aria-label=Land onchange="note.textContent='chosen ' + this.value"><option>Austria<option>Belgium</select><p id=note></p>
<div id=box tabindex=0 role=list style="height:100px;overflow:auto" onscroll="setTimeout(() => rest.textContent = 'more rows')"><div style="height:900px"></div></div><p id=rest></p>`)
	text := h.look(`{}`)
	if r := h.use("browser_type", `{"ref":"`+h.ref(text, `"City"`)+`","text":"Gr","slowly":true,"snapshot":true}`); !strings.Contains(r.Text, `option "Grenoble"`) {
		t.Errorf("after typing: %s", r.Text)
	}
	if r := h.use("browser_select_option", `{"ref":"`+h.ref(text, `"Land"`)+`","values":["Belgium"],"snapshot":true}`); !strings.Contains(r.Text, "chosen Belgium") {
		t.Errorf("after a choice: %s", r.Text)
	}
	if r := h.use("browser_scroll", `{"selector":"#box","direction":"down","pixels":300,"snapshot":true}`); !strings.Contains(r.Text, "more rows") {
		t.Errorf("after a scroll: %s", r.Text)
	}
}

// An action whose page falls silent has a typed answer within seconds.
func TestX28_AnActionOnAPageThatFallsSilent(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-silent").hands()
	h.show("/silent", `<!doctype html><title>silent</title><button onclick="for (const end = Date.now() + 60000; Date.now() < end;);">Calculate</button>`)
	text := h.look(`{}`)
	began := time.Now()
	r := h.try("browser_click", `{"ref":"`+h.ref(text, `button "Calculate"`)+`"}`)
	if took := time.Since(began); r.Code != messages.CodePageWedged || took > 6*time.Second || len(r.NextActions) == 0 {
		t.Errorf("after %s: %+v", took, r)
	}
}

// A page of megabytes is not captured to find one button of it.
func TestT25_OneButtonOfALargePage(t *testing.T) {
	t.Parallel()
	h := setup(t).task("t25-large").hands()
	h.show("/large", `<!doctype html><title>large</title><div id=all></div><script>
all.innerHTML = Array.from({length: 2600}, (_, i) => '<p><button onclick="window.got = event.isTrusted + this.textContent">Order ' + i + '</button></p>').join('')</script>`)
	h.use("browser_click", `{"role":"button","name":"Order 2345"}`)
	h.wantEval("window.got", `"trueOrder 2345"`)
	if r := h.try("browser_click", `{"role":"button","name":"Order 99999"}`); r.Code != messages.CodeElementNotFound {
		t.Errorf("%+v", r)
	}
}

// A page that takes seconds to capture is not read along with a navigation, and can be acted on at once.
func TestX28_ALargePageIsNotReadAlong(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-huge").hands()
	h.site.Set("/huge", `<!doctype html><title>huge</title><button onclick="window.got = 1">Press me</button><div hidden id=all></div><script>all.innerHTML = '<b></b>'.repeat(50000)</script>`)
	r := h.use("browser_navigate", `{"url":"`+h.site.URL("http://a.test/huge")+`","snapshot":true}`)
	if !strings.Contains(r.Text, "was not read along") || strings.Contains(r.Text, "Press me") {
		t.Errorf("%s", r.Text)
	}
	h.use("browser_click", `{"role":"button","name":"Press me"}`)
	h.wantEval("window.got", "1")
}

// A navigation brings the page along where it is asked to.
func TestX28_ANavigationWithALook(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-look").hands()
	h.site.Set("/look", `<!doctype html><title>look</title><script>setTimeout(() => document.body.innerHTML = '<button>Late</button>', 60)</script>`)
	r := h.use("browser_navigate", `{"url":"`+h.site.URL("http://a.test/look")+`","snapshot":true}`)
	h.use("browser_click", `{"ref":"`+h.ref(r.Text, `button "Late"`)+`"}`)
}
