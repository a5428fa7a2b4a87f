package main

import (
	"fmt"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// stampede cuts the connections of a thousand tasks at once, each to a fake
// browser of its own, and sees when they are back. The fake browsers share the
// machine: with iframes it is mostly their work that is measured.
func (b *bench) stampede() ([]figure.Table, error) { return b.stampedeOf(0, true) }

// stampedeFrames is the same with two iframes of other processes in each page.
func (b *bench) stampedeFrames() ([]figure.Table, error) { return b.stampedeOf(2, false) }

func (b *bench) stampedeOf(iframes int, goals bool) ([]figure.Table, error) {
	const tasks = 1000
	quantiles := []struct {
		q     float64
		title string
		goal  *figure.Goal
	}{
		{0.5, "half", nil},
		{0.99, "99 of a hundred", figure.ValueAtMost(1000)},
		{1, "all", figure.ValueAtMost(2000)},
	}
	tables := make([]figure.Table, len(quantiles))
	for i, q := range quantiles {
		tables[i] = figure.Table{Title: fmt.Sprintf("%d tasks dropped at once on fake browsers, a page and %d iframes each, until %s are attached again", tasks, iframes, q.title), Unit: "ms"}
	}
	floors := make([]figure.Samples, len(quantiles))
	for _, c := range []struct {
		name, client string
		opts         worker.Options
	}{
		{worker.Floor, worker.Floor, worker.Options{}},
		{worker.Holdfast, worker.Holdfast, worker.Options{Links: 2}},
		{oneLink, worker.Holdfast, worker.Options{Links: 1}},
	} {
		fakes, err := b.fakes()
		if err != nil {
			return nil, err
		}
		places, err := fakes.Make(stage.Making{Browsers: tasks, Frames: iframes})
		if err != nil {
			return nil, err
		}
		h, err := b.hire(c.client, c.opts)
		if err != nil {
			return nil, err
		}
		open := worker.Order{Do: "open", Places: places, AtOnce: 32}
		if c.client == worker.Floor {
			open.Do, open.Window = "hold", iframes
		}
		_, err = h.tell(open)
		samples := make([]figure.Samples, len(quantiles))
		for n := 1; err == nil && n <= 7; n++ {
			time.Sleep(calm)
			var took figure.Samples
			if took, err = b.dropAll(h, n, fakes); err == nil {
				for i, q := range quantiles {
					samples[i] = append(samples[i], took.Quantile(q.q))
				}
			}
		}
		h.End()
		fakes.End()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		for i, q := range quantiles {
			r := figure.Row{Name: c.name, Value: samples[i]}
			switch {
			case c.client == worker.Floor:
				floors[i], r.Note = samples[i], "dials and attaches again at once"
			case c.opts.Links == 2 && goals:
				r.Goal = q.goal
			}
			r.Ratio = samples[i].Over(floors[i])
			tables[i].Rows = append(tables[i].Rows, r)
		}
	}
	return tables, nil
}

// dropAll cuts every link for the n-th time and returns when each task was back,
// in milliseconds.
func (b *bench) dropAll(h *hand, n int, all ...*stage.Fakes) (figure.Samples, error) {
	if _, err := h.tell(worker.Order{Do: "reconnected", N: n}); err != nil { // it waits
		return nil, err
	}
	begun := stage.Now()
	errs := make(chan error, len(all))
	for _, fakes := range all {
		go func() { errs <- fakes.Drop() }()
	}
	for range all {
		if err := <-errs; err != nil {
			return nil, err
		}
	}
	a, err := h.hear()
	if err != nil {
		return nil, err
	}
	var took figure.Samples
	for _, at := range a.NS {
		took = append(took, float64(at-begun)/1e6)
	}
	return took, nil
}
