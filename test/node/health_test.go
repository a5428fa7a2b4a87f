package node_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/actors/registry"
	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
)

// held is a registry that does not come to an answer while it is.
type held struct {
	mu    sync.Mutex
	gate  chan struct{}
	pings atomic.Int64
}

func (h *held) config(c *node.Config) {
	c.Limits.MemoryHigh = -1
	c.Intercept = func(m guard.Moment) {
		if m.Kind != "registry" || m.Phase != guard.PhaseReceive {
			return
		}
		if _, ok := m.Msg.(registry.Ping); ok {
			h.pings.Add(1)
		}
		h.mu.Lock()
		gate := h.gate
		h.mu.Unlock()
		if gate != nil {
			<-gate
		}
	}
}

func (h *held) hold() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate = make(chan struct{})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.gate)
		h.gate = nil
	}
}

// The probes of X9, on a node.
func TestX9Probes(t *testing.T) {
	t.Parallel()
	alive := func(w *world, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		return w.node.Alive(ctx)
	}

	var storm held
	inWorldWith(t, "a registry that is busy is not alive, and all that is read from memory goes on", chaos.Options{Pages: 1}, storm.config, func(w *world) {
		w.start("t", alone)
		release := storm.hold()
		var probes sync.WaitGroup
		for range 1000 {
			probes.Go(func() {
				began := time.Now()
				w.want(messages.CodeDeadline, alive(w, time.Second))
				if took := time.Since(began); took != time.Second {
					t.Errorf("after %v", took)
				}
			})
		}
		synctest.Wait()
		if p := w.node.Pressure(); p.Running != 1 {
			t.Errorf("%+v", p)
		}
		if err := w.node.Ready(); err != nil {
			t.Error(err)
		}
		if s := w.snapshot("t"); s.State != messages.StateActive {
			t.Error(s.State)
		}
		probes.Wait()
		again := begin(w, func(context.Context) (any, error) { return nil, alive(w, time.Second) })
		release()
		if got := <-again; got.err != nil || got.after != 0 {
			t.Errorf("%v after %v", got.err, got.after)
		}
		if n := storm.pings.Load(); n != 1 {
			t.Errorf("%d pings for a thousand probes", n)
		}
		if err := alive(w, time.Second); err != nil || storm.pings.Load() != 2 {
			t.Errorf("%v after %d pings", err, storm.pings.Load())
		}
	})

	inWorld(t, "no page and no browser shows in it", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		well := func(when string) {
			t.Helper()
			began := time.Now()
			if err := alive(w, time.Second); err != nil {
				t.Errorf("%s: %v", when, err)
			}
			if err := w.node.Ready(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
			if p := w.node.Pressure(); p.Running != 1 || !p.Available {
				t.Errorf("%s: %+v", when, p)
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("%s: %v", when, took)
			}
		}
		w.b.Spin(page)
		call := begin(w, func(ctx context.Context) (any, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", TimeoutS: 5})
		})
		well("while a page spins and a call waits")
		<-call
		w.b.Crash(page)
		well("when it has crashed")
		for _, c := range w.b.Connections() {
			c.Stall()
		}
		well("while the browser says nothing")
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		well("when it is gone")
	})

	inWorldWith(t, "which check fails", chaos.Options{}, within(node.Limits{MaxTasks: 1, QueueLength: 1}), func(w *world) {
		failed := func() (names string) {
			for _, c := range w.node.Checks() {
				if !c.OK && !c.Advisory {
					names += c.Name
				}
			}
			return names
		}
		w.start("a", alone)
		if got := failed(); got != "" {
			t.Errorf("with room in the queue: %s", got)
		}
		next := w.apply("b")
		if got := failed(); got != "capacity" {
			t.Errorf("with a full queue: %s", got)
		}
		w.node.BeginDrain()
		synctest.Wait()
		if got := failed(); got != "draining" {
			t.Errorf("while it drains: %s", got)
		}
		<-next
	})
}
