package main

import (
	"fmt"
	"math/rand/v2"
	"os"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// again is the name of a client's second turn in each round: what differs is noise.
func again(name string) string { return name + " again" }

// player is who takes part in a measurement, under a name of its own.
type player struct {
	name   string
	client string
	place  stage.Place
	opts   worker.Options
	goal   *figure.Goal
	note   string

	hand  *hand
	proxy *stage.Proxy // that cuts its connections
	fakes *stage.Fakes // its own
	cuts  *cuts
}

// seat starts every player and has each open its place. One that cannot is left out, and
// its row says why; the floor and Holdfast have to be there.
func (b *bench) seat(players []player) (here []player, rows []figure.Row, err error) {
	for _, p := range players {
		h, err := b.hire(p.client, p.opts)
		if err == nil {
			b.later(h.End)
			_, err = h.tell(worker.Order{Do: "open", Places: []stage.Place{p.place}})
		}
		if err != nil {
			if p.goal != nil || p.client == worker.Floor || p.client == worker.Reader {
				return nil, nil, fmt.Errorf("%s: %w", p.name, err)
			}
			fmt.Fprintf(os.Stderr, "  without %s: %v\n", p.name, err)
			rows = append(rows, figure.Row{Name: p.name, Note: "not measured: " + err.Error()})
			continue
		}
		p.hand = h
		here = append(here, p)
	}
	return here, rows, nil
}

// turns gives every player its turns, parts of them in each round, in an order that is
// drawn anew each time, and hands the result of a round to note. The more parts, the less
// the rest of the machine matters. The first round is for warming up.
func turns(players []player, parts int, turn func(p player) (worker.Answer, error), note func(p player, a worker.Answer)) error {
	order := make([]int, len(players))
	for i := range order {
		order[i] = i
	}
	for round := range rounds + 1 {
		sums := make([]worker.Answer, len(players))
		for range parts {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, i := range order {
				a, err := turn(players[i])
				if err != nil {
					return err
				}
				sums[i].NS = append(sums[i].NS, a.NS...)
				sums[i].More = append(sums[i].More, a.More...)
				sums[i].Mallocs += a.Mallocs
			}
		}
		for i, p := range players {
			if round > 0 {
				note(p, sums[i])
			}
		}
	}
	return nil
}

// isOurs says that the player is Holdfast.
func (p player) isOurs() bool { return p.client == worker.Holdfast || p.client == worker.HTTP }

// tabulate makes rows of samples by name, over the floor's: over the mean of its two
// turns, where it has a second one.
func tabulate(t figure.Table, players []player, absent []figure.Row, samples map[string]figure.Samples, floor string, goals bool) figure.Table {
	least, second := samples[floor], again(floor)
	if s := samples[second]; s != nil {
		t.Noise = s.Over(least)
		least = least.And(s)
	}
	for _, p := range players {
		value := samples[p.name]
		switch p.name {
		case second:
			continue
		case floor:
			value = least
		}
		r := figure.Row{Name: p.name, Value: value, Ratio: value.Over(least), Note: p.note, Ours: p.isOurs()}
		if goals {
			r.Goal = p.goal
		}
		t.Rows = append(t.Rows, r)
	}
	t.Rows = append(t.Rows, absent...)
	return t
}
