package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
	"holdfast/transport"
)

// gatewayBurst is how many events of 600 bytes come at a time. More than the gateway keeps for a
// client that is slower than the browser would end its connection.
const gatewayBurst = 5000

// fakeTask is a task of a node on a fake browser that answers at once: its page there, and where the
// task's clients go.
func (b *bench) fakeTask() (node *served, place, through stage.Place, err error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, place, through, err
	}
	places, err := fakes.Make(stage.Making{Browsers: 1, Fast: true})
	if err != nil {
		return nil, place, through, err
	}
	if node, err = b.serve(); err != nil {
		return nil, place, through, err
	}
	through, err = node.task("bench", map[string]any{"cdp_url": places[0].Browser, "target_id": places[0].Target}, places[0])
	return node, places[0], through, err
}

// gatewayEvents is how fast events come through the gateway to a client that has asked for them, to
// the same client through a bare relay in its place.
func (b *bench) gatewayEvents() ([]figure.Table, error) {
	_, place, through, err := b.fakeTask()
	if err != nil {
		return nil, err
	}
	relayed, err := b.relay(place)
	if err != nil {
		return nil, err
	}
	here, absent, err := b.seat([]player{
		{name: theRelay, client: worker.Reader, place: relayed},
		{name: again(theRelay), client: worker.Reader, place: relayed},
		{name: theGateway, client: worker.Reader, place: through, goal: figure.RatioAtLeast(0.8)},
	})
	if err != nil {
		return nil, err
	}
	rate := map[string]figure.Samples{}
	err = turns(here, parts, func(p player) (worker.Answer, error) {
		return p.hand.tell(worker.Order{Do: "burst", Burst: stage.Burst{Kind: stage.Ignored, Events: gatewayBurst}})
	}, func(p player, a worker.Answer) {
		rate[p.name] = append(rate[p.name], gatewayBurst*parts/seconds(a.NS))
	})
	if err != nil {
		return nil, err
	}
	t := tabulate(figure.Table{Title: "Events of 600 bytes to a client that has asked for them", Unit: "events/s", Higher: true}, here, absent, rate, theRelay, true)
	t.Row(theGateway).Ours = true
	return []figure.Table{t}, nil
}

// The clients of a task that have events at the same time, and how many each.
const (
	audience       = 10
	audienceEvents = 1000
)

// gatewayCrowd is how fast events come through the gateway to ten clients with different
// subscriptions, to ten through bare relays in its place, and how many of them it has decoded.
func (b *bench) gatewayCrowd() ([]figure.Table, error) {
	node, place, through, err := b.fakeTask()
	if err != nil {
		return nil, err
	}
	relayed, err := b.relay(place)
	if err != nil {
		return nil, err
	}
	here, _, err := b.seat([]player{
		{name: theRelay, client: worker.Reader, place: relayed},
		{name: theGateway, client: worker.Reader, place: through, goal: figure.RatioAtLeast(0.8)},
	})
	if err != nil {
		return nil, err
	}
	for _, p := range here {
		others := make([]stage.Place, audience-1)
		for i := range others {
			others[i] = p.place
		}
		if _, err := p.hand.tell(worker.Order{Do: "open", Places: others}); err != nil {
			return nil, err
		}
	}
	rate := map[string]figure.Samples{}
	var decoded figure.Samples
	err = turns(here, 1, func(p player) (worker.Answer, error) {
		before, err := node.counted(decodedEvents)
		if err != nil {
			return worker.Answer{}, err
		}
		a, err := p.hand.tell(worker.Order{Do: "bursts", Burst: stage.Burst{Events: audienceEvents, Frame: place.Frame, Parent: place.Target}})
		if err != nil {
			return a, err
		}
		after, err := node.counted(decodedEvents)
		if p.name == theGateway {
			decoded = append(decoded, (after-before)/(audience*audienceEvents))
		}
		return a, err
	}, func(p player, a worker.Answer) {
		rate[p.name] = append(rate[p.name], audience*audienceEvents/seconds(a.NS))
	})
	if err != nil {
		return nil, err
	}
	const what = "Events of 600 bytes to ten clients with different subscriptions"
	t := tabulate(figure.Table{Title: what, Unit: "events/s", Higher: true}, here, nil, rate, theRelay, true)
	t.Row(theGateway).Ours = true
	return []figure.Table{t, {
		Title: what + ": how often the gateway decodes one", Unit: "times",
		Rows: []figure.Row{{Name: theGateway, Value: decoded, Goal: figure.ValueAtMost(1), Ours: true}},
	}}, nil
}

