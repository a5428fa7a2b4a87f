package worker_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// crew is a worker that runs in the test's process, and a place for it.
type crew struct {
	*testing.T
	place stage.Place
	addr  string
	in    *io.PipeWriter
	out   *bufio.Reader
}

// crewOf starts the client of that name before a fake browser of its own.
func crewOf(t *testing.T, client string, o worker.Options) *crew {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	fakes, places := stage.NewFakes(server.Listener.Addr().String(), stage.Making{Browsers: 1, Frames: 2, Fast: true})
	server.Config.Handler = fakes
	server.Start()
	in, orders := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- worker.Serve(client, o, in, out) }()
	t.Cleanup(func() {
		_ = orders.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		server.CloseClientConnections()
	})
	c := &crew{T: t, place: places[0], addr: server.Listener.Addr().String(), in: orders, out: bufio.NewReader(answers)}
	c.tell(worker.Order{Do: "open", Places: places})
	return c
}

func (c *crew) tell(o worker.Order) worker.Answer {
	c.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.Fatal(err)
	}
	return c.hear(o.Do)
}

func (c *crew) hear(what string) (a worker.Answer) {
	c.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	if a.Error != "" {
		c.Fatalf("%s: %s", what, a.Error)
	}
	return a
}

// Every client that is measured can do what is measured.
func TestClients(t *testing.T) {
	t.Parallel()
	for _, client := range []string{worker.Floor, worker.Reader, worker.Holdfast, worker.Chromedp, worker.Rod, worker.Mafredri} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := crewOf(t, client, worker.Options{Links: 2})
			if a := c.tell(worker.Order{Do: "evaluate", N: 7}); len(a.NS) != 7 {
				t.Errorf("%d calls were measured", len(a.NS))
			}
			for _, kind := range []string{stage.Ignored, stage.Console} {
				if a := c.tell(worker.Order{Do: "burst", Burst: stage.Burst{Kind: kind, Events: 500}}); len(a.NS) != 1 || a.NS[0] <= 0 {
					t.Errorf("burst of %s events: %+v", kind, a)
				}
			}
			if a := c.tell(worker.Order{Do: "try", N: 2}); a.Failed != 0 {
				t.Errorf("%d of 2 calls failed", a.Failed)
			}
			if a := c.tell(worker.Order{Do: "usage"}); a.Usage.Heap == 0 || a.Usage.Goroutines == 0 {
				t.Errorf("%+v", a.Usage)
			}
		})
	}
}

// A dialog is seen after it was told of and before it is answered, on one clock.
func TestDialogs(t *testing.T) {
	t.Parallel()
	for _, client := range []string{worker.Floor, worker.Holdfast, worker.Chromedp, worker.Rod, worker.Mafredri} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := crewOf(t, client, worker.Options{Links: 2})
			for range 2 {
				c.tell(worker.Order{Do: "dialog"}) // armed
				c.post("dialog", stage.DialogOrder{Number: c.place.Number}, nil)
				a := c.hear("dialog")
				var s stage.Stamps
				c.post("stamps", c.place.Number, &s)
				if s.Opened == 0 || a.At < s.Opened || s.Answered < a.At {
					t.Errorf("told of at %d, seen %d later, answered %d later", s.Opened, a.At-s.Opened, s.Answered-s.Opened)
				}
			}
		})
	}
}

func (c *crew) post(what string, order, answer any) {
	c.Helper()
	body, err := json.Marshal(order)
	if err != nil {
		c.Fatal(err)
	}
	resp, err := http.Post("http://"+c.addr+"/"+what, "application/json", bytes.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer != nil {
		if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
			c.Fatal(err)
		}
	}
}

// Who keeps what events change reads the last of them, window by window.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, client := range []string{worker.Holdfast, worker.Chromedp} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := crewOf(t, client, worker.Options{Links: 2})
			a := c.tell(worker.Order{Do: "changes", Window: 100, Burst: stage.Burst{
				Kind: stage.Changes, Events: 300, Frame: c.place.Frame, Parent: c.place.Target,
			}})
			if len(a.NS) != 1 || a.NS[0] <= 0 {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestSnapshotReads(t *testing.T) {
	t.Parallel()
	c := crewOf(t, worker.Holdfast, worker.Options{Links: 1})
	a := c.tell(worker.Order{Do: "snapshot", N: 2})
	if a.Values["rate"] <= 0 || a.Values["floor_rate"] <= 0 {
		t.Errorf("%v", a.Values)
	}
	if a = c.tell(worker.Order{Do: "counting"}); len(a.Values) == 0 {
		t.Error("nothing was counted")
	}
}

// A task and the floor's sequence reach the same: the page and its two iframes.
func TestAttach(t *testing.T) {
	t.Parallel()
	for _, client := range []string{worker.Floor, worker.Holdfast} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := crewOf(t, client, worker.Options{Links: 2})
			if a := c.tell(worker.Order{Do: "attach", N: 2, Window: 2, Places: []stage.Place{c.place}}); len(a.NS) != 2 {
				t.Errorf("%+v", a)
			}
		})
	}
}
