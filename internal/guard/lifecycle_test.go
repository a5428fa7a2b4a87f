package guard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/guard"
)

func newBenchLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestNothingRunsOnTheSpawnersGoroutine(t *testing.T) {
	bubble(t, func(b *bench) {
		begin := time.Now()
		h := b.sys.Root(guard.Child{Kind: "slow", Key: "1", New: func() guard.Behavior {
			time.Sleep(time.Hour)
			return script{init: func(*guard.Context) { time.Sleep(time.Hour); b.d.add("init") }}
		}})
		b.sys.Send(h.PID(), func(*guard.Context) { b.d.add("message") })
		if d := time.Since(begin); d != 0 {
			t.Errorf("the spawner waited %v", d)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		b.d.want(t, "init", "message")
		b.stop(h)
	})
}

func TestStopIsInLineWithMessages(t *testing.T) {
	bubble(t, func(b *bench) {
		h := b.sys.Root(b.witness().child("root"))
		for i := range 3 {
			b.sys.Send(h.PID(), func(*guard.Context) { b.d.add("message %d", i) })
		}
		if r := b.stop(h); r.Kind != guard.Shutdown || r.IsAbnormal() {
			t.Errorf("reason %v", r)
		}
		b.d.want(t, "message 0", "message 1", "message 2", "root terminates: shutdown")
	})
}

func TestStopWhileStarting(t *testing.T) {
	bubble(t, func(b *bench) {
		s := b.witness()
		s.init = func(*guard.Context) { time.Sleep(time.Second); b.d.add("init") }
		p := b.parent()
		b.do(p.PID(), func(c *guard.Context) {
			c.Spawn(s.child("kid"))
			c.Stop("kid")
			c.Stop("kid")
			c.Stop("nobody")
		})
		time.Sleep(time.Second)
		synctest.Wait()
		b.d.want(t, "init", "kid terminates: shutdown", "kid exited: shutdown")
		b.stop(p)
	})
}

func TestStopStorm(t *testing.T) {
	bubble(t, func(b *bench) {
		var tree func(depth int) guard.Child
		tree = func(depth int) guard.Child {
			return script{init: func(c *guard.Context) {
				for i := range 3 {
					if depth > 0 {
						c.Spawn(withKey(tree(depth-1), fmt.Sprint(i)))
					}
				}
				c.After("late", time.Hour, "tick")
				c.Go("wait", func(ctx context.Context) any { <-ctx.Done(); return "late" })
			}, receive: func(c *guard.Context, msg any) {
				if e, ok := msg.(guard.Exited); ok && e.Reason.IsAbnormal() {
					b.d.add("abnormal exit")
				}
			}}.child("x")
		}
		h := b.sys.Root(tree(4))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { b.stop(h) })
		}
		wg.Wait()
		b.stop(h)
		b.d.want(t)
		if n := b.obs.get(guard.Shutdown); n != 121 {
			t.Errorf("%d actors were shut down, want 3⁰+…+3⁴ = 121", n)
		}
	})
}

func TestChildrenExitBeforeTheirParentAllAtOnce(t *testing.T) {
	bubble(t, func(b *bench) {
		begin := time.Now()
		root := b.witness()
		root.init = func(c *guard.Context) {
			for i := range 3 {
				s := b.witness()
				inner := s.terminate
				s.terminate = func(c *guard.Context, r guard.Reason) {
					time.Sleep(time.Duration(i+1) * time.Second)
					inner(c, r)
				}
				c.Spawn(s.child(fmt.Sprintf("kid%d", i)))
			}
		}
		h := b.sys.Root(root.child("root"))
		b.stop(h)
		b.d.want(t, "kid0 terminates: shutdown", "kid1 terminates: shutdown", "kid2 terminates: shutdown", "root terminates: shutdown")
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("it took %v, want the slowest child's 3s", d)
		}
	})
}