// decodedEvents is the node's counter of events for clients that it has decoded, each once.
const decodedEvents = "holdfast_client_decoded_events_total"

// gatewayDeaf is how long a call of one client takes while another one of the task does not read
// what it is told, to the same where all read.
func (b *bench) gatewayDeaf() ([]figure.Table, error) {
	const calls = 2000
	_, _, through, err := b.fakeTask()
	if err != nil {
		return nil, err
	}
	h, err := b.hire(worker.Floor, worker.Options{})
	if err != nil {
		return nil, err
	}
	b.later(h.End)
	others := make([]stage.Place, clientsPerTask-1)
	for i := range others {
		others[i] = through
	}
	if _, err := h.tell(worker.Order{Do: "open", Places: others, AtOnce: 32}); err != nil {
		return nil, err
	}
	const reads, deaf = "all of them read", "one of them does not read"
	p50, p99 := map[string]figure.Samples{}, map[string]figure.Samples{}
	for round := range rounds + 1 { // the first is for warming up
		for i := range 2 {
			name := reads
			if (round+i)%2 == 0 { // each is first in every second round
				name = deaf
			}
			conn, err := connectBursting(through, name == reads)
			if err != nil {
				return nil, err
			}
			a, err := h.tell(worker.Order{Do: "evaluate", N: calls})
			_ = conn.CloseNow()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if round == 0 {
				continue
			}
			took := make(figure.Samples, len(a.NS))
			for i, ns := range a.NS {
				took[i] = float64(ns) / 1e3
			}
			p50[name] = append(p50[name], took.Quantile(0.5))
			p99[name] = append(p99[name], took.Quantile(0.99))
		}
	}
	table := func(what string, of map[string]figure.Samples, goal *figure.Goal) figure.Table {
		return figure.Table{
			Title: fmt.Sprintf("Runtime.evaluate on the fake browser by one of %d clients of a task, %s", clientsPerTask, what), Unit: "µs", Floor: reads,
			Rows: []figure.Row{{Name: deaf, Value: of[deaf], Ratio: of[deaf].Over(of[reads]), Goal: goal, Ours: true}},
		}
	}
	return []figure.Table{table("median of a round's calls", p50, nil), table("99th of a hundred", p99, figure.RatioAtMost(1.1))}, nil
}

// connectBursting connects a client that asks for more than the sockets keep: it reads that, or not.
func connectBursting(place stage.Place, reads bool) (conn *websocket.Conn, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, _, err = websocket.Dial(ctx, place.Browser, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	id, session := 0, ""
	send := func(method string, params any) error {
		id++
		command := map[string]any{"id": id, "method": method, "params": params}
		if session != "" {
			command["sessionId"] = session
		}
		text, err := json.Marshal(command)
		if err != nil {
			return err
		}
		return conn.Write(ctx, websocket.MessageText, text)
	}
	call := func(method string, params any) (result json.RawMessage, err error) {
		if err := send(method, params); err != nil {
			return nil, err
		}
		for {
			_, message, err := conn.Read(ctx)
			if err != nil {
				return nil, err
			}
			if e, err := transport.Scan(message); err == nil && e.HasID && e.ID == int64(id) {
				return e.Result, nil
			}
		}
	}
	result, err := call("Target.attachToTarget", map[string]any{"targetId": place.Target, "flatten": true})
	if err != nil {
		return conn, err
	}
	var attached struct{ SessionID string }
	if err := json.Unmarshal(result, &attached); err != nil || attached.SessionID == "" {
		return conn, fmt.Errorf("attach: %s", result)
	}
	session = attached.SessionID
	if _, err := call("Bench.prepare", stage.Burst{Kind: stage.Ignored, Events: gatewayBurst}); err != nil {
		return conn, err
	}
	for range 2 {
		if reads {
			_, err = call("Bench.burst", map[string]any{})
		} else {
			err = send("Bench.burst", map[string]any{})
		}
		if err != nil {
			return conn, err
		}
	}
	time.Sleep(settle)
	return conn, nil
}
