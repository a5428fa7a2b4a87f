package guard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
)

// clocked is a root that writes down what it gets and when.
func (b *bench) clocked() *guard.Handle {
	begin := time.Now()
	return b.sys.Root(script{receive: func(_ *guard.Context, msg any) {
		b.d.add("%v at %v", msg, time.Since(begin))
	}}.child("clocked"))
}

func TestTimers(t *testing.T) {
	t.Parallel()
	t.Run("fire once", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.After("b", 2*time.Second, "b")
				c.After("a", time.Second, "a")
				c.After("now", 0, "now")
				c.After("past", -time.Second, "past")
				c.Cancel("nothing")
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := b.d.read(); len(got) != 4 || got[2] != "a at 1s" || got[3] != "b at 2s" {
				t.Errorf("got %q", got)
			}
			b.stop(h)
		})
	})
	t.Run("armed again, the older arming is forgotten", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) { c.After("a", 2*time.Second, "first") })
			time.Sleep(time.Second)
			b.do(h.PID(), func(c *guard.Context) { c.After("a", 2*time.Second, "second") })
			time.Sleep(time.Minute)
			b.d.want(t, "second at 3s")
			b.stop(h)
		})
	})
	t.Run("cancelled or armed again when it already waits in the mailbox, it is dropped", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.After("a", time.Second, "cancelled")
				c.After("b", time.Second, "first")
				time.Sleep(2 * time.Second) // both have fired and are queued
				c.Cancel("a")
				c.After("b", 3*time.Second, "second")
			})
			time.Sleep(time.Minute)
			b.d.want(t, "second at 5s")
			b.stop(h)
		})
	})
	t.Run("nothing fires after the end, and the clock holds nothing back", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) { c.After("a", time.Hour, "late") })
			begin := time.Now()
			b.stop(h)
			if d := time.Since(begin); d != 0 {
				t.Errorf("stopping took %v", d)
			}
			dead, _ := b.obs.letters()
			time.Sleep(2 * time.Hour)
			b.d.want(t)
			if after, _ := b.obs.letters(); after != dead {
				t.Errorf("%d dead letters of a timer", after-dead)
			}
		})
	})
	t.Run("one that fires as the actor dies is dropped", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				c.Spawn(script{terminate: func(*guard.Context, guard.Reason) { time.Sleep(2 * time.Second) }}.child("slow"))
				c.After("a", time.Second, "late")
				c.Exit(guard.Reason{})
			})
			<-h.Exited()
			b.d.want(t)
		})
	})
	t.Run("Now is the clock", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.clocked()
			b.do(h.PID(), func(c *guard.Context) {
				if !c.Now().Equal(time.Now()) {
					t.Errorf("now is %v", c.Now())
				}
			})
			b.stop(h)
		})
	})
}
