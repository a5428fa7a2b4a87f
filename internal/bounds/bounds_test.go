package bounds_test

import (
	"testing"

	"holdfast/internal/bounds"
)

func TestEveryBoundHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range bounds.All() {
		if b.String() == "" || seen[b.String()] {
			t.Errorf("bound %d is called %q", b, b)
		}
		seen[b.String()] = true
	}
}

func TestCounting(t *testing.T) {
	t.Parallel()
	var c bounds.Counts
	c.Hit(bounds.Frames)
	c.Hit(bounds.Frames)
	if c.Load(bounds.Frames) != 2 || c.Load(bounds.Wanted) != 0 {
		t.Error("a hit was counted elsewhere, or not at all")
	}
	var none *bounds.Counts
	if none.Hit(bounds.Frames); none.Load(bounds.Frames) != 0 {
		t.Error("nothing counts")
	}
}

func TestHittingABoundCostsNoAllocation(t *testing.T) {
	var c bounds.Counts
	if n := testing.AllocsPerRun(100, func() { c.Hit(bounds.Spans) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