func TestExit(t *testing.T) {
	t.Parallel()
	cause := errors.New("link lost")
	t.Run("ends the actor after the current message, the first one counts", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			var got guard.Reason
			s := script{terminate: func(_ *guard.Context, r guard.Reason) { got = r }}
			b.do(p.PID(), func(c *guard.Context) {
				kid := c.Spawn(s.child("kid"))
				c.Send(kid.PID, func(c *guard.Context) {
					c.Exit(guard.Fail(cause))
					c.Exit(guard.Reason{})
					b.d.add("still running")
				})
				c.Send(kid.PID, func(*guard.Context) { b.d.add("too late") })
			})
			b.d.want(t, "still running", "kid exited: failure")
			if !errors.Is(got.Err, cause) || !got.IsAbnormal() || got.String() != "failure: link lost" {
				t.Errorf("reason %v", got)
			}
			b.stop(p)
		})
	})
	t.Run("from Init", func(t *testing.T) {
		bubble(t, func(b *bench) {
			s := b.witness()
			s.init = func(c *guard.Context) { c.Exit(guard.Reason{Kind: guard.Normal}) }
			h := b.sys.Root(s.child("root"))
			<-h.Exited()
			if r := h.Reason(); r.Kind != guard.Normal || r.String() != "normal" {
				t.Errorf("reason %v", r)
			}
			if r := b.stop(h); r.Kind != guard.Normal {
				t.Errorf("stop after the end says %v", r)
			}
			b.d.want(t, "root terminates: normal")
		})
	})
	t.Run("a child that exits while its parent shuts it down", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, script{}.child("kid"))
			b.sys.Send(kid.PID, func(c *guard.Context) { time.Sleep(time.Second); c.Exit(guard.Fail(cause)) })
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(time.Second)
			synctest.Wait()
			b.stop(p)
			b.d.want(t, "kid exited: failure")
		})
	})
	t.Run("a child that exits while its parent is dying", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, script{}.child("kid"))
			b.sys.Send(kid.PID, func(c *guard.Context) { time.Sleep(time.Second); panic("late") })
			if r := b.stop(p); r.Kind != guard.Shutdown {
				t.Errorf("reason %v", r)
			}
			b.d.want(t) // no further report
		})
	})
}

func TestLedger(t *testing.T) {
	t.Parallel()
	t.Run("a key is free after the exit, and generations grow", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			first := b.spawn(p, script{}.child("kid"))
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			second := b.spawn(p, script{}.child("kid"))
			if second.Gen <= first.Gen || second.PID.ID == first.PID.ID {
				t.Errorf("first %v, second %v", first, second)
			}
			b.do(p.PID(), func(c *guard.Context) {
				if ref, ok := c.Child("kid"); !ok || ref != second {
					t.Errorf("child is %v %v, want %v", ref, ok, second)
				}
				if _, ok := c.Child("nobody"); ok {
					t.Error("a child that nobody spawned")
				}
			})
			b.stop(p)
		})
	})
	t.Run("two living children under one key are the parent's panic", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			b.spawn(p, script{}.child("kid"))
			b.spawn(p, script{}.child("kid"))
			if r := p.Reason(); r.Kind != guard.Panic {
				t.Errorf("reason %v", r)
			}
		})
	})
	t.Run("an ending actor starts nothing", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.sys.Root(script{terminate: func(c *guard.Context, _ guard.Reason) {
				if ref := c.Spawn(script{}.child("kid")); ref.PID != nil {
					t.Errorf("spawned %v", ref)
				}
				c.After("t", 0, "tick")
				c.Go("g", func(context.Context) any { b.d.add("ran"); return nil })
				c.Exit(guard.Fail(errors.New("too late")))
			}}.child("root"))
			if r := b.stop(h); r.Kind != guard.Shutdown {
				t.Errorf("reason %v", r)
			}
			b.d.want(t)
		})
	})
	t.Run("who an actor is", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, script{}.child("kid"))
			b.do(kid.PID, func(c *guard.Context) {
				if c.Key() != "kid" || c.Gen() != kid.Gen || c.Self() != kid.PID || c.Parent() != p.PID() {
					t.Errorf("kid is %s %d %v, parent %v", c.Key(), c.Gen(), c.Self(), c.Parent())
				}
				if want := fmt.Sprintf("test/kid/%d", kid.Gen); c.Self().ID != want {
					t.Errorf("id %s, want %s", c.Self().ID, want)
				}
				c.Log().Info("hello")
			})
			b.do(p.PID(), func(c *guard.Context) {
				if c.Parent() != nil || c.Sender() != nil {
					t.Errorf("root has parent %v, sender %v", c.Parent(), c.Sender())
				}
			})
			if s := b.log.String(); !strings.Contains(s, "msg=hello actor=test key=kid") {
				t.Errorf("log:\n%s", s)
			}
			b.stop(p)
		})
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	t.Run("the sender comes along and can be answered", func(t *testing.T) {
		bubble(t, func(b *bench) {
			asked := b.sys.Root(script{receive: func(c *guard.Context, msg any) { c.Respond(fmt.Sprint(msg, "!")) }}.child("asked"))
			asker := b.sys.Root(script{receive: func(c *guard.Context, msg any) {
				b.d.add("%v from %v", msg, c.Sender() == asked.PID() || c.Sender().Equals(asked.PID()))
			}}.child("asker"))
			b.do(asker.PID(), func(c *guard.Context) { c.Send(asked.PID(), "hi") })
			b.sys.Send(asked.PID(), "nobody hears the answer")
			b.sys.Send(nil, "nobody at all")
			b.do(asker.PID(), func(c *guard.Context) { c.Send(nil, "nobody at all") })
			b.d.want(t, "hi! from true")
			res, err := b.sys.Engine().Request(asked.PID(), "outside", time.Second).Result()
			if err != nil || res != "outside!" {
				t.Errorf("request: %v, %v", res, err)
			}
			b.stop(asked)
			b.stop(asker)
		})
	})
	t.Run("to one that is gone they are dead letters", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.sys.Root(script{}.child("root"))
			b.stop(h)
			synctest.Wait()
			before, _ := b.obs.letters()
			for range 10 {
				b.sys.Send(h.PID(), "hello, secret page")
			}
			synctest.Wait()
			if after, _ := b.obs.letters(); after-before != 10 {
				t.Errorf("%d dead letters, want 10", after-before)
			}
			if s := b.log.String(); strings.Contains(s, "secret") {
				t.Errorf("the message is in the log:\n%s", s)
			}
		})
	})
}

