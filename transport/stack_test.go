package transport_test

import (
	"fmt"
	"runtime"
	"testing"

	"holdfast/transport"
)

// TestAReaderKeepsNoStack: what handling a message needs of the stack is not what
// a link that waits for the next one holds. It counts the stacks of the process,
// so it is not parallel.
func TestAReaderKeepsNoStack(t *testing.T) {
	const links, deep = 20, 512 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range links {
		heard := make(chan struct{}, 1)
		m := newBrowser(t, func(p *peer) {
			p.say(`{"method":"Test.deep","params":{}}`)
			p.echo()
		}).dial(t, transport.DialOptions{Events: []string{"Test.deep"}})
		m.Bind("", func(transport.Event) {
			descend(deep / (4 << 10))
			heard <- struct{}{}
		})
		<-heard
		// The reply comes after the event, and by the goroutine that is left.
		if got, err := m.Do(within(t), "", "Test.echo", nil); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", got, err))
		}
	}
	// A stack that is given up during a collection counts until its end. One collection at most
	// halves the stack of a reader that kept it, and the bound is a quarter.
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int(after.StackInuse) - int(before.StackInuse); grown > links*deep/4 {
		t.Errorf("the stacks of %d idle links hold %d KiB", links, grown>>10)
	}
}

// descend needs about 4 KiB of the stack for each step.
//
//go:noinline
func descend(steps int) byte {
	var frame [4 << 10]byte
	frame[steps%len(frame)] = 1
	if steps > 0 {
		frame[0] += descend(steps - 1)
	}
	return frame[steps%len(frame)] + frame[0]
}
