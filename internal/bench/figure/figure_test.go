package figure_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/bench/figure"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	odd := figure.Samples{5, 1, 9, 3, 7}
	hundred := figure.Samples{}
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"median of an odd number":            {odd.Median(), 5},
		"median of an even number":           {figure.Samples{4, 1, 2, 3}.Median(), 2.5},
		"median of nothing":                  {figure.Samples{}.Median(), 0},
		"minimum":                            {odd.Min(), 1},
		"maximum":                            {odd.Max(), 9},
		"a quantile is one of the values":    {odd.Quantile(0.99), 9},
		"one of a hundred is above the 99th": {hundred.Quantile(0.99), 99},
		"the first of a hundred":             {hundred.Quantile(0.01), 1},
		"the last of a hundred":              {hundred.Quantile(1), 100},
		"the half":                           {odd.Quantile(0.5), 5},
		"spread":                             {odd.Spread(), 1.6},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	if odd[0] != 5 {
		t.Error("the rounds have lost their order")
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	t.Parallel()
	got := figure.Samples{10, 40, 90}.Over(figure.Samples{10, 20, 30})
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("got %v", got)
	}
	if got := (figure.Samples{10, 40}).And(figure.Samples{30, 20, 5}); len(got) != 2 || got[0] != 20 || got[1] != 30 {
		t.Errorf("the mean of two turns: %v", got)
	}
	if got := (figure.Samples{1, 2}).Over(figure.Samples{0}); len(got) != 0 {
		t.Errorf("a ratio to nothing: %v", got)
	}
}

func TestGoals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row     figure.Row
		met, ok bool
	}{
		"none":                        {figure.Row{Value: figure.Samples{1}}, false, false},
		"ratio within":                {figure.Row{Value: figure.Samples{500}, Ratio: figure.Samples{1.08}, Goal: figure.RatioAtMost(1.08)}, true, true},
		"ratio beyond":                {figure.Row{Value: figure.Samples{500}, Ratio: figure.Samples{1.09}, Goal: figure.RatioAtMost(1.08)}, false, true},
		"by the median, not the best": {figure.Row{Ratio: figure.Samples{1, 2, 2}, Goal: figure.RatioAtMost(1.5)}, false, true},
		"value, whatever the ratio":   {figure.Row{Value: figure.Samples{20}, Ratio: figure.Samples{9}, Goal: figure.ValueAtMost(25)}, true, true},
		"at least":                    {figure.Row{Ratio: figure.Samples{0.8}, Goal: figure.RatioAtLeast(0.85)}, false, true},
		"always, and once was not":    {figure.Row{Value: figure.Samples{1, 1, 30}, Goal: figure.ValueNeverAbove(25)}, false, true},
		"always, and ever was":        {figure.Row{Value: figure.Samples{1, 1, 25}, Goal: figure.ValueNeverAbove(25)}, true, true},
		"nothing measured":            {figure.Row{Goal: figure.ValueAtMost(25)}, false, true},
	} {
		if met, ok := c.row.Met(); met != c.met || ok != c.ok {
			t.Errorf("%s: met %v, ok %v", name, met, ok)
		}
	}
}

func table() figure.Table {
	return figure.Table{
		Title: "A round trip", Unit: "µs", Noise: figure.Samples{0.98, 1, 1.03},
		Rows: []figure.Row{
			{Name: "floor", Value: figure.Samples{100, 110, 120}, Ratio: figure.Samples{1, 1, 1}},
			{Name: "ours", Value: figure.Samples{1234, 1300, 1500}, Ratio: figure.Samples{1.1, 1.2, 1.3}, Goal: figure.RatioAtMost(1.15), Reason: "it copies"},
			{Name: "theirs", Note: "does not connect"},
		},
	}
}

func TestATableSaysWhatIsMissed(t *testing.T) {
	t.Parallel()
	written := table()
	for _, text := range []string{written.Text(), written.Markdown()} {
		for _, want := range []string{"1,300", "1,234 … 1,500", "1.20×", "≤ 1.15×", "missed", "it copies", "does not connect", "0.98× … 1.03× over 3 rounds"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	if strings.Contains(written.Text(), "**") {
		t.Error("marks of Markdown on a terminal")
	}
	if n := strings.Count(written.Markdown(), "\n|"); n != 5 {
		t.Errorf("%d lines of a table of three rows, a head and a rule", n)
	}
}

func TestAReportKeepsWhatWasNotMeasuredAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "figures.json")
	r, err := figure.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	r.Put(figure.Measurement{Name: "a", Tables: []figure.Table{table()}})
	r.Put(figure.Measurement{Name: "b"})
	if err := r.Write(file); err != nil {
		t.Fatal(err)
	}
	if r, err = figure.Read(file); err != nil {
		t.Fatal(err)
	}
	r.Put(figure.Measurement{Name: "a", Took: 7})
	if len(r.Measurements) != 2 || r.Get("a").Took != 7 || r.Get("b") == nil || r.Get("c") != nil {
		t.Errorf("got %+v", r.Measurements)
	}
	if r.Keep([]string{"b", "c"}); len(r.Measurements) != 1 || r.Get("a") != nil || r.Get("b") == nil {
		t.Errorf("kept %+v", r.Measurements)
	}
}
