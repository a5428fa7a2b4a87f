package words

import (
	"os"
	"regexp"
	"testing"
)

// cited matches the id of a requirement (A13) or of a fact (C15, H3, M5) in prose. S0, F1 and
// T1 are also how a picture names sessions, frames and targets: F and T ids count in
// parentheses or after the word alone.
var cited = regexp.MustCompile(`\b([ACDHMX][1-9][0-9]?)\b|(?:\(|\b(?:row|rows|requirement|requirements|fact|facts) )([FRT][1-9][0-9]?)\b`)

// defined matches the place where docs define an id: the first cell of a row, or the start
// of an item.
var defined = regexp.MustCompile(`(?m)^(?:\| |- \*\*)([A-Z][1-9][0-9]?)(?: \||\*\* )`)

// example matches prose that draws a picture with ids of its own.
var example = regexp.MustCompile(`[┌└├│─►▶]`)

// TestEveryCitedIDIsDefined proves that the id of a fact or requirement in a comment can be
// looked up.
func TestEveryCitedIDIsDefined(t *testing.T) {
	known := map[string]string{}
	for _, page := range []string{"docs/facts.md", "docs/requirements.md"} {
		text, err := os.ReadFile(root + "/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range defined.FindAllStringSubmatch(string(text), -1) {
			if at, twice := known[m[1]]; twice {
				t.Errorf("%s defines %s, which stands in %s already", page, m[1], at)
			}
			known[m[1]] = page
		}
	}
	if len(known) < 100 {
		t.Fatalf("only %d ids are defined: the pages have another form than this test reads", len(known))
	}
	seen := 0
	for _, s := range sources(t) {
		for _, p := range s.prose() {
			if example.MatchString(p.text) {
				continue
			}
			for _, m := range cited.FindAllStringSubmatch(unquoted(p.text), -1) {
				id := m[1] + m[2]
				seen++
				if known[id] == "" {
					t.Errorf("%s:%d: %s is defined neither in docs/facts.md nor in docs/requirements.md: %s", s.path, p.line, id, p.text)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d citations found: the test reads too little", seen)
	}
}
