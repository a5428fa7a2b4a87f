package worker

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
)

// special implements special: what only a node can be asked.
func (c *holdfastClient) special(ctx context.Context, o Order) (Answer, bool, error) {
	switch o.Do {
	case "snapshot":
		a, err := c.readers(o.N)
		return a, true, err
	case "counting":
		return c.counting(), true, nil
	case "attach":
		a, err := c.attach(ctx, o)
		return a, true, err
	case "reconnected":
		a, err := c.reconnected(ctx, o.N)
		return a, true, err
	case "load":
		a, err := c.load(ctx, o)
		return a, true, err
	case "ask":
		a, err := c.ask(ctx, o.N)
		return a, true, err
	case "outlive":
		a, err := c.outlive(ctx)
		return a, true, err
	}
	return Answer{}, false, nil
}

// readTime is how long readers read.
const readTime = 100 * time.Millisecond

// readers has so many goroutines read at once, ours and the floor's in turn.
func (c *holdfastClient) readers(n int) (Answer, error) {
	id := messages.TaskID("bench-1")
	var failed atomic.Bool
	read := func() bool {
		s, err := c.node.Snapshot(id, messages.SnapshotOptions{})
		return err == nil && s.Active
	}
	var tasks sync.Map
	var pointer atomic.Pointer[messages.Snapshot]
	first, err := c.node.Snapshot(id, messages.SnapshotOptions{})
	if err != nil {
		return Answer{}, err
	}
	pointer.Store(first)
	tasks.Store(id, &pointer)
	floor := func() bool {
		p, ok := tasks.Load(id)
		return ok && p.(*atomic.Pointer[messages.Snapshot]).Load().Active
	}
	rate := func(read func() bool) float64 {
		var reads atomic.Int64
		var stop atomic.Bool
		var all sync.WaitGroup
		begun := time.Now()
		for range n {
			all.Go(func() {
				mine := int64(0)
				for !stop.Load() {
					for range 1000 {
						if !read() {
							failed.Store(true)
						}
					}
					mine += 1000
				}
				reads.Add(mine)
			})
		}
		time.Sleep(readTime)
		stop.Store(true)
		all.Wait()
		return float64(reads.Load()) / time.Since(begun).Seconds()
	}
	a := Answer{Values: map[string]float64{"floor_rate": rate(floor), "rate": rate(read)}}
	a.Values["allocs"] = mallocs(func() { read() })
	if failed.Load() {
		return a, errors.New("a read has failed")
	}
	return a, nil
}

// mallocs is how many allocations the process makes for a call of f, over many.
func mallocs(f func()) float64 {
	const times = 50_000
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / times
}

// counting counts each thing that a metric counts.
func (c *holdfastClient) counting() Answer {
	m := c.node.Metrics()
	loss := messages.Errorf(messages.CodeDialogLost, "lost")
	ended := guard.Reason{Kind: guard.Failure}
	event := func(e messages.Event) func() {
		events := []messages.Event{e}
		return func() { m.Observe(events) }
	}
	values := map[string]float64{}
	for name, f := range map[string]func(){
		"an answered dialog":         func() { m.Answered(time.Millisecond, nil) },
		"an answer that came late":   func() { m.Answered(time.Millisecond, loss) },
		"a request":                  func() { m.Request("cdp", 200, false, time.Millisecond) },
		"a request without a token":  func() { m.AuthFailed("cdp") },
		"a stream":                   func() { m.StreamOpened(); m.StreamClosed() },
		"a start":                    func() { m.TaskStarted(false, time.Millisecond) },
		"a start that has waited":    func() { m.QueueWaited(time.Millisecond) },
		"a start that was refused":   func() { m.AdmissionRejected(messages.LimitTasks) },
		"something that was cut off": func() { m.Cut(shed.LogLines) },
		"an actor's start":           func() { m.ActorStarted("session") },
		"an actor's end":             func() { m.ActorExited("session", ended) },
		"an actor's restart":         func() { m.ActorRestarted("session") },
		"an actor given up":          func() { m.ActorGaveUp("session") },
		"a dead letter":              func() { m.DeadLetter(false) },
		"a browser's end":            func() { m.BrowserExited("signal") },
		"an orphan":                  func() { m.OrphansReaped(1) },
		"a dialog's opening": event(messages.Event{Type: messages.EventDialogOpened, Dialog: &messages.Dialog{
			Type: "alert", Path: messages.PathNative, Heard: time.Now(),
		}}),
		"a dialog's end": event(messages.Event{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{
			ClosedBy: messages.ClosedByAgent, Promoted: true,
		}}),
		"a page that hangs": event(messages.Event{Type: messages.EventPageChanged, Was: messages.PageDialog, Lasted: time.Millisecond, Page: &messages.Page{
			PageState: messages.PageHung,
		}}),
		"a page's end": event(messages.Event{Type: messages.EventPageClosed, Lasted: time.Millisecond, Page: &messages.Page{PageState: messages.PageHung}}),
		"a recovery": event(messages.Event{Type: messages.EventPageRecovery, Recovery: &messages.Recovery{
			Action: messages.RecoverReload, Result: messages.RecoveryOK,
		}}),
		"a reconnect": event(messages.Event{
			Type: messages.EventConnection, Reason: messages.ReasonReconnected, Connection: &messages.Connection{LastGapMS: 12},
			Reconnect: &messages.Reconnect{OK: true, Cause: messages.CauseClosed},
		}),
		"a task's end": event(messages.Event{Type: messages.EventTaskState, State: messages.StateStopped, Outcome: messages.OutcomeStopped}),
	} {
		values[name] = mallocs(f)
	}
	return Answer{Values: values}
}