func TestForeignPillsShutDownAndAreLogged(t *testing.T) {
	t.Parallel()
	for name, pill := range map[string]func(*actor.Engine, *actor.PID) context.Context{
		"stop":   (*actor.Engine).Stop,
		"poison": (*actor.Engine).Poison,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				kid := b.spawn(p, b.witness().child("kid"))
				pill(b.sys.Engine(), kid.PID)
				pill(b.sys.Engine(), kid.PID)
				synctest.Wait()
				b.d.want(t, "kid terminates: shutdown", "kid exited: shutdown")
				if s := b.log.String(); !strings.Contains(s, "poison pill") {
					t.Errorf("log:\n%s", s)
				}
				b.stop(p)
			})
		})
	}
}

func TestAlarms(t *testing.T) {
	bubble(t, func(b *bench) {
		e := b.sys.Engine()
		first := e.SpawnFunc(func(c *actor.Context) {
			if c.Message() == "boom" {
				panic("boom")
			}
		}, "stray", actor.WithID("1"), actor.WithRestartDelay(0), actor.WithInboxSize(1))
		e.SpawnFunc(func(*actor.Context) {}, "stray", actor.WithID("1"))
		e.Send(first, "boom")
		e.Send(actor.NewPID("10.0.0.7:4000", "task/1"), "hello")
		synctest.Wait()
		<-e.Poison(first).Done()
		if dead, dup := b.obs.letters(); dup != 1 || dead != 1 {
			t.Errorf("%d duplicates, %d dead letters", dup, dead)
		}
		for _, want := range []string{"actor id is taken", "restarted by the engine", "there is no remote"} {
			if !strings.Contains(b.log.String(), want) {
				t.Errorf("no alarm %q in\n%s", want, b.log)
			}
		}
	})
}

func TestClose(t *testing.T) {
	bubble(t, func(b *bench) {
		sys, err := guard.NewSystem(guard.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := sys.Close(b.Context()); err != nil {
				t.Error(err)
			}
		}
		// A subscriber that left without a word would make of this one dead
		// letter an endless loop, and the bubble would never come to rest.
		sys.Send(actor.NewPID(sys.Engine().Address(), "nobody"), "hello")
		synctest.Wait()
	})
}

func TestSpawnUnderATakenID(t *testing.T) {
	bubble(t, func(b *bench) {
		p := b.parent()
		// Code outside guard guesses the next generation.
		next := b.spawn(p, script{}.child("probe")).Gen + 1
		squatter := b.sys.Engine().SpawnFunc(func(*actor.Context) {}, "test", actor.WithID(fmt.Sprintf("kid/%d", next)))
		b.spawn(p, script{init: func(*guard.Context) { b.d.add("init") }}.child("kid"))
		b.d.want(t, "kid exited: failure")
		<-b.sys.Engine().Poison(squatter).Done()
		b.stop(p)
	})
}

func TestHandleStopHonoursItsContext(t *testing.T) {
	bubble(t, func(b *bench) {
		h := b.sys.Root(script{init: func(*guard.Context) { time.Sleep(time.Hour) }}.child("stuck"))
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		if _, err := h.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
		if r := h.Reason(); r.Kind != guard.Normal || r.Err != nil {
			t.Errorf("reason before the end: %v", r)
		}
		<-h.Exited()
		if r := h.Reason(); r.Kind != guard.Shutdown {
			t.Errorf("reason %v", r)
		}
	})
}

func withKey(c guard.Child, key string) guard.Child {
	c.Key = key
	return c
}
