package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// agent is what both ways to a node offer: its Go API and its HTTP client.
type agent interface {
	GetOrStart(context.Context, messages.TaskID, messages.TaskSpec) (*messages.Snapshot, bool, error)
	Respond(context.Context, messages.TaskID, messages.DialogAnswer) (messages.ClosedDialog, error)
	Navigate(context.Context, messages.TaskID, messages.NavigateRequest) (messages.NavigateResult, error)
	CDP(context.Context, messages.TaskID, messages.CDPRequest) (messages.CDPResult, error)
	StopTask(context.Context, messages.TaskID) error
}

// call is one order to the node. It ends exactly once, in time.
type call struct {
	what   string
	task   *task
	began  time.Time
	budget time.Duration
	ends   int // outcomes

	value any
	err   error
	took  time.Duration
}

// calls are all orders of a run.
type calls struct {
	mu      sync.Mutex
	list    []*call
	running sync.WaitGroup
}

// agentFor takes turns between the two ways in.
func (w *world) agentFor(n uint32) agent {
	if n%2 == 0 {
		return w.node
	}
	return w.client
}

// begin gives an order on a goroutine of its own and hears its outcome with
// then, which may be nil.
func (w *world) begin(t *task, what string, budget time.Duration, order func(context.Context) (any, error), then func(any, error)) *call {
	c := &call{what: what, task: t, began: time.Now(), budget: budget}
	w.calls.mu.Lock()
	w.calls.list = append(w.calls.list, c)
	w.calls.mu.Unlock()
	w.calls.running.Go(func() {
		v, err := order(context.Background())
		w.calls.mu.Lock()
		c.ends++
		c.value, c.err, c.took = v, err, time.Since(c.began)
		w.calls.mu.Unlock()
		w.trace.say("%s: %s after %s", what, outcomeText(err), c.took)
		if then != nil {
			then(v, err)
		}
	})
	return c
}

func outcomeText(err error) string {
	if err == nil {
		return "ok"
	}
	text := err.Error()
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return text
}

// checkCalls holds every call to one outcome, in time, with a code of the
// contract that tells the caller something.
func (w *world) checkCalls() {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	w.calls.list = slices.DeleteFunc(w.calls.list, func(c *call) bool {
		switch code := messages.CodeOf(c.err); {
		case c.ends == 0:
			if age := time.Since(c.began); age > c.budget {
				w.violate("%s has no outcome after %s, its budget is %s", c.what, age, c.budget)
				return true
			}
			return false
		case c.ends > 1:
			w.violate("%s ended %d times", c.what, c.ends)
		case c.took > c.budget:
			w.violate("%s took %s, its budget is %s", c.what, c.took, c.budget)
		case code == messages.CodeInternal, code == messages.CodeInvalidArgument, code != "" && !slices.Contains(messages.Codes(), code):
			w.violate("%s ended with %v", c.what, c.err)
		}
		return true
	})
}

// pending are the calls without an outcome.
func (w *world) pendingCalls() []string {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	var left []string
	for _, c := range w.calls.list {
		if c.ends == 0 {
			left = append(left, c.what)
		}
	}
	return left
}

// probes are raw commands whose place of execution the browser reports: a
// command is carried out where it was meant to be, at most once, or not at all
// (demand 16).
type probes struct {
	mu   sync.Mutex
	list []*probe
}

type probe struct {
	frame messages.FrameID
	ran   []chaos.Evaluation
	// isUnsent says that its caller was told that it was not sent.
	isUnsent bool
}

func (p *probes) new(frame messages.FrameID) (int, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, &probe{frame: frame})
	n := len(p.list) - 1
	return n, fmt.Sprintf(probeForm, n)
}

// evaluate is called by the browsers.
func (p *probes) evaluate(e chaos.Evaluation) (chaos.Value, bool) {
	var n int
	if _, err := fmt.Sscanf(e.Expression, probeForm, &n); err != nil {
		return chaos.Value{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[n].ran = append(p.list[n].ran, e)
	return chaos.Value{JSON: n}, true
}

// evaluate runs a probe in a frame: that of an out-of-process iframe, or a
// page's main frame.
func (w *world) evaluate(t *task, page messages.TargetID, frame messages.FrameID, way uint32) {
	n, expression := w.probes.new(frame)
	params, err := json.Marshal(map[string]any{"expression": expression})
	if err != nil {
		panic(err)
	}
	r := messages.CDPRequest{Method: "Runtime.evaluate", Params: params, TimeoutS: 3}
	if frame == messages.FrameID(page) {
		r.TargetID = page
	} else {
		r.FrameID = frame
	}
	what := fmt.Sprintf("%s: evaluate probe %d in %s", t.id, n, w.trace.name("f", string(frame)))
	w.begin(t, what, 3*time.Second, func(ctx context.Context) (any, error) {
		return w.agentFor(way).CDP(ctx, t.id, r)
	}, func(_ any, err error) {
		w.probes.mu.Lock()
		defer w.probes.mu.Unlock()
		ran := w.probes.list[n].ran
		if err == nil && len(ran) != 1 {
			w.violate("%s succeeded and ran %d times", what, len(ran))
		}
	})
}

func (w *world) checkProbes() {
	w.probes.mu.Lock()
	defer w.probes.mu.Unlock()
	for n, p := range w.probes.list {
		if len(p.ran) > 1 {
			w.violate("probe %d ran %d times", n, len(p.ran))
		}
		if len(p.ran) > 0 && p.isUnsent {
			w.violate("probe %d ran, and its caller was told that it was not sent", n)
		}
		for _, e := range p.ran {
			if e.Frame != p.frame {
				w.violate("probe %d was for frame %s and ran in %s", n, w.trace.name("f", string(p.frame)), w.trace.name("f", string(e.Frame)))
			}
		}
	}
}

// cdp gives a raw command on a page.
func (w *world) cdp(t *task, method string, page messages.TargetID, params string, timeout float64, then func(any, error)) {
	r := messages.CDPRequest{Method: method, TargetID: page, TimeoutS: timeout}
	if params != "" {
		r.Params = json.RawMessage(params)
	}
	what := fmt.Sprintf("%s: %s %s", t.id, method, w.trace.name("p", string(page)))
	w.begin(t, strings.TrimSpace(what), time.Duration(timeout*float64(time.Second)), func(ctx context.Context) (any, error) {
		return w.node.CDP(ctx, t.id, r)
	}, then)
}
