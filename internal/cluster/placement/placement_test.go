package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/cluster/placement"
)

// TestTheEndOfANodeMovesItsTasksAlone: the second in rank becomes the first, and no other
// task has another first node.
func TestTheEndOfANodeMovesItsTasksAlone(t *testing.T) {
	t.Parallel()
	nodes := []string{"a", "b", "c", "d"}
	counts := map[string]int{}
	for i := range 4000 {
		key := fmt.Sprintf("task-%d", i)
		first := placement.First(key, nodes)
		counts[first]++
		without := func(names ...string) []string {
			return slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return slices.Contains(names, n) })
		}
		second := placement.First(key, without(first))
		for _, gone := range nodes {
			want := first
			if gone == first {
				want = second
			}
			if got := placement.First(key, without(gone)); got != want {
				t.Fatalf("without %s, %s moves from %s to %s", gone, key, first, got)
			}
		}
	}
	for _, n := range nodes {
		if counts[n] < 800 || counts[n] > 1200 {
			t.Errorf("%s has %d of 4000 tasks", n, counts[n])
		}
	}
}

func TestTheOrderOfTheNodesDoesNotMatter(t *testing.T) {
	t.Parallel()
	a := placement.First("t", []string{"a", "b", "c"})
	if b := placement.First("t", []string{"c", "a", "b", "a"}); a != b {
		t.Errorf("%v and %v", a, b)
	}
	if got := placement.Sorted([]string{"c", "a", "c"}); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("sorted: %v", got)
	}
	if placement.First("t", nil) != "" {
		t.Error("there is a first of none")
	}
}
