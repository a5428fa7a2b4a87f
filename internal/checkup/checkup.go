package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// What a check can come to.
const (
	OK      = "ok"
	Failed  = "failed"
	Skipped = "skipped" // what it needs did not work
)

// Finding is the result of one check.
type Finding struct {
	Check  string
	Status string
	Found  string
	Mend   string // what to do about it; empty when it is ok or was skipped
	// MaxMessageMiB is the longest message that came through both ways, of those tried; 0
	// where that was not the question.
	MaxMessageMiB int
}

// budget bounds each question, patience what has to happen in the page.
const (
	budget   = 15 * time.Second
	patience = 5 * time.Second
)

// patient is a browser under examination, and the tab that was opened in it.
type patient struct {
	endpoint messages.CDPURL
	link     *transport.Mux
	root     *ear
	page     *ear
	target   string
	arrivals *arrivals

	// What was found to work: native dialogs, the debugger, requests.
	canAnswer, canPause, canHold bool
	maxMessageMiB                int
}

// ear is a session and what it has said.
type ear struct {
	mux     *transport.Mux
	session messages.SessionID
	events  chan transport.Event
}

// wanted are the events that checks wait for.
var wanted = []string{
	"Target.attachedToTarget", "Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Page.loadEventFired",
	"Debugger.paused", "Fetch.requestPaused", "Runtime.bindingCalled",
}

func listen(mux *transport.Mux, s messages.SessionID) *ear {
	e := &ear{mux: mux, session: s, events: make(chan transport.Event, 64)}
	mux.Bind(s, e.hear)
	return e
}

func (e *ear) hear(ev transport.Event) {
	ev.Params = append([]byte(nil), ev.Params...)
	select {
	case e.events <- ev:
	default: // more than any check waits for
	}
}

func (e *ear) call(ctx context.Context, method string, params any, into any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	result, err := e.mux.Do(ctx, e.session, method, raw)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(result, into)
}

// start is call for a command that may hang; its outcome is ignored.
func (e *ear) start(method string, params any) {
	raw, _ := json.Marshal(params)
	e.mux.Start(transport.Call{SessionID: e.session, Method: method, Params: raw, Timeout: budget})
}

// next waits for an event; the error says that it did not come.
func (e *ear) next(ctx context.Context, method string, within time.Duration, into any) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		select {
		case ev := <-e.events:
			if ev.Method != method {
				continue
			}
			if into == nil {
				return nil
			}
			return json.Unmarshal(ev.Params, into)
		case <-timer.C:
			return fmt.Errorf("no %s within %s", method, within)
		case <-e.mux.Closed():
			return e.mux.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type object map[string]any

// attach has the browser's session attach to a page.
func (e *ear) attach(ctx context.Context, target string) (*ear, error) {
	var to struct {
		Session messages.SessionID `json:"sessionId"`
	}
	if err := e.call(ctx, "Target.attachToTarget", object{"targetId": target, "flatten": true}, &to); err != nil {
		return nil, err
	}
	return listen(e.mux, to.Session), nil
}

// eval evaluates and reads the value.
func (e *ear) eval(ctx context.Context, expression string, into any) error {
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := e.call(ctx, "Runtime.evaluate", object{"expression": expression, "returnByValue": true}, &r); err != nil {
		return err
	}
	if r.Exception != nil {
		return fmt.Errorf("the page threw an exception")
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(r.Result.Value, into)
}

// later runs a script soon, so that what it waits for holds up no command.
func (e *ear) later(ctx context.Context, script string) error {
	return e.eval(ctx, "setTimeout(() => {"+script+"}); 1", nil)
}

// Run examines the browser behind u. It takes some seconds, and ends early with
// ctx. The findings are in order, and always the same checks.
func Run(ctx context.Context, u messages.CDPURL) []Finding {
	p := &patient{endpoint: u}
	var findings []Finding
	blocked := false
	for _, c := range checks {
		f := Finding{Check: c.name, Status: Skipped, Found: "what it needs did not work"}
		if !blocked {
			found, err := c.try(p, ctx)
			f.Status, f.Found, f.MaxMessageMiB = OK, found, p.maxMessageMiB
			p.maxMessageMiB = 0
			switch {
			case errors.Is(err, errUntried), errors.Is(err, errUnheld):
				f.Status, f.Found = Skipped, err.Error()
			case err != nil:
				f.Status, f.Found, f.Mend = Failed, err.Error(), c.mend
				blocked = c.isNeeded
			}
		}
		findings = append(findings, f)
	}
	p.leave(context.WithoutCancel(ctx))
	return findings
}

// leave closes the tab, over another connection where the first was lost.
func (p *patient) leave(ctx context.Context) {
	if p.link == nil {
		return
	}
	if p.target != "" {
		closing := object{"targetId": p.target}
		if p.root.call(ctx, "Target.closeTarget", closing, nil) != nil {
			if link, err := transport.Dial(ctx, p.endpoint, transport.DialOptions{}); err == nil {
				_ = listen(link, "").call(ctx, "Target.closeTarget", closing, nil)
				link.Close()
				<-link.Closed()
			}
		}
	}
	p.link.Close()
	<-p.link.Closed()
}
