package main

import (
	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// intake measures how fast unwanted events of 600 bytes are read, compared with
// coder/websocket's Reader into one buffer. They come as fast as a socket takes them, and
// the reply behind them ends the clock.
func (b *bench) intake() ([]figure.Table, error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: 1, Fast: true})
	if err != nil {
		return nil, err
	}
	players := []player{
		{name: worker.Floor, client: worker.Reader},
		{name: again(worker.Floor), client: worker.Reader},
		{name: "floor, each message allocated", client: worker.Floor},
		{name: worker.Holdfast, client: worker.Holdfast, goal: figure.RatioAtLeast(0.85)},
	}
	for _, p := range append(append([]string{}, goPeers...), nodePeers...) {
		players = append(players, player{name: p, client: p})
	}
	for i := range players {
		players[i].place = places[0]
	}
	here, absent, err := b.seat(players)
	if err != nil {
		return nil, err
	}
	ignored, err := b.burst(here, absent, stage.Ignored, "Intake of unwanted events of 600 bytes")
	if err != nil {
		return nil, err
	}
	ignored[1].Row(worker.Holdfast).Goal = figure.ValueAtMost(0.001)
	console, err := b.burst(here, absent, stage.Console, "Intake of console messages of 600 bytes that are no errors")
	if err != nil {
		return nil, err
	}
	return append(ignored, console...), nil
}

// burst sends events to every client; the slow ones get fewer.
func (b *bench) burst(here []player, absent []figure.Row, kind, title string) ([]figure.Table, error) {
	rate, allocs := map[string]figure.Samples{}, map[string]figure.Samples{}
	events := map[string]int{}
	for _, p := range here {
		events[p.name] = 5_000
		switch p.client {
		case worker.Floor, worker.Reader, worker.Holdfast:
			events[p.name] = 50_000
		}
	}
	const parts = 3
	err := turns(here, parts, func(p player) (worker.Answer, error) {
		return p.hand.tell(worker.Order{Do: "burst", Burst: stage.Burst{Kind: kind, Events: events[p.name]}})
	}, func(p player, a worker.Answer) {
		n := float64(events[p.name] * parts)
		rate[p.name] = append(rate[p.name], n/seconds(a.NS))
		allocs[p.name] = append(allocs[p.name], float64(a.Mallocs)/n)
	})
	if err != nil {
		return nil, err
	}
	t := tabulate(figure.Table{Title: title, Unit: "events/s", Higher: true}, here, absent, rate, worker.Floor, true)
	var counted []player // a Node process does not count its allocations
	for _, p := range here {
		if p.client != puppeteer && p.client != playwright && p.name != again(worker.Floor) {
			counted = append(counted, p)
		}
	}
	a := tabulate(figure.Table{Title: title + ": allocations per event", Unit: "allocations"}, counted, nil, allocs, "", false)
	return []figure.Table{t, a}, nil
}

// seconds is the sum of durations.
func seconds(ns []int64) float64 {
	var sum int64
	for _, x := range ns {
		sum += x
	}
	return float64(sum) / 1e9
}
