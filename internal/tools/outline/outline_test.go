package outline_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/internal/tools/outline"
)

var update = flag.Bool("update", false, "write the outlines in testdata anew")

// read decodes a capture of testdata, which Chromium made of the page of the same name.
func read(t testing.TB, name string) *outline.Document {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := outline.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbers gives refs by turns.
func numbers() outline.Refs {
	of := map[string]int{}
	return func(d *outline.Document, backend int64, _, _ string) int {
		key := fmt.Sprint(d.FrameID, backend)
		if of[key] == 0 {
			of[key] = len(of) + 1
		}
		return of[key]
	}
}

func TestAPageIsOutlined(t *testing.T) {
	t.Parallel()
	d := read(t, "page")
	for name, o := range map[string]outline.Options{"page": {}, "full": {IsFull: true}} {
		text, cut := outline.Build(d, numbers(), o).Text(1 << 20)
		if cut.IsCut {
			t.Errorf("%+v", cut)
		}
		for _, secret := range []string{"hunter2", "hunter3", "4711", "secret", "never shown", "hidden", "decoration"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q is in it", name, secret)
			}
		}
		file := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
			t.Errorf("%s:\n%s", file, diff)
		}
	}
}

func TestABudgetTakesWhatCanBeActedOnFirst(t *testing.T) {
	t.Parallel()
	o := &outline.Outline{}
	for i := range 100 {
		o.Lines = append(o.Lines, outline.Line{Text: fmt.Sprintf("text %d %s", i, strings.Repeat("x", 40))})
	}
	o.Lines = append(o.Lines, outline.Line{Text: "button [e1]", IsInteractive: true})
	text, cut := o.Text(1000)
	if len(text) > 1000 || !cut.IsCut || !strings.Contains(text, "button [e1]") || !strings.Contains(text, "text 0 ") || strings.Contains(text, "text 99") {
		t.Errorf("%+v\n%s", cut, text)
	}
}

func TestADifferenceIsWhatIsNewAndWhatIsGone(t *testing.T) {
	t.Parallel()
	of := func(lines ...string) *outline.Outline {
		o := &outline.Outline{}
		for _, l := range lines {
			o.Lines = append(o.Lines, outline.Line{Text: l})
		}
		return o
	}
	for _, c := range []struct {
		before, now *outline.Outline
		want        string
	}{
		{of("a", "b"), of("a", "b"), "no change\n"},
		{of("a", "b"), of("b", "a"), "no change\n"},
		{of("a", "b", "b"), of("a", "c", "b"), "+ c\n- b\n"},
		{of(), of("a"), "+ a\n"},
	} {
		if got := outline.Diff(c.before, c.now, 1000); got != c.want {
			t.Errorf("%v to %v: %q", c.before, c.now, got)
		}
	}
	long := make([]string, 100)
	for i := range long {
		long[i] = fmt.Sprint("line ", i)
	}
	if got := outline.Diff(of(), of(long...), 400); len(got) > 400 || !strings.Contains(got, "changed lines not shown") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// FuzzDecode reads bytes of any form. What comes out has no line break in a line, and the
// budget's size.
func FuzzDecode(f *testing.F) {
	raw, err := os.ReadFile("testdata/page.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"documents":[{"nodes":{"parentIndex":[-1,0,1,5],"nodeType":[9,1,1,3],"nodeName":[0,1,2,3],"backendNodeId":[1,2,3,4],"attributes":[[],[0,1],[7]],"contentDocumentIndex":{"index":[1],"value":[0]}}}],"strings":["a","INPUT"]}`))
	f.Add([]byte(`{"documents":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := outline.Decode(raw)
		if err != nil {
			return
		}
		o := outline.Build(d, numbers(), outline.Options{IsFull: len(raw)%2 == 0})
		for _, l := range o.Lines {
			if strings.ContainsAny(l.Text, "\n\r\x00\u202e") || len(l.Text) > 8000 {
				t.Fatalf("%q", l.Text)
			}
		}
		if text, _ := o.Text(2000); len(text) > 2000 {
			t.Fatalf("%d bytes", len(text))
		}
	})
}

// BenchmarkOutline is what a snapshot costs the node beside Chrome's own part.
func BenchmarkOutline(b *testing.B) {
	raw, err := os.ReadFile("testdata/page.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		d, err := outline.Decode(raw)
		if err != nil {
			b.Fatal(err)
		}
		outline.Build(d, func(*outline.Document, int64, string, string) int { return 1 }, outline.Options{}).Text(15_000)
	}
}
