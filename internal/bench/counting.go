package main

import (
	"maps"
	"slices"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// counting is what each thing that is counted allocates.
func (b *bench) counting() ([]figure.Table, error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: 1})
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
	a, err := h.tell(worker.Order{Do: "counting"})
	if err != nil {
		return nil, err
	}
	t := figure.Table{Title: "Allocations of what is counted in a metric, once", Unit: "allocations"}
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		t.Rows = append(t.Rows, figure.Row{Name: name, Value: figure.Samples{a.Values[name]}, Goal: figure.ValueAtMost(0.001), Ours: true})
	}
	return []figure.Table{t}, nil
}
