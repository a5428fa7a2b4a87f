package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// behind names a client's row behind the gateway, or behind what stands in its place.
func behind(client, what string) string { return client + ", " + what }

const (
	theGateway = "through the gateway"
	theRelay   = "through a bare relay"
)

// ask asks the node.
func (n *served) ask(method, path string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, n.addr+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+n.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s", method, path, text)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// counted reads a counter without labels from the node's metrics.
func (n *served) counted(name string) (float64, error) {
	resp, err := http.Get(n.addr + "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the node does not count %s", name)
}

// task starts a task on a place and returns where its clients go.
func (n *served) task(id string, spec map[string]any, place stage.Place) (stage.Place, error) {
	if err := n.ask(http.MethodPut, "/v1/tasks/"+id, spec, nil); err != nil {
		return stage.Place{}, err
	}
	// The path is one that chromedp takes as it is.
	place.Browser = strings.Replace(n.addr, "http", "ws", 1) + "/cdp/" + id + "/devtools/browser/x?token=" + url.QueryEscape(n.token)
	return place, nil
}

// relay starts a bare relay to a browser, and returns the place behind it.
func (b *bench) relay(place stage.Place) (stage.Place, error) {
	there, err := url.Parse(place.Browser)
	if err != nil {
		return stage.Place{}, err
	}
	n, err := stage.ServeRelay(b.self, there.Host)
	if err != nil {
		return stage.Place{}, err
	}
	b.later(n.Kill)
	here, err := url.Parse(n.URL)
	if err != nil {
		return stage.Place{}, err
	}
	there.Host = here.Host
	place.Browser = there.String()
	return place, nil
}

// gatewayClients are those whose calls are measured.
var gatewayClients = []string{worker.Floor, playwright, puppeteer, worker.Chromedp}

// gateway is Runtime.evaluate("1+1") on a page of a real Chromium through the gateway, to the same
// client through a bare relay in its place.
func (b *bench) gateway() ([]figure.Table, error) {
	const calls = 100
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	place, err := chrome.Open("about:blank", chrome.Addr())
	if err != nil {
		return nil, err
	}
	relayed, err := b.relay(place)
	if err != nil {
		return nil, err
	}
	node, err := b.serve()
	if err != nil {
		return nil, err
	}
	through, err := node.task("bench", map[string]any{"cdp_url": chrome.URL(), "target_id": place.Target}, place)
	if err != nil {
		return nil, err
	}
	var players []player
	for _, c := range gatewayClients {
		players = append(players,
			player{name: behind(c, theRelay), client: c, place: relayed},
			player{name: behind(c, theGateway), client: c, place: through, goal: figure.RatioAtMost(1.1)})
	}
	here, absent, err := b.seat(players)
	if err != nil {
		return nil, err
	}
	p50, p99, err := callTimes(here, calls)
	if err != nil {
		return nil, err
	}
	const what = "Runtime.evaluate(\"1+1\") through the gateway on a page of a real Chromium, "
	return []figure.Table{
		besideRelay(what+"median of a round's calls", "µs", gatewayClients, p50, absent, figure.RatioAtMost(1.1)),
		besideRelay(what+"99th of a hundred", "µs", gatewayClients, p99, nil, figure.RatioAtMost(1.25)),
	}, nil
}

// besideRelay is each client through the gateway, to itself through the relay in the same round.
func besideRelay(title, unit string, clients []string, samples map[string]figure.Samples, absent []figure.Row, goal *figure.Goal) figure.Table {
	t := figure.Table{Title: title, Unit: unit, Floor: "the client through a bare relay"}
	for _, c := range clients {
		own, relayed := samples[behind(c, theGateway)], samples[behind(c, theRelay)]
		if own == nil || relayed == nil {
			continue
		}
		t.Rows = append(t.Rows, figure.Row{Name: c, Value: own, Ratio: own.Over(relayed), Goal: goal, Ours: true})
	}
	t.Rows = append(t.Rows, absent...)
	return t
}

// connectTabs is how many tabs a browser has to which Playwright connects.
const connectTabs = 50

// gatewayConnect is how long Playwright takes to connect to a browser with many tabs, through the
// gateway to directly.
func (b *bench) gatewayConnect() ([]figure.Table, error) {
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	var place stage.Place
	for range connectTabs {
		if place, err = chrome.Open("about:blank", chrome.Addr()); err != nil {
			return nil, err
		}
	}
	node, err := b.serve()
	if err != nil {
		return nil, err
	}
	through, err := node.task("bench", map[string]any{"cdp_url": chrome.URL(), "scope": "browser"}, place)
	if err != nil {
		return nil, err
	}
	took := map[string]figure.Samples{}
	for round := range rounds + 1 { // the first is for warming up
		for i := range 2 {
			name, at := theGateway, through
			if (round+i)%2 == 0 { // each is first in every second round
				name, at = "directly", place
			}
			h, err := b.hire(playwright, worker.Options{})
			if err != nil {
				return nil, err
			}
			begun := time.Now()
			_, err = h.tell(worker.Order{Do: "open", Places: []stage.Place{at}})
			if ms := float64(time.Since(begun)) / 1e6; round > 0 {
				took[name] = append(took[name], ms)
			}
			h.End()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	own := took[theGateway]
	return []figure.Table{{
		Title: fmt.Sprintf("Playwright's connect to a browser with %d tabs, with the search for one of them", connectTabs), Unit: "ms", Floor: "directly",
		Rows: []figure.Row{{Name: theGateway, Value: own, Ratio: own.Over(took["directly"]), Goal: figure.RatioAtMost(1.2), Ours: true}},
	}}, nil
}

// The idle clients that a node has: so many tasks of so many.
const (
	gatewayTasks   = 10
	clientsPerTask = 100
)

// gatewayMemory is what an idle client costs the node: one that is attached to its task's page.
func (b *bench) gatewayMemory() ([]figure.Table, error) {
	const times = 5
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: gatewayTasks})
	if err != nil {
		return nil, err
	}
	var memory figure.Samples
	for range times {
		bytes, err := b.idleClients(places)
		if err != nil {
			return nil, err
		}
		memory = append(memory, bytes/kib)
	}
	return []figure.Table{{
		Title: fmt.Sprintf("Memory of an idle client of the gateway, of %d on %d tasks: growth of the node's RSS", gatewayTasks*clientsPerTask, gatewayTasks), Unit: "KiB",
		Rows: []figure.Row{{Name: worker.Holdfast, Value: memory, Goal: figure.ValueAtMost(32), Ours: true}},
	}}, nil
}

// idleClients are what each of many clients adds to a fresh node.
func (b *bench) idleClients(places []stage.Place) (bytes float64, err error) {
	node, err := b.serve()
	if err != nil {
		return 0, err
	}
	var doors []stage.Place
	for i, p := range places {
		door, err := node.task(fmt.Sprint("bench-", i), map[string]any{"cdp_url": p.Browser, "target_id": p.Target}, p)
		if err != nil {
			return 0, err
		}
		for range clientsPerTask {
			doors = append(doors, door)
		}
	}
	h, err := b.hire(worker.Floor, worker.Options{})
	if err != nil {
		return 0, err
	}
	defer h.End()
	// One client of each task first: what all of a task's have in common is not of each.
	first := make([]stage.Place, 0, len(places))
	for i := range places {
		first = append(first, doors[i*clientsPerTask])
	}
	read := func(places []stage.Place) (float64, error) {
		if _, err := h.tell(worker.Order{Do: "open", Places: places, AtOnce: 32}); err != nil {
			return 0, err
		}
		time.Sleep(settle)
		resident, err := rss(node.PID())
		return float64(resident), err
	}
	before, err := read(first)
	if err != nil {
		return 0, err
	}
	after, err := read(doors)
	return (after - before) / float64(len(doors)), err
}
