package guard_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/guard"
	"holdfast/internal/restart"
)

func TestDeadLettersThatCrossTheExitAreToldFromLateOnes(t *testing.T) {
	t.Parallel()
	letters := func(b *bench, to *actor.PID) (late int) {
		synctest.Wait()
		before := b.obs.late
		b.sys.Send(to, "hello")
		synctest.Wait()
		return b.obs.late - before
	}
	t.Run("by the time since", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.sys.Root(script{}.child("root"))
			b.stop(h)
			if n := letters(b, h.PID()); n != 0 {
				t.Error("one that crosses the exit counts as late")
			}
			time.Sleep(time.Minute)
			if n := letters(b, h.PID()); n != 1 {
				t.Error("one that comes a minute after is not late")
			}
		})
	})
	t.Run("not where too many have ended to know", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h := b.sys.Root(script{}.child("root"))
			b.stop(h)
			for range 1100 {
				b.stop(b.sys.Root(script{}.child("root")))
			}
			if n := letters(b, h.PID()); n != 0 {
				t.Error("one of a storm of exits counts as late")
			}
			time.Sleep(time.Minute)
			if n := letters(b, h.PID()); n != 1 {
				t.Error("one that comes a minute after is not late")
			}
		})
	})
	t.Run("to nobody there ever was", func(t *testing.T) {
		bubble(t, func(b *bench) {
			if n := letters(b, actor.NewPID(b.sys.Engine().Address(), "nobody")); n != 1 {
				t.Error("it is not late")
			}
		})
	})
}

func TestTheObserverHearsOfRestarts(t *testing.T) {
	bubble(t, func(b *bench) {
		policy := restart.Policy{Strategy: restart.RestForOne, MaxConsecutive: 2}
		h, g := b.grouped(policy, func(c *guard.GroupConfig) {
			c.OnGiveUp = func(*guard.Context, restart.GiveUp) {}
		}, restart.Child{ID: "a"}, restart.Child{ID: "b"})
		b.fail(h, g, "a")
		synctest.Wait()
		if want := []string{"test"}; !slices.Equal(b.obs.restarted, want) {
			t.Errorf("%v were started again after a failure, want %v: b has not failed", b.obs.restarted, want)
		}
		b.fail(h, g, "a")
		synctest.Wait()
		if want := []string{"test"}; !slices.Equal(b.obs.gaveUp, want) || len(b.obs.restarted) != 1 {
			t.Errorf("given up: %v, started again: %v", b.obs.gaveUp, b.obs.restarted)
		}
		b.stop(h)
	})
}
