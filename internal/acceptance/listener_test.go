package acceptance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

// door is the node's HTTP front door.
type door struct {
	*rig
	url   string
	token string
}

func (r *rig) door() *door {
	r.Helper()
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		r.Fatal(err)
	}
	h, err := api.New(api.Config{Node: r.node, Gate: entrance})
	if err != nil {
		r.Fatal(err)
	}
	s := httptest.NewServer(h)
	r.Cleanup(func() {
		h.CloseStreams()
		s.Close()
	})
	return &door{r, s.URL, admin.Reveal()}
}

func (d *door) request(method, path, body string) *http.Request {
	d.Helper()
	req, err := http.NewRequestWithContext(d.ctx, method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// call returns the status and the decoded body.
func (d *door) call(method, path, body string) (int, map[string]any) {
	d.Helper()
	res, err := http.DefaultClient.Do(d.request(method, path, body))
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
		d.Fatalf("%s %s: %d, %v", method, path, res.StatusCode, err)
	}
	return res.StatusCode, v
}

// sseEvent is one server-sent event as a reader gets it.
type sseEvent struct {
	id, name string
	data     messages.Event
}

// read opens the event stream and reads until an event is as expected.
func (d *door) read(id messages.TaskID, lastEventID string, until func(sseEvent) bool) []sseEvent {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	req := d.request("GET", "/v1/tasks/"+string(id)+"/events", "").WithContext(ctx)
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		d.Fatalf("%d, %s", res.StatusCode, got)
	}
	var all []sseEvent
	var e sseEvent
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				d.Fatal(err)
			}
		case "":
			if e.name != "" && value == "" {
				all = append(all, e)
				if until(e) {
					return all
				}
			}
			e = sseEvent{}
		}
	}
	d.Fatalf("the stream ended after %d events: %v", len(all), lines.Err())
	return nil
}
