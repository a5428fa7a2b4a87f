package guard_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthdm/hollywood/actor"
	"go.uber.org/goleak"

	"holdfast/internal/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a Behavior made of functions; nil ones do nothing.
type script struct {
	init      func(c *guard.Context)
	receive   func(c *guard.Context, msg any)
	terminate func(c *guard.Context, r guard.Reason)
}

func (s script) Init(c *guard.Context) {
	if s.init != nil {
		s.init(c)
	}
}

func (s script) Receive(c *guard.Context, msg any) {
	// Any actor of the tests does what it is told.
	if f, ok := msg.(func(*guard.Context)); ok {
		f(c)
		return
	}
	if s.receive != nil {
		s.receive(c, msg)
	}
}

func (s script) Terminate(c *guard.Context, r guard.Reason) {
	if s.terminate != nil {
		s.terminate(c, r)
	}
}

func (s script) child(key string) guard.Child {
	return guard.Child{Kind: "test", Key: key, New: func() guard.Behavior { return s }}
}

// diary is what actors wrote down, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *diary) want(t *testing.T, want ...string) {
	t.Helper()
	if got := d.read(); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// counts is an Observer.
type counts struct {
	mu          sync.Mutex
	started     int
	exited      map[guard.ReasonKind]int
	deadLetters int
	late        int
	restarted   []string
	gaveUp      []string
	duplicates  int
}

func (o *counts) ActorStarted(string) { o.mu.Lock(); o.started++; o.mu.Unlock() }
func (o *counts) ActorRestarted(kind string) {
	o.mu.Lock()
	o.restarted = append(o.restarted, kind)
	o.mu.Unlock()
}

func (o *counts) ActorGaveUp(kind string) {
	o.mu.Lock()
	o.gaveUp = append(o.gaveUp, kind)
	o.mu.Unlock()
}

func (o *counts) DeadLetter(late bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.deadLetters++; late {
		o.late++
	}
}
func (o *counts) DuplicateID() { o.mu.Lock(); o.duplicates++; o.mu.Unlock() }
func (o *counts) ActorExited(_ string, r guard.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.exited == nil {
		o.exited = make(map[guard.ReasonKind]int)
	}
	o.exited[r.Kind]++
}

func (o *counts) get(kind guard.ReasonKind) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.exited[kind]
}

func (o *counts) letters() (dead, duplicate int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deadLetters, o.duplicates
}

// balance is the number of actors that have started and not exited.
func (o *counts) balance() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.started
	for _, exits := range o.exited {
		n -= exits
	}
	return n
}

// lockedBuffer takes the log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const stopTimeout = 5 * time.Second

type bench struct {
	*testing.T
	sys *guard.System
	obs *counts
	log *lockedBuffer
	d   *diary

	group *guard.Group // of grouped
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, obs: &counts{}, log: &lockedBuffer{}, d: &diary{}}
	sys, err := guard.NewSystem(guard.Options{
		Logger:      slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observer:    b.obs,
		StopTimeout: stopTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.sys = sys
	return b
}

// bubble runs f on a fake clock. Afterwards all actors must be gone: the bubble
// itself fails on goroutines and timers left behind.
func bubble(t *testing.T, f func(b *bench)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		f(b)
		synctest.Wait()
		if err := b.sys.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		if n := b.obs.balance(); n != 0 {
			t.Errorf("%d actors started and never exited", n)
		}
	})
}

// parent starts a root that writes down the exits of its children.
func (b *bench) parent() *guard.Handle {
	return b.sys.Root(script{receive: func(c *guard.Context, msg any) {
		if e, ok := msg.(guard.Exited); ok {
			b.d.add("%s exited: %v", e.Key, e.Reason.Kind)
		}
	}}.child("parent"))
}

// do has an actor run f and waits until all is quiet.
func (b *bench) do(pid *actor.PID, f func(c *guard.Context)) {
	b.sys.Send(pid, f)
	synctest.Wait()
}

// spawn has the parent start a child.
func (b *bench) spawn(parent *guard.Handle, child guard.Child) (ref guard.Ref) {
	b.do(parent.PID(), func(c *guard.Context) { ref = c.Spawn(child) })
	return ref
}

func (b *bench) stop(h *guard.Handle) guard.Reason {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	r, err := h.Stop(ctx)
	if err != nil {
		b.Errorf("stop: %v", err)
	}
	return r
}
