package guard_test

import (
	"fmt"
	"runtime"
	"testing"

	"holdfast/internal/guard"
)

// TestIdleActorsAreCheap holds the budget that 5,000 idle tasks rest on: no
// goroutine, and well under 2 KiB.
func TestIdleActorsAreCheap(t *testing.T) { // not parallel: it counts for the whole process
	const n = 2000
	b := newBench(t)
	before := memory()
	goroutines := runtime.NumGoroutine()
	handles := make([]*guard.Handle, n)
	for i := range handles {
		handles[i] = b.sys.Root(script{}.child(fmt.Sprint(i)))
	}
	for _, h := range handles {
		// The answer means that Init is over.
		ready := make(chan struct{})
		b.sys.Send(h.PID(), func(*guard.Context) { close(ready) })
		<-ready
	}
	each := (memory() - before) / n
	t.Logf("%d bytes for an idle actor", each)
	if each > 2048 {
		t.Errorf("an idle actor takes %d bytes", each)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		runtime.Gosched() // mailboxes leave their loops after the last message
	}
	if more := runtime.NumGoroutine() - goroutines; more > 10 {
		t.Errorf("%d goroutines for %d idle actors", more, n)
	}
	for _, h := range handles {
		b.stop(h)
	}
	if err := b.sys.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkSend(b *testing.B) {
	sys, err := guard.NewSystem(guard.Options{Logger: newBenchLogger()})
	if err != nil {
		b.Fatal(err)
	}
	sink := script{}.child("sink")
	sink.Mailbox = 1 << 40 // the cost of sending, not of being told no
	h := sys.Root(sink)
	var msg any = "hello"
	b.ReportAllocs()
	for b.Loop() {
		sys.Send(h.PID(), msg)
	}
	b.StopTimer()
	if _, err := h.Stop(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := sys.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSpawnStop(b *testing.B) {
	sys, err := guard.NewSystem(guard.Options{Logger: newBenchLogger()})
	if err != nil {
		b.Fatal(err)
	}
	child := script{}.child("x")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sys.Root(child).Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := sys.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPingPong(b *testing.B) {
	sys, err := guard.NewSystem(guard.Options{Logger: newBenchLogger()})
	if err != nil {
		b.Fatal(err)
	}
	pong := sys.Root(script{receive: func(c *guard.Context, msg any) { c.Respond(msg) }}.child("pong"))
	back := make(chan struct{})
	ping := sys.Root(script{receive: func(c *guard.Context, msg any) {
		if c.Sender() == nil {
			c.Send(pong.PID(), msg)
			return
		}
		back <- struct{}{}
	}}.child("ping"))
	b.ReportAllocs()
	for b.Loop() {
		sys.Send(ping.PID(), "hello")
		<-back
	}
	for _, h := range []*guard.Handle{ping, pong} {
		if _, err := h.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := sys.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
