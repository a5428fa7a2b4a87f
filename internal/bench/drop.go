package main

import (
	"fmt"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// calm is how long both links have stood before they are cut. What cuts them
// again and again as soon as they stand is taken, rightly, for a browser that
// lets one client in at a time.
const calm = 700 * time.Millisecond

// cuts counts what has been cut of a client's, and knows when all are at rest: what
// one of many tasks still has to do after a cut, another's time is not to hold.
type cuts struct {
	n    int
	rest *rest
}

// rest is the time since the last cut of any client.
type rest struct {
	least time.Duration
	since time.Time
}

func (r *rest) over() { time.Sleep(time.Until(r.since.Add(r.least))) }

// falling are those whose connections are cut, all of them side by side: the least
// that can be done, twice, and Holdfast.
func falling(r *rest, goal *figure.Goal) []player {
	players := []player{
		{name: worker.Floor, client: worker.Floor, note: "dials and attaches again at once"},
		{name: again(worker.Floor), client: worker.Floor},
		{name: worker.Holdfast, client: worker.Holdfast, opts: worker.Options{Links: 2}, goal: goal},
		{name: oneLink, client: worker.Holdfast, opts: worker.Options{Links: 1}},
	}
	for i := range players {
		players[i].cuts = &cuts{rest: r}
	}
	return players
}

// take has a client open its places, each with so many iframes of other processes.
func (b *bench) take(p *player, places []stage.Place, iframes int) (err error) {
	if p.hand, err = b.hire(p.client, p.opts); err != nil {
		return err
	}
	b.later(p.hand.End)
	open := worker.Order{Do: "open", Places: places, AtOnce: 32}
	if p.client == worker.Floor {
		open.Do, open.Window = "hold", iframes
	}
	if _, err = p.hand.tell(open); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cuts.rest.since = time.Now()
	return nil
}

// cut cuts a client's connections, when they have stood for a while, and says when
// each of its tasks was back, in nanoseconds from the cut, and then when the second
// link of each was.
func (p *player) cut(cut func() error) (a worker.Answer, err error) {
	p.cuts.rest.over()
	p.cuts.n++
	if _, err := p.hand.tell(worker.Order{Do: "reconnected", N: p.cuts.n}); err != nil { // it waits
		return a, fmt.Errorf("%s: %w", p.name, err)
	}
	begun := stage.Now()
	if err := cut(); err != nil {
		return a, fmt.Errorf("%s: %w", p.name, err)
	}
	if a, err = p.hand.hear(); err != nil {
		return a, fmt.Errorf("%s: %w", p.name, err)
	}
	p.cuts.rest.since = time.Now()
	for _, at := range [][]int64{a.NS, a.More} {
		for i := range at {
			at[i] -= begun
		}
	}
	return a, nil
}

// drop cuts the connections to a real Chromium, one client's at a time, and measures how
// long it takes until everything that was attached is attached again: a page and two
// iframes of other processes. Every client has a browser: those of one share what a link
// does for it.
func (b *bench) drop() ([]figure.Table, error) {
	const iframes, parts = 2, 2
	site, err := stage.ServeSite()
	if err != nil {
		return nil, err
	}
	b.later(site.Close)
	players := falling(&rest{least: calm}, figure.ValueAtMost(25))
	var chrome *stage.Chromium
	for i := range players {
		p := &players[i]
		if chrome, err = b.chromium(); err != nil {
			return nil, err
		}
		if p.proxy, err = stage.StartProxy(chrome.Addr()); err != nil {
			return nil, err
		}
		b.later(p.proxy.Close)
		if p.place, err = chrome.Alone(site.URL(iframes), p.proxy.Addr()); err != nil {
			return nil, err
		}
		if err := b.take(p, []stage.Place{p.place}, iframes); err != nil {
			return nil, err
		}
	}
	first, second := map[string]figure.Samples{}, map[string]figure.Samples{}
	err = turns(players, parts, func(p player) (worker.Answer, error) {
		return p.cut(func() error {
			if p.proxy.Cut() == 0 {
				return fmt.Errorf("nothing to cut")
			}
			return nil
		})
	}, func(p player, a worker.Answer) {
		first[p.name] = append(first[p.name], milli(a.NS).Median())
		second[p.name] = append(second[p.name], milli(a.More).Median())
	})
	if err != nil {
		return nil, err
	}
	table := tabulate(figure.Table{Title: "A drop on a real Chromium, from the cut to everything attached again", Unit: "ms"}, players, nil, first, worker.Floor, true)
	all := figure.Table{Title: "The same, until the second link is back too", Unit: "ms", Rows: []figure.Row{{Name: worker.Holdfast, Value: second[worker.Holdfast], Ours: true}}}
	peers, err := b.whoComesBack(chrome, site)
	if err != nil {
		return nil, err
	}
	table.Rows = append(table.Rows, peers...)
	return []figure.Table{table, all}, nil
}

// milli are nanoseconds as milliseconds.
func milli(ns []int64) (s figure.Samples) {
	for _, x := range ns {
		s = append(s, float64(x)/1e6)
	}
	return s
}

// whoComesBack cuts each peer's connection and asks it a few things afterwards.
func (b *bench) whoComesBack(chrome *stage.Chromium, site *stage.Site) (rows []figure.Row, err error) {
	const calls = 5
	for _, name := range append(append([]string{}, goPeers...), nodePeers...) {
		proxy, err := stage.StartProxy(chrome.Addr())
		if err != nil {
			return nil, err
		}
		b.later(proxy.Close)
		place, err := chrome.Alone(site.URL(0), proxy.Addr())
		if err != nil {
			return nil, err
		}
		h, err := b.hire(name, worker.Options{})
		if err != nil {
			return nil, err
		}
		_, err = h.tell(worker.Order{Do: "open", Places: []stage.Place{place}})
		if err != nil {
			h.End()
			rows = append(rows, figure.Row{Name: name, Note: "not measured: " + err.Error()})
			continue
		}
		proxy.Cut()
		a, err := h.tell(worker.Order{Do: "try", N: calls})
		h.End()
		note := fmt.Sprintf("does not come back: %d of %d calls failed afterwards", a.Failed, calls)
		if a.Failed < calls {
			note = fmt.Sprintf("%d of %d calls failed afterwards", a.Failed, calls)
		}
		if err != nil {
			note = "does not come back: its process ended (" + err.Error() + ")"
		}
		rows = append(rows, figure.Row{Name: name, Note: note})
	}
	return rows, nil
}
