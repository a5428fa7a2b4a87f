package node_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/node"
	"holdfast/internal/pressure"
	"holdfast/internal/token"
	"holdfast/messages"
	"holdfast/transport"
)

// within is a node with limits, on a machine whose memory does not count.
func within(l node.Limits) func(*node.Config) {
	if l.MemoryHigh == 0 {
		l.MemoryHigh = -1
	}
	return func(c *node.Config) { c.Limits = l }
}

// apply begins a start and waits until it has begun or waits itself.
func (w *world) apply(id messages.TaskID, change ...func(*messages.TaskSpec)) <-chan outcome {
	spec := w.spec()
	alone(&spec)
	for _, c := range change {
		c(&spec)
	}
	return begin(w, func(ctx context.Context) (bool, error) {
		_, started, err := w.node.GetOrStart(ctx, id, spec)
		return started, err
	})
}

func waitFor(seconds float64) func(*messages.TaskSpec) {
	return func(s *messages.TaskSpec) { s.QueueTimeoutS = &seconds }
}

// waits says whether a call has no outcome.
func waits(o <-chan outcome) bool {
	synctest.Wait()
	return len(o) == 0
}

// wantRefused is limit_reached with that reason.
func (w *world) wantRefused(why messages.LimitReason, o <-chan outcome) {
	w.Helper()
	synctest.Wait()
	select {
	case got := <-o:
		w.want(messages.CodeLimitReached, got.err)
		if e, ok := got.err.(*messages.Error); !ok || e.Details["reason"] != why {
			w.Errorf("got %v, want %s", got.err, why)
		}
	default:
		w.Errorf("not refused for %s: it waits", why)
	}
}

func (w *world) wantStarted(o <-chan outcome) {
	w.Helper()
	synctest.Wait()
	select {
	case got := <-o:
		if got.err != nil || !got.value.(bool) {
			w.Errorf("got %v, %v", got.value, got.err)
		}
	default:
		w.Error("it waits")
	}
}

