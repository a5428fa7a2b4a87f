package shed_test

import (
	"testing"

	"holdfast/internal/shed"
)

func TestEveryBoundHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range shed.All() {
		if b.String() == "" || seen[b.String()] {
			t.Errorf("bound %d is called %q", b, b)
		}
		seen[b.String()] = true
	}
}

func TestCounting(t *testing.T) {
	t.Parallel()
	var c shed.Counts
	c.Hit(shed.Frames)
	c.Hit(shed.Frames)
	if c.Load(shed.Frames) != 2 || c.Load(shed.Wanted) != 0 {
		t.Error("a hit was counted elsewhere, or not at all")
	}
	var none *shed.Counts
	if none.Hit(shed.Frames); none.Load(shed.Frames) != 0 {
		t.Error("nothing counts")
	}
}

func TestHittingABoundCostsNoAllocation(t *testing.T) {
	var c shed.Counts
	if n := testing.AllocsPerRun(100, func() { c.Hit(shed.Spans) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
