package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
	"holdfast/internal/restart"
)

// grouped is a root with a group; its members write down their lives.
func (b *bench) grouped(policy restart.Policy, edit func(*guard.GroupConfig), children ...restart.Child) (*guard.Handle, *guard.Group) {
	cfg := guard.GroupConfig{
		Name:     "test",
		Policy:   policy,
		Children: children,
		Roll:     func() float64 { return 1 },
		Factory: func(id string) guard.Child {
			return script{
				init:      func(c *guard.Context) { b.d.add("+%s", c.Key()) },
				terminate: func(c *guard.Context, r guard.Reason) { b.d.add("-%s %v", c.Key(), r.Kind) },
			}.child(id)
		},
		OnWait: func(_ *guard.Context, w restart.Wait) { b.d.add("wait %v", w.Delay) },
	}
	if edit != nil {
		edit(&cfg)
	}
	g, err := guard.NewGroup(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.group = g
	h := b.sys.Root(script{
		init: func(c *guard.Context) { g.Start(c) },
		receive: func(c *guard.Context, msg any) {
			if !g.Handle(c, msg) {
				b.d.add("not the group's: %T", msg)
			}
		},
	}.child("root"))
	synctest.Wait()
	return h, g
}

// since waits until all is quiet and returns what was written down since the
// last call. Siblings run side by side: the order in which they write is theirs.
func (b *bench) since() string {
	synctest.Wait()
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	s := strings.Join(b.d.lines, ", ")
	b.d.lines = nil
	return s
}

func (b *bench) fail(h *guard.Handle, g *guard.Group, id string) {
	b.Helper()
	b.do(h.PID(), func(c *guard.Context) {
		ref, ok := g.Ref(id)
		if !ok {
			b.Errorf("%s does not live", id)
		}
		c.Send(ref.PID, func(c *guard.Context) { c.Exit(guard.Fail(errors.New("link lost"))) })
	})
}

func (b *bench) expect(want string) {
	b.Helper()
	if got := b.since(); got != want {
		b.Errorf("got %q, want %q", got, want)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	backoff := restart.Backoff{Base: time.Second, Cap: time.Minute}
	t.Run("restarts with backoff, forgives on ready, drops late words", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{MaxConsecutive: 5, Backoff: backoff}, nil, restart.Child{ID: "link"})
			b.expect("+link")
			first, _ := g.Ref("link")
			b.fail(h, g, "link")
			b.expect("-link failure, +link")
			b.fail(h, g, "link")
			b.expect("-link failure, wait 1s")
			time.Sleep(time.Second)
			b.expect("+link")
			// The first generation's word does not count, the third's does.
			b.do(h.PID(), func(c *guard.Context) { g.Ready(c, "link", first.Gen) })
			b.fail(h, g, "link")
			b.expect("-link failure, wait 2s")
			time.Sleep(2 * time.Second)
			b.expect("+link")
			ref, _ := g.Ref("link")
			b.do(h.PID(), func(c *guard.Context) { g.Ready(c, "link", ref.Gen); g.Ready(c, "nobody", 1) })
			b.fail(h, g, "link")
			b.expect("-link failure, +link")
			b.stop(h)
			b.expect("-link shutdown")
		})
	})
	t.Run("rest_for_one", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{Strategy: restart.RestForOne}, nil,
				restart.Child{ID: "a"}, restart.Child{ID: "b"}, restart.Child{ID: "c"})
			b.since()
			b.do(h.PID(), func(c *guard.Context) { g.Add(c, restart.Child{ID: "page", Type: restart.Temporary}) })
			b.expect("+page")
			b.do(h.PID(), func(c *guard.Context) { c.Stop("c") }) // a stop from elsewhere is an exit like any other
			if got := b.since(); !strings.HasPrefix(got, "-c shutdown, -page shutdown, +c") {
				t.Errorf("got %q", got)
			}
			b.fail(h, g, "b")
			if got := b.since(); !strings.Contains(got, "+b") || !strings.Contains(got, "+c") || strings.Count(got, "+") != 2 {
				t.Errorf("got %q", got)
			}
			b.do(h.PID(), func(c *guard.Context) { g.Remove(c, "c") })
			b.expect("-c shutdown")
			if _, ok := g.Ref("c"); ok {
				t.Error("c lives")
			}
			if _, ok := g.Machine().Running("b"); !ok {
				t.Error("b does not run")
			}
			b.stop(h)
		})
	})
	t.Run("gives up with a failure of the actor", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{MaxConsecutive: 1}, nil, restart.Child{ID: "a"}, restart.Child{ID: "b"})
			b.fail(h, g, "a")
			<-h.Exited()
			var gaveUp *guard.GaveUpError
			if r := h.Reason(); !errors.As(r.Err, &gaveUp) || gaveUp.ID != "a" || r.Kind != guard.Failure {
				t.Errorf("reason %v", r)
			}
			if s := h.Reason().String(); s != "failure: guard: group test gave up on a after 1 failures in a row" {
				t.Errorf("reason %s", s)
			}
		})
	})
	t.Run("or with a callback", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{MaxConsecutive: 1}, func(cfg *guard.GroupConfig) {
				cfg.OnGiveUp = func(_ *guard.Context, g restart.GiveUp) { b.d.add("gave up on %s", g.ID) }
			}, restart.Child{ID: "a"}, restart.Child{ID: "b"})
			b.since()
			b.fail(h, g, "a")
			b.expect("-a failure, -b shutdown, gave up on a")
			b.stop(h)
			b.expect("")
		})
	})
	t.Run("a child that hangs when it is stopped delays the round by its timeout only", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{Strategy: restart.OneForAll}, nil, restart.Child{ID: "a"}, restart.Child{ID: "b"})
			b.since()
			ref, _ := g.Ref("b")
			b.sys.Send(ref.PID, func(*guard.Context) { time.Sleep(time.Hour) })
			b.fail(h, g, "a")
			b.expect("-a failure")
			time.Sleep(stopTimeout)
			if got := b.since(); strings.Count(got, "+") != 2 {
				t.Errorf("got %q", got)
			}
			b.stop(h)
			b.since()
			time.Sleep(2 * time.Hour)
			b.expect("-b shutdown") // the old one, unheard
		})
	})
	t.Run("shuts down, the actor goes on", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{Backoff: backoff}, func(cfg *guard.GroupConfig) {
				cfg.OnDone = func(*guard.Context) { b.d.add("done") }
			}, restart.Child{ID: "a"})
			b.fail(h, g, "a")
			b.fail(h, g, "a")
			b.since()
			b.do(h.PID(), func(c *guard.Context) { g.Shutdown(c) })
			b.expect("done")
			time.Sleep(time.Minute)
			b.expect("")
			b.stop(h)
		})
	})
	t.Run("callbacks may act on the group, in order", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(restart.Policy{}, func(cfg *guard.GroupConfig) {
				cfg.OnStart = func(c *guard.Context, id string, ref guard.Ref) {
					b.d.add("start %s", id)
					if id == "a" {
						b.group.Add(c, restart.Child{ID: "c"})
					}
					if ref.PID == nil {
						t.Errorf("no actor for %s", id)
					}
				}
				cfg.OnExit = func(_ *guard.Context, id string, ev guard.Exited) { b.d.add("exit %s %v", id, ev.Reason.Kind) }
				cfg.Factory = func(id string) guard.Child { return script{}.child("overwritten") }
			}, restart.Child{ID: "a"}, restart.Child{ID: "b"})
			b.expect("start a, start b, start c")
			b.fail(h, g, "b")
			b.expect("exit b failure, start b")
			b.stop(h)
		})
	})
	t.Run("what is not the group's is left alone", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, _ := b.grouped(restart.Policy{}, nil, restart.Child{ID: "a"})
			b.since()
			b.do(h.PID(), func(c *guard.Context) {
				c.Spawn(script{init: func(c *guard.Context) { c.Exit(guard.Reason{}) }}.child("stranger"))
			})
			b.sys.Send(h.PID(), 1)
			b.expect("not the group's: guard.Exited, not the group's: int")
			b.stop(h)
		})
	})
	t.Run("an invalid policy is refused", func(t *testing.T) {
		t.Parallel()
		if _, err := guard.NewGroup(guard.GroupConfig{Policy: restart.Policy{Intensity: -1}}); err == nil {
			t.Error("no error")
		}
	})
}

// TestGroupStorm crashes members of a big group at random times in all ways.
func TestGroupStorm(t *testing.T) {
	bubble(t, func(b *bench) {
		var children []restart.Child
		for i := range 20 {
			children = append(children, restart.Child{ID: fmt.Sprint(i)})
		}
		h, g := b.grouped(restart.Policy{Strategy: restart.RestForOne, Backoff: restart.Backoff{Base: time.Millisecond, Cap: 20 * time.Millisecond}}, nil, children...)
		rng := newRand(1)
		for range 300 {
			id := fmt.Sprint(rng.IntN(20))
			b.do(h.PID(), func(c *guard.Context) {
				if ref, ok := g.Ref(id); ok {
					c.Send(ref.PID, crashes[rng.IntN(len(crashes))])
				}
			})
			time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		}
		time.Sleep(time.Minute)
		b.do(h.PID(), func(*guard.Context) {
			for _, c := range g.Machine().State() {
				if c.Phase != restart.Running {
					t.Errorf("%s is %v", c.ID, c.Phase)
				}
			}
		})
		b.stop(h)
	})
}
