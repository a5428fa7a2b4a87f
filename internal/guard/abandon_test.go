package guard_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
)

func TestAbandonedChild(t *testing.T) {
	t.Parallel()
	t.Run("one that hangs is given up, its own children are not", func(t *testing.T) {
		bubble(t, func(b *bench) {
			var reason guard.Reason
			begin := time.Now()
			p := b.sys.Root(script{receive: func(c *guard.Context, msg any) {
				e := msg.(guard.Exited)
				reason = e.Reason
				b.d.add("%s exited: %v at %v", e.Key, e.Reason.Kind, time.Since(begin))
				if _, ok := c.Child(e.Key); ok {
					t.Error("still in the ledger")
				}
			}}.child("parent"))
			s := b.witness()
			s.init = func(c *guard.Context) {
				c.Spawn(b.witness().child("grandkid"))
				c.Go("work", func(ctx context.Context) any { <-ctx.Done(); b.d.add("work cancelled"); return nil })
			}
			kid := b.spawn(p, s.child("kid"))
			b.sys.Send(kid.PID, func(c *guard.Context) {
				time.Sleep(time.Hour)
				if ref := c.Spawn(script{}.child("too late")); ref.PID != nil {
					t.Error("an abandoned actor has spawned")
				}
				c.Go("too late", func(ctx context.Context) any { return ctx.Err() })
			})
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(stopTimeout)
			synctest.Wait()
			if got := strings.Join(b.d.read(), ", "); !strings.Contains(got, "kid exited: abandoned at 5s") ||
				!strings.Contains(got, "grandkid terminates: shutdown") || !strings.Contains(got, "work cancelled") {
				t.Errorf("got %s", got)
			}
			if !errors.Is(reason.Err, guard.ErrAbandoned) || !reason.IsAbnormal() {
				t.Errorf("reason %v", reason)
			}
			if b.sys.Engine().Registry.GetPID("test", strings.TrimPrefix(kid.PID.ID, "test/")) != nil {
				t.Error("the abandoned actor is still registered")
			}
			// The key is free for the next generation.
			b.spawn(p, b.witness().child("kid"))
			b.stop(p)
			if n := b.obs.get(guard.Abandoned); n != 1 {
				t.Errorf("abandonment was observed %d times", n)
			}
			// It returns later and ends; its exit is not reported twice.
			lines := len(b.d.read())
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if got := b.d.read()[lines:]; len(got) != 1 || got[0] != "kid terminates: shutdown" {
				t.Errorf("after it came back: %q", got)
			}
		})
	})
	t.Run("one that comes back is not mistaken for its successor", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, b.witness().child("kid"))
			b.sys.Send(kid.PID, func(c *guard.Context) {
				time.Sleep(time.Minute)
				c.Go("late", func(ctx context.Context) any { b.d.add("late: %v", ctx.Err()); return nil })
			})
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(stopTimeout)
			synctest.Wait()
			next := b.spawn(p, script{}.child("kid"))
			time.Sleep(time.Hour)
			b.do(next.PID, func(*guard.Context) { b.d.add("the successor lives") })
			b.d.want(t, "kid exited: abandoned", "late: context canceled", "kid terminates: shutdown", "the successor lives")
			b.stop(p)
		})
	})
	t.Run("one that hangs in Terminate is given up", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			b.spawn(p, script{terminate: func(*guard.Context, guard.Reason) { time.Sleep(time.Hour) }}.child("kid"))
			begin := time.Now()
			b.stop(p)
			if d := time.Since(begin); d != stopTimeout {
				t.Errorf("stopping took %v", d)
			}
			time.Sleep(time.Hour)
		})
	})
	t.Run("also when its own children kept it waiting before", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			b.spawn(p, script{
				init: func(c *guard.Context) {
					c.Spawn(script{terminate: func(*guard.Context, guard.Reason) { time.Sleep(3 * time.Second) }}.child("slow"))
				},
				terminate: func(*guard.Context, guard.Reason) { time.Sleep(time.Hour) },
			}.child("kid"))
			begin := time.Now()
			b.stop(p)
			if d := time.Since(begin); d != 3*time.Second+stopTimeout {
				t.Errorf("stopping took %v", d)
			}
			time.Sleep(time.Hour)
		})
	})
	t.Run("one that only waits for a grandchild that hangs is not", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			s.init = func(c *guard.Context) {
				grand := b.witness()
				grand.init = func(c *guard.Context) {
					c.Spawn(script{init: func(*guard.Context) { time.Sleep(time.Hour) }}.child("stuck"))
				}
				c.Spawn(grand.child("grandkid"))
			}
			inner := s.terminate
			s.terminate = func(c *guard.Context, r guard.Reason) {
				time.Sleep(stopTimeout - time.Second) // slow, within its own time
				inner(c, r)
			}
			b.spawn(p, s.child("kid"))
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(10 * stopTimeout)
			synctest.Wait()
			b.d.want(t, "grandkid terminates: shutdown", "kid terminates: shutdown", "kid exited: shutdown")
			b.stop(p)
			time.Sleep(time.Hour)
		})
	})
	t.Run("one that was already ending when it was told to is not given up either", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := script{init: func(c *guard.Context) {
				c.Spawn(script{terminate: func(*guard.Context, guard.Reason) { time.Sleep(stopTimeout - time.Second) }}.child("slow"))
				c.Go("slow", slowly(stopTimeout-time.Second, nil))
			}}
			kid := b.spawn(p, s.child("kid"))
			b.do(kid.PID, func(c *guard.Context) { c.Exit(guard.Fail(errors.New("done with it"))) })
			b.do(p.PID(), func(c *guard.Context) { c.Stop("kid") })
			time.Sleep(10 * stopTimeout)
			b.d.want(t, "kid exited: failure")
			b.stop(p)
		})
	})
}
