package rawcdp

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"holdfast/internal/rawcdp/protocol"
)

// A method that a new cdproto brings has to be decided.
func TestEveryMethodHasADecision(t *testing.T) {
	for _, m := range methods(t) {
		if Of(m) == "" {
			t.Errorf("%s has no decision: add it to decisions.txt", m)
		}
	}
}

func TestMethodsAreThoseOfThePinnedModule(t *testing.T) {
	want, err := protocol.Methods()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("methods.txt is not what the pinned cdproto has: run go generate ./internal/rawcdp")
	}
}

func TestKeptMethodsHaveReasons(t *testing.T) {
	for _, m := range Decided() {
		if _, has := kept[m]; has != (Of(m) == Kept) {
			t.Errorf("%s: decision %s, reason given: %t", m, Of(m), has)
		}
	}
	for m := range kept {
		if Of(m) != Kept {
			t.Errorf("%s has a reason and is decided %q", m, Of(m))
		}
	}
}

func TestDecisionsAreSorted(t *testing.T) {
	var order []string
	for i, f := range protocol.Lines([]byte(decisionsWithoutComments())) {
		if i%2 == 1 {
			order = append(order, f)
		}
	}
	if !slices.IsSorted(order) {
		t.Error("decisions.txt is not sorted by method")
	}
}

func TestMalformedDecisions(t *testing.T) {
	for _, text := range []string{"allow", "allow Page", "perhaps Page.enable", "allow Page.enable\nkept Page.enable"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func decisionsWithoutComments() string {
	var out []byte
	for line := range bytes.Lines([]byte(decisionsText)) {
		if line[0] != '#' {
			out = append(out, line...)
		}
	}
	return string(out)
}

func methods(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Lines(text)
}
