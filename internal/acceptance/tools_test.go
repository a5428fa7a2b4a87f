package acceptance_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/tools"
	"holdfast/messages"
)

// hands are the tools of one node on one task.
type hands struct {
	*task
	table *tools.Table
}

func (k *task) hands() *hands { return &hands{k, tools.New(k.node, nil)} }

// try calls a tool.
func (h *hands) try(name, input string) *messages.ToolResult {
	h.Helper()
	return h.table.Call(h.ctx, tools.Caller{}, h.id, name, json.RawMessage(input))
}

// use calls a tool that must succeed.
func (h *hands) use(name, input string) *messages.ToolResult {
	h.Helper()
	r := h.try(name, input)
	if !r.OK {
		h.Fatalf("%s %s: %s %s", name, input, r.Code, r.Text)
	}
	return r
}

// look takes a snapshot and returns its text.
func (h *hands) look(input string) string {
	h.Helper()
	return h.use("browser_snapshot", input).Text
}

// ref returns the ref of the first line of a snapshot that holds the words.
func (h *hands) ref(text, words string) string {
	h.Helper()
	for line := range strings.Lines(text) {
		if m := regexp.MustCompile(`\[(e\d+)\]`).FindStringSubmatch(line); m != nil && strings.Contains(line, words) {
			return m[1]
		}
	}
	h.Fatalf("no line with %q and a ref in:\n%s", words, text)
	return ""
}

// show serves a page and goes there.
func (h *hands) show(path, html string) {
	h.Helper()
	h.site.Set(path, html)
	h.use("browser_navigate", `{"url":"`+h.site.URL("http://a.test"+path)+`"}`)
}

func TestX28_SnapshotShowsThePageWithAllFrames(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28").hands()
	html, err := os.ReadFile("../tools/outline/testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	h.site.Set("/field", `<title>field</title><label>Card <input value="1234"></label><iframe src="`+h.site.URL("http://c.test/deep")+`"></iframe>`)
	h.site.Set("/deep", `<title>deep</title><button>Deep</button>`)
	h.show("/rich", string(html)+`<iframe title="pay" src="`+h.site.URL("http://b.test/field")+`"></iframe>`)
	h.frameWhere("/deep", func(n messages.FrameNode) bool { return n.IsOOPIF && strings.HasSuffix(n.URL, "/deep") })
	h.use("browser_wait_for", `{"text":"Deep"}`) // the frame has its document
	text := h.look(`{}`)
	for _, want := range []string{
		`textbox "User name" [e`, `button "closed shadow" [e`, `textbox "open shadow" [e`, `canvas "Map" [e`, `date "When" [e`, `combobox "Land" [e`, `textbox [e`,
		`clickable "click here" [e`, `button "in the frame" [e`, `textbox "Card" [e`, `button "Deep" [e`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in it", want)
		}
	}
	for _, secret := range []string{"hunter", "4711"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in it", secret)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	// The title on top may come late (C66).
	below := func(text string) string { return text[strings.Index(text, "\n- ")+1:] }
	if again := h.look(`{}`); below(again) != below(text) {
		t.Errorf("refs or lines changed:\n%s\n%s", text, again)
	}
	part := h.look(`{"frame_id":"` + h.ref(text, `iframe "pay"`) + `"}`)
	if !strings.Contains(part, `textbox "Card"`) || strings.Contains(part, "Home") {
		t.Errorf("of the frame alone:\n%s", part)
	}
	h.look(`{}`)
	h.eval("", `document.querySelector('h1').textContent = 'Another'; 0`)
	if diff := h.look(`{"diff":true}`); !strings.Contains(diff, `+ heading 1 "Another"`) || !strings.Contains(diff, `- heading 1 "Your order"`) || strings.Count(diff, "\n") > 6 {
		t.Errorf("the difference is:\n%s", diff)
	}
}

func TestX28_SnapshotKeepsItsBudget(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-budget").hands()
	h.show("/long", `<title>long</title><body><script>for (let i = 0; i < 2000; i++) { const p = document.createElement('p'); p.textContent = 'paragraph ' + i; document.body.append(p) }; const b = document.createElement('button'); b.textContent = 'Last'; document.body.append(b)</script>`)
	r := h.use("browser_snapshot", `{}`)
	if len(r.Text) > 15_000 || !strings.Contains(r.Text, `button "Last"`) || !strings.Contains(r.Text, "[cut: ") {
		t.Errorf("%d characters:\n%s", len(r.Text), r.Text[max(0, len(r.Text)-400):])
	}
	if r := h.use("browser_snapshot", `{"max_chars":1000}`); len(r.Text) > 1000 {
		t.Errorf("%d characters for 1000", len(r.Text))
	}
	if r := h.use("browser_snapshot", `{"max_chars":1000000}`); !strings.Contains(r.Text, "paragraph 1999") {
		t.Error("all of it is not all")
	}
}

func TestX28_SnapshotAnswersWhateverThePageDoes(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-wedge").hands()
	h.show("/asks", `<title>asks</title><button onclick="confirm('sure?')">Ask</button>`)
	h.look(`{}`)
	h.later("", "confirm('sure?')")
	d := h.dialog()
	start := time.Now()
	r := h.use("browser_snapshot", `{}`)
	if !strings.Contains(r.Text, `DIALOG `+string(d.ID)+` confirm "sure?"`) || !strings.Contains(r.Text, `button "Ask"`) || len(r.NextActions) != 2 {
		t.Errorf("under a dialog: %s %+v", r.Text, r.NextActions)
	}
	if took := time.Since(start); took > patience/4 {
		t.Errorf("it took %s", took)
	}
	input, err := json.Marshal(r.NextActions[0].Input)
	if err != nil {
		t.Fatal(err)
	}
	h.use(r.NextActions[0].Tool, string(input))
	if text := h.look(`{}`); strings.Contains(text, "DIALOG") || strings.Contains(text, "STATE") {
		t.Errorf("after the answer: %s", text)
	}
}
