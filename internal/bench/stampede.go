package main

import (
	"fmt"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// stampede cuts the connections of a thousand tasks at once, each to a fake
// browser of its own, and sees when they are back. The fake browsers share the
// machine: with iframes it is mostly their work that is measured.
func (b *bench) stampede() ([]figure.Table, error) { return b.stampedeOf(0) }

// stampedeFrames is the same with two iframes of other processes in each page.
func (b *bench) stampedeFrames() ([]figure.Table, error) { return b.stampedeOf(2) }

func (b *bench) stampedeOf(iframes int) ([]figure.Table, error) {
	const tasks = 1000
	players := falling(&rest{least: 3 * calm}, nil)
	for i := range players {
		p := &players[i]
		var err error
		if p.fakes, err = b.fakes(); err != nil {
			return nil, err
		}
		places, err := p.fakes.Make(stage.Making{Browsers: tasks, Frames: iframes})
		if err != nil {
			return nil, err
		}
		if err := b.take(p, places, iframes); err != nil {
			return nil, err
		}
	}
	quantiles := []struct {
		q     float64
		title string
		goal  *figure.Goal
	}{
		{0.5, "half", nil},
		{0.99, "99 of a hundred", figure.ValueAtMost(1000)},
		{1, "all", figure.ValueNeverAbove(2000)},
	}
	samples := make([]map[string]figure.Samples, len(quantiles))
	for i := range samples {
		samples[i] = map[string]figure.Samples{}
	}
	err := turns(players, 1, func(p player) (worker.Answer, error) {
		return p.cut(p.fakes.Drop)
	}, func(p player, a worker.Answer) {
		for i, q := range quantiles {
			samples[i][p.name] = append(samples[i][p.name], milli(a.NS).Quantile(q.q))
		}
	})
	if err != nil {
		return nil, err
	}
	var tables []figure.Table
	for i, q := range quantiles {
		t := figure.Table{Title: fmt.Sprintf("%d tasks dropped at once on fake browsers, a page and %d iframes each, until %s are attached again", tasks, iframes, q.title), Unit: "ms"}
		t = tabulate(t, players, nil, samples[i], worker.Floor, false)
		t.Row(worker.Holdfast).Goal = q.goal
		tables = append(tables, t)
	}
	return tables, nil
}
