package worker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"

	"holdfast/internal/bench/stage"
)

// patience bounds a single step, and the longest is ten thousand tasks that come back.
const patience = 3 * time.Minute

// Order is one line to a worker.
type Order struct {
	Do string `json:"do"`
	// Places are to be opened, as many at once as AtOnce.
	Places []stage.Place `json:"places,omitempty"`
	AtOnce int           `json:"at_once,omitempty"`
	// N is how often.
	N int `json:"n,omitempty"`
	// URL is where to go.
	URL   string      `json:"url,omitempty"`
	Burst stage.Burst `json:"burst,omitzero"`
	// Window is how many changes may be under way.
	Window int `json:"window,omitempty"`
}

// Answer is one line from a worker.
type Answer struct {
	Error string `json:"error,omitempty"`
	// NS are durations, one per repetition.
	NS []int64 `json:"ns,omitempty"`
	// At is a moment, on [stage.Now]'s clock.
	At int64 `json:"at,omitempty"`
	// More are further moments or durations, where there are two of each.
	More []int64 `json:"more,omitempty"`
	// Mallocs is how many allocations the process made meanwhile.
	Mallocs uint64 `json:"mallocs,omitempty"`
	// Usage is what the process holds.
	Usage Usage `json:"usage,omitzero"`
	// Values are what an order of one client's own has to say.
	Values map[string]float64 `json:"values,omitempty"`
	// Failed is how many repetitions failed where that is no error.
	Failed int `json:"failed,omitempty"`
}

// Usage is what a process holds after its garbage has been collected and given
// back.
type Usage struct {
	Heap       uint64 `json:"heap"`
	Stacks     uint64 `json:"stacks"`
	Goroutines int    `json:"goroutines"`
}

// special is implemented by clients that know more orders than these.
type special interface {
	// special carries an order out; known is false where it is none of the
	// client's own.
	special(ctx context.Context, o Order) (a Answer, known bool, err error)
	// ready is told once how to say that an order is under way, which is an
	// answer before the answer.
	ready(armed func())
}

// arming is for embedding in clients that say so.
type arming struct{ armed func() }

func (a *arming) ready(armed func()) { a.armed = armed }

// Serve runs the client of that name on orders from in until in ends.
func Serve(name string, o Options, in io.Reader, out io.Writer) error {
	c, err := newClient(name, o)
	if err != nil {
		return err
	}
	defer c.Close()
	w := &session{client: c, out: json.NewEncoder(out)}
	if o.Profile != "" {
		w.heap = o.Profile + ".heap"
	}
	if s, ok := c.(special); ok {
		s.ready(func() { _ = w.out.Encode(Answer{}) }) // there is no reader: it ends with the next line
	}
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // its master has gone
		}
		var order Order
		if err := json.Unmarshal(line, &order); err != nil {
			return err
		}
		a, err := w.do(order)
		if err != nil {
			a = Answer{Error: err.Error()}
		}
		if err := w.out.Encode(a); err != nil {
			return err
		}
	}
}

type session struct {
	client Client
	pages  []Page
	out    *json.Encoder
	heap   string // file for a profile
}

func (w *session) do(o Order) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s, ok := w.client.(special); ok {
		if a, known, err := s.special(ctx, o); known {
			return a, err
		}
	}
	if o.Do != "open" && o.Do != "usage" && len(w.pages) == 0 {
		return Answer{}, errors.New("nothing is open")
	}
	switch o.Do {
	case "open":
		return Answer{}, w.open(o)
	case "evaluate":
		return w.evaluate(o.N)
	case "try":
		return w.try(o.N)
	case "burst":
		return w.burst(ctx, o.Burst)
	case "bursts":
		return w.bursts(ctx, o.Burst)
	case "changes":
		return w.changes(ctx, o)
	case "dialog":
		return w.dialog(ctx)
	case "usage":
		return usage(), w.heapProfile()
	}
	return Answer{}, fmt.Errorf("unknown order %s", o.Do)
}

func (w *session) open(o Order) error {
	pages := make([]Page, len(o.Places))
	errs := make([]error, len(o.Places))
	turn := make(chan struct{}, max(1, o.AtOnce))
	var all sync.WaitGroup
	for i, p := range o.Places {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			pages[i], errs[i] = w.client.Open(ctx, p)
		})
	}
	all.Wait()
	if err := firstOf(errs); err != nil {
		return err
	}
	w.pages = append(w.pages, pages...)
	return nil
}

