package main

import (
	"fmt"
	"slices"
	"time"

	"holdfast/chaos/hosted"
	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// company is what a task has beside itself, and its links.
type company struct {
	name  string
	links int
	habit string // of another client on the page
}

var companies = []company{
	{"both links", 2, ""},
	{"one link", 1, ""},
	{"beside a client that debugs", 2, stage.Debugs},
	{"beside one that intercepts on the page", 2, stage.InterceptsPage},
	{"beside one that intercepts for the browser", 2, stage.InterceptsBrowser},
}

// held is a browser for pages that are held in one way while they ask.
type held struct {
	by     string
	chrome *stage.Chromium
	door   *hosted.Door
	// primary is which of the door's connections the task's is.
	primary int
}

// bridge measures what the ways of holding a page cost: native dialogs, the debugger and
// requests; alone and beside others, and where the primary falls meanwhile. Each has a
// browser, since requests are intercepted for all pages of one, behind a service of its
// own: that service refuses the debugger where a task is to use requests, and inspects
// every message alike where not.
func (b *bench) bridge() ([]figure.Table, error) {
	site, err := stage.ServeSite()
	if err != nil {
		return nil, err
	}
	b.later(site.Close)
	browsers := make([]*held, 3)
	for i, by := range []string{worker.Native, worker.Debugger, worker.Request} {
		if browsers[i], err = b.held(by); err != nil {
			return nil, err
		}
	}
	tables := []figure.Table{
		{Title: fmt.Sprintf("A page of %d scripts, from the order until it has loaded", scripts), Unit: "ms", Floor: worker.Native},
		{Title: "A confirm() that is answered as soon as a watching program hears of it: for how long the page waits", Unit: "ms", Floor: worker.Native},
		{Title: "A dialog is open, and the primary is cut: until it has been answered", Unit: "ms", Floor: worker.Native},
	}
	for _, c := range companies {
		if err := b.among(c, browsers, site, tables); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return tables, nil
}

const (
	scripts = 150 // of the page
	answers = 10  // of a round
)

// among adds to the tables what holds in that company.
func (b *bench) among(c company, browsers []*held, site *stage.Site, tables []figure.Table) error {
	players, leave, err := b.keepCompany(c, browsers, site)
	defer leave()
	if err != nil {
		return err
	}
	tasks := players
	alone := c == companies[0]
	if alone {
		second := players[0]
		second.name = again(worker.Native)
		players = append(players, second)
	}
	n := 0
	err = hold(&tables[0], c, players, func(p player) (worker.Answer, error) {
		n++
		return p.hand.tell(worker.Order{Do: "load", URL: fmt.Sprintf("%s&%d", site.Scripts(scripts), n), N: scripts})
	})
	if err != nil {
		return err
	}
	err = hold(&tables[1], c, players, func(p player) (worker.Answer, error) {
		return p.hand.tell(worker.Order{Do: "ask", N: answers})
	})
	if err != nil || !alone {
		return err
	}
	byAnchor := map[string]int{}
	err = hold(&tables[2], c, tasks, func(p player) (worker.Answer, error) {
		a, err := fell(p, browsers[slices.IndexFunc(browsers, func(h *held) bool { return h.by == p.name })])
		byAnchor[p.name] += 1 - a.Failed
		return a, err
	})
	for i, p := range tasks {
		if err == nil {
			tables[2].Rows[i].Note = fmt.Sprintf("under the same id; %d of %d before the primary was back", byAnchor[p.name], rounds+1)
		}
	}
	return err
}

// held starts a browser and a service before it.
func (b *bench) held(by string) (*held, error) {
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	refused := "Nothing"
	if by == worker.Request {
		refused = "Debugger"
	}
	service, err := hosted.New(chrome.URL(), hosted.Options{Refuse: []string{refused}})
	if err != nil {
		return nil, err
	}
	b.later(service.Close)
	return &held{by: by, chrome: chrome, door: service.Open()}, nil
}

// keepCompany has a task on a new tab of each browser, and the other client beside it;
// leave ends them, as many as there are.
func (b *bench) keepCompany(c company, browsers []*held, site *stage.Site) (players []player, leave func(), err error) {
	var ends []func()
	leave = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, h := range browsers {
		p := player{name: h.by, client: worker.Holdfast, opts: worker.Options{Links: c.links, Bridge: h.by}}
		if p.place, err = h.chrome.Alone(site.URL(0), h.chrome.Addr()); err != nil {
			return nil, leave, err
		}
		p.place.Browser = h.door.URL()
		if p.hand, err = b.hire(p.client, p.opts); err != nil {
			return nil, leave, err
		}
		ends = append(ends, p.hand.End)
		h.primary = h.door.Dials() + 1
		if _, err := p.hand.tell(worker.Order{Do: "open", Places: []stage.Place{p.place}}); err != nil {
			return nil, leave, fmt.Errorf("%s: %w", h.by, err)
		}
		players = append(players, p)
		if c.habit == "" {
			continue
		}
		neighbour, err := stage.MoveIn(h.chrome.URL(), p.place.Target, c.habit)
		if err != nil {
			return nil, leave, err
		}
		ends = append(ends, neighbour.MoveOut)
	}
	return players, leave, nil
}

// hold gives every player its turns, and adds rows to the table: a round's are medians of
// its times, in milliseconds.
func hold(t *figure.Table, c company, players []player, turn func(player) (worker.Answer, error)) error {
	took := map[string]figure.Samples{}
	err := turns(players, 1, func(p player) (worker.Answer, error) {
		a, err := turn(p)
		if err != nil {
			err = fmt.Errorf("%s: %w", p.name, err)
		}
		return a, err
	}, func(p player, a worker.Answer) {
		var ms figure.Samples
		for _, ns := range a.NS {
			ms = append(ms, float64(ns)/1e6)
		}
		took[p.name] = append(took[p.name], ms.Median())
	})
	among := tabulate(*t, players, nil, took, worker.Native, false)
	for i := len(t.Rows); i < len(among.Rows); i++ {
		among.Rows[i].Name = c.name + ": " + among.Rows[i].Name
	}
	*t = among
	return err
}

// fell cuts the primary of the player's task while its page asks.
func fell(p player, in *held) (worker.Answer, error) {
	time.Sleep(calm)
	if _, err := p.hand.tell(worker.Order{Do: "outlive"}); err != nil { // it waits
		return worker.Answer{}, err
	}
	before, begun := in.door.Dials(), stage.Now()
	if !in.door.HasDropped(in.primary) {
		return worker.Answer{}, fmt.Errorf("connection %d is not open", in.primary)
	}
	a, err := p.hand.hear()
	if err != nil {
		return a, err
	}
	if in.primary = in.door.Dials(); in.primary != before+1 {
		return a, fmt.Errorf("%d connections after one was cut", in.primary-before)
	}
	a.NS[0] -= begun
	return a, nil
}
