package node

import (
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/internal/call"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestPulse(t *testing.T) {
	t.Parallel()
	t.Run("who asks while a ping is under way shares it", func(t *testing.T) {
		t.Parallel()
		var (
			p     pulse
			calls call.Table
			pings atomic.Int32
			reply mail.Call
			asked sync.WaitGroup
		)
		beats := make([]*beat, 100)
		for i := range beats {
			asked.Go(func() { beats[i] = p.ask(&calls, func(r mail.Call) { pings.Add(1); reply = r }) })
		}
		asked.Wait()
		calls.Answer(reply, nil, nil)
		for _, b := range beats {
			if <-b.done; b.err != nil {
				t.Error(b.err)
			}
		}
		if n := pings.Load(); n != 1 {
			t.Errorf("%d pings", n)
		}
		if p.ask(&calls, func(mail.Call) { pings.Add(1) }); pings.Load() != 2 {
			t.Error("the next one is not asked for anew")
		}
	})
	t.Run("one that is refused at once is no sign of life", func(t *testing.T) {
		t.Parallel()
		var p pulse
		var calls call.Table
		full := messages.Errorf(messages.CodeLimitReached, "full")
		for range 2 {
			b := p.ask(&calls, func(r mail.Call) { calls.Answer(r, nil, full) })
			if <-b.done; messages.CodeOf(b.err) != messages.CodeLimitReached {
				t.Error(b.err)
			}
		}
	})
}
