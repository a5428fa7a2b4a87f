package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// ledger knows which commands the fake browsers ran, and where.
type ledger struct {
	mu  sync.Mutex
	ran map[string][]messages.FrameID
}

// evaluate runs mark('token'): it is noted, and its value is the token.
func (l *ledger) evaluate(e chaos.Evaluation) (chaos.Value, bool) {
	token, ok := strings.CutPrefix(e.Expression, "mark('")
	if !ok {
		return chaos.Value{}, false
	}
	token = strings.TrimSuffix(token, "')")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[token] = append(l.ran[token], e.Frame)
	return chaos.Value{JSON: token}, true
}

func (l *ledger) of(token string) []messages.FrameID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ran[token]
}

// called is a call and its outcome.
type called struct {
	token string
	frame messages.FrameID
	value string
	err   error
	took  time.Duration // by the drill's clock
}

// callTimeout is short, so that many calls meet a link that is half-open.
const callTimeout = 2 * time.Second

// callSlack is what a call may take beyond that, by the drill's clock. A link that is
// half-open is found out later than that, so its end is not what ends a call in time.
const callSlack = time.Second

// caller makes one call after the other until the drill is over: on the page,
// or on its iframe where inFrame is set.
func (d *drill) caller(ctx context.Context, name string, inFrame bool) {
	pace := time.NewTicker(4 * time.Millisecond)
	defer pace.Stop()
	last := messages.Code("")
	for n := 0; ; n++ {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
		c := called{token: fmt.Sprintf("%s-%s-%d", d.id, name, n), frame: messages.FrameID(d.page)}
		req := messages.CDPRequest{
			Method: "Runtime.evaluate", TimeoutS: callTimeout.Seconds(), TargetID: d.page,
			Params: json.RawMessage(fmt.Sprintf(`{"expression":"mark('%s')","returnByValue":true}`, c.token)),
		}
		if inFrame {
			c.frame = d.iframe()
			req.TargetID, req.FrameID = "", c.frame
		}
		began := d.clock.now()
		// The call ends by its own timeout: no outcome by then is none at all.
		res, err := d.node.CDP(context.Background(), d.id, req)
		c.err, c.took = err, d.clock.now()-began
		if err == nil {
			var r struct {
				Result struct{ Value string }
			}
			c.err = json.Unmarshal(res.Result, &r)
			c.value = r.Result.Value
		}
		if code := messages.CodeOf(err); code != last {
			last = code
			d.trace.add("%s in %s: %v", c.token, c.frame, err)
		}
		d.mu.Lock()
		d.calls = append(d.calls, c)
		d.mu.Unlock()
	}
}

// outcomes a call may have here, besides a result. Nothing else is an excuse.
var outcomes = map[messages.Code]bool{
	messages.CodeUpstreamUnavailable: true, messages.CodeBlockedByDialog: true, messages.CodePageWedged: true, messages.CodeDeadline: true,
	messages.CodeFrameNotFound: true, messages.CodeFrameNotOOPIF: true, messages.CodeCDPError: true,
}

// checkCalls is the invariant of commands: one outcome each, at most one run
// each, in the frame it was meant for, and none at all where it was not sent.
func (d *drill) checkCalls() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.calls {
		ran := d.ledger.of(c.token)
		code := messages.CodeOf(c.err)
		unsent := false
		if e, ok := c.err.(*messages.Error); ok {
			unsent = e.Sent == messages.SentNo
		}
		switch {
		case len(ran) > 1:
			return fmt.Errorf("%s ran %d times", c.token, len(ran))
		case len(ran) == 1 && ran[0] != c.frame:
			return fmt.Errorf("%s was for frame %s and ran in %s", c.token, c.frame, ran[0])
		case c.err == nil && (len(ran) != 1 || c.value != c.token):
			return fmt.Errorf("%s was answered %q and ran %d times", c.token, c.value, len(ran))
		case c.err != nil && !outcomes[code]:
			return fmt.Errorf("%s: %w", c.token, c.err)
		case unsent && len(ran) > 0:
			return fmt.Errorf("%s ran, and is said not to have been sent: %w", c.token, c.err)
		case c.took > callTimeout+callSlack:
			return fmt.Errorf("%s took %s: %w", c.token, c.took, c.err)
		}
	}
	return nil
}

// navigator navigates the page now and then. It holds the page meanwhile, like any code
// that needs the page to stand still.
func (d *drill) navigator(ctx context.Context) {
	pace := time.NewTicker(60 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
		d.still.Lock()
		_, err := d.node.Navigate(context.Background(), d.id, messages.NavigateRequest{
			URL: fmt.Sprintf("http://a.test/home?%s-%d", d.id, n), TargetID: d.page, TimeoutS: 3,
		})
		d.still.Unlock()
		if err != nil {
			d.trace.add("navigate %d: %v", n, err)
			if !outcomes[messages.CodeOf(err)] {
				d.wrong("navigate: %v", err)
			}
		}
	}
}
