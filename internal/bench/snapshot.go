package main

import (
	"fmt"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// snapshot is what reading a task's state costs, alone and side by side, to the
// least that could be done: a map that is safe to read, and a pointer.
func (b *bench) snapshot() ([]figure.Table, error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: 1, Frames: 2})
	if err != nil {
		return nil, err
	}
	h, err := b.hire(worker.Holdfast, worker.Options{})
	if err != nil {
		return nil, err
	}
	b.later(h.End)
	if _, err := h.tell(worker.Order{Do: "open", Places: places}); err != nil {
		return nil, err
	}
	cost := figure.Table{Title: "Reading a snapshot, in the same process", Unit: "ns"}
	scaling := figure.Table{Title: "Reads of all readers together, to those of one", Unit: "reads/s", Higher: true}
	var ns, floor, allocs figure.Samples
	rates := map[int]figure.Samples{}
	floors := map[int]figure.Samples{}
	readers := []int{1, 2, 4}
	for range rounds {
		for _, n := range readers {
			a, err := h.tell(worker.Order{Do: "snapshot", N: n})
			if err != nil {
				return nil, err
			}
			rates[n] = append(rates[n], a.Values["rate"])
			floors[n] = append(floors[n], a.Values["floor_rate"])
			if n == 1 {
				ns, floor = append(ns, 1e9/a.Values["rate"]), append(floor, 1e9/a.Values["floor_rate"])
				allocs = append(allocs, a.Values["allocs"])
			}
		}
	}
	cost.Rows = []figure.Row{
		{Name: "a map and a pointer", Value: floor, Ratio: floor.Over(floor)},
		{Name: worker.Holdfast, Value: ns, Ratio: ns.Over(floor), Goal: figure.ValueAtMost(50), Ours: true},
	}
	for _, n := range readers[1:] {
		scaling.Rows = append(scaling.Rows,
			figure.Row{Name: fmt.Sprintf("a map and a pointer, %d readers", n), Value: floors[n], Ratio: floors[n].Over(floors[1])},
			figure.Row{Name: fmt.Sprintf("holdfast, %d readers", n), Value: rates[n], Ratio: rates[n].Over(rates[1]), Goal: figure.RatioAtLeast(1.7), Ours: true, Note: "of two processors"})
	}
	return []figure.Table{cost, {
		Title: "Allocations of a read", Unit: "allocations",
		Rows: []figure.Row{{Name: worker.Holdfast, Value: allocs, Goal: figure.ValueAtMost(0.001), Ours: true}},
	}, scaling}, nil
}
