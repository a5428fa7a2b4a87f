package main

import (
	"os"
	"path/filepath"
	"strings"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// roundtrip is Runtime.evaluate("1+1") on a page of a real Chromium. Every client has the
// same page: renderers differ more than clients do.
func (b *bench) roundtrip() ([]figure.Table, error) {
	const calls = 100
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	place, err := chrome.Open("about:blank", chrome.Addr())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return nil, err
	}
	b.later(func() { _ = os.RemoveAll(dir) })
	players := cast(place, figure.RatioAtMost(1.08))
	for _, door := range []struct {
		name string
		args []string
		goal float64
	}{
		{overHTTP, nil, 1.6},
		{overSocket, []string{"--listen=unix:" + filepath.Join(dir, "node.sock")}, 1.4},
	} {
		node, err := b.serve(door.args...)
		if err != nil {
			return nil, err
		}
		players = append(players, player{
			name: door.name, client: worker.HTTP, goal: figure.RatioAtMost(door.goal), note: "a node in a process of its own",
			opts: worker.Options{Node: node.addr, Token: node.token},
		})
	}
	for i := range players {
		players[i].place = place
	}
	return b.evaluate("a page of a real Chromium", players, calls, figure.RatioAtMost(1.25))
}

// roundtripFake is the same on a browser that answers at once: what a client
// costs shows whole.
func (b *bench) roundtripFake() ([]figure.Table, error) {
	const calls = 500
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: 1, Fast: true})
	if err != nil {
		return nil, err
	}
	return b.evaluate("the fake browser", cast(places[0], figure.RatioAtMost(1.35)), calls, nil)
}

// cast is every client: the floor twice, Holdfast, and the peers.
func cast(place stage.Place, goal *figure.Goal) []player {
	players := []player{
		{name: worker.Floor, client: worker.Floor},
		{name: again(worker.Floor), client: worker.Floor},
		{name: worker.Holdfast, client: worker.Holdfast, goal: goal},
	}
	for _, p := range append(append([]string{}, goPeers...), nodePeers...) {
		players = append(players, player{name: p, client: p})
	}
	for i := range players {
		players[i].place = place
	}
	return players
}

// Rows of nodes that are asked over HTTP.
const (
	overHTTP   = "holdfast over HTTP"
	overSocket = "holdfast over HTTP on a Unix socket"
)

// parts of a round, of so many calls each, stand between each other's.
const parts = 6

func (b *bench) evaluate(where string, players []player, calls int, tail *figure.Goal) ([]figure.Table, error) {
	here, absent, err := b.seat(players)
	if err != nil {
		return nil, err
	}
	p50, p99, err := callTimes(here, calls)
	if err != nil {
		return nil, err
	}
	tables := []figure.Table{
		tabulate(figure.Table{Title: "Runtime.evaluate(\"1+1\") on " + where + ", median of a round's calls", Unit: "µs"}, here, absent, p50, worker.Floor, true),
		tabulate(figure.Table{Title: "Runtime.evaluate(\"1+1\") on " + where + ", 99th of a hundred", Unit: "µs"}, here, nil, p99, worker.Floor, false),
	}
	tables[1].Row(worker.Holdfast).Goal = tail
	return append(tables, beside("Runtime.evaluate(\"1+1\") on "+where+", median of a round's calls: Holdfast to each", here, p50), beside("The same, 99th of a hundred", here, p99)), nil
}

// callTimes are the median and the 99th of each round's calls of each player, in µs.
func callTimes(here []player, calls int) (p50, p99 map[string]figure.Samples, err error) {
	p50, p99 = map[string]figure.Samples{}, map[string]figure.Samples{}
	// Twice as many: goals are a few hundredths apart here, and of nine rounds' medians
	// the next nine's have been as far.
	err = turns(here, 2*parts, func(p player) (worker.Answer, error) {
		return p.hand.tell(worker.Order{Do: "evaluate", N: calls})
	}, func(p player, a worker.Answer) {
		took := make(figure.Samples, len(a.NS))
		for i, ns := range a.NS {
			took[i] = float64(ns) / 1e3
		}
		p50[p.name] = append(p50[p.name], took.Quantile(0.5))
		p99[p.name] = append(p99[p.name], took.Quantile(0.99))
	})
	return p50, p99, err
}

// beside is Holdfast's ratio to each of the others, of the same round.
func beside(title string, here []player, samples map[string]figure.Samples) figure.Table {
	t := figure.Table{Title: title, Unit: "µs", Floor: "the other"}
	own := samples[worker.Holdfast]
	for _, p := range here {
		if p.isOurs() || p.client == worker.Floor {
			continue
		}
		t.Rows = append(t.Rows, figure.Row{Name: "holdfast to " + p.name, Value: own, Ratio: own.Over(samples[p.name]), Goal: figure.RatioAtMost(1), Ours: true})
	}
	return t
}

// served is a node that runs as its users run it.
type served struct {
	*stage.Child
	addr, token string
}

// serve starts the product's binary on an address of its own.
func (b *bench) serve(args ...string) (*served, error) {
	binary, err := b.product()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return nil, err
	}
	b.later(func() { _ = os.RemoveAll(dir) })
	n, err := stage.Serve(binary, dir, args...)
	if err != nil {
		return nil, err
	}
	b.later(n.Kill)
	token, err := os.ReadFile(n.TokenFile)
	if err != nil {
		return nil, err
	}
	return &served{n.Child, n.URL, strings.TrimSpace(string(token))}, nil
}