func TestX4ThirtyClients(t *testing.T) {
	t.Parallel()
	inWorldWith(t, "ten run, ten wait, ten are refused; who waits starts in order", chaos.Options{},
		within(node.Limits{MaxTasks: 10, QueueLength: 10}), func(w *world) {
			name := func(n int) messages.TaskID { return messages.TaskID(fmt.Sprintf("t%02d", n)) }
			var calls []<-chan outcome
			for n := range 30 {
				calls = append(calls, w.apply(name(n)))
			}
			for n, c := range calls {
				switch {
				case n < 10:
					w.wantStarted(c)
				case n < 20 && !waits(c):
					t.Errorf("%d does not wait", n)
				case n >= 20:
					w.wantRefused(messages.LimitQueueFull, c)
				}
			}
			p := w.node.Pressure()
			if p.Running != 10 || p.Queued != 10 || p.RejectedLastMinute[messages.LimitQueueFull] != 10 || p.Available || p.RetryAfterS == 0 {
				t.Errorf("%+v", p)
			}
			if n := len(w.node.Tasks()); n != 10 {
				t.Errorf("%d tasks are listed", n)
			}
			w.want(messages.CodeUpstreamUnavailable, w.node.Ready())
			for n := range 10 {
				if err := w.node.StopTask(w.ctx, name(n)); err != nil {
					t.Fatal(err)
				}
				w.wantStarted(calls[10+n])
				if n < 9 && !waits(calls[11+n]) {
					t.Errorf("%d does not wait", 11+n)
				}
			}
			if err := w.node.Ready(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
			if n := w.node.Pressure().RejectedLastMinute[messages.LimitQueueFull]; n != 0 {
				t.Errorf("%d were refused in the last minute", n)
			}
		})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	one := within(node.Limits{MaxTasks: 1, QueueTimeout: 20 * time.Second})

	inWorldWith(t, "a caller waits no longer than it said, or the node lets it", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		w.wantRefused(messages.LimitTasks, w.apply("b", waitFor(0)))
		short, long, unsaid := w.apply("c", waitFor(5)), w.apply("d", waitFor(300)), w.apply("e")
		for call, want := range map[<-chan outcome]time.Duration{short: 5 * time.Second, long: 20 * time.Second, unsaid: 20 * time.Second} {
			got := <-call
			w.want(messages.CodeLimitReached, got.err)
			if got.after != want {
				t.Errorf("refused after %v, want %v", got.after, want)
			}
		}
	})

	inWorldWith(t, "a start that waited has all the time a start has", chaos.Options{}, one, func(w *world) {
		mute := func(down bool, _ []byte) bool { return down } // of what the browser says, nothing comes
		w.between = mute
		plain := <-w.apply("plain")
		w.between = nil
		w.start("a", alone)
		w.between = mute
		late := w.apply("b")
		time.Sleep(19 * time.Second)
		if err := w.node.StopTask(w.ctx, "a"); err != nil {
			t.Fatal(err)
		}
		got := <-late
		w.want(messages.CodeOf(plain.err), got.err)
		if got.after != 19*time.Second+plain.after || got.after <= 30*time.Second {
			t.Errorf("gave up after %v, one that did not wait after %v", got.after, plain.after)
		}
	})

	inWorldWith(t, "a caller that goes away leaves the queue at once", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		ctx, cancel := context.WithCancel(w.ctx)
		gone := begin(w, func(context.Context) (bool, error) {
			_, started, err := w.node.GetOrStart(ctx, "b", w.spec())
			return started, err
		})
		if p := w.node.Pressure(); p.Queued != 1 || !waits(gone) {
			t.Fatalf("%+v", p)
		}
		cancel()
		synctest.Wait()
		if p := w.node.Pressure(); p.Queued != 0 {
			t.Errorf("%+v", p)
		}
		w.want(messages.CodeDeadline, (<-gone).err)
		if err := w.node.StopTask(w.ctx, "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.node.Snapshot("b", messages.SnapshotOptions{}); messages.CodeOf(err) != messages.CodeTaskNotFound {
			t.Errorf("nobody waits for it, and it was started: %v", err)
		}
	})

	inWorldWith(t, "so does one whose connection ends", chaos.Options{}, one, func(w *world) {
		door, c := w.door()
		w.start("a", alone)
		ctx, cancel := context.WithCancel(w.ctx)
		gone := begin(w, func(context.Context) (bool, error) {
			_, started, err := c.GetOrStart(ctx, "b", w.spec())
			return started, err
		})
		if p := w.node.Pressure(); p.Queued != 1 {
			t.Fatalf("%+v", p)
		}
		cancel()
		synctest.Wait()
		if p := w.node.Pressure(); p.Queued != 0 {
			t.Errorf("%+v", p)
		}
		<-gone
		door()
	})

	inWorldWith(t, "who asks for the same waits along, a stop ends it for all", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		first, second, third := w.apply("b"), w.apply("b"), w.apply("c")
		if p := w.node.Pressure(); p.Queued != 2 {
			t.Errorf("%+v", p)
		}
		if err := w.node.StopTask(w.ctx, "b"); err != nil {
			t.Fatal(err)
		}
		w.want(messages.CodeUpstreamUnavailable, (<-first).err)
		w.want(messages.CodeUpstreamUnavailable, (<-second).err)
		if err := w.node.StopTask(w.ctx, "a"); err != nil {
			t.Fatal(err)
		}
		w.wantStarted(third)
	})

	inWorldWith(t, "a task that is lost gives its place away", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		next := w.apply("b", waitFor(300))
		for w.snapshot("a").State != messages.StateLost {
			time.Sleep(time.Second)
		}
		w.b.RefuseConnections(false)
		if waits(next) {
			t.Error("it waits for a place that nobody has")
		}
		<-next
	})

	inWorldWith(t, "new limits start who waits and end nothing", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		next := w.apply("b")
		w.want(messages.CodeInvalidArgument, w.node.SetLimits(node.Limits{MaxTasks: -1}))
		w.want(messages.CodeInvalidArgument, w.node.SetLimits(node.Limits{MemoryHigh: math.NaN()}))
		if err := w.node.SetLimits(node.Limits{MaxTasks: 2, MemoryHigh: -1}); err != nil {
			t.Fatal(err)
		}
		w.wantStarted(next)
		if err := w.node.SetLimits(node.Limits{MaxTasks: 1, MemoryHigh: -1, IdleTimeout: time.Second, MaxLife: time.Second}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if p := w.node.Pressure(); p.Running != 2 || p.Limits.Tasks != 1 {
			t.Errorf("%+v", p)
		}
	})

	inWorldWith(t, "the end of a node starts nobody who waits", chaos.Options{}, one, func(w *world) {
		w.start("a", alone)
		dials := w.b.Dials()
		next := w.apply("b")
		if err := w.node.Stop(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.wantRefused(messages.LimitDraining, next)
		if n := w.b.Dials(); n != dials {
			t.Errorf("%d more links were dialled", n-dials)
		}
	})
}

