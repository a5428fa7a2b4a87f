package recordings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// entry is one line of a file.
type entry struct {
	Conn    string          `json:"conn"`
	Dir     string          `json:"dir"`
	Message json.RawMessage `json:"message"`
}

// ignored are messages that the fake need not match, each for a reason.
var ignored = []struct {
	reason string
	match  func(text string) bool
}{
	{"Chromium's own windows: which there are, and when, is not ours", contains(`"type":"browser_ui"`)},
	{"paint and idle times of a real compositor and network", matches(
		`"Page.lifecycleEvent".*"name":"(firstPaint|firstContentfulPaint|firstMeaningfulPaint|firstMeaningfulPaintCandidate|firstImagePaint|networkAlmostIdle|networkIdle)"`)},
	{"scripts of no name: a debugger is told of them too, and nobody asks", matches(`"method":"Debugger.scriptParsed".*"url":""`)},
	{"sent only when the closed tab was the last in its process", contains(`"method":"Inspector.detached"`)},
}

func contains(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// finish turns what a stage has seen into entries.
func (s *stage) finish(t testing.TB, plain func(string) string) (out []entry) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]*normaliser{} // per connection: their order among each other is chance
	for _, l := range s.lines {
		e := entry{Conn: l.conn, Dir: l.dir}
		switch {
		case json.Valid(l.raw):
			if skip(string(l.raw)) {
				continue
			}
			if names[l.conn] == nil {
				names[l.conn] = newNormaliser(plain)
			}
			e.Message = names[l.conn].message(t, l.raw)
		default:
			e.Message, _ = json.Marshal(string(l.raw)) // a string: it is text
		}
		out = append(out, e)
	}
	return out
}

func skip(text string) bool {
	for _, i := range ignored {
		if i.match(text) {
			return true
		}
	}
	return false
}

// floating are commands whose reply has no fixed place among the events: two
// runs of one Chromium differ. Their replies are compared as a stream of their
// own.
var floating = map[string]string{
	"Runtime.runIfWaitingForDebugger": "the iframe's commit may overtake it",
	"Page.reload":                     "the end of a dialog may overtake it",
	"Runtime.evaluate":                "the renderer answers, and what its script had the browser do may overtake it",
}

// unordered are pairs of events of one session without an order: they come out of
// two processes. In recordings the first stands before the second.
var unordered = []struct{ reason, first, second string }{
	{
		"the frame's renderer gives up the navigation, the browser attaches to the process that has taken it over",
		"Page.frameClearedScheduledNavigation", "Target.attachedToTarget",
	},
}

// swaps says that b, which came after a, might as well have come before it.
func swaps(a, b string) bool {
	for _, u := range unordered {
		if a == u.second && b == u.first {
			return true
		}
	}
	return false
}

// streams splits a recording by connection and session: between sessions
// Chromium's order depends on which process is faster.
func streams(t testing.TB, s scenario, entries []entry) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	asked := map[string]string{}     // connection and id → method
	methods := map[string][]string{} // of a stream
	for _, e := range entries {
		var m envelope
		// The error scenario sends what cannot be read.
		if err := json.Unmarshal(e.Message, &m); err != nil && e.Dir == "recv" {
			t.Fatalf("recorded message: %v", err)
		}
		if s.unsure != "" && m.Method == s.unsure {
			continue
		}
		command := fmt.Sprint(e.Conn, " ", m.ID)
		if e.Dir == "send" {
			asked[command] = m.Method
			continue
		}
		key := e.Conn + " " + m.SessionID
		if _, floats := floating[asked[command]]; floats && m.Method == "" {
			key += " floating"
		}
		out[key], methods[key] = append(out[key], string(e.Message)), append(methods[key], m.Method)
		list, names := out[key], methods[key]
		for i := len(list) - 1; i > 0 && swaps(names[i-1], names[i]); i-- {
			list[i-1], list[i] = list[i], list[i-1]
			names[i-1], names[i] = names[i], names[i-1]
		}
	}
	return out
}

func file(name string) string { return filepath.Join("testdata", name+".jsonl") }

func save(t testing.TB, name string, entries []entry) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, x := range entries {
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file(name), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, name string) (out []entry) {
	t.Helper()
	data, err := os.ReadFile(file(name))
	if err != nil {
		t.Fatalf("no recording: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", file(name), err)
		}
		out = append(out, e)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}
