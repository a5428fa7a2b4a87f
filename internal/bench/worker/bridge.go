package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/bench/stage"
	"holdfast/messages"
)

// first is the client's first task, as a page.
func (c *holdfastClient) first() *holdfastPage { return &holdfastPage{c.node, "bench-1"} }

// load sends the page to o.URL, which has o.N scripts, until all of them have run.
func (c *holdfastClient) load(ctx context.Context, o Order) (Answer, error) {
	page := c.first()
	begun := time.Now()
	if _, err := c.node.Navigate(ctx, page.id, messages.NavigateRequest{URL: o.URL, WaitUntil: messages.WaitLoad}); err != nil {
		return Answer{}, err
	}
	took := time.Since(begun)
	var ran int
	if err := page.eval(ctx, "window.n || 0", &ran); err != nil || ran != o.N {
		return Answer{}, fmt.Errorf("%d of %d scripts have run (%w)", ran, o.N, err)
	}
	return Answer{NS: []int64{took.Nanoseconds()}}, nil
}

// asks has the page ask soon, and keep what it was told and how long it has waited.
const asks = `setTimeout(() => {
	const begun = performance.now(), yes = confirm("go on?");
	window.asked = {yes, ms: performance.now() - begun};
}); window.asked = {}; 1`

// ask has the page ask n times, and answers when the watching program has heard of it;
// the times are those of the page.
func (c *holdfastClient) ask(ctx context.Context, n int) (a Answer, err error) {
	page := c.first()
	for range n {
		d, err := page.asked(ctx)
		if err != nil {
			return a, err
		}
		if err := page.accept(ctx, d.ID, c.path()); err != nil {
			return a, err
		}
		ms, err := page.waited(ctx)
		if err != nil {
			return a, err
		}
		a.NS = append(a.NS, int64(ms*1e6))
	}
	return a, nil
}

// outlive has the page ask, says so, and answers once the primary has fallen. It says
// when the dialog was closed by that, and in Failed whether the primary was back by
// then, and returns when both links are.
func (c *holdfastClient) outlive(ctx context.Context) (a Answer, err error) {
	page := c.first()
	both := func(s *messages.Snapshot) bool {
		return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp && s.State == messages.StateActive
	}
	if err := page.await(ctx, both); err != nil {
		return a, err
	}
	d, err := page.asked(ctx)
	if err != nil {
		return a, err
	}
	before, err := c.node.Snapshot(page.id, messages.SnapshotOptions{})
	if err != nil {
		return a, err
	}
	back := func(s *messages.Snapshot) bool { return s.Connection.Reconnects > before.Connection.Reconnects }
	c.armed()
	fallen := func(s *messages.Snapshot) bool { return s.Connection.Primary != messages.LinkUp || back(s) }
	if err := page.await(ctx, fallen); err != nil {
		return a, err
	}
	if err := page.accept(ctx, d.ID, c.path()); err != nil {
		return a, err
	}
	a.NS = []int64{stage.Now()}
	s, err := c.node.Snapshot(page.id, messages.SnapshotOptions{})
	if err != nil {
		return a, err
	}
	if back(s) {
		a.Failed = 1
	}
	if err := page.await(ctx, func(s *messages.Snapshot) bool { return back(s) && both(s) }); err != nil {
		return a, err
	}
	_, err = page.waited(ctx)
	return a, err
}

// path is how dialogs have to come.
func (c *holdfastClient) path() messages.DialogPath {
	if c.bridge == Native {
		return messages.PathNative
	}
	return messages.PathBridge
}

// asked has the page ask and waits for the dialog.
func (p *holdfastPage) asked(ctx context.Context) (messages.Dialog, error) {
	w, err := p.node.Watch(ctx, p.id, 0, false)
	if err != nil {
		return messages.Dialog{}, err
	}
	defer w.Close()
	if _, err := w.Next(ctx); err != nil { // how things stand
		return messages.Dialog{}, err
	}
	if err := p.eval(ctx, asks, nil); err != nil {
		return messages.Dialog{}, err
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return messages.Dialog{}, fmt.Errorf("no dialog: %w", err)
		}
		for _, e := range events {
			if e.Type == messages.EventDialogOpened {
				return *e.Dialog, nil
			}
		}
	}
}

// accept answers a dialog and returns when it is closed.
func (p *holdfastPage) accept(ctx context.Context, d messages.DialogID, path messages.DialogPath) error {
	closed, err := p.node.Respond(ctx, p.id, messages.DialogAnswer{Action: "accept", DialogID: d})
	if err == nil && (closed.ClosedBy != messages.ClosedByAgent || closed.Path != path) {
		err = fmt.Errorf("closed by %s over %s, not over %s", closed.ClosedBy, closed.Path, path)
	}
	return err
}

// waited is for how many milliseconds the page has waited for what it was told, which
// has to be yes.
func (p *holdfastPage) waited(ctx context.Context) (ms float64, err error) {
	var asked struct {
		Yes bool `json:"yes"`
		MS  float64
	}
	if err := p.eval(ctx, "asked", &asked); err != nil {
		return 0, err
	}
	if !asked.Yes {
		return 0, errors.New("the page was told no")
	}
	return asked.MS, nil
}

// eval evaluates and reads the value, unless into is nil.
func (p *holdfastPage) eval(ctx context.Context, expression string, into any) error {
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true})
	if err != nil {
		return err
	}
	r, err := p.node.CDP(ctx, p.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params})
	if err != nil || into == nil {
		return err
	}
	var reply struct {
		Result struct{ Value json.RawMessage }
	}
	if err := json.Unmarshal(r.Result, &reply); err != nil {
		return err
	}
	return json.Unmarshal(reply.Result.Value, into)
}