// evaluate measures round trips on the first page, after some that do not count: the other
// clients have had the caches meanwhile.
func (w *session) evaluate(n int) (Answer, error) {
	ctx := context.Background() // each client bounds its calls itself
	for range max(20, n/10) {
		if err := w.pages[0].Evaluate(ctx); err != nil {
			return Answer{}, err
		}
	}
	took := make([]int64, n)
	for i := range took {
		begun := time.Now()
		if err := w.pages[0].Evaluate(ctx); err != nil {
			return Answer{}, err
		}
		took[i] = time.Since(begun).Nanoseconds()
	}
	return Answer{NS: took}, nil
}

// try calls a few times and counts the failures.
func (w *session) try(n int) (a Answer, _ error) {
	for range n {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if w.pages[0].Evaluate(ctx) != nil {
			a.Failed++
		}
		cancel()
	}
	return a, nil
}

func (b burst) params() map[string]any {
	return map[string]any{"kind": b.Kind, "events": b.Events, "from": b.From, "frame": b.Frame, "parent": b.Parent}
}

type burst stage.Burst

// burst measures how long it takes to read events until the reply behind them.
func (w *session) burst(ctx context.Context, b stage.Burst) (Answer, error) {
	if err := w.pages[0].Call(ctx, "Bench.prepare", burst(b).params()); err != nil {
		return Answer{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	if err := w.pages[0].Call(ctx, "Bench.burst", map[string]any{}); err != nil {
		return Answer{}, err
	}
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	return Answer{NS: []int64{took.Nanoseconds()}, Mallocs: after.Mallocs - before.Mallocs}, nil
}

// bursts measures how long it takes until each page has read events of a kind of its own.
func (w *session) bursts(ctx context.Context, b stage.Burst) (Answer, error) {
	errs := make([]error, len(w.pages))
	all := func(method string, params func(i int) map[string]any) error {
		var done sync.WaitGroup
		for i, p := range w.pages {
			done.Go(func() { errs[i] = p.Call(ctx, method, params(i)) })
		}
		done.Wait()
		return firstOf(errs)
	}
	if err := all("Bench.prepare", func(i int) map[string]any {
		own := burst(b)
		own.Kind = stage.Kinds[i%len(stage.Kinds)]
		return own.params()
	}); err != nil {
		return Answer{}, err
	}
	begun := time.Now()
	err := all("Bench.burst", func(int) map[string]any { return map[string]any{} })
	return Answer{NS: []int64{time.Since(begun).Nanoseconds()}}, err
}

// changes measures events that change what is known, in windows: the next one
// comes when the end of the last one can be seen.
func (w *session) changes(ctx context.Context, o Order) (Answer, error) {
	changer, ok := w.pages[0].(Changer)
	if !ok {
		return Answer{}, errors.New("this client keeps nothing of events")
	}
	var took int64
	place := stage.Place{Frame: o.Burst.Frame, Target: o.Burst.Parent}
	for from := o.Burst.From; from < o.Burst.From+o.Burst.Events; from += o.Window {
		b := o.Burst
		b.From, b.Events = from, o.Window
		if err := w.pages[0].Call(ctx, "Bench.prepare", burst(b).params()); err != nil {
			return Answer{}, err
		}
		reached, err := changer.Expect(ctx, place, from, from+o.Window-1)
		if err != nil {
			return Answer{}, err
		}
		begun := time.Now()
		if err := w.pages[0].Call(ctx, "Bench.burst", map[string]any{}); err != nil {
			return Answer{}, err
		}
		if err := reached(); err != nil {
			return Answer{}, err
		}
		took += time.Since(begun).Nanoseconds()
	}
	return Answer{NS: []int64{took}}, nil
}

// dialog says when it is armed, then waits for one dialog and answers it.
func (w *session) dialog(ctx context.Context) (Answer, error) {
	d, ok := w.pages[0].(Dialogs)
	if !ok {
		return Answer{}, errors.New("this client tells of no dialogs")
	}
	seen, answer, err := d.Arm(ctx)
	if err != nil {
		return Answer{}, err
	}
	if err := w.out.Encode(Answer{}); err != nil {
		return Answer{}, err
	}
	at, err := seen()
	if err != nil {
		return Answer{}, err
	}
	return Answer{At: at}, answer()
}

// heapProfile writes what the heap holds now, where that is wanted.
func (w *session) heapProfile() error {
	if w.heap == "" {
		return nil
	}
	f, err := os.Create(w.heap)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

func usage() Answer {
	// Twice: what a finalizer frees goes with the second.
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Answer{Usage: Usage{Heap: m.HeapAlloc, Stacks: m.StackInuse, Goroutines: runtime.NumGoroutine()}}
}

// firstOf is the first error, and how many there are: a thousand say no more.
func firstOf(errs []error) error {
	var first error
	n := 0
	for _, err := range errs {
		if err != nil {
			first = cmp.Or(first, err)
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("%d of %d failed; the first: %w", n, len(errs), first)
	}
	return first
}
