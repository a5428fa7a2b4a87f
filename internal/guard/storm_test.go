package guard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"holdfast/internal/guard"
	"holdfast/internal/restart"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// crashes are the ways to end that a message can cause.
var crashes = []func(*guard.Context){
	func(*guard.Context) { panic("storm") },
	func(*guard.Context) { runtime.Goexit() },
	func(c *guard.Context) { c.Exit(guard.Fail(errors.New("storm"))) },
	func(c *guard.Context) { c.Exit(guard.Reason{}) },
	func(c *guard.Context) { c.Go("crash", func(context.Context) any { panic("storm") }) },
	func(c *guard.Context) { c.After("crash", time.Microsecond, func(*guard.Context) { panic("storm") }) },
}

// TestStormOnTheRealClock lets everything happen at once: crashes of all kinds,
// floods of messages, restarts, stops from many sides. What must come out is
// that every tree ends, every actor is accounted for, and no goroutine stays.
func TestStormOnTheRealClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const trees, members, rounds = 8, 6, 200
	var wg sync.WaitGroup
	for seed := range trees {
		wg.Go(func() {
			var children []restart.Child
			for i := range members {
				children = append(children, restart.Child{ID: fmt.Sprint(i)})
			}
			g, err := guard.NewGroup(guard.GroupConfig{
				Name:     "storm",
				Policy:   restart.Policy{Strategy: restart.Strategy(seed % 3), Backoff: restart.Backoff{Base: time.Microsecond, Cap: 100 * time.Microsecond}},
				Children: children,
				Roll:     newRand(uint64(seed)).Float64,
				Factory: func(id string) guard.Child {
					seen := 0
					return script{
						init: func(c *guard.Context) {
							c.Spawn(script{}.child("grandkid"))
							c.After("tick", time.Millisecond, "tick")
							c.Go("wait", func(ctx context.Context) any { <-ctx.Done(); return "late" })
						},
						receive: func(_ *guard.Context, msg any) {
							if n, ok := msg.(int); ok {
								seen += n
							}
						},
					}.child(id)
				},
			})
			if err != nil {
				t.Error(err)
				return
			}
			h := b.sys.Root(script{init: g.Start, receive: func(c *guard.Context, msg any) { g.Handle(c, msg) }}.child("root"))
			rng := newRand(uint64(seed) + 100)
			for range rounds {
				id, how := fmt.Sprint(rng.IntN(members)), crashes[rng.IntN(len(crashes))]
				b.sys.Send(h.PID(), func(c *guard.Context) {
					ref, _ := g.Ref(id)
					for i := range 20 {
						c.Send(ref.PID, i)
						if i == 10 {
							c.Send(ref.PID, how)
						}
					}
				})
			}
			var stops sync.WaitGroup
			for range 4 {
				stops.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
					defer cancel()
					if _, err := h.Stop(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			stops.Wait()
		})
	}
	wg.Wait()
	if err := b.sys.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := b.obs.balance(); n != 0 {
		t.Errorf("%d actors unaccounted for", n)
	}
	if n := b.obs.get(guard.Abandoned); n != 0 {
		t.Errorf("%d actors abandoned", n)
	}
}
