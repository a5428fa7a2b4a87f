package figure_test

import (
	"strings"
	"testing"

	"holdfast/internal/bench/figure"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	const page = "before\n<!-- figures: begin, by make bench -->\nold\n<!-- figures: end -->\nafter\n"
	got, err := figure.Between(page, "figures", "new\n")
	if want := strings.Replace(page, "old", "new", 1); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if again, err := figure.Between(got, "figures", "new\n"); err != nil || again != got {
		t.Errorf("twice is not once: %q, %v", again, err)
	}
	for _, broken := range []string{"", "<!-- figures: begin -->\n", "<!-- figures: begin", "<!-- figures: end -->"} {
		if _, err := figure.Between(broken, "figures", "new"); err == nil {
			t.Errorf("%q was written into", broken)
		}
	}
}

func TestGoalsAreLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := figure.Report{Measurements: []figure.Measurement{{Name: "a", Tables: []figure.Table{table()}}}}
	goals := r.Goals()
	if !strings.Contains(goals, "| A round trip: ours | 1.20× (1.10× … 1.30×) | ≤ 1.15× | **missed**, [why](#make-bench-bencha) |") {
		t.Error(goals)
	}
	if strings.Contains(goals, "theirs") || strings.Contains(goals, "floor") {
		t.Errorf("rows without a goal:\n%s", goals)
	}
}