// door serves the node's HTTP interface, and leads a client there; what it
// returns ends both.
func (w *world) door() (end func(), c *client.Client) {
	w.Helper()
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		w.Fatal(err)
	}
	handler, err := api.New(api.Config{Node: w.node, Gate: entrance})
	if err != nil {
		w.Fatal(err)
	}
	l := transport.NewPipeListener()
	server := &http.Server{Handler: handler}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) })
	c, err = client.New("http://127.0.0.1:7070", client.Options{Token: admin.Reveal(), DialContext: l.DialContext})
	if err != nil {
		w.Fatal(err)
	}
	return func() {
		c.Close()
		handler.CloseStreams()
		_ = server.Close()
		_ = l.Close()
		served.Wait()
	}, c
}

func TestDrainBegins(t *testing.T) {
	t.Parallel()
	inWorldWith(t, "nothing new starts, who waits is told, what runs goes on", chaos.Options{}, within(node.Limits{MaxTasks: 1}), func(w *world) {
		w.start("a", alone)
		next := w.apply("b")
		w.node.BeginDrain()
		w.want(messages.CodeUpstreamUnavailable, w.node.Ready())
		w.node.BeginDrain()
		w.wantRefused(messages.LimitDraining, next)
		w.wantRefused(messages.LimitDraining, w.apply("c"))
		same := <-w.apply("a")
		if same.err != nil || same.value.(bool) {
			t.Errorf("%v %v", same.value, same.err)
		}
		if p := w.node.Pressure(); !p.Draining || p.Available || p.Reason != messages.LimitDraining || p.Running != 1 || p.RejectedLastMinute[messages.LimitDraining] != 2 {
			t.Errorf("%+v", p)
		}
	})
}

// machine is how much of its memory is in use.
type machine struct {
	used  atomic.Uint64 // bits of a float64
	taken atomic.Int64
}

func (m *machine) set(used float64) { m.used.Store(math.Float64bits(used)) }

func (m *machine) measure() pressure.Sample {
	m.taken.Add(1)
	return pressure.Sample{Memory: pressure.Level{Used: math.Float64frombits(m.used.Load()), Limit: 1 << 30, Source: "host"}}
}

