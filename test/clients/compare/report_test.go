package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStateDecidesWhatIsSolved(t *testing.T) {
	t.Parallel()
	want := words("code", "CODE", "user", "ann")
	for _, c := range []struct {
		name  string
		state map[string]string
		isMet bool
	}{
		{"nothing was said", nil, false},
		{"all was said", words("code", "K00001", "user", "ann"), true},
		{"more was said", words("code", "K00001", "user", "ann", "gift", "on"), true},
		{"the code of another run", words("code", "K00002", "user", "ann"), false},
		{"a part was said", words("code", "K00001"), false},
	} {
		if got := isMet(c.state, want, "K00001"); got != c.isMet {
			t.Errorf("%s: %v, want %v", c.name, got, c.isMet)
		}
	}
}

func TestEveryTaskWantsSomethingOfItsPage(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, task := range tasks {
		if names[task.name] || len(task.want) == 0 {
			t.Errorf("%s: it is there twice, or wants nothing", task.name)
		}
		names[task.name] = true
	}
	if len(tasks) < 30 {
		t.Errorf("%d tasks, want 30 at least", len(tasks))
	}
}

func TestTableSumsUp(t *testing.T) {
	t.Parallel()
	r := &report{Servers: []result{{
		Name: "one", Version: "1.0.0", Tools: 3, DefinitionChars: 400,
		Tasks: []outcome{
			{Task: "a", Solved: true, Calls: 2, Chars: 40, Seconds: 1},
			{Task: "b", Solved: true, Calls: 3, Chars: 401, Seconds: 2},
			{Task: "c", Calls: 5, Chars: 4000, Seconds: 9, Failure: "no"},
		},
	}}}
	table := r.table()
	for _, line := range []string{
		"| one 1.0.0 | 2 of 3 | 10 | 101 | 1111 | 2.00 | 9.0 | 12 | 3 | 100 |",
		"| b | 3, 101, 2.00 |",
		"| c | (5, 1000, 9.00) |",
	} {
		if !strings.Contains(table, line+"\n") {
			t.Errorf("no line %q in\n%s", line, table)
		}
	}
}

func TestHandsFindWhatTheirServersSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hands
		text, want string
	}{
		{&holdfast{}, "- heading 1 \"Order\"\n  - textbox \"Name\" [e7]: \"Ann\"\n", "e7"},
		{&playwright{}, "- generic [ref=e1]:\n  - textbox \"Name\" [active] [ref=f1e5]: Ann\n", "f1e5"},
		{&devtools{}, "uid=1_0 RootWebArea \"Order\"\n  uid=1_4 textbox \"Name\"\n", "1_4"},
		{&agentBrowser{}, "- textbox \"Name\" [ref=e4]: Ann\n", "@e4"},
	} {
		if got, ok := c.ref(c.text, "textbox", "Name"); !ok || got != c.want {
			t.Errorf("%T: %q, %v, want %q", c.hands, got, ok, c.want)
		}
		if _, ok := c.ref(c.text, "button", "Name"); ok {
			t.Errorf("%T: there is no button", c.hands)
		}
	}
}

// The page says what was measured: no figure was changed by hand.
func TestThePageHasTheStoredResults(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	want, err := written(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s has other results than %s: make compare-docs", page, resultsFile)
	}
	r, err := read(filepath.Join(root, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Servers {
		for i, o := range s.Tasks {
			if i >= len(tasks) || o.Task != tasks[i].name {
				t.Errorf("%s: the results have other tasks than the program: make compare", s.Name)
				break
			}
		}
	}
}
