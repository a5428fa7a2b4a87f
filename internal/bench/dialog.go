package main

import (
	"fmt"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// dialog is how long it takes from the moment a dialog is written to the first
// link until a waiting program can see it, and until its answer is back on the
// wire. The fake browser looks at the clock of the machine when either goes by.
func (b *bench) dialog() ([]figure.Table, error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	players := cast(stage.Place{}, figure.RatioAtMost(1.3))
	places, err := fakes.Make(stage.Making{Browsers: len(players), Fast: true})
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	for i, p := range players {
		players[i].place = places[i]
		times[p.name] = 5
		switch p.name {
		case worker.Floor, again(worker.Floor), worker.Holdfast:
			times[p.name] = 25
		}
	}
	here, absent, err := b.seat(players)
	if err != nil {
		return nil, err
	}
	seen, answered := map[string]figure.Samples{}, map[string]figure.Samples{}
	var tail figure.Samples
	const parts = 4
	err = turns(here, parts, func(p player) (a worker.Answer, err error) {
		for range times[p.name] {
			visible, answer, err := b.oneDialog(fakes, p)
			if err != nil {
				return a, fmt.Errorf("%s: %w", p.name, err)
			}
			a.NS = append(a.NS, visible, answer)
		}
		return a, nil
	}, func(p player, a worker.Answer) {
		var visible, answer figure.Samples
		for i := 0; i < len(a.NS); i += 2 {
			visible, answer = append(visible, float64(a.NS[i])/1e3), append(answer, float64(a.NS[i+1])/1e3)
		}
		seen[p.name] = append(seen[p.name], visible.Median())
		answered[p.name] = append(answered[p.name], answer.Median())
		if p.name == worker.Holdfast {
			tail = append(tail, answer.Quantile(0.99))
		}
	})
	if err != nil {
		return nil, err
	}
	const from = "A dialog, from the event on the wire "
	tables := []figure.Table{
		tabulate(figure.Table{Title: from + "to a program that waits for it and sees it, median of a round", Unit: "µs"}, here, absent, seen, worker.Floor, true),
		tabulate(figure.Table{Title: from + "to the answer on the wire, median of a round", Unit: "µs"}, here, nil, answered, worker.Floor, false),
		{Title: from + "to the answer on the wire, 99th of a hundred", Unit: "µs", Rows: []figure.Row{{Name: worker.Holdfast, Value: tail, Goal: figure.ValueAtMost(1000)}}},
	}
	tables[1].Row(worker.Holdfast).Goal = figure.ValueAtMost(150)
	return tables, nil
}

// oneDialog returns nanoseconds.
func (b *bench) oneDialog(fakes *stage.Fakes, p player) (visible, answered int64, err error) {
	if _, err := p.hand.tell(worker.Order{Do: "dialog"}); err != nil { // armed
		return 0, 0, err
	}
	if err := fakes.Dialog(stage.DialogOrder{Number: p.place.Number, AfterMS: 3}); err != nil {
		return 0, 0, err
	}
	a, err := p.hand.hear()
	if err != nil {
		return 0, 0, err
	}
	s, err := fakes.Stamps(p.place.Number)
	if err != nil {
		return 0, 0, err
	}
	if s.Opened == 0 || s.Answered == 0 {
		return 0, 0, fmt.Errorf("a dialog went by unseen: %+v", s)
	}
	return a.At - s.Opened, s.Answered - s.Opened, nil
}
