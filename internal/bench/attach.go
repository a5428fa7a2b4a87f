package main

import (
	"fmt"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// attach is how long it takes from the dial until a task is active, on a real
// Chromium, to the same commands sent by a loop that decides nothing.
func (b *bench) attach() ([]figure.Table, error) {
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	site, err := stage.ServeSite()
	if err != nil {
		return nil, err
	}
	b.later(site.Close)
	var tables []figure.Table
	for _, c := range []struct {
		name          string
		iframes, each int
	}{
		{"with 1 page", 0, 6},
		{"with 20 iframes of other processes", 20, 2},
	} {
		place, err := chrome.Alone(site.URL(c.iframes), chrome.Addr())
		if err != nil {
			return nil, err
		}
		players := []player{
			{name: worker.Floor, client: worker.Floor, note: "the same commands, pipelined"},
			{name: again(worker.Floor), client: worker.Floor},
			{name: worker.Holdfast, client: worker.Holdfast, goal: figure.RatioAtMost(1.3)},
			{name: oneLink, client: worker.Holdfast, opts: worker.Options{Links: 1}},
		}
		took := map[string]figure.Samples{}
		for i := range players {
			p := &players[i]
			p.place = place
			if p.hand, err = b.hire(p.client, p.opts); err != nil {
				return nil, err
			}
			b.later(p.hand.End)
		}
		const parts = 2
		err = turns(players, parts, func(p player) (worker.Answer, error) {
			a, err := p.hand.tell(worker.Order{Do: "attach", N: c.each, Places: []stage.Place{place}, Window: c.iframes})
			if err != nil {
				err = fmt.Errorf("%s: %w", c.name, err)
			}
			return a, err
		}, func(p player, a worker.Answer) {
			var ms figure.Samples
			for _, ns := range a.NS {
				ms = append(ms, float64(ns)/1e6)
			}
			took[p.name] = append(took[p.name], ms.Median())
		})
		if err != nil {
			return nil, err
		}
		tables = append(tables, tabulate(figure.Table{Title: "Attach to a real Chromium " + c.name + ", from the dial to active", Unit: "ms"}, players, nil, took, worker.Floor, true))
	}
	return tables, nil
}
