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

// drop cuts the connections to a real Chromium, one client's at a time, and sees
// how long it takes until everything that was attached is attached again: a page
// and two iframes of other processes.
func (b *bench) drop() ([]figure.Table, error) {
	const iframes = 2
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	site, err := stage.ServeSite()
	if err != nil {
		return nil, err
	}
	b.later(site.Close)
	table := figure.Table{Title: "A drop on a real Chromium, from the cut to everything attached again", Unit: "ms"}
	both := figure.Table{Title: "The same, until the second link is back too", Unit: "ms"}
	var floor, again figure.Samples
	for _, c := range []struct {
		name, client string
		opts         worker.Options
		goal         *figure.Goal
	}{
		{worker.Floor, worker.Floor, worker.Options{}, nil},
		{floorAgain, worker.Floor, worker.Options{}, nil},
		{worker.Holdfast, worker.Holdfast, worker.Options{Links: 2}, figure.ValueAtMost(25)},
		{oneLink, worker.Holdfast, worker.Options{Links: 1}, nil},
	} {
		proxy, err := stage.StartProxy(chrome.Addr())
		if err != nil {
			return nil, err
		}
		b.later(proxy.Close)
		place, err := chrome.Alone(site.URL(iframes), proxy.Addr())
		if err != nil {
			return nil, err
		}
		h, err := b.hire(c.client, c.opts)
		if err != nil {
			return nil, err
		}
		open := worker.Order{Do: "open", Places: []stage.Place{place}}
		if c.client == worker.Floor {
			open.Do, open.Window = "hold", iframes
		}
		_, err = h.tell(open)
		var back, all figure.Samples
		for n := 1; err == nil && n <= 2*rounds+1; n++ {
			time.Sleep(calm)
			var first, last float64
			first, last, err = b.cut(h, proxy, n)
			if n > 1 {
				back, all = append(back, first), append(all, last)
			}
		}
		h.End()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		switch c.name {
		case worker.Floor:
			floor = back
		case floorAgain:
			again = back
			continue
		}
		table.Rows = append(table.Rows, figure.Row{Name: c.name, Value: back, Ratio: back.Over(floor), Goal: c.goal})
		if c.opts.Links == 2 {
			both.Rows = append(both.Rows, figure.Row{Name: c.name, Value: all})
		}
	}
	table.Noise = again.Over(floor)
	table.Rows[0].Note = "dials and attaches again at once"
	peers, err := b.whoComesBack(chrome, site)
	if err != nil {
		return nil, err
	}
	table.Rows = append(table.Rows, peers...)
	return []figure.Table{table, both}, nil
}

// cut returns milliseconds until the first link stands, and the last.
func (b *bench) cut(h *hand, proxy *stage.Proxy, n int) (first, last float64, err error) {
	if _, err := h.tell(worker.Order{Do: "reconnected", N: n}); err != nil { // it waits
		return 0, 0, err
	}
	begun := stage.Now()
	if proxy.Cut() == 0 {
		return 0, 0, fmt.Errorf("nothing to cut")
	}
	a, err := h.hear()
	if err != nil {
		return 0, 0, err
	}
	first = float64(a.NS[0]-begun) / 1e6
	if len(a.More) > 0 {
		last = float64(a.More[0]-begun) / 1e6
	}
	return first, last, nil
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
