package acceptance_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/tools"
	"holdfast/messages"
)

// update writes the list of calls into docs/run.md.
var update = flag.Bool("update-calls", false, "write the calls of Puppeteer into docs/run.md")

//go:embed testdata/puppeteer.js
var puppeteerCalls string

// minCalls is how many of Puppeteer's calls a script can make at least.
const minCalls = 150

// TestT39_PuppeteersCallsWork runs each call that docs/run.md lists, in the sandbox, on Puppeteer's own
// objects, and holds the list to what worked.
func TestT39_PuppeteersCallsWork(t *testing.T) {
	t.Parallel()
	k := setup(t).task("t39", func(s *messages.TaskSpec) { s.Isolation = messages.IsolationContext })
	table := k.scripts()
	inner := k.site.URL("http://b.test/inner")
	k.site.Set("/inner", `<body><p id=deep onclick="window.clicked = true">inner</p>`)
	k.site.Set("/calls", `<title>calls</title><h1 id=h>Title</h1><p class=x>one</p><p class=x>two</p><input id=in>
		<button id=b onclick="this.dataset.n = (+this.dataset.n || 0) + 1">Press</button><select id=s><option value=a>A<option value=b>B</select>
		<a id=l href="/calls?linked">link</a><iframe name=inner src="`+inner+`"></iframe><div style="height:3000px"></div><p id=end>end`)
	for path, body := range map[string][2]string{
		"/data": {"text/plain", "data"}, "/json": {"application/json", `{"a":1}`}, "/worker.js": {"text/javascript", "self.x = 1"},
	} {
		k.site.Handle(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", body[0])
			fmt.Fprint(w, body[1])
		}))
	}
	k.goTo("http://a.test/calls")
	input, err := json.Marshal(messages.RunRequest{Code: puppeteerCalls, TimeoutS: 120})
	if err != nil {
		t.Fatal(err)
	}
	res := table.Call(k.ctx, tools.Caller{}, k.id, "browser_run", input)
	out, _ := res.Data.(messages.RunOutput)
	var got struct {
		Done   []string          `json:"done"`
		Failed map[string]string `json:"failed"`
	}
	raw, err := json.Marshal(out.Value)
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil || !res.OK {
		t.Fatalf("%v %s %s", err, res.Code, res.Text)
	}
	t.Logf("the slowest, in ms: %s", strings.Join(out.Console, " "))
	for _, name := range slices.Sorted(maps.Keys(got.Failed)) {
		t.Errorf("%s: %s", name, got.Failed[name])
	}
	if len(got.Done) < minCalls {
		t.Errorf("%d calls work, want %d", len(got.Done), minCalls)
	}
	const path, begin, end = "../../docs/run.md", "<!-- calls -->\n", "<!-- end of calls -->"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(doc), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		t.Fatal("docs/run.md has no place for the calls")
	}
	want := before + begin + listOfCalls(got.Done) + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(doc) {
		t.Errorf("docs/run.md does not list the %d calls that work: go test ./internal/acceptance -run TestT39 -update-calls", len(got.Done))
	}
}

// listOfCalls is the list as docs/run.md has it: a line for each class.
func listOfCalls(names []string) string {
	of := map[string][]string{}
	for _, n := range names {
		class, name, _ := strings.Cut(n, ".")
		of[class] = append(of[class], "`"+name+"`")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls:\n\n| class | calls |\n|---|---|\n", len(names))
	for _, class := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[class])
		fmt.Fprintf(&b, "| `%s` | %s |\n", class, strings.Join(of[class], ", "))
	}
	return b.String()
}