func TestX5Memory(t *testing.T) {
	t.Parallel()
	on := func(m *machine, l node.Limits) func(*node.Config) {
		return func(c *node.Config) { c.Limits, c.Measure = l, m.measure }
	}
	var m machine
	inWorldWith(t, "starts wait while it is short, and go on with hysteresis", chaos.Options{}, on(&m, node.Limits{}), func(w *world) {
		m.set(0.89)
		time.Sleep(1100 * time.Millisecond)
		w.start("a", alone)
		m.set(0.91)
		time.Sleep(1100 * time.Millisecond)
		w.wantRefused(messages.LimitMemory, w.apply("b", waitFor(0)))
		next := w.apply("b")
		if p := w.node.Pressure(); p.Available || p.Reason != messages.LimitMemory || p.Memory.State != messages.LoadHigh || p.Limits.Browsers != 2 {
			t.Errorf("%+v", p)
		}
		if err := w.node.Ready(); err != nil {
			t.Errorf("there is room in the queue: %v", err)
		}
		m.set(0.86)
		time.Sleep(1100 * time.Millisecond)
		if !waits(next) {
			t.Error("it has not fallen to the lower threshold")
		}
		m.set(0.85)
		time.Sleep(1100 * time.Millisecond)
		w.wantStarted(next)
		if n := w.lines.count("no task starts until less is in use"); n != 1 {
			t.Errorf("%d lines", n)
		}
	})
	var quiet machine
	inWorldWith(t, "it is measured once a second, however many ask, and not at all where nobody wants to know", chaos.Options{}, on(&quiet, node.Limits{}), func(w *world) {
		for range 100 {
			w.apply("a")
			w.node.Pressure()
			_ = w.node.Ready()
			time.Sleep(100 * time.Millisecond)
		}
		if n := quiet.taken.Load(); n < 9 || n > 13 {
			t.Errorf("%d times in 10 s", n)
		}
		if err := w.node.SetLimits(node.Limits{MemoryHigh: -1, MaxBrowsers: 1}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := quiet.taken.Load()
		time.Sleep(10 * time.Second)
		if n := quiet.taken.Load(); n > before {
			t.Errorf("%d times more", n-before)
		}
	})
	inWorldWith(t, "what cannot be read is said once", chaos.Options{}, func(c *node.Config) {
		c.Limits, c.Measure = node.Limits{}, func() pressure.Sample {
			return pressure.Sample{Memory: pressure.Level{Err: pressure.ErrUnreadable}}
		}
	}, func(w *world) {
		time.Sleep(10 * time.Second)
		w.start("a", alone)
		if n := w.lines.count("cannot be read"); n != 1 {
			t.Errorf("%d lines", n)
		}
		if p := w.node.Pressure(); !p.Available || p.Memory.State != messages.LoadUnknown {
			t.Errorf("%+v", p)
		}
	})
}

// X7, as an operator's metrics tell it.
func TestX7Outcomes(t *testing.T) {
	t.Parallel()
	inWorldWith(t, "who is gone leaves nothing behind, and the metrics say why it ended", chaos.Options{Pages: 1},
		within(node.Limits{MaxTasks: 2, QueueTimeout: time.Minute, IdleTimeout: time.Minute, MaxLife: time.Hour}), func(w *world) {
			w.start("idle")
			w.start("old", func(s *messages.TaskSpec) { s.MaxLifeS, s.IdleTimeoutS = 30, 3600 })
			next := w.apply("next", waitFor(300))
			time.Sleep(32 * time.Second)
			if s := w.snapshot("old"); s.State != messages.StateStopped || !strings.Contains(s.Reason, "maximum life of 30s") {
				t.Errorf("%s: %s", s.State, s.Reason)
			}
			<-next
			time.Sleep(29 * time.Second)
			if err := w.node.Renew("next"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if s := w.snapshot("idle"); s.State != messages.StateStopped || !strings.Contains(s.Reason, "not used for 1m0s") {
				t.Errorf("%s: %s", s.State, s.Reason)
			}
			time.Sleep(58 * time.Second)
			if s := w.snapshot("next"); s.State != messages.StateActive {
				t.Errorf("its lease was renewed: %s, %s", s.State, s.Reason)
			}
			time.Sleep(3 * time.Second)
			if n := len(w.b.Pages()); n != 1 {
				t.Errorf("%d pages are left, want the user's one", n)
			}
			if n := len(w.b.Connections()); n != 0 {
				t.Errorf("%d links are left", n)
			}
			w.counts(
				`holdfast_tasks_total{outcome="idle_timeout"} 2`, `holdfast_tasks_total{outcome="max_life"} 1`,
				`holdfast_task_queue_wait_seconds_count 1`, `holdfast_task_start_duration_seconds_count{kind="attach"} 3`,
				`holdfast_admission_rejected_total{reason="queue_full"} 0`, `holdfast_task_queue_capacity 100`,
			)
		})
}
