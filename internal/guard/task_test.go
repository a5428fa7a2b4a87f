package guard_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
)

// conn is a result that owns something.
type conn struct {
	b    *bench
	name string
}

func (r conn) String() string { return r.name }
func (r conn) Discard()       { r.b.d.add("%s discarded", r.name) }

// slowly returns a result after d, whatever its context says.
func slowly(d time.Duration, result any) func(context.Context) any {
	return func(context.Context) any { time.Sleep(d); return result }
}

func TestGo(t *testing.T) {
	t.Parallel()
	t.Run("delivers its result", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", slowly(2*time.Second, "a"))
				c.Go("b", slowly(time.Second, "b"))
				c.Go("nil", slowly(time.Second, nil))
			})
			time.Sleep(time.Minute)
			b.d.want(t, "b at 1s", "a at 2s")
			b.stop(h)
		})
	})
	t.Run("is cancelled by GoCancel", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(ctx context.Context) any { <-ctx.Done(); return conn{b, "a"} })
				c.GoCancel("a")
				c.GoCancel("a")
				c.GoCancel("nothing")
			})
			b.d.want(t, "a discarded")
			b.stop(h)
		})
	})
	t.Run("is superseded by the next of its name", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(ctx context.Context) any { <-ctx.Done(); return conn{b, "first"} })
				c.Go("a", slowly(time.Second, conn{b, "second"}))
			})
			time.Sleep(time.Minute)
			b.d.want(t, "first discarded", "second at 1s")
			b.stop(h)
		})
	})
	t.Run("a result that waits in the mailbox while it is cancelled is dropped", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", slowly(0, conn{b, "a"}))
				time.Sleep(time.Second)
				c.GoCancel("a")
			})
			time.Sleep(time.Second)
			synctest.Wait()
			b.d.want(t, "a discarded")
			b.stop(h)
		})
	})
	t.Run("the actor's end cancels it, waits for it and drops its result", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			s.init = func(c *guard.Context) {
				c.Go("a", func(ctx context.Context) any { <-ctx.Done(); time.Sleep(time.Second); return conn{b, "a"} })
			}
			b.spawn(p, s.child("kid"))
			begin := time.Now()
			b.stop(p)
			if d := time.Since(begin); d != time.Second {
				t.Errorf("stopping took %v", d)
			}
			b.d.want(t, "a discarded", "kid terminates: shutdown")
		})
	})
	t.Run("what it keeps is let go of at the actor's end, which waits for that", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			s.receive = func(_ *guard.Context, msg any) { b.d.add("%v", msg) }
			s.init = func(c *guard.Context) {
				c.Go("a", func(context.Context) any {
					return guard.Kept{Msg: "a kept", Release: func() { time.Sleep(time.Second); b.d.add("a released") }}
				})
			}
			b.spawn(p, s.child("kid"))
			time.Sleep(time.Minute)
			synctest.Wait()
			b.d.want(t, "a kept")
			begin := time.Now()
			b.stop(p)
			if d := time.Since(begin); d != time.Second {
				t.Errorf("stopping took %v", d)
			}
			b.d.want(t, "a kept", "a released", "kid terminates: shutdown")
		})
	})
	t.Run("what it keeps is let go of when it is cancelled, and at once where it was before", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			kept := func(name string) func(context.Context) any {
				return func(context.Context) any {
					return guard.Kept{Msg: name, Release: func() { b.d.add("%s released", name) }}
				}
			}
			b.do(h.PID(), func(c *guard.Context) { c.Go("a", kept("first")) })
			time.Sleep(time.Second)
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(context.Context) any { time.Sleep(time.Nanosecond); return kept("second")(nil) })
			})
			time.Sleep(time.Second)
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("b", func(ctx context.Context) any { <-ctx.Done(); return kept("late")(ctx) })
				c.GoCancel("b")
			})
			synctest.Wait()
			b.d.want(t, "first at 0s", "first released", "second at 1.000000001s", "late released")
			b.stop(h)
			b.d.want(t, "first at 0s", "first released", "second at 1.000000001s", "late released", "second released")
		})
	})
	t.Run("a panic while it lets go is the actor's", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(context.Context) any { return guard.Kept{Msg: "a", Release: func() { panic("release") }} })
			})
			time.Sleep(time.Second)
			b.do(h.PID(), func(c *guard.Context) { c.GoCancel("a") })
			<-h.Exited()
			if r := h.Reason(); r.Kind != guard.Panic {
				t.Errorf("reason %v", r)
			}
		})
	})
	t.Run("one that does not return is left behind, and its result dropped when it does", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			s.init = func(c *guard.Context) {
				c.Go("deaf", slowly(time.Hour, conn{b, "deaf"}))
				c.Go("deaf and crashing", func(context.Context) any { time.Sleep(time.Hour); panic("late") })
				c.Go("just in time", slowly(stopTimeout-1, conn{b, "just in time"}))
			}
			b.spawn(p, s.child("kid"))
			begin := time.Now()
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(stopTimeout)
			synctest.Wait()
			if got := fmt.Sprint(b.d.read()); got != "[just in time discarded kid terminates: shutdown kid exited: shutdown]" {
				t.Errorf("got %s", got)
			}
			if d := time.Since(begin); d != stopTimeout {
				t.Errorf("stopping took %v", d)
			}
			b.stop(p)
			if s := b.log.String(); !strings.Contains(s, "left goroutines behind") {
				t.Errorf("log:\n%s", s)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := b.d.read(); got[len(got)-1] != "deaf discarded" {
				t.Errorf("got %q", got)
			}
			if s := b.log.String(); !strings.Contains(s, "panicked with a value of type string") {
				t.Errorf("the late panic is not in the log:\n%s", s)
			}
		})
	})
	t.Run("one that returns in the instant it is given up has its result dropped once", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) { c.Go("a", slowly(stopTimeout, conn{b, "a"})) })
			b.stop(h)
			synctest.Wait()
			b.d.want(t, "a discarded")
		})
	})
	t.Run("a crash of a cancelled one is the actor's all the same", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(ctx context.Context) any { <-ctx.Done(); panic("boom") })
				c.GoCancel("a")
			})
			if r := b.stop(h); r.Kind != guard.Panic {
				t.Errorf("reason %v", r)
			}
		})
	})
	t.Run("a crash while the actor ends changes nothing", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Go("a", func(ctx context.Context) any { <-ctx.Done(); runtime.Goexit(); return nil })
			})
			if r := b.stop(h); r.Kind != guard.Shutdown {
				t.Errorf("reason %v", r)
			}
		})
	})
	t.Run("a Discard that panics hurts nobody", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, script{}.child("kid"))
			b.do(kid.PID, func(c *guard.Context) {
				c.Go("a", slowly(time.Second, badResult{}))
				c.GoCancel("a")
			})
			time.Sleep(time.Second)
			b.do(kid.PID, func(*guard.Context) { b.d.add("kid lives") })
			b.d.want(t, "kid lives")
			b.stop(p)
		})
	})
}

type badResult struct{}

func (badResult) Discard() { panic("discard") }
