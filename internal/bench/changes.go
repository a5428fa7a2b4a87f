package main

import (
	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// changes is how fast events of 600 bytes are taken in that change what is
// known: console errors and navigations of a frame, in turn. Windows of a
// thousand follow each other, the next when the end of the last can be seen: in a
// snapshot of Holdfast's, by a listener of chromedp's, which keeps nothing of the
// console. More than a thousand console errors may wait for their actor; a window has
// half of that, so none is shed.
func (b *bench) changes() ([]figure.Table, error) {
	const window, windows = 1000, 20
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	players := []player{
		{name: worker.Chromedp, client: worker.Chromedp},
		{name: again(worker.Chromedp), client: worker.Chromedp},
		{name: worker.Holdfast, client: worker.Holdfast, goal: figure.RatioAtLeast(3)},
		{name: oneLink, client: worker.Holdfast, opts: worker.Options{Links: 1}},
	}
	places, err := fakes.Make(stage.Making{Browsers: len(players), Fast: true})
	if err != nil {
		return nil, err
	}
	from := map[string]int{}
	for i := range players {
		players[i].place = places[i]
	}
	here, absent, err := b.seat(players)
	if err != nil {
		return nil, err
	}
	rate := map[string]figure.Samples{}
	const parts = 2
	err = turns(here, parts, func(p player) (worker.Answer, error) {
		burst := stage.Burst{Kind: stage.Changes, Events: window * windows, From: from[p.name], Frame: p.place.Frame, Parent: p.place.Target}
		from[p.name] += burst.Events
		return p.hand.tell(worker.Order{Do: "changes", Burst: burst, Window: window})
	}, func(p player, a worker.Answer) {
		rate[p.name] = append(rate[p.name], window*windows*parts/seconds(a.NS))
	})
	if err != nil {
		return nil, err
	}
	t := figure.Table{Title: "Intake of events of 600 bytes that change what is known, to chromedp's", Unit: "events/s", Higher: true, Floor: worker.Chromedp}
	return []figure.Table{tabulate(t, here, absent, rate, worker.Chromedp, true)}, nil
}
