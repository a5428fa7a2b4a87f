package guard_test

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"holdfast/internal/guard"
)

// The goroutine of an actor runs next the actor it sent its last message to. The rest of
// this file proves that nothing depends on that.
func TestWhoIsSentToGetsItsTurn(t *testing.T) {
	t.Parallel()
	// note is a child that writes down what it hears.
	note := func(b *bench, key string) guard.Child {
		return script{receive: func(_ *guard.Context, msg any) { b.d.add("%s: %v", key, msg) }}.child(key)
	}

	t.Run("though the sender's next message hangs", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			to := b.spawn(p, note(b, "b"))
			from, resume := b.stalled(p, script{}.child("a"))
			gate := make(chan struct{})
			b.sys.Send(from.PID, func(c *guard.Context) { c.Send(to.PID, 1) })
			b.sys.Send(from.PID, func(*guard.Context) { <-gate })
			resume()
			b.d.want(t, "b: 1")
			close(gate)
			b.stop(p)
		})
	})

	t.Run("though the sender hangs, as soon as anybody else sends", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			to := b.spawn(p, note(b, "b"))
			from := b.spawn(p, script{}.child("a"))
			gate := make(chan struct{})
			b.sys.Send(from.PID, func(c *guard.Context) {
				c.Send(to.PID, 1)
				<-gate
				c.Send(to.PID, 3)
			})
			synctest.Wait()
			b.sys.Send(to.PID, 2)
			synctest.Wait()
			b.d.want(t, "b: 1", "b: 2")
			close(gate)
			synctest.Wait()
			b.d.want(t, "b: 1", "b: 2", "b: 3")
			b.stop(p)
		})
	})

	for how, end := range map[string]func(){"panics": func() { panic("on purpose") }, "exits its goroutine": runtime.Goexit} {
		t.Run("though the sender "+how, func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				to := b.spawn(p, note(b, "b"))
				from := b.spawn(p, script{}.child("a"))
				b.sys.Send(from.PID, func(c *guard.Context) { c.Send(to.PID, 1); end() })
				synctest.Wait()
				if got := b.d.read(); !slices.Contains(got, "b: 1") {
					t.Errorf("got %q", got)
				}
				b.stop(p)
			})
		})
	}

	t.Run("though the sender exits its goroutine at its end", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			to := b.spawn(p, note(b, "b"))
			from := b.spawn(p, script{terminate: func(*guard.Context, guard.Reason) { runtime.Goexit() }}.child("a"))
			b.sys.Send(from.PID, func(c *guard.Context) { c.Send(to.PID, 1); c.Exit(guard.Reason{}) })
			synctest.Wait()
			if got := b.d.read(); !slices.Contains(got, "b: 1") {
				t.Errorf("got %q", got)
			}
			b.stop(p)
		})
	})

	t.Run("and holds up neither the sender nor the other receivers when it hangs", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			gate := make(chan struct{})
			stuck := b.spawn(p, script{receive: func(*guard.Context, any) { <-gate }}.child("stuck"))
			well := b.spawn(p, note(b, "well"))
			from := b.spawn(p, script{}.child("a"))
			for i := range 3 {
				b.sys.Send(from.PID, func(c *guard.Context) { c.Send(stuck.PID, i); c.Send(well.PID, i) })
				synctest.Wait()
			}
			b.d.want(t, "well: 0", "well: 1", "well: 2")
			close(gate)
			b.stop(p)
		})
	})

	t.Run("in the order of what it is sent", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			var got []int
			end := b.spawn(p, script{receive: func(_ *guard.Context, msg any) { got = append(got, msg.(int)) }}.child("c"))
			mid := b.spawn(p, script{receive: func(c *guard.Context, msg any) { c.Send(end.PID, msg); c.Send(end.PID, msg.(int)+1) }}.child("b"))
			from := b.spawn(p, script{}.child("a"))
			for i := range 1000 {
				b.sys.Send(from.PID, func(c *guard.Context) { c.Send(mid.PID, 4*i); c.Send(mid.PID, 4*i+2) })
			}
			synctest.Wait()
			if len(got) != 4000 || !slices.IsSorted(got) {
				t.Errorf("%d messages, in order: %v", len(got), slices.IsSorted(got))
			}
			b.stop(p)
		})
	})

	t.Run("of two that send to each other without end, others get theirs", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			over := false
			var ping, pong guard.Ref
			ping = b.spawn(p, script{receive: func(c *guard.Context, _ any) {
				if !over {
					c.Send(pong.PID, "on")
				}
			}}.child("ping"))
			pong = b.spawn(p, script{receive: func(c *guard.Context, _ any) { c.Send(ping.PID, "on") }}.child("pong"))
			b.sys.Send(ping.PID, "on")
			b.sys.Send(ping.PID, func(*guard.Context) { over = true })
			synctest.Wait()
			b.stop(p)
		})
	})
}

// BenchmarkRelay is the way of an event: from outside through three actors, each
// of which has nothing else to do.
func BenchmarkRelay(b *testing.B) {
	sys, err := guard.NewSystem(guard.Options{Logger: newBenchLogger()})
	if err != nil {
		b.Fatal(err)
	}
	heard := make(chan struct{})
	last := sys.Root(script{receive: func(*guard.Context, any) { heard <- struct{}{} }}.child("last"))
	relay := func(to *guard.Handle, key string) *guard.Handle {
		return sys.Root(script{receive: func(c *guard.Context, msg any) { c.Send(to.PID(), msg) }}.child(key))
	}
	first := relay(relay(last, "mid"), "first")
	var msg any = "hello"
	b.ReportAllocs()
	for b.Loop() {
		sys.Send(first.PID(), msg)
		<-heard
	}
	if err := sys.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
